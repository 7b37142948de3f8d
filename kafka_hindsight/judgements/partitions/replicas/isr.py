"""The committed ISRs of each partition, as leaders, controllers and brokers log them, and why they changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import Event, IsrChange
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Partition, deletions_of, lives_of
from kafka_hindsight.judgements.partitions.readings import Readings, TopicReadings
from kafka_hindsight.judgements.partitions.replicas.isr_shrink_rulings import SHRINK_RULINGS, Incarnation, Shrink
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.shared.durations import CATCHING_UP
from kafka_hindsight.shared.windows import Window, broker_ids

# A proposal (isr_shrink_proposed) is not a commit: Partition.maybeShrinkIsr asks, the controller decides.
ISR_KINDS = (
    "partition_created",
    "leader_started",
    "leadership_kept",
    "isr_updated",
    "partition_state_changed",
    "replica_removed_from_isr",
    "unclean_partition_change",
    "partition_changed",
)
_ISR_DIFF = re.compile(r"(?<!\w)isr: \[([\d, ]*)\] -> \[([\d, ]*)\].* partitionEpoch: (\d+) -> (\d+)")


@dataclass(frozen=True)
class Commit:
    """One committed ISR. `version` is the partition epoch (KRaft) or ZooKeeper version, None where no line names it."""

    isr: tuple[int, ...]
    version: int | None
    leader_epoch: int | None
    at: datetime
    line: Event


def rebuild_isr_changes(
    events: Iterable[Event], readings: Readings, context: ClusterContext, window: Window
) -> list[IsrChange]:
    """Rows of gold.isr_changes: one for each broker that left or joined a partition's ISR.

    Takes: silver.events of at least ISR_KINDS, SHRINK_CAUSE_KINDS and topic_deleted, of whole topics, with look-back.
    Keeps: each change once, however many brokers log it or log it again when they start; applying a partition's rows,
    which are in order of time, leads from the first known ISR to the last one.
    """
    lines = list(events)
    read, deleted = TopicReadings.of(readings), deletions_of(lines, context.controller_epochs)
    rows: list[IsrChange] = []
    for key, lives in lives_of(lines, {*ISR_KINDS, *SHRINK_CAUSE_KINDS}, context.controller_epochs).items():
        for own in lives:
            start = own[0].happened_at
            deleted_at = min((at for at in deleted[key[:2]] if at > start), default=None)
            changes = list(_changes(key, commits_of(e for e in own if e.kind in ISR_KINDS)))
            incarnation = Incarnation(own, read[key].within(start, deleted_at), deleted_at, context)
            rows += _explained_changes(changes, incarnation)
    return [row for row in rows if window.holds(row.happened_at)]


def _changes(key: Partition, commits: Sequence[Commit]) -> Iterator[IsrChange]:
    cluster, topic, partition = key
    for before, after in pairwise(commits):
        old, new = set(before.isr), set(after.isr)
        commit = (after.version, after.leader_epoch, after.at)
        for broker in sorted(old ^ new):
            yield IsrChange(
                cluster=cluster,
                isr_change_id=row_id(cluster, "isr", topic, partition, *commit, broker),
                topic=topic,
                partition=partition,
                happened_at=after.at,
                change=IsrChangeKind.SHRINK if broker in old else IsrChangeKind.EXPAND,
                broker=broker,
                isr_before=sorted(old),
                isr_after=sorted(new),
                evidence=evidence_of([quote(after.line)]),
            )


def commits_of(lines: Iterable[Event]) -> list[Commit]:
    """The ISRs of one incarnation of a partition in the order in which they were committed, each as first logged.

    Edge case: brokers and controllers that start log old commits again; the version identifies them. A line without a
    version (leader_started up to 3.2) counts only where no line with one shows the same ISR at that leader epoch.
    """
    first: dict[int, Commit] = {}
    unversioned: list[Commit] = []
    for commit in (c for e in lines for c in _commits_in(e)):
        if commit.version is None:
            unversioned.append(commit)
        else:
            first.setdefault(commit.version, commit)
    known = {(c.leader_epoch, frozenset(c.isr)) for c in first.values()}
    ordered = [first[v] for v in sorted(first)]
    for commit in unversioned:
        if (commit.leader_epoch, frozenset(commit.isr)) not in known:
            ordered.insert(_place(ordered, commit), commit)
    return ordered


def _place(ordered: Sequence[Commit], commit: Commit) -> int:
    """Where a commit without a version belongs: leader epochs first, then time."""
    for i in range(len(ordered), 0, -1):
        before = ordered[i - 1]
        if before.leader_epoch is None or commit.leader_epoch is None or before.leader_epoch == commit.leader_epoch:
            if before.at <= commit.at:
                return i
        elif before.leader_epoch < commit.leader_epoch:
            return i
    return 0


def _commits_in(event: Event) -> Iterator[Commit]:
    at, epoch, version = event.happened_at, event.leader_epoch, event.partition_epoch
    if event.kind == "unclean_partition_change":
        diff = _ISR_DIFF.search(event.detail or "")
        if diff:
            before, after = broker_ids(diff[1]) or (), broker_ids(diff[2]) or ()
            yield Commit(before, int(diff[3]), event.previous_leader_epoch, at, event)
            yield Commit(after, int(diff[4]), epoch, at, event)
        return
    if event.kind == "partition_changed" and version is not None:
        yield Commit(broker_ids(event.previous_isr) or (), version - 1, event.previous_leader_epoch, at, event)
    isr = broker_ids(event.isr)
    if isr is not None:
        yield Commit(isr, 0 if event.kind == "partition_created" else version, epoch, at, event)


SHRINK_CAUSE_KINDS = ("isr_shrink_proposed", "reassignment_changed", "leadership_kept")

_LAGGARD = re.compile(r"\(brokerId: (\d+), endOffset: (-?\d+)(?:, lastCaughtUpTimeMs: (\d+))?\)")


def _explained_changes(changes: Sequence[IsrChange], incarnation: Incarnation) -> list[IsrChange]:
    """The changes of one incarnation of a partition with the cause of each, and how long each shrink lasted.

    A shrink ends with the next expansion by the same broker, and both have the same cause. Where no line shows the
    return, the first reading that finds the broker in sync ends the shrink.
    """
    rows: list[IsrChange] = []
    open_shrinks: dict[int, int] = {}
    returned_at: dict[int, datetime] = {}
    for change in changes:
        broker, row = change.broker, change
        if change.change is IsrChangeKind.SHRINK:
            before_at = rows[-1].happened_at if rows else None
            row = _explained(Shrink(change, incarnation, before_at, returned_at.get(broker)))
            open_shrinks[broker] = len(rows)
        elif broker in open_shrinks:
            place = open_shrinks.pop(broker)
            until = min(rows[place].out_of_sync_until or change.happened_at, change.happened_at)
            shrink = rows[place] = replace(rows[place], out_of_sync_until=max(rows[place].happened_at, until))
            row = replace(change, shrink_cause=shrink.shrink_cause, outage_id=shrink.outage_id)
            returned_at[broker] = change.happened_at
        rows.append(row)
    for place in open_shrinks.values():
        rows[place] = _ended_by_reading(rows[place], incarnation)
    return rows


def _explained(shrink: Shrink) -> IsrChange:
    verdict = judge(SHRINK_RULINGS, shrink)
    change = _with_lag(shrink.change, shrink.proposal) if shrink.proposal else shrink.change
    # A replica that was moved away has no ISR to come back to.
    moved_at = shrink.at if verdict.code is OutOfSyncKind.REASSIGNMENT else None
    ends = [at for at in (moved_at, shrink.replica_removed_at, shrink.incarnation.deleted_at) if at is not None]
    return replace(
        change,
        shrink_cause=OutOfSyncKind(verdict.code),
        outage_id=verdict.facts.get("outage_id"),
        out_of_sync_until=max(shrink.at, min(ends)) if ends else None,
        evidence=evidence_of([*change.evidence, *verdict.evidence]),
    )


def _with_lag(change: IsrChange, proposal: Event) -> IsrChange:
    """The change with how far behind the broker was, as its leader logged it.

    Edge case: an end offset of -1 is a follower that has not fetched since the leader became leader.
    """
    listed = next((m for m in _LAGGARD.finditer(proposal.detail or "") if int(m[1]) == change.broker), None)
    end, own_end = (int(listed[2]) if listed else -1), proposal.log_offset
    caught_up = int(listed[3]) if listed and listed[3] else 0
    return replace(
        change,
        removed_by_leader=proposal.broker,
        records_behind=max(0, own_end - end) if end >= 0 and own_end is not None else None,
        behind_since=datetime.fromtimestamp(caught_up / 1000, UTC) if caught_up > 0 else None,
        evidence=[*change.evidence, quote(proposal)],
    )


def _ended_by_reading(shrink: IsrChange, incarnation: Incarnation) -> IsrChange:
    """The shrink, ended by the first reading that finds the broker in sync; readings lag behind the brokers."""
    later = incarnation.readings.within(shrink.happened_at + CATCHING_UP + timedelta.resolution, None)
    seen = next(later.where(lambda state: shrink.broker in (state.isr or ())), None)
    until = shrink.out_of_sync_until
    if seen is None or (until is not None and until <= seen.snapshot_at):
        return shrink
    shown = f"{shrink.topic}-{shrink.partition}: isr {seen.isr}"
    evidence = evidence_of([*shrink.evidence, quote_snapshot(seen, shown)])
    return replace(shrink, out_of_sync_until=seen.snapshot_at, evidence=evidence)
