"""The broker that coordinated a group, and each move to another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from kafka_hindsight.catalog.kinds import GROUP_KINDS, Kind
from kafka_hindsight.catalog.rows import CoordinatorMove, Event, Failover
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.shared.durations import COORDINATOR_LOADING
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline, by_instant
from kafka_hindsight.shared.windows import Window, in_order

OFFSETS_TOPIC = "__consumer_offsets"

_LOADED = (Kind.GROUP_LOADED, Kind.MEMBER_LOADED)


def java_string_hash(text: str) -> int:
    """java.lang.String.hashCode: over UTF-16 units, as a signed 32-bit number.

    Source: the Java language's String.hashCode.
    """
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for i in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[i : i + 2], "big")) & 0xFFFFFFFF
    return value - (1 << 32) if value & (1 << 31) else value


def offsets_partition_of(group_id: str, partition_count: int) -> int:
    """The partition of __consumer_offsets that keeps a group.

    The smallest integer has no absolute value, and counts as 0.
    Source: Utils.abs(groupId.hashCode) % offsets.topic.num.partitions (GroupMetadataManager.partitionFor).
    """
    value = java_string_hash(group_id)
    return (0 if value == -(1 << 31) else abs(value)) % partition_count


def losses_of_groups(
    group_ids: Iterable[str], failovers: Iterable[Failover], partition_count: int | None
) -> dict[str, list[tuple[datetime, str]]]:
    """The outages in which each group's partition of `__consumer_offsets` lost its leader: (happened_at, outage_id).

    Without a reading that shows the number of partitions, only a group's own lines name its partition.
    """
    if partition_count is None:
        return {}
    by_home = grouped((f for f in failovers if f.topic == OFFSETS_TOPIC), lambda f: f.partition)
    homes = ((g, offsets_partition_of(g, partition_count)) for g in sorted(set(group_ids)))
    return {g: sorted((f.happened_at, f.outage_id) for f in by_home.get(home, ()) if f.outage_id) for g, home in homes}


def rebuild_coordinator_moves(
    events: Iterable[Event], context: ClusterContext, partition_count: int | None, window: Window
) -> list[CoordinatorMove]:
    """Rows of gold.coordinator_moves: one for each time a group was loaded by another broker than had it before.

    One group's rows chain: the broker that one row goes to is the broker that the next one comes from. A broker that
    was paused acts for its groups until it learns that they were given away, and unloads them late: only loading makes
    a former coordinator the coordinator again. Where no line shows that a new one loaded the group, its first act does.
    """
    by_group: dict[tuple[str, str], list[tuple[int, Event]]] = defaultdict(list)
    for event in in_order(e for e in events if e.kind in GROUP_KINDS and e.kind != Kind.GROUP_UNLOADED):
        if event.group_id is not None and event.broker is not None:
            by_group[event.cluster, event.group_id].append((event.broker, event))
    rows = (_moves(*key, partition_count, lines, context) for key, lines in sorted(by_group.items()))
    return [row for moves in rows for row in moves if window.holds(row.moved_at)]


def _moves(
    cluster: str,
    group_id: str,
    partition_count: int | None,
    lines: Sequence[tuple[int, Event]],
    context: ClusterContext,
) -> Iterator[CoordinatorMove]:
    partition = next((e.offsets_partition for _, e in lines if e.offsets_partition is not None), None)
    if partition is None and partition_count:
        partition = offsets_partition_of(group_id, partition_count)
    loads = by_instant(e for _, e in lines if e.kind == Kind.GROUP_LOADED)
    coordinator: int | None = None
    former: set[int] = set()
    for broker, line in lines:
        if broker == coordinator or (broker in former and line.kind not in _LOADED):
            continue
        if coordinator is not None:
            proof = _end_of_load(line, loads) if line.kind in _LOADED else line
            at = proof.happened_at
            outage = context.outage_at(coordinator, at)
            yield CoordinatorMove(
                cluster=cluster,
                coordinator_move_id=row_id(cluster, "coordinator_move", group_id, coordinator, broker, at),
                group_id=group_id,
                offsets_partition=partition,
                moved_at=at,
                broker_from=coordinator,
                broker_to=broker,
                outage_id=outage.outage_id if outage else None,
                evidence=evidence_of([quote(line), quote(proof)]),
            )
            former.add(coordinator)
        coordinator = broker
        former.discard(broker)


def _end_of_load(line: Event, loads: Timeline[Event]) -> Event:
    """The line that ends one loading: the group's own, where there is one, else the first that shows the loading."""
    within = loads.between(line.happened_at, line.happened_at + COORDINATOR_LOADING)
    return next((e for e in within if e.broker == line.broker and in_order([line, e])[0] is line), line)
