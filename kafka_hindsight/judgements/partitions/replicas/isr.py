"""The committed ISRs of each partition, as leaders, controllers and brokers log them, and why they changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise

from kafka_hindsight.catalog.codes import IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, IsrChange
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, disk_owners, on_failed_disk
from kafka_hindsight.judgements.brokers.controllers import speaks_for_cluster
from kafka_hindsight.judgements.partitions.incarnations import Incarnation, Partition, incarnations_of
from kafka_hindsight.judgements.partitions.partition_readings import Readings
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.proofs import Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Unknown, judge
from kafka_hindsight.judgements.reasoning.timelines import Intervals, Timeline, by_instant
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW
from kafka_hindsight.shared.windows import Window, broker_ids

SHORTLY = timedelta(minutes=1)
"""The ISR shows within this a disk that failed, or a reassignment that ended. Our choice: the controller writes both
into the metadata within seconds, and brokers apply it within seconds more."""


class IsrHistory:
    """The lines and readings on the ISR of one incarnation of a partition."""

    def __init__(self, incarnation: Incarnation, context: ClusterContext) -> None:
        """Take an incarnation with its events of at least SHRINK_CAUSE_KINDS."""
        self.incarnation, self.context = incarnation, context
        self.proposals = by_instant(e for e in incarnation.events if e.kind == "isr_shrink_proposed")
        self.reassignments = by_instant(e for e in incarnation.events if e.kind == "reassignment_changed")
        # Every controller logs former reassignments again when it starts; only those of the active one are news.
        self.active_reassignments = by_instant(
            e for e in self.reassignments if speaks_for_cluster(context.controller_epochs, e)
        )

    @cached_property
    def replica_lists(self) -> Timeline[tuple[datetime, tuple[int, ...]]]:
        listing = (*self.active_reassignments, *(e for e in self.incarnation.events if e.kind == "leadership_kept"))
        lists = ((e.happened_at, broker_ids(e.replicas) or ()) for e in listing if e.replicas)
        return Timeline(lists, lambda entry: entry[0])


@dataclass(frozen=True)
class Shrink:
    """One broker that left one partition's ISR.

    `previous_commit_at`: the commit before it. `returned_at`: when the broker had last come back into this ISR.
    """

    change: IsrChange
    history: IsrHistory
    previous_commit_at: datetime | None
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
        since = self.previous_commit_at and self.previous_commit_at - CLOCK_SKEW
        proposals = (
            e for e in self.history.proposals.until(self.at + CLOCK_SKEW) if not since or since <= e.happened_at
        )
        removing = (
            e for e in proposals if self.broker in {*(broker_ids(e.previous_isr) or ())} - {*(broker_ids(e.isr) or ())}
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
        return self.history.context.outages_until_caught_up(self.broker)

    @cached_property
    def outage(self) -> BrokerOutage | None:
        """The broker's outage at that time: of several the one that started last."""
        around = (i.value for i in self.outages.at(self.at))
        return max(around, key=lambda o: (o.down_at, o.outage_id), default=None)

    @cached_property
    def replica_removed_at(self) -> datetime | None:
        """The first instant at which a line or a reading shows that the broker is not a replica of the partition."""
        since = self.at - CLOCK_SKEW
        in_lines = (at for at, replicas in self.history.replica_lists.since(since) if self.broker not in replicas)
        later = self.history.incarnation.readings.within(since, self.history.incarnation.gone_at)
        in_readings = (r.snapshot_at for r in later.where(lambda s: self.broker not in (s.replicas or (self.broker,))))
        return min((at for at in (next(in_lines, None), next(in_readings, None)) if at is not None), default=None)

    def just_before(self, events: Timeline[Event]) -> Sequence[Event]:
        """Those of the events that happened at most SHORTLY before it."""
        return events.between(self.at - SHORTLY, self.at + CLOCK_SKEW)


def was_away(shrink: Shrink) -> Proof | None:
    """The broker was down, or had come back at most 10 s before."""
    outage = shrink.outage
    return Proof(facts={"outage_id": outage.outage_id}, confidence=outage.confidence) if outage else None


def lagged_after_its_return(shrink: Shrink) -> Proof | None:
    """A leader removed the broker because it lagged, after the outage and after it had been in this ISR again."""
    outage = shrink.outage
    if shrink.proposal is None or outage is None or outage.up_at is None or outage.up_at >= shrink.at:
        return None
    was_back = shrink.returned_at is not None and shrink.returned_at >= outage.down_at
    return proof_if(was_back or outage.up_at <= shrink.history.incarnation.events[0].happened_at)


def lagged_before_it(shrink: Shrink) -> Proof | None:
    """The broker left the ISR before the outage began, and had last caught up more than a clock's error before that."""
    outage, since = shrink.outage, shrink.behind_since
    if outage is None or since is None:
        return None
    return proof_if(shrink.at < outage.down_at and since + CLOCK_SKEW < outage.down_at)


