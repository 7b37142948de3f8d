"""The nightly audit: three Spark steps, in the order in which spark_jobs.steps declares them."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable, Param, chain
from hindsight_operator import SparkStepOperator, param_name

from spark_jobs.config import INPUTS, LOOK_AHEAD_HOURS
from spark_jobs.steps import STEPS

DOC = f"""
What happened to the consumer groups and the leaders in one night, why, and the proof that nothing was missed.

{chr(10).join(f"{n}. **{s.name}**: {s.sentence}." for n, s in enumerate(STEPS, start=1))}

A scheduled run owns midnight to midnight UTC: its data interval, moved back by {LOOK_AHEAD_HOURS} hours of look-ahead.
The params `from` and `to` win over the interval. Exit codes 42 (publication refused) and 2 (bad
input) are never retried.
"""

# A schedule's own values come from the scheduler's environment: HINDSIGHT_LOGS, HINDSIGHT_LAKE and so on.
PARAMS = {
    param_name(i.field): Param(
        os.environ.get(f"HINDSIGHT_{i.variable}") or None, type=["null", "string"], description=i.meaning
    )
    for i in INPUTS
}
WHOLE_INPUT = Param(False, type="boolean", description="everything in the input, whatever the interval")

with DAG(
    dag_id="kafka_night_audit",
    schedule=CronDataIntervalTimetable(f"0 {LOOK_AHEAD_HOURS} * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=DOC,
    params={**PARAMS, "whole_input": WHOLE_INPUT},
    default_args={
        "retries": int(os.environ.get("HINDSIGHT_RETRIES", "2")),
        "retry_delay": timedelta(minutes=5),
        "retry_exponential_backoff": True,
    },
    tags=["hindsight"],
) as dag:
    chain(*(SparkStepOperator(step=step) for step in STEPS))
