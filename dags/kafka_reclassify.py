"""The past with today's knowledge: every published window between two instants, one mapped task each."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG
from hindsight_operator import WINDOW, judged_anew, params, patient, published_windows

from spark_jobs.catalog.steps import RECLASSIFY
from spark_jobs.shared.clusters import clusters

DOC = f"""
**{RECLASSIFY.name}**: {RECLASSIFY.sentence}.

Give `from` and `to`: each window that was published between them is parsed out of bronze, rebuilt and published again,
one at a time. What changed is in `quality.verdict_changes`: `make sql Q=verdict_changes`. It sends no alert: nights
that ended two days ago are history. The windows' pages are written again.
"""

for cluster in clusters():
    with DAG(
        dag_id=cluster.dag_id("kafka_reclassify"),
        schedule=None,
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        max_active_runs=1,
        doc_md=DOC,
        params=params(cluster.inputs, *WINDOW),
        default_args=patient(),
        tags=["hindsight"],
    ):
        judged_anew(published_windows())
