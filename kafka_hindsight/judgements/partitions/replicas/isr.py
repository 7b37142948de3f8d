"""The committed ISRs of each partition, as leaders, controllers and brokers log them, and why they changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise

from kafka_hindsight.catalog.codes import IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, IsrChange
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, disk_owners, on_failed_disk
from kafka_hindsight.judgements.brokers.controllers import speaks_for_cluster
from kafka_hindsight.judgements.brokers.liveness import NO_EVENTS
from kafka_hindsight.judgements.partitions.incarnations import Commit, Incarnation, Partition
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.timelines import Intervals, Timeline
from kafka_hindsight.shared.windows import Window, broker_ids

SHORTLY = timedelta(minutes=1)
"""The ISR shows within this a disk that failed, or a reassignment that ended. Our choice: the controller writes both
into the metadata within seconds, and brokers apply it within seconds more."""

_LAGGARD = re.compile(r"\(brokerId: (\d+), endOffset: (-?\d+)(?:, lastCaughtUpTimeMs: (\d+))?\)")


@dataclass(frozen=True)
class Shrink:
    """One broker that left one partition's ISR.

    `previous_commit_at`: the commit before it. `returned_at`: when the broker had last come back into this ISR.
    """

    change: IsrChange
    incarnation: Incarnation
    context: ClusterContext
    previous_commit_at: datetime
    returned_at: datetime | None

    @property
    def broker(self) -> int:
        return self.change.broker

    @property
    def at(self) -> datetime:
        return self.change.happened_at

    @cached_property
    def proposal(self) -> Event | None:
        """The leader's last line, since the commit before, that removes the broker because it lags."""
        since = self.previous_commit_at - CLOCK_SKEW
        proposals = self.incarnation.of_kind(Kind.ISR_SHRINK_PROPOSED).until(self.at + CLOCK_SKEW)
        recent = (e for e in proposals if since <= e.happened_at)
        removing = (
            e for e in recent if self.broker in {*(broker_ids(e.previous_isr) or ())} - {*(broker_ids(e.isr) or ())}
        )
        return max(removing, key=lambda e: (e.happened_at, e.source, e.order), default=None)

    @cached_property
    def laggard(self) -> re.Match[str] | None:
        """How far behind it was, as the proposal says. Its end offset is -1 until it has fetched from a new leader."""
        matches = _LAGGARD.finditer((self.proposal and self.proposal.detail) or "")
        return next((m for m in matches if int(m[1]) == self.broker), None)

    @property
    def behind_since(self) -> datetime | None:
        """The instant at which it had last caught up, by the leader's clock."""
        caught_up = int(self.laggard[3]) if self.laggard and self.laggard[3] else 0
        return datetime.fromtimestamp(caught_up / 1000, UTC) if caught_up > 0 else None

    @property
    def outages(self) -> Intervals[BrokerOutage]:
        """The broker's outages, each until it has caught up."""
        return self.context.outages_until_caught_up(self.broker)

    @cached_property
    def outage(self) -> BrokerOutage | None:
        """The broker's outage at that time: of several the one that started last."""
        around = (i.value for i in self.outages.at(self.at))
        return max(around, key=lambda o: (o.down_at, o.outage_id), default=None)

    @cached_property
    def replica_removed_at(self) -> datetime | None:
        """The first instant at which a line or a reading shows that the broker is not a replica of the partition."""
        since = self.at - CLOCK_SKEW
        lists = [*self.incarnation.of_kind(Kind.LEADERSHIP_KEPT).since(since)]
        lists += self.by_active_controller(self.incarnation.of_kind(Kind.REASSIGNMENT_CHANGED).since(since))
        others = (e.happened_at for e in lists if e.replicas and self.broker not in (broker_ids(e.replicas) or ()))
        later = self.incarnation.readings.within(since, self.incarnation.gone_at)
        in_readings = (r.snapshot_at for r in later.where(lambda s: self.broker not in (s.replicas or (self.broker,))))
        return earliest(*others, next(in_readings, None))

    def by_active_controller(self, events: Iterable[Event]) -> list[Event]:
        """Those that are news: every controller logs former reassignments again when it starts."""
        return [e for e in events if speaks_for_cluster(self.context.controller_epochs, e)]

    @property
    def reassignments(self) -> Sequence[Event]:
        """The changes of the partition's reassignment shortly before it."""
        return self.just_before(self.incarnation.of_kind(Kind.REASSIGNMENT_CHANGED))

    def just_before(self, events: Timeline[Event]) -> Sequence[Event]:
        """Those of the events that happened at most SHORTLY before it."""
        return events.between(self.at - SHORTLY, self.at + CLOCK_SKEW)


