"""The audit of a night.

The rebalances and failovers of one night, their causes and costs, and an account of every log line.

| task | does |
|---|---|
| `is_recorded` | skips a scheduled night before the first record |
| `ingest` | reads logs and readings, keeps every record once, finds the events |
| `rebuild` | rebuilds rebalances, failovers and outages, names their causes, applies the rules; writes into staging |
| `validate` | checks every staged table where it lies; fails where a night is refused, and names the expectation |
| `publish`, `report` | publishes what was checked, all tables together; writes the report, sends the alerts |
| `late_windows`, `reclassify` | judge again each window of the last week for which records came late |
| `other_clusters`, `run_others` | trigger a run for each other cluster that has logs in the same folder |

A run audits the last night that is over: midnight to midnight in the cluster's time zone, plus two hours of
look-ahead, in which what began before midnight may end. The params `from` and `to` take precedence. A run that you
trigger before the first night is over audits everything so far. Exit codes 42 (refused) and 2 (bad input) are never
retried. With `schedule = "assets"` in `hindsight.toml` each collect starts a run, and `is_unpublished` ends it where
the night was published before.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG
from hindsight_alerts import Failure, Look, deadline
from hindsight_dags import clusters, defaults, night_schedule, tags
from hindsight_operator import is_recorded, is_unpublished, late_windows, night_params, other_clusters, step_operator
from hindsight_step import task_arguments

from kafka_hindsight.catalog.steps import INGEST, PUBLISH, REBUILD, RECLASSIFY, REPORT, VALIDATE

StepOperator = step_operator()

for cluster in clusters():
    with DAG(
        cluster.dag_id("kafka_night_audit"),
        dag_display_name=cluster.title("Kafka night audit"),
        description="The rebalances and failovers of one night, their causes and costs",
        schedule=night_schedule(cluster),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        params=night_params(cluster),
        default_args={**defaults(cluster), "on_failure_callback": Failure()},
        tags=tags(cluster),
        doc_md=__doc__,
        **deadline(cluster),
    ) as dag:
        ingest = StepOperator(task_id="ingest", step=INGEST, cluster=cluster)
        rebuild = StepOperator(task_id="rebuild", step=REBUILD, cluster=cluster)
        validate = StepOperator(task_id="validate", step=VALIDATE, cluster=cluster)
        publish = StepOperator(task_id="publish", step=PUBLISH, cluster=cluster)
        report = StepOperator(task_id="report", step=REPORT, cluster=cluster, on_success_callback=[Look()])

        late = late_windows()
        reclassify = StepOperator.partial(
            step=RECLASSIFY,
            cluster=cluster,
            max_active_tis_per_dagrun=1,
            map_index_template="{{ task.window['from'] }}",
            **task_arguments(RECLASSIFY, cluster),
        ).expand(window=late)

        others = other_clusters(step="ingest")
        run_others = TriggerDagRunOperator.partial(
            task_id="run_others",
            trigger_dag_id=dag.dag_id,
            reset_dag_run=True,
            map_index_template="{{ task.conf['cluster'] }}",
        ).expand_kwargs(others)

        recorded = is_recorded()
        recorded >> ingest >> rebuild >> validate >> publish >> report >> late >> reclassify
        ingest >> others >> run_others
        if cluster.schedule == "assets":
            is_unpublished() >> recorded
