"""A reading of each cluster every five minutes: one Airflow DAG. The DAG kafka_collect reads them into bronze."""

from __future__ import annotations

from datetime import timedelta

from hindsight_dags import clusters, hindsight_dag
from hindsight_snapshot import SnapshotOperator

ABOUT = """
A reading of each cluster.

One task for each cluster of `hindsight.toml` that names a `connection`. Without that file: the connection
`kafka_default`, else `BOOTSTRAP` and `KAFKA_CONFIG` of the worker.

A reading lands in `<LAKE>/landing/snapshots/`, named by cluster and by the end of the data interval: a retry overwrites
it. The new records of `__consumer_offsets` land beside it.
"""

TRIES = {"retries": 2, "retry_delay": timedelta(seconds=20), "execution_timeout": timedelta(minutes=4)}

with hindsight_dag("kafka_snapshot", "*/5 * * * *", ABOUT, default_args=TRIES):
    for cluster in clusters():
        if cluster.connection:
            SnapshotOperator(cluster=cluster)
