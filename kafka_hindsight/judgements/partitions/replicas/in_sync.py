"""Which brokers a reading of the cluster found in sync."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_hindsight.catalog.rows import OutOfSyncCount, PartitionSnapshot
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.shared.grouping import grouped


def count_out_of_sync(partition_snapshots: Iterable[PartitionSnapshot]) -> list[OutOfSyncCount]:
    """One row for each broker of each reading that is a replica of any partition.

    Takes: rows of bronze.partition_snapshots of whole readings; those without replicas or ISR do not count.
    Order: by reading and broker.
    """
    known = ((broker, p) for p in partition_snapshots if p.isr is not None for broker in p.replicas or ())
    hosted = grouped(known, lambda h: (h[1].cluster, h[1].snapshot_at, h[0], h[1].snapshot_id))
    return [_row(key[2], [p for _, p in hosted[key]]) for key in sorted(hosted)]


def _row(broker: int, hosted: Sequence[PartitionSnapshot]) -> OutOfSyncCount:
    reading, missing = hosted[0], sum(broker not in (p.isr or ()) for p in hosted)
    shown = f"broker {broker} is missing from the ISR of {missing} of its partitions"
    return OutOfSyncCount(
        cluster=reading.cluster,
        snapshot_at=reading.snapshot_at,
        broker=broker,
        partitions_out=missing,
        evidence=[quote_snapshot(reading, shown)],
    )
