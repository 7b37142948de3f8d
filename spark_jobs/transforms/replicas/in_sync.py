"""Which brokers a reading of the cluster found in sync."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from spark_jobs.catalog.rows import OutOfSyncCount, PartitionSnapshot
from spark_jobs.transforms.evidence import quote_snapshot


def count_out_of_sync(partition_snapshots: Iterable[PartitionSnapshot]) -> list[OutOfSyncCount]:
    """One row for each broker of each reading that is a replica of any partition.

    Takes: rows of bronze.partition_snapshots of whole readings; those without replicas or ISR do not count.
    Order: by reading and broker.
    """
    missing: Counter[tuple[str, datetime, int, str]] = Counter()
    for row in partition_snapshots:
        for broker in row.replicas or () if row.isr is not None else ():
            missing[row.cluster, row.snapshot_at, broker, row.snapshot_id] += broker not in (row.isr or ())
    return [_row(*key, missing[key]) for key in sorted(missing)]


def _row(cluster: str, at: datetime, broker: int, snapshot_id: str, missing: int) -> OutOfSyncCount:
    shown = f"broker {broker} is missing from the ISR of {missing} of its partitions"
    evidence = [quote_snapshot(snapshot_id, at, shown)]
    return OutOfSyncCount(cluster=cluster, snapshot_at=at, broker=broker, partitions_out=missing, evidence=evidence)
