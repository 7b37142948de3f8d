"""Past windows judged again with today's knowledge, on request: one Airflow DAG for each cluster."""

from __future__ import annotations

from hindsight_dags import clusters, hindsight_dag, reclassify_each
from hindsight_operator import params, published_windows, retry_arguments
from hindsight_step import JUDGED

from kafka_hindsight.catalog.steps import RECLASSIFY
from kafka_hindsight.settings.alerts import owners

ABOUT = f"""
{RECLASSIFY.sentence}.

Give `from` and `to`: each window that was published between them is parsed out of bronze, rebuilt and published again,
one at a time. What changed is in `quality.verdict_changes`.
"""

OWNERS = owners()

for cluster in clusters():
    arguments = {"params": params(cluster.inputs, *JUDGED), "default_args": retry_arguments()}
    with hindsight_dag("kafka_reclassify", None, ABOUT, cluster, OWNERS, **arguments):
        reclassify_each(published_windows(), cluster)
