"""The past with today's knowledge, when it is asked for: one Airflow DAG for each cluster."""

from __future__ import annotations

from hindsight_dags import reclassifying

from kafka_hindsight.settings.clusters import clusters

reclassifying(clusters())
