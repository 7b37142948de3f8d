"""How far leadership has drifted from the preferred leaders, broker by broker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from spark_jobs.catalog.rows import BrokerSnapshot, LeaderImbalance, PartitionSnapshot
from spark_jobs.transforms.evidence import quote_snapshot

THRESHOLD = 0.10
"""Strictly above is too much. Source: leader.imbalance.per.broker.percentage (KafkaController, ZooKeeper mode);
KRaft moves any partition back and ignores the percentage."""

_NAMED = 5


def rebuild_imbalance(
    partition_snapshots: Iterable[PartitionSnapshot], broker_snapshots: Iterable[BrokerSnapshot] = ()
) -> list[LeaderImbalance]:
    """Rows of gold.leader_imbalance: one for each broker in each reading.

    Takes: rows of bronze.partition_snapshots and bronze.broker_snapshots of whole readings.
    Order: by reading and broker.
    Keeps: in each reading, the preferred partitions of all brokers add up to the partitions whose replicas are known,
    and a ratio lies between 0 and 1.
    Edge case: a broker that is gone is still preferred for its partitions, which other brokers lead; a broker that is
    preferred for none has no ratio; a partition without a leader counts as led elsewhere.
    """
    preferred: dict[tuple[str, str], dict[int, list[PartitionSnapshot]]] = defaultdict(lambda: defaultdict(list))
    reading: dict[tuple[str, str], PartitionSnapshot] = {}
    for row in partition_snapshots:
        if row.preferred_leader is not None:
            key = row.cluster, row.snapshot_id
            reading[key] = row
            preferred[key][row.preferred_leader].append(row)
            for broker in row.replicas or ():
                preferred[key][broker] += []
    for listed in broker_snapshots:
        if (listed.cluster, listed.snapshot_id) in preferred:
            preferred[listed.cluster, listed.snapshot_id][listed.broker] += []
    rows = [
        _row(reading[key], broker, partitions)
        for key, brokers in preferred.items()
        for broker, partitions in brokers.items()
    ]
    return sorted(rows, key=lambda r: (r.cluster, r.snapshot_at, r.broker))


def _row(reading: PartitionSnapshot, broker: int, partitions: Sequence[PartitionSnapshot]) -> LeaderImbalance:
    elsewhere = sorted((p for p in partitions if p.leader != broker), key=lambda p: (p.topic, p.partition))
    ratio = len(elsewhere) / len(partitions) if partitions else None
    shows = f"broker {broker} is the first replica of {len(partitions)} partitions and leads all but {len(elsewhere)}"
    if elsewhere:
        named = ", ".join(f"{p.topic}-{p.partition} ({_led_by(p)})" for p in elsewhere[:_NAMED])
        shows += f": {named}{', ...' if len(elsewhere) > _NAMED else ''}"
    return LeaderImbalance(
        cluster=reading.cluster,
        snapshot_at=reading.snapshot_at,
        broker=broker,
        preferred_partitions=len(partitions),
        led_elsewhere=len(elsewhere),
        ratio=ratio,
        over_threshold=ratio is not None and ratio > THRESHOLD,
        evidence=[quote_snapshot(reading, shows)],
    )


def _led_by(partition: PartitionSnapshot) -> str:
    return "no leader" if partition.leader is None else f"led by {partition.leader}"
