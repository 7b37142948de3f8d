"""Logs and landed readings into bronze, every hour, while they grow: one Airflow DAG for each cluster."""

from __future__ import annotations

from hindsight_dags import clusters, hindsight_dag, run_each, step
from hindsight_operator import other_clusters, params, retry_arguments

from kafka_hindsight.catalog.steps import COLLECT
from kafka_hindsight.settings.alerts import owners

ABOUT = f"""
{COLLECT.sentence}.

Each run reads the input that the lake does not hold yet: files that are new or still grow, and the readings that
landed. The last record of a file that grows waits for the next run. Each other cluster with logs in the same folder
gets a run of its own.
"""

OWNERS = owners()

for cluster in clusters():
    arguments = {"params": params(cluster.inputs), "default_args": retry_arguments()}
    with hindsight_dag("kafka_collect", "10 * * * *", ABOUT, cluster, OWNERS, **arguments):
        others = other_clusters(COLLECT.name)
        step(COLLECT, cluster) >> others >> run_each(others)
