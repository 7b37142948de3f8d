"""Which broker coordinated a group, and when that changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from spark_jobs.knowledge.kinds import GROUP_KINDS
from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.evidence import evidence_of, quote, row_id
from spark_jobs.transforms.windows import OutRow, Row, Window, in_order

OFFSETS_TOPIC = "__consumer_offsets"

_LOADED = ("group_loaded", "member_loaded")
_UNLOADED = "group_unloaded"

_ONE_LOAD = timedelta(seconds=30)
"""Lines of one loading: a coordinator tells each member and each former state of a group before the group itself."""


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

    Odd: the smallest integer has no absolute value, and counts as 0.
    Source: Utils.abs(groupId.hashCode) % offsets.topic.num.partitions (GroupMetadataManager.partitionFor).
    """
    value = java_string_hash(group_id)
    return (0 if value == -(1 << 31) else abs(value)) % partition_count


def losses_of_groups(
    group_ids: Iterable[str], failovers: Iterable[Row], partition_count: int | None
) -> dict[str, list[tuple[datetime, str]]]:
    """When each group's partition of `__consumer_offsets` lost its leader to an outage: (happened_at, outage_id).

    Takes: rows of gold.failovers; how many partitions __consumer_offsets has, where a reading tells: without it a
    group's own lines have to name its partition.
    """
    if partition_count is None:
        return {}
    lost: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for row in failovers:
        if row.topic == OFFSETS_TOPIC and row.outage_id:
            lost[row.partition].append((row.happened_at, row.outage_id))
    return {g: sorted(lost[offsets_partition_of(g, partition_count)]) for g in sorted(set(group_ids))}


def rebuild_coordinator_moves(
    events: Iterable[Row], context: ClusterContext, partition_count: int | None, window: Window
) -> list[OutRow]:
    """Rows of gold.coordinator_moves: one for each time a group was loaded by another broker than had it before.

    Takes: brokers' silver.events of kinds.GROUP_KINDS, of whole groups, with look-back; the cluster's context;
    the number of partitions of __consumer_offsets where it is known.
    Order: by group and time.
    Keeps: one group's rows chain: the broker one row goes to is the broker the next one comes from.
    Odd: a broker that was paused acts for its groups until it learns that they were given away, and unloads them late:
    only loading makes a former coordinator one again. Where nothing tells of a new one's loading, its first act does.
    """
    by_group: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for event in in_order(e for e in events if e.kind in GROUP_KINDS and e.broker is not None):
        if event.group_id is not None and event.kind != _UNLOADED:
            by_group[event.cluster, event.group_id].append(event)
    rows = [
        row
        for (cluster, group_id), lines in sorted(by_group.items())
        for row in _moves(cluster, group_id, _partition_of(group_id, lines, partition_count), lines, context)
    ]
    return [row for row in rows if window.holds(row.moved_at)]


def _partition_of(group_id: str, lines: Sequence[Row], partition_count: int | None) -> int | None:
    told = next((e.offsets_partition for e in lines if e.offsets_partition is not None), None)
    if told is None and partition_count:
        return offsets_partition_of(group_id, partition_count)
    return told


def _moves(
    cluster: str, group_id: str, partition: int | None, lines: Sequence[Row], context: ClusterContext
) -> Iterator[OutRow]:
    coordinator: int | None = None
    former: set[int] = set()
    for i, line in enumerate(lines):
        broker = line.broker
        if broker == coordinator or (broker in former and line.kind not in _LOADED):
            continue
        if coordinator is not None:
            proof = _end_of_load(lines[i:]) if line.kind in _LOADED else line
            moved_at: datetime = proof.happened_at
            outage = context.outage_at(coordinator, moved_at)
            yield {
                "cluster": cluster,
                "coordinator_move_id": row_id(cluster, "coordinator_move", group_id, coordinator, broker, moved_at),
                "group_id": group_id,
                "offsets_partition": partition,
                "moved_at": moved_at,
                "broker_from": coordinator,
                "broker_to": broker,
                "outage_id": outage.outage_id if outage else None,
                "evidence": evidence_of([quote(line), quote(proof)]),
            }
            former.add(coordinator)
        coordinator = broker
        former.discard(broker)


def _end_of_load(lines: Sequence[Row]) -> Row:
    """The line that ends one loading: the group's own, where there is one, else the first that tells of it."""
    first = lines[0]
    until = first.happened_at + _ONE_LOAD
    ends = (e for e in lines if e.kind == "group_loaded" and e.broker == first.broker)
    return next((e for e in ends if e.happened_at <= until), first)
