"""Maintenance of a lake.

Makes few files of many small ones, removes files that are no longer read and rows that are older than retention. One
run for each lake. `keep` sets the days that are kept, by layer, table or `landing`. All it does not name is kept.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_dags import clusters, defaults, tags
from hindsight_operator import params, step_operator

from kafka_hindsight.catalog.steps import MAINTAIN
from kafka_hindsight.settings.models import KEEP

StepOperator = step_operator()

for cluster in {c.lake: c for c in reversed(clusters())}.values():
    with DAG(
        cluster.dag_id("kafka_maintenance"),
        dag_display_name=cluster.title("Kafka maintenance"),
        description="Maintenance of a lake, every Sunday",
        schedule=CronDataIntervalTimetable("30 12 * * 0", timezone=cluster.timezone),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        params=params(cluster, KEEP),
        default_args=defaults(cluster),
        tags=tags(cluster),
        doc_md=__doc__,
    ):
        StepOperator(task_id="maintain", step=MAINTAIN, cluster=cluster)
