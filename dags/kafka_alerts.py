"""Alerts that could not be sent before.

The last step of each nightly audit sends its alerts at once. This DAG sends the alerts that a receiver missed while
it was down, and those that a killed run did not send. Receivers: [alerts] in `hindsight.toml`. Their URLs are the
passwords of the Airflow connections `hindsight_alerts_<receiver>`, or variables `HINDSIGHT_ALERTS_<RECEIVER>`; that
of `default` may be the password of `hindsight_default`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, task
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_alerts import send_alerts
from hindsight_dags import clusters

LAKES = dict.fromkeys(cluster.lake if cluster.name else None for cluster in clusters())

with DAG(
    "kafka_alerts",
    dag_display_name="Kafka alerts",
    description="Alerts of each lake that could not be sent before",
    schedule=CronDataIntervalTimetable("*/10 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"execution_timeout": timedelta(minutes=9)},
    tags=["hindsight"],
    doc_md=__doc__,
):
    task(task_id="look")(send_alerts).expand(lake=[*LAKES])
