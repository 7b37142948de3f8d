"""The nightly audit in Airflow: one DAG for each cluster of hindsight.toml, or of the environment."""

from __future__ import annotations

from hindsight_dags import night_audits

from kafka_hindsight.settings.clusters import clusters

night_audits(clusters())
