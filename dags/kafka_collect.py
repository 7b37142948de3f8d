"""Logs and landed readings into bronze, every hour, while they grow: the step collect by itself; one DAG a cluster."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG, CronDataIntervalTimetable
from hindsight_operator import SparkStepOperator, params, patient

from spark_jobs.catalog.steps import COLLECT
from spark_jobs.shared.clusters import clusters

DOC = f"""
**{COLLECT.name}**: {COLLECT.sentence}.

Each run reads what the lake does not hold yet: files that are new or still grow, and the readings that landed. The
last record of a file that grows waits for the next run. At ten past the hour what an hourly rotation left has come to
rest. When it and the nightly audit are due on one lake, one waits for the other.
"""

for cluster in clusters():
    with DAG(
        dag_id=cluster.dag_id("kafka_collect"),
        schedule=CronDataIntervalTimetable("10 * * * *", timezone="UTC"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        doc_md=DOC,
        params=params(cluster.inputs),
        default_args=patient(),
        tags=["hindsight"],
    ):
        SparkStepOperator(step=COLLECT)