def moved_after_its_return(shrink: Shrink) -> Proof | None:
    """The reassignment of the partition changed shortly before, after the outage, and no leader removed the broker."""
    outage = shrink.outage
    is_over = outage is not None and outage.up_at is not None and outage.up_at < shrink.at
    is_moved = shrink.proposal is None and shrink.just_before(shrink.history.active_reassignments)
    return proof_if(is_over and is_moved)


def its_disk_failed(shrink: Shrink) -> Proof | None:
    """A log directory that may hold the partition failed shortly before, and the broker did not restart since."""
    partition = f"{shrink.change.topic}-{shrink.change.partition}"
    for failure in shrink.just_before(shrink.history.context.disk_failures):
        partitions = on_failed_disk(failure)
        returns = [i.value.up_at for i in shrink.outages.between(failure.happened_at, shrink.at)]
        is_restarted = any(at and failure.happened_at < at <= shrink.at for at in returns)
        if shrink.broker in disk_owners(failure) and (not partitions or partition in partitions) and not is_restarted:
            return Proof((quote(failure),))
    return None


def lagged(shrink: Shrink) -> Proof | None:
    """The leader logged that it removes the broker because the broker lagged."""
    return proof_if(shrink.proposal, leader=shrink.proposal and shrink.proposal.broker)


def could_not_authenticate(shrink: Shrink) -> Proof | None:
    """The broker's own log says at most a minute before that it could not authenticate with the leader."""
    refusals = shrink.history.context.refusals_of.get(shrink.broker)
    lines = shrink.just_before(refusals) if refusals else ()
    leader = shrink.proposal and shrink.proposal.broker
    return next((Proof((quote(e),)) for e in reversed(lines) if e.node == leader), None)


def reassignment_changed(shrink: Shrink) -> Proof | None:
    """A controller logged at most a minute before that the partition's reassignment changed."""
    moves = shrink.just_before(shrink.history.reassignments)
    return proof_if(moves, *map(quote, moves[-1:]))


def is_not_a_replica(shrink: Shrink) -> Proof | None:
    """A line or a reading, at most a minute later, shows that the broker is not a replica of the partition."""
    removed_at = shrink.replica_removed_at
    return proof_if(removed_at is not None and removed_at - shrink.at <= SHORTLY)


SHRINK_RULINGS: tuple[Ruling[Shrink], ...] = (
    Certain(
        OutOfSyncKind.OUTAGE,
        "Broker {broker} was away.",
        proof=(was_away,),
        unless=(lagged_after_its_return, lagged_before_it, moved_after_its_return),
        source="The controller removes a broker that it fences or that shuts down (ReplicationControlManager; with"
        " ZooKeeper ReplicaStateMachine), a leader one that does not fetch (Partition.isFollowerOutOfSync)",
        cases=("crash-2.8 shop-events-2 broker 1 01:52:31.810", "slow-4.1 email-89-reader-t-0 broker 1 15:36:56.383"),
    ),
    Likely(
        OutOfSyncKind.DISK,
        "A log directory of broker {broker} had failed.",
        proof=(its_disk_failed,),
        source="The controller removes the replicas in directories that a broker reports as failed"
        " (ReplicationControlManager.handleDirectoriesOffline; with ZooKeeper KafkaController)",
        cases=("disk-3.9 disk-t-3 broker 2 11:58:05.839", "disk-3.9 disk-t-3 broker 3 11:58:36.946"),
    ),
    Likely(
        OutOfSyncKind.NOT_AUTHENTICATED,
        "Broker {broker} could not authenticate with leader {leader}, which removed it.",
        proof=(lagged, could_not_authenticate),
        source="NetworkClient.processDisconnection of a ReplicaFetcher: a follower that is refused fetches nothing",
        cases=(
            "unauthenticated-3.9 search.75-t-0 broker 2 20:43:46.642",
            "slow-4.1 email-89-reader-t-0 broker 1 15:36:56.383",
        ),
    ),
    Likely(
        OutOfSyncKind.SLOW,
        "Leader {leader} removed broker {broker}, which lagged.",
        proof=(lagged,),
        source="A leader removes a follower that has not reached its log end for replica.lag.time.max.ms"
        " (Partition.isFollowerOutOfSync)",
        cases=("slow-4.1 email-89-reader-t-0 broker 1 15:36:56.383", "crash-2.8 shop-events-2 broker 1 01:52:31.810"),
    ),
    Likely(
        OutOfSyncKind.REASSIGNMENT,
        "The reassignment of the partition changed, and broker {broker} left the ISR.",
        proof=(reassignment_changed,),
        source="At the end of a reassignment the controller removes the replicas that are not in the new list"
        " (PartitionReassignmentReplicas.maybeCompleteReassignment; with ZooKeeper KafkaController)",
        cases=(
            "cancelled-4.1 parcels.83-t-0 broker 1 15:35:14.780",
            "cancelled-4.1 parcels.83-t-0 broker 1 15:36:13.214",
        ),
    ),
    Likely(
        OutOfSyncKind.REASSIGNMENT,
        "Broker {broker} is not a replica of the partition any more.",
        proof=(is_not_a_replica,),
        source="An ISR holds replicas only (PartitionRegistration)",
        cases=("made: the next list of replicas lacks the broker", "preferred-2.8 shop-events-3 broker 2 01:53:08.842"),
    ),
    Unknown(
        OutOfSyncKind.UNKNOWN,
        "No line shows why broker {broker} left the ISR.",
        proof=(always,),
        source="Brokers log a commit without its cause (Partition.maybeUpdateIsrAndVersion)",
        cases=("preferred-2.8 shop-events-3 broker 2 01:53:08.842", "crash-2.8 shop-events-2 broker 1 01:52:31.810"),
    ),
)
"""An outage comes before lag: a broker that is away lags too. A proposal to remove the broker counts as lag only after
the outage, when the broker had been in the ISR again."""


