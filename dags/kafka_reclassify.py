"""Past windows, judged again with today's knowledge.

Give `from` and `to`: each window that was published between them is parsed out of bronze, rebuilt and published
again, one at a time. What changed is in `quality.verdict_changes`.
"""

from __future__ import annotations

from airflow.sdk import DAG
from hindsight_dags import clusters, defaults, tags
from hindsight_operator import params, published_windows, step_operator
from hindsight_step import JUDGED, task_arguments

from kafka_hindsight.catalog.steps import RECLASSIFY

StepOperator = step_operator()

for cluster in clusters():
    with DAG(
        cluster.dag_id("kafka_reclassify"),
        dag_display_name=cluster.title("Kafka reclassify"),
        description="Past windows judged again with today's knowledge, on request",
        schedule=None,
        max_active_runs=1,
        params=params(cluster, *JUDGED),
        default_args=defaults(cluster),
        tags=tags(cluster),
        doc_md=__doc__,
    ):
        StepOperator.partial(
            step=RECLASSIFY,
            cluster=cluster,
            max_active_tis_per_dagrun=1,
            map_index_template="{{ task.window['from'] }}",
            **task_arguments(RECLASSIFY, cluster),
        ).expand(window=published_windows())
