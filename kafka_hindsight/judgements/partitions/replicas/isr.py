"""The committed ISRs of each partition, and each change from one to the next.

Leaders, controllers and brokers that apply a commit log it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from kafka_hindsight.catalog.codes import IsrChangeKind
from kafka_hindsight.catalog.rows import Event, IsrChange
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Partition, deletions_of, lives_of
from kafka_hindsight.judgements.partitions.readings import PartitionReadings, Readings, TopicReadings
from kafka_hindsight.judgements.partitions.replicas.isr_shrink_cause import SHRINK_CAUSE_KINDS, explain_changes
from kafka_hindsight.judgements.partitions.replicas.isr_shrink_rulings import Incarnation
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
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

    Takes: silver.events of at least ISR_KINDS, SHRINK_CAUSE_KINDS and topic_deleted, of whole topics, with
    look-back; rows of bronze.partition_snapshots of the same topics (may be none); the cluster's context.
    Order: by topic, partition and time.
    Keeps: each change once, however many brokers log it or log it again when they start;
    applying a partition's rows in order leads from the first known ISR to the last one.
    """
    lines = list(events)
    read, deleted = TopicReadings.of(readings), deletions_of(lines, context.controller_epochs)
    return [
        row
        for key, incarnations in lives_of(lines, {*ISR_KINDS, *SHRINK_CAUSE_KINDS}, context.controller_epochs).items()
        for incarnation in incarnations
        for row in _rows_of(key, incarnation, read[key], deleted[key[:2]], context)
        if window.holds(row.happened_at)
    ]


def _rows_of(
    key: Partition,
    lines: Sequence[Event],
    readings: PartitionReadings,
    deletions: Iterable[datetime],
    context: ClusterContext,
) -> list[IsrChange]:
    start = lines[0].happened_at
    deleted_at = min((at for at in deletions if at > start), default=None)
    changes = list(_changes(key, commits_of(e for e in lines if e.kind in ISR_KINDS)))
    return explain_changes(changes, Incarnation(lines, readings.within(start, deleted_at), deleted_at, context))


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

    Takes: the partition's events in order.
    Edge case: brokers and controllers that start log old commits again; the version identifies them.
    A line without a version (leader_started up to 3.2) counts only where no line with one shows the same ISR
    at that leader epoch.
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
