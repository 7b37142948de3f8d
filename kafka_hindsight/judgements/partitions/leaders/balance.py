"""How evenly leaders are spread over brokers, by the definitions that people use besides Kafka's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from kafka_hindsight.catalog.rows import BrokerSnapshot, GroupSnapshot, LeaderBalance, PartitionSnapshot
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.shared.grouping import grouped

_BAND = 0.09
"""Source: Cruise Control, leader.replica.count.balance.threshold 1.10 and BALANCE_MARGIN 0.9."""
_NAMED = 10

_Snapshot = TypeVar("_Snapshot", BrokerSnapshot, GroupSnapshot, PartitionSnapshot)


def rebuild_balance(
    partition_snapshots: Iterable[PartitionSnapshot],
    broker_snapshots: Iterable[BrokerSnapshot] = (),
    group_snapshots: Iterable[GroupSnapshot] = (),
) -> list[LeaderBalance]:
    """Rows of gold.leader_balance: one for each scope of each reading, in this order.

    The leaders of all brokers in scope `all` are the partitions that have one, unless a broker that leads is not
    listed; the racks' partitions add up to those of the brokers whose rack is known. A broker that leads nothing counts
    in the mean; one that is gone does not. Without a list of brokers those that hold replicas are taken.
    """
    readings = _by_reading(row for row in partition_snapshots if row.preferred_leader is not None)
    listed, groups = _by_reading(broker_snapshots), _by_reading(group_snapshots)
    rows = [
        row
        for key, partitions in readings.items()
        for row in _rows(partitions, listed.get(key, ()), groups.get(key, ()))
    ]
    return sorted(rows, key=lambda r: (r.cluster, r.snapshot_at, r.scope))


def _by_reading(rows: Iterable[_Snapshot]) -> dict[tuple[str, str], list[_Snapshot]]:
    return grouped(rows, lambda r: (r.cluster, r.snapshot_id))


def _rows(
    partitions: Sequence[PartitionSnapshot], listed: Sequence[BrokerSnapshot], groups: Sequence[GroupSnapshot]
) -> Iterator[LeaderBalance]:
    brokers = sorted({b.broker for b in listed} or {b for p in partitions for b in p.replicas or ()})
    own = [p for p in partitions if not p.is_internal]
    row = partial(_row, partitions[0])
    yield row("all", partitions, partitions, brokers, groups)
    yield row("without_internal", own, own, brokers, ())
    racks = grouped(sorted((b for b in listed if b.rack), key=lambda b: b.broker), lambda b: str(b.rack))
    for rack, hosts in sorted(racks.items()):
        brokers = [b.broker for b in hosts]
        preferred = [p for p in partitions if p.preferred_leader in brokers]
        yield row(f"rack:{rack}", preferred, partitions, brokers, groups)


def _row(
    reading: PartitionSnapshot,
    scope: str,
    partitions: Sequence[PartitionSnapshot],
    load: Sequence[PartitionSnapshot],
    brokers: Sequence[int],
    groups: Sequence[GroupSnapshot],
) -> LeaderBalance:
    """The row of one scope. `load`: the partitions that count as its brokers' load."""
    led = [p for p in partitions if p.leader is not None]
    elsewhere = [p for p in led if p.leader != p.preferred_leader]
    leaders = _count((p.leader for p in load), brokers)
    coordinators = _count((p.leader for p in load if p.topic == OFFSETS_TOPIC), brokers)
    mean = _mean(leaders)
    return LeaderBalance(
        cluster=reading.cluster,
        snapshot_at=reading.snapshot_at,
        scope=scope,
        partitions=len(partitions),
        leaderless=len(partitions) - len(led),
        non_preferred=len(elsewhere),
        non_preferred_share=len(elsewhere) / len(led) if led else None,
        brokers=len(brokers),
        leaders_max=max(leaders.values(), default=None),
        leaders_min=min(leaders.values(), default=None),
        leader_spread=_spread(leaders),
        leader_excess=max(leaders.values()) / mean - 1 if mean else None,
        brokers_off_band=sum(abs(n - mean) > _BAND * mean for n in leaders.values()) if mean else 0,
        coordinator_spread=_spread(coordinators),
        group_spread=_spread(_count((g.coordinator for g in groups), brokers)),
        most_loaded_broker=min(leaders, key=lambda b: (-leaders[b], b), default=None),
        least_loaded_broker=min(leaders, key=lambda b: (leaders[b], b), default=None),
        evidence=[quote_snapshot(reading, _shows(leaders))],
    )


def _count(brokers: Iterable[int | None], among: Sequence[int]) -> dict[int, int]:
    """How often each of the brokers is named; those never named count 0."""
    counted = Counter(brokers)
    return {broker: counted[broker] for broker in among}


def _mean(counts: dict[int, int]) -> float:
    return sum(counts.values()) / len(counts) if counts else 0.0


def _spread(counts: dict[int, int]) -> float | None:
    mean = _mean(counts)
    return (max(counts.values()) - min(counts.values())) / mean if mean else None


def _shows(leaders: dict[int, int]) -> str:
    most = sorted(leaders.items(), key=lambda b: (-b[1], b[0]))[:_NAMED]
    more = ", ..." if len(leaders) > _NAMED else ""
    return f"leaders by broker: {', '.join(f'{broker}: {count}' for broker, count in most)}{more}"
