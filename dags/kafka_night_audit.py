"""The nightly audit: three Spark steps, in the order of spark_jobs.catalog.steps; one DAG for each cluster."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG, CronDataIntervalTimetable, Param, chain
from hindsight_alerts import Failure, Look, done_in_time
from hindsight_operator import WINDOW, SparkStepOperator, judged_anew, late_windows, params, patient

from spark_jobs.catalog.steps import PUBLISH, STEPS
from spark_jobs.shared.clusters import clusters
from spark_jobs.shared.config import LOOK_AHEAD_HOURS

DOC = f"""
What happened to the consumer groups and the leaders in one night, why, and the proof that nothing was missed.

{chr(10).join(f"{n}. **{s.name}**: {s.sentence}." for n, s in enumerate(STEPS, start=1))}

A scheduled run owns midnight to midnight UTC: its data interval, moved back by {LOOK_AHEAD_HOURS} hours of look-ahead.
The params `from` and `to` win over the interval. Exit codes 42 (publication refused) and 2 (bad
input) are never retried. Nights of the past: `airflow backfill create`.

Windows of the last week for which ingest found records that came late are judged again when the night is published, one
at a time. One that fails takes nothing from the night.
"""

ASKED = {
    "whole_input": Param(
        False, type="boolean", title="Whole input", description="everything in the input, whatever the interval"
    ),
    "read_to_end": Param(
        False,
        type="boolean",
        title="Read to the end",
        description="last records of files that still grow, as they stand",
    ),
}

for cluster in clusters():
    told = {"lake": cluster.lake, "cluster": cluster.name or cluster.inputs.get("cluster", "")}
    with DAG(
        dag_id=cluster.dag_id("kafka_night_audit"),
        schedule=CronDataIntervalTimetable(f"0 {LOOK_AHEAD_HOURS} * * *", timezone="UTC"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        doc_md=DOC,
        params={**params(cluster.inputs, *WINDOW), **ASKED},
        default_args={**patient(), "on_failure_callback": Failure(**told)},
        deadline=done_in_time(**told),
        tags=["hindsight"],
    ):
        steps = [SparkStepOperator(step=step) for step in STEPS]
        steps[STEPS.index(PUBLISH)].on_success_callback = [Look(**told)]
        chain(*steps, late := late_windows())
        judged_anew(late)
