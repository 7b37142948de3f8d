"""Alerts of each lake that could not be sent before, every ten minutes: one Airflow DAG."""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import task
from hindsight_alerts import send_alerts
from hindsight_dags import clusters, hindsight_dag

ABOUT = """
The last step of each nightly audit sends its alerts at once. This DAG sends the alerts that a receiver missed while it
was down, and those that a killed run did not send. Receivers: [alerts] in `hindsight.toml`. Their URLs: Airflow
connections `hindsight_alerts_<receiver>`, or variables `HINDSIGHT_ALERTS_<RECEIVER>`.
"""

LAKES = dict.fromkeys(cluster.lake for cluster in clusters())

with hindsight_dag("kafka_alerts", "*/10 * * * *", ABOUT, default_args={"execution_timeout": timedelta(minutes=9)}):
    task(task_id="look")(send_alerts).expand(lake=[*LAKES])
