"""A reading of each cluster every five minutes: one Airflow DAG. The collecting DAG takes the readings in."""

from __future__ import annotations

from hindsight_dags import snapshots

from kafka_hindsight.settings.clusters import clusters

snapshots(clusters())
