"""A look at each lake every ten minutes: what could not be sent before goes out, once, when its receiver is back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable, task
from hindsight_alerts import tell

from spark_jobs.shared.clusters import lakes

DOC = """
After each night the last step of the audit looks at once. This DAG sends what a receiver missed while it was down, what
waited for quiet hours to end, and what a killed run did not send. Who gets them: [alerts] in `hindsight.toml`;
receivers are Airflow connections `hindsight_alerts_<route>`, or variables `HINDSIGHT_ALERTS_<ROUTE>`.
"""

with DAG(
    dag_id="kafka_alerts",
    schedule=CronDataIntervalTimetable("*/10 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=DOC,
    default_args={"execution_timeout": timedelta(minutes=9)},
    tags=["hindsight"],
):
    task(task_id="look")(tell).expand(lake=lakes())