# A proposal (isr_shrink_proposed) is not a commit: Partition.maybeShrinkIsr asks, the controller decides.
ISR_KINDS = (
    "partition_created",
    "leader_started",
    "leadership_kept",
    "leader_and_isr_received",
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

    Each change has one row, even where several brokers log it, or log it again when they start. Applying a partition's
    rows, which are in order of time, leads from the first known ISR to the last one. `events` are silver.events of at
    least ISR_KINDS, SHRINK_CAUSE_KINDS and topic_deleted, of whole topics, with look-back.
    """
    rows: list[IsrChange] = []
    kinds = {*ISR_KINDS, *SHRINK_CAUSE_KINDS}
    for incarnation in incarnations_of(events, readings, kinds, context.controller_epochs):
        commits = commits_of(e for e in incarnation.events if e.kind in ISR_KINDS)
        rows += _explained_changes(_changes(incarnation.key, commits), IsrHistory(incarnation, context))
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

    Brokers and controllers that start log old commits again; the version identifies them. A line without a version
    (leader_started up to 3.2) counts only where no line with one shows the same ISR at that leader epoch.
    """
    first: dict[int, Commit] = {}
    unversioned: list[Commit] = []
    for commit in (c for e in lines for c in _commits_in(e)):
        if commit.version is None:
            unversioned.append(commit)
        else:
            first.setdefault(commit.version, commit)
    isrs_with_version = {(c.leader_epoch, frozenset(c.isr)) for c in first.values()}
    ordered = [first[v] for v in sorted(first)]
    for commit in unversioned:
        if (commit.leader_epoch, frozenset(commit.isr)) not in isrs_with_version:
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


def _explained_changes(changes: Iterable[IsrChange], history: IsrHistory) -> list[IsrChange]:
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
            row = _explained(Shrink(change, history, before_at, returned_at.get(broker)))
            open_shrinks[broker] = len(rows)
        elif broker in open_shrinks:
            place = open_shrinks.pop(broker)
            until = min(rows[place].out_of_sync_until or change.happened_at, change.happened_at)
            shrink = rows[place] = replace(rows[place], out_of_sync_until=max(rows[place].happened_at, until))
            row = replace(change, shrink_cause=shrink.shrink_cause, outage_id=shrink.outage_id)
            returned_at[broker] = change.happened_at
        rows.append(row)
    for place in open_shrinks.values():
        rows[place] = _ended_by_reading(rows[place], history.incarnation)
    return rows


def _explained(shrink: Shrink) -> IsrChange:
    verdict = judge(SHRINK_RULINGS, shrink)
    change = _with_lag(shrink, shrink.proposal) if shrink.proposal else shrink.change
    # A replica that was moved away has no ISR to come back to.
    moved_at = shrink.at if verdict.code is OutOfSyncKind.REASSIGNMENT else None
    ends = [at for at in (moved_at, shrink.replica_removed_at, shrink.history.incarnation.gone_at) if at is not None]
    return replace(
        change,
        shrink_cause=OutOfSyncKind(verdict.code),
        outage_id=verdict.facts.get("outage_id"),
        out_of_sync_until=max(shrink.at, min(ends)) if ends else None,
        evidence=evidence_of([*change.evidence, *verdict.evidence]),
    )


def _with_lag(shrink: Shrink, proposal: Event) -> IsrChange:
    """The change with how far behind the broker was, as its leader logged it."""
    end, own_end = (int(shrink.laggard[2]) if shrink.laggard else -1), proposal.log_offset
    return replace(
        shrink.change,
        removed_by_leader=proposal.broker,
        records_behind=max(0, own_end - end) if end >= 0 and own_end is not None else None,
        behind_since=shrink.behind_since,
        evidence=[*shrink.change.evidence, quote(proposal)],
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
