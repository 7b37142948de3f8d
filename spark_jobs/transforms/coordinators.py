"""Which broker coordinated a group, and when that changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from spark_jobs.knowledge.kinds import GROUP_KINDS
from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.evidence import evidence_of, quote, row_id
from spark_jobs.transforms.windows import OutRow, Row, Window, in_order

_LOADED = ("group_loaded", "member_loaded")
_UNLOADED = "group_unloaded"
MOVE_KINDS = (*GROUP_KINDS, "coordinator_loaded")

_ONE_LOAD = timedelta(seconds=30)
"""Lines of one loading: a coordinator tells each member and each former state of a group, in whatever order."""


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


def rebuild_coordinator_moves(
    events: Iterable[Row], context: ClusterContext, partition_count: int | None, window: Window
) -> list[OutRow]:
    """Rows of gold.coordinator_moves: one for each time a group was loaded by another broker than had it before.

    Takes: brokers' silver.events of at least MOVE_KINDS, of whole groups, with look-back; the cluster's context;
    the number of partitions of __consumer_offsets where it is known.
    Order: by group and time.
    Keeps: one group's rows chain: the broker one row goes to is the broker the next one comes from.
    Odd: a broker that was paused acts for its groups until it learns that they were given away, and unloads them late:
    only loading makes a coordinator. Where no line tells of loading, the first act of the new one stands for it.
    """
    by_group: dict[tuple[str, str], list[Row]] = defaultdict(list)
    partitions_loaded: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for event in in_order(e for e in events if e["kind"] in MOVE_KINDS and e["broker"] is not None):
        if event["kind"] == "coordinator_loaded":
            partitions_loaded[event["cluster"], event["offsets_partition"]].append(event)
        elif event["group_id"] is not None:
            by_group[event["cluster"], event["group_id"]].append(event)
    rows = []
    for (cluster, group_id), lines in sorted(by_group.items()):
        partition = _partition_of(group_id, lines, partition_count)
        loads = partitions_loaded[cluster, partition] if partition is not None else []
        rows += _moves(cluster, group_id, partition, in_order([*lines, *loads]), context)
    return [row for row in rows if window.holds(row["moved_at"])]


def _partition_of(group_id: str, lines: Sequence[Row], partition_count: int | None) -> int | None:
    told = next((e["offsets_partition"] for e in lines if e["offsets_partition"] is not None), None)
    if told is None and partition_count:
        return offsets_partition_of(group_id, partition_count)
    return told


def _moves(
    cluster: str, group_id: str, partition: int | None, lines: Sequence[Row], context: ClusterContext
) -> list[OutRow]:
    rows = []
    coordinator: int | None = None
    former: set[int] = set()
    loading: dict[int, Row] = {}
    for i, line in enumerate(lines):
        broker, kind = line["broker"], line["kind"]
        if kind == "coordinator_loaded":
            loading[broker] = line
            continue
        if kind == _UNLOADED or broker == coordinator:
            continue
        if kind not in _LOADED and broker not in loading and broker in former:
            continue
        if coordinator is not None:
            proof = _loaded_line(lines[i:], line) if kind in _LOADED else loading.get(broker, line)
            rows.append(_row(cluster, group_id, partition, coordinator, proof, line, context))
            former.add(coordinator)
        coordinator = broker
        former.discard(broker)
        loading.clear()
    return rows


def _loaded_line(lines: Sequence[Row], first: Row) -> Row:
    """The line that ends one loading: the group's own, where there is one, else the first that tells of it."""
    return next(
        (
            e
            for e in lines
            if e["kind"] == "group_loaded"
            and e["broker"] == first["broker"]
            and e["happened_at"] - first["happened_at"] <= _ONE_LOAD
        ),
        first,
    )


def _row(
    cluster: str,
    group_id: str,
    partition: int | None,
    broker_from: int,
    proof: Row,
    line: Row,
    context: ClusterContext,
) -> OutRow:
    moved_at: datetime = proof["happened_at"]
    outage = context.outage_at(broker_from, moved_at)
    return {
        "cluster": cluster,
        "coordinator_move_id": row_id(cluster, "coordinator_move", group_id, broker_from, proof["broker"], moved_at),
        "group_id": group_id,
        "offsets_partition": partition,
        "moved_at": moved_at,
        "broker_from": broker_from,
        "broker_to": proof["broker"],
        "outage_id": outage["outage_id"] if outage else None,
        "evidence": evidence_of([quote(proof), quote(line)]),
    }
