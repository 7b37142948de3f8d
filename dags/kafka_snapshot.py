"""A reading of each cluster, every five minutes.

One task for each cluster of `hindsight.toml` that names a `connection`. Without clusters in that file: the connection
`kafka_default`, else `BOOTSTRAP` and `KAFKA_CONFIG` of the worker.

A reading lands in `<LAKE>/landing/snapshots/`, named by cluster and by the end of the data interval: a retry
overwrites it. The new records of `__consumer_offsets` land beside it. The DAG kafka_collect reads them into bronze.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_dags import clusters
from hindsight_snapshot import SnapshotOperator

with DAG(
    "kafka_snapshot",
    dag_display_name="Kafka snapshot",
    description="A reading of each cluster, every five minutes",
    schedule=CronDataIntervalTimetable("*/5 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=20),
        "execution_timeout": timedelta(minutes=4),
    },
    tags=["hindsight"],
    doc_md=__doc__,
):
    for cluster in clusters():
        if cluster.connection:
            SnapshotOperator(cluster=cluster)