def _cause_of(shrink: Shrink) -> tuple[OutOfSyncKind, Sequence[Event]]:
    """Why a broker left the ISR: the first cause that the evidence shows, with the lines that do.

    An outage comes before lag: a broker that is away lags too. Brokers log a commit without its cause.
    Source: The controller removes a broker that it fences or that shuts down (ReplicationControlManager; with ZooKeeper
    ReplicaStateMachine), the replicas in directories that a broker reports as failed (handleDirectoriesOffline;
    KafkaController), and at the end of a reassignment those that are not in the new list
    (PartitionReassignmentReplicas.maybeCompleteReassignment). A leader removes a follower that has not reached its log
    end for replica.lag.time.max.ms (Partition.isFollowerOutOfSync): one that it refuses fetches nothing. An ISR holds
    replicas only (PartitionRegistration).
    """
    if shrink.outage and not _has_other_cause(shrink, shrink.outage):
        return OutOfSyncKind.OUTAGE, ()
    failed_disks = [e for e in shrink.just_before(shrink.context.disk_failures) if _may_hold(shrink, e)]
    if failed_disks:
        return OutOfSyncKind.DISK, failed_disks[:1]
    if shrink.proposal:
        refusals = shrink.context.refusals_of.get(shrink.broker, NO_EVENTS)
        by_leader = [e for e in shrink.just_before(refusals) if e.node == shrink.proposal.broker]
        return OutOfSyncKind.NOT_AUTHENTICATED if by_leader else OutOfSyncKind.SLOW, by_leader[-1:]
    moves, removed_at = shrink.reassignments, shrink.replica_removed_at
    if moves or (removed_at is not None and removed_at - shrink.at <= SHORTLY):
        return OutOfSyncKind.REASSIGNMENT, moves[-1:]
    return OutOfSyncKind.UNKNOWN, ()


def _has_other_cause(shrink: Shrink, outage: BrokerOutage) -> bool:
    """Whether a broker left the ISR beside its outage, and not for it.

    It left before that began, and had last caught up more than a clock's error before. Or it left after its return: a
    leader removed it when it had been in this ISR again, or the reassignment of the partition changed.
    """
    up_at, since = outage.up_at, shrink.behind_since
    if since and shrink.at < outage.down_at and since + CLOCK_SKEW < outage.down_at:
        return True
    if up_at is None or up_at >= shrink.at:
        return False
    if shrink.proposal is None:
        return bool(shrink.by_active_controller(shrink.reassignments))
    was_back = shrink.returned_at is not None and shrink.returned_at >= outage.down_at
    return was_back or up_at <= shrink.incarnation.commits[0].at


def _may_hold(shrink: Shrink, failure: Event) -> bool:
    """Whether the partition may lie in a log directory of the broker that failed, without a restart since."""
    partitions = on_failed_disk(failure)
    returns = [i.value.up_at for i in shrink.outages.between(failure.happened_at, shrink.at)]
    is_restarted = any(at and failure.happened_at < at <= shrink.at for at in returns)
    is_named = not partitions or shrink.incarnation.name in partitions
    return shrink.broker in disk_owners(failure) and is_named and not is_restarted


