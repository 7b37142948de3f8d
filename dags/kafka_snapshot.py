"""A reading of each cluster every five minutes, landed as one file without a JVM. The collecting DAG takes them in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable
from hindsight_snapshot import SnapshotOperator, clusters

DOC = """
One task for each cluster of `hindsight.toml` that names a `connection`. Without that file: one for each of
`HINDSIGHT_CLUSTERS`, names of Airflow connections, separated by commas, whose extra is
librdkafka's configuration, and names the cluster in the lake; by default the connection `kafka_default`, else
`BOOTSTRAP` and `KAFKA_CONFIG` of the worker, and `HINDSIGHT_CLUSTER` names the cluster.

A reading lands in `<LAKE>/landing/snapshots/`, named by cluster and by the end of the data interval: a retry overwrites
it. What `__consumer_offsets` holds since the reading before lands beside it, in `group_records/`.
Settings that are refused (exit code 2) are never retried. What did not answer in time is missing, and says why.
"""

with DAG(
    dag_id="kafka_snapshot",
    schedule=CronDataIntervalTimetable("*/5 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=DOC,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=20),
        "execution_timeout": timedelta(minutes=4),
    },
    tags=["hindsight"],
) as dag:
    for cluster in clusters():
        SnapshotOperator(cluster=cluster)
