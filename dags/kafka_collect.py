"""Logs and landed readings into bronze, every hour, while they grow: one Airflow DAG for each cluster."""

from __future__ import annotations

from hindsight_dags import collecting

from kafka_hindsight.settings.clusters import clusters

collecting(clusters())
