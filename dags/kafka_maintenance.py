"""Each lake put in order, every Sunday: the step maintain."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG, CronDataIntervalTimetable
from hindsight_operator import SparkStepOperator, params, patient

from spark_jobs.catalog.steps import MAINTAIN
from spark_jobs.shared.clusters import clusters
from spark_jobs.shared.config import KEEP

DOC = f"""
**{MAINTAIN.name}**: {MAINTAIN.sentence}.

`keep` says how many days stay, by layer, table or `landing`; what it does not name stays for good. A number that would
take what nights, late records or their look-back still read is refused. Files of tables go a week after the version
that held them: readers are not disturbed. One run for each lake.
"""

for cluster in {c.lake: c for c in reversed(clusters())}.values():
    with DAG(
        dag_id=cluster.dag_id("kafka_maintenance"),
        schedule=CronDataIntervalTimetable("30 12 * * 0", timezone="UTC"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        doc_md=DOC,
        params=params(cluster.inputs, KEEP.field),
        default_args=patient(),
        tags=["hindsight"],
    ):
        SparkStepOperator(step=MAINTAIN)
