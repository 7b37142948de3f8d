"""How far leadership has drifted from the preferred leaders, broker by broker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from spark_jobs.transforms.evidence import quote_snapshot
from spark_jobs.transforms.windows import OutRow, Row

THRESHOLD = 0.10
"""Strictly above is too much. Source: leader.imbalance.per.broker.percentage (KafkaController, ZooKeeper mode);
KRaft moves any partition back and ignores the percentage."""

_NAMED = 5


def rebuild_imbalance(partition_snapshots: Iterable[Row], broker_snapshots: Iterable[Row] = ()) -> list[OutRow]:
    """Rows of gold.leader_imbalance: one for each broker in each reading.

    Takes: rows of bronze.partition_snapshots and bronze.broker_snapshots of whole readings.
    Order: by reading and broker.
    Keeps: in each reading, the preferred partitions of all brokers add up to the partitions whose replicas were told,
    and a ratio lies between 0 and 1.
    Odd: a broker that is gone is still preferred for its partitions, all led elsewhere; a broker that is
    preferred for none has no ratio; a partition that nobody leads counts as led elsewhere.
    """
    preferred: dict[tuple[str, str], dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    reading: dict[tuple[str, str], Row] = {}
    for row in partition_snapshots:
        key = row["cluster"], row["snapshot_id"]
        if row["preferred_leader"] is not None:
            reading[key] = row
            preferred[key][row["preferred_leader"]].append(row)
            for broker in row["replicas"] or ():
                preferred[key][broker] += []
    for row in broker_snapshots:
        if (row["cluster"], row["snapshot_id"]) in preferred:
            preferred[row["cluster"], row["snapshot_id"]][row["broker"]] += []
    rows = [
        _row(reading[key], broker, partitions)
        for key, brokers in preferred.items()
        for broker, partitions in brokers.items()
    ]
    return sorted(rows, key=lambda r: (r["cluster"], r["snapshot_at"], r["broker"]))


def _row(reading: Row, broker: int, partitions: Sequence[Row]) -> OutRow:
    elsewhere = sorted((p for p in partitions if p["leader"] != broker), key=lambda p: (p["topic"], p["partition"]))
    ratio = len(elsewhere) / len(partitions) if partitions else None
    says = f"broker {broker} is the first replica of {len(partitions)} partitions and leads all but {len(elsewhere)}"
    if elsewhere:
        named = ", ".join(f"{p['topic']}-{p['partition']} ({_led_by(p)})" for p in elsewhere[:_NAMED])
        says += f": {named}{', ...' if len(elsewhere) > _NAMED else ''}"
    return {
        "cluster": reading["cluster"],
        "snapshot_at": reading["snapshot_at"],
        "broker": broker,
        "preferred_partitions": len(partitions),
        "led_elsewhere": len(elsewhere),
        "ratio": ratio,
        "over_threshold": ratio is not None and ratio > THRESHOLD,
        "evidence": [quote_snapshot(reading["snapshot_id"], reading["snapshot_at"], says)],
    }


def _led_by(partition: Row) -> str:
    return "nobody leads" if partition["leader"] is None else f"led by {partition['leader']}"
