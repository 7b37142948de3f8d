"""How far leadership has drifted from the preferred leaders, broker by broker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from kafka_hindsight.catalog.rows import BrokerSnapshot, LeaderImbalance, PartitionSnapshot
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.shared.grouping import grouped

THRESHOLD = 0.10
"""Strictly above is too much. Source: leader.imbalance.per.broker.percentage (KafkaController, ZooKeeper mode);
KRaft moves any partition back and ignores the percentage."""

_NAMED = 5
_READING = attrgetter("cluster", "snapshot_id")


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
    known = grouped((p for p in partition_snapshots if p.preferred_leader is not None), _READING)
    listed = grouped(broker_snapshots, _READING)
    rows = []
    for key, partitions in known.items():
        preferred = grouped(partitions, attrgetter("preferred_leader"))
        hosting = {broker for p in partitions for broker in p.replicas or ()}
        for broker in {*preferred, *hosting, *(b.broker for b in listed.get(key, ()))}:
            rows.append(_row(partitions[0], broker, preferred.get(broker, ())))
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
