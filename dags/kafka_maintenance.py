"""Each lake put in order, every Sunday: one Airflow DAG for each lake."""

from __future__ import annotations

from hindsight_dags import maintenance

from kafka_hindsight.settings.clusters import clusters

maintenance(clusters())