def rebuild_isr_changes(
    incarnations: Iterable[Incarnation], context: ClusterContext, window: Window
) -> list[IsrChange]:
    """Rows of gold.isr_changes: one for each broker that left or joined a partition's ISR.

    Each change has one row, even where several brokers log it, or log it again when they start. Applying a partition's
    rows, which are in order of time, leads from the first known ISR to the last one.
    """
    rows: list[IsrChange] = []
    for incarnation in incarnations:
        rows += _explained_changes(_changes(incarnation.key, incarnation.commits), incarnation, context)
    return [row for row in rows if window.holds(row.happened_at)]


def _changes(key: Partition, commits: Sequence[Commit]) -> Iterator[tuple[IsrChange, datetime]]:
    """Each change, and the instant of the commit before it."""
    cluster, topic, partition = key
    for before, after in pairwise(commits):
        old, new = set(before.isr), set(after.isr)
        commit = (after.version, after.leader_epoch, after.at)
        for broker in sorted(old ^ new):
            change = IsrChange(
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
            yield change, before.at


def _explained_changes(
    changes: Iterable[tuple[IsrChange, datetime]], incarnation: Incarnation, context: ClusterContext
) -> list[IsrChange]:
    """The changes of one incarnation of a partition with the cause of each, and how long each shrink lasted.

    A shrink ends with the next expansion by the same broker, and both have the same cause. Where no line shows the
    return, the first reading that finds the broker in sync ends the shrink.
    """
    rows: list[IsrChange] = []
    open_shrinks: dict[int, int] = {}
    returned_at: dict[int, datetime] = {}
    for change, before_at in changes:
        broker, row = change.broker, change
        if change.change is IsrChangeKind.SHRINK:
            row = _explained(Shrink(change, incarnation, context, before_at, returned_at.get(broker)))
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
    """The change with its cause, and with how far behind the broker was, as its leader logged it."""
    (cause, lines), proposal, laggard = _cause_of(shrink), shrink.proposal, shrink.laggard
    # A replica that was moved away has no ISR to come back to.
    moved_at = shrink.at if cause is OutOfSyncKind.REASSIGNMENT else None
    gone_at = shrink.incarnation.gone_at
    if gone_at and not shrink.context.read_times.is_whole(shrink.at, gone_at):
        gone_at = None  # It may have been in sync again meanwhile.
    ends = [at for at in (moved_at, shrink.replica_removed_at, gone_at) if at is not None]
    end, leader_end = int(laggard[2]) if laggard else -1, proposal.log_offset if proposal else None
    # The end of a replica that has not fetched yet is -1: it lacks nothing of a log without records.
    is_known = leader_end == 0 or end >= 0
    return replace(
        shrink.change,
        shrink_cause=cause,
        outage_id=shrink.outage.outage_id if shrink.outage and cause is OutOfSyncKind.OUTAGE else None,
        out_of_sync_until=max(shrink.at, min(ends)) if ends else None,
        removed_by_leader=proposal.broker if proposal else None,
        records_behind=max(0, leader_end - max(0, end)) if is_known and leader_end is not None else None,
        behind_since=shrink.behind_since,
        evidence=evidence_of([*shrink.change.evidence, *map(quote, [*([proposal] if proposal else []), *lines])]),
    )


def _ended_by_reading(shrink: IsrChange, incarnation: Incarnation) -> IsrChange:
    """The shrink, ended by the first reading that finds the broker in sync; readings lag behind the brokers."""
    later = incarnation.readings.within(shrink.happened_at + CATCHING_UP + timedelta.resolution, incarnation.gone_at)
    reading = next(later.where(lambda state: shrink.broker in (state.isr or ())), None)
    until = shrink.out_of_sync_until
    if reading is None or (until is not None and until <= reading.snapshot_at):
        return shrink
    text = f"{shrink.topic}-{shrink.partition}: isr {reading.isr}"
    evidence = evidence_of([*shrink.evidence, quote_snapshot(reading, text)])
    return replace(shrink, out_of_sync_until=reading.snapshot_at, evidence=evidence)
