"""The nightly audit in Airflow: one DAG for each cluster of hindsight.toml, or of the environment."""

from __future__ import annotations

from airflow.sdk import Param
from hindsight_alerts import Failure, Look, deadline_alert
from hindsight_dags import clusters, hindsight_dag, reclassify_each, run_each, step
from hindsight_operator import late_windows, other_clusters, params, retry_arguments
from hindsight_step import JUDGED

from kafka_hindsight.catalog.steps import INGEST, PUBLISH, REBUILD, STEPS
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.models import LOOK_AHEAD_HOURS

ABOUT = f"""
The rebalances and failovers of one night, their causes and costs, and an account of every log line that was read.

{chr(10).join(f"{n}. **{s.name}**: {s.sentence}." for n, s in enumerate(STEPS, start=1))}

A scheduled run owns midnight to midnight UTC: its data interval, moved back by {LOOK_AHEAD_HOURS} hours of look-ahead.
The params `from` and `to` take precedence. Exit codes 42 (publication refused) and 2 (bad input) are never retried.
Windows of the last week with late records are judged again when the night is published. Each other cluster with logs in
the same folder gets a run of its own for the same night.
"""

INPUT_PARAMS = {
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

OWNERS = owners()

for cluster in clusters():
    place = {"lake": cluster.lake, "cluster": cluster.name or cluster.inputs.get("cluster", "")}
    with hindsight_dag(
        "kafka_night_audit",
        f"0 {LOOK_AHEAD_HOURS} * * *",
        ABOUT,
        cluster,
        OWNERS,
        params={**params(cluster.inputs, *JUDGED), **INPUT_PARAMS},
        default_args={**retry_arguments(), "on_failure_callback": Failure(**place)},
        deadline=deadline_alert(**place),
    ):
        ingest = step(INGEST, cluster)
        rebuild = step(REBUILD, cluster)
        publish = step(PUBLISH, cluster, on_success_callback=[Look(**place)])
        late = late_windows()
        ingest >> rebuild >> publish >> late >> reclassify_each(late, cluster)

        others = other_clusters(INGEST.name)
        ingest >> others >> run_each(others)
