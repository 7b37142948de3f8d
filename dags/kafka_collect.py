"""Logs and readings into bronze, while they grow.

Each run reads the input that the lake does not hold yet: files that are new or still grow, and the readings that
landed. The last record of a file that grows waits for the next run. Each other cluster with logs in the same folder
gets a run of its own.

The audit of a night does the same before it parses; with `schedule = "assets"` in `hindsight.toml` this DAG starts
it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_dags import clusters, defaults, tags
from hindsight_operator import other_clusters, params, step_operator

from kafka_hindsight.catalog.steps import COLLECT

StepOperator = step_operator()

for cluster in clusters():
    with DAG(
        cluster.dag_id("kafka_collect"),
        dag_display_name=cluster.title("Kafka collect"),
        description="Logs and readings into bronze, every hour, while they grow",
        schedule=CronDataIntervalTimetable("10 * * * *", timezone="UTC"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        params=params(cluster),
        default_args=defaults(cluster),
        tags=tags(cluster),
        doc_md=__doc__,
    ) as dag:
        collect = StepOperator(task_id="collect", step=COLLECT, cluster=cluster)
        others = other_clusters(step="collect")
        run_others = TriggerDagRunOperator.partial(
            task_id="run_others",
            trigger_dag_id=dag.dag_id,
            reset_dag_run=True,
            map_index_template="{{ task.conf['cluster'] }}",
        ).expand_kwargs(others)

        collect >> others >> run_others
