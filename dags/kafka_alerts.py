"""A look at each lake every ten minutes, for what could not be sent before: one Airflow DAG."""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import task
from hindsight_alerts import send_alerts
from hindsight_dags import clusters, hindsight_dag

ABOUT = """
After each night the last step of the audit looks at once. This DAG sends what a receiver missed while it was down, and
what a killed run did not send. Who gets them: [alerts] in `hindsight.toml`; URLs are in Airflow connections
`hindsight_alerts_<receiver>`, or variables `HINDSIGHT_ALERTS_<RECEIVER>`.
"""

LAKES = dict.fromkeys(cluster.lake for cluster in clusters())

with hindsight_dag("kafka_alerts", "*/10 * * * *", ABOUT, default_args={"execution_timeout": timedelta(minutes=9)}):
    task(task_id="look")(send_alerts).expand(lake=[*LAKES])
