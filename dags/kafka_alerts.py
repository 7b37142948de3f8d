"""A look at each lake every ten minutes, for what could not be sent before: one Airflow DAG."""

from __future__ import annotations

from hindsight_dags import alerts

from kafka_hindsight.settings.clusters import lakes

alerts(lakes())
