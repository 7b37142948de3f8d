"""Why a broker left a partition's ISR: the rulings, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from kafka_hindsight.catalog.codes import Confidence, OutOfSyncKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, IsrChange
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, disk_owners, on_failed_disk
from kafka_hindsight.judgements.brokers.controllers import speaks_for_cluster
from kafka_hindsight.judgements.partitions.readings import PartitionReadings
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.rulings import Proof, Ruling, always, proof_if
from kafka_hindsight.judgements.reasoning.timelines import Intervals, Timeline, by_instant
from kafka_hindsight.shared.durations import CLOCK_SKEW
from kafka_hindsight.shared.windows import broker_ids

SHORTLY = timedelta(minutes=1)
"""The ISR shows within this a disk that failed, or a reassignment that ended. Our choice: the controller writes both
into the metadata within seconds, and brokers apply it within seconds more."""


class Incarnation:
    """One incarnation of a partition, from its topic's creation to its deletion, with its cluster."""

    def __init__(
        self, lines: Sequence[Event], readings: PartitionReadings, deleted_at: datetime | None, context: ClusterContext
    ) -> None:
        """Takes: its events of at least SHRINK_CAUSE_KINDS, in order; its readings."""
        self.started_at, self.deleted_at, self.context = lines[0].happened_at, deleted_at, context
        self.lines, self.readings = lines, readings
        self.proposals = by_instant(e for e in lines if e.kind == "isr_shrink_proposed")
        self.reassignments = by_instant(e for e in lines if e.kind == "reassignment_changed")
        # Every controller logs former reassignments again when it starts; only those of the active one are news.
        self.active_reassignments = by_instant(
            e for e in self.reassignments if speaks_for_cluster(context.controller_epochs, e)
        )

    @cached_property
    def replica_lists(self) -> Timeline[tuple[datetime, tuple[int, ...]]]:
        """The lists of replicas that lines show."""
        listing = (*self.active_reassignments, *(e for e in self.lines if e.kind == "leadership_kept"))
        lists = ((e.happened_at, broker_ids(e.replicas) or ()) for e in listing if e.replicas)
        return Timeline(lists, lambda listed: listed[0])


@dataclass(frozen=True)
class Shrink:
    """One broker that left one partition's ISR.

    `previous_commit_at`: the commit before it. `returned_at`: when the broker had last come back into this ISR.
    """

    change: IsrChange
    incarnation: Incarnation
    previous_commit_at: datetime | None
    returned_at: datetime | None

    @property
    def broker(self) -> int:
        """The broker."""
        return self.change.broker

    @property
    def at(self) -> datetime:
        """When the ISR shrank."""
        return self.change.happened_at

    @cached_property
    def proposal(self) -> Event | None:
        """The leader's last line, since the commit before, that removes the broker because it lags."""
        since = self.previous_commit_at and self.previous_commit_at - CLOCK_SKEW
        proposed = (
            e for e in self.incarnation.proposals.until(self.at + CLOCK_SKEW) if not since or since <= e.happened_at
        )
        removing = (
            e for e in proposed if self.broker in {*(broker_ids(e.previous_isr) or ())} - {*(broker_ids(e.isr) or ())}
        )
        return max(removing, key=lambda e: (e.happened_at, e.source, e.order), default=None)

    @property
    def outages(self) -> Intervals[BrokerOutage]:
        """The broker's outages, each until it has caught up."""
        return self.incarnation.context.outages_until_caught_up(self.broker)

    @cached_property
    def outage(self) -> BrokerOutage | None:
        """The broker's outage at that time: of several the one that started last."""
        around = (i.value for i in self.outages.at(self.at))
        return max(around, key=lambda o: (o.down_at, o.outage_id), default=None)

    @cached_property
    def replica_removed_at(self) -> datetime | None:
        """From when on a line or a reading shows that the broker is not a replica of the partition."""
        since = self.at - CLOCK_SKEW
        listed = (at for at, replicas in self.incarnation.replica_lists.since(since) if self.broker not in replicas)
        later = self.incarnation.readings.within(since, None)
        read = (r.snapshot_at for r in later.where(lambda s: self.broker not in (s.replicas or (self.broker,))))
        return min((at for at in (next(listed, None), next(read, None)) if at is not None), default=None)

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
    return proof_if(was_back or outage.up_at <= shrink.incarnation.started_at)


def moved_after_its_return(shrink: Shrink) -> Proof | None:
    """The reassignment of the partition changed shortly before, after the outage, and no leader removed the broker."""
    outage = shrink.outage
    is_over = outage is not None and outage.up_at is not None and outage.up_at < shrink.at
    is_moved = shrink.proposal is None and shrink.just_before(shrink.incarnation.active_reassignments)
    return proof_if(is_over and is_moved)


def its_disk_failed(shrink: Shrink) -> Proof | None:
    """A log directory that may hold the partition failed shortly before, and the broker did not restart since."""
    partition = f"{shrink.change.topic}-{shrink.change.partition}"
    for failure in shrink.just_before(shrink.incarnation.context.disk_failures_by_time):
        named = on_failed_disk(failure)
        returns = [i.value.up_at for i in shrink.outages.between(failure.happened_at, shrink.at)]
        is_restarted = any(at and failure.happened_at < at <= shrink.at for at in returns)
        if shrink.broker in disk_owners(failure) and (not named or partition in named) and not is_restarted:
            return Proof((quote(failure),))
    return None


def lagged(shrink: Shrink) -> Proof | None:
    """The leader logged that it removes the broker because the broker lagged."""
    return proof_if(shrink.proposal, leader=shrink.proposal and shrink.proposal.broker)


def reassignment_changed(shrink: Shrink) -> Proof | None:
    """A controller logged at most a minute before that the partition's reassignment changed."""
    moves = shrink.just_before(shrink.incarnation.reassignments)
    return proof_if(moves, *map(quote, moves[-1:]))


def is_not_a_replica(shrink: Shrink) -> Proof | None:
    """A line or a reading, at most a minute later, shows that the broker is not a replica of the partition."""
    removed_at = shrink.replica_removed_at
    return proof_if(removed_at is not None and removed_at - shrink.at <= SHORTLY)


SHRINK_RULINGS: tuple[Ruling[Shrink], ...] = (
    Ruling(
        code=OutOfSyncKind.OUTAGE,
        confidence=Confidence.CERTAIN,
        sentence="Broker {broker} was away.",
        proof=(was_away,),
        unless=(lagged_after_its_return, moved_after_its_return),
        source="The controller removes a broker that it fences or that shuts down (ReplicationControlManager; with"
        " ZooKeeper ReplicaStateMachine), a leader one that does not fetch (Partition.isFollowerOutOfSync)",
        decides="crash-2.8 shop-events-2 broker 1 01:52:31.810",
        looks_alike="slow-4.1 email-89-reader-t-0 broker 1 15:36:56.383",
    ),
    Ruling(
        code=OutOfSyncKind.DISK,
        confidence=Confidence.LIKELY,
        sentence="A log directory of broker {broker} had failed.",
        proof=(its_disk_failed,),
        source="The controller removes the replicas in directories that a broker reports as failed"
        " (ReplicationControlManager.handleDirectoriesOffline; with ZooKeeper KafkaController)",
        decides="disk-3.9 disk-t-3 broker 2 11:58:05.839",
        looks_alike="disk-3.9 disk-t-3 broker 3 11:58:36.946",
    ),
    Ruling(
        code=OutOfSyncKind.SLOW,
        confidence=Confidence.LIKELY,
        sentence="Leader {leader} removed broker {broker}, which lagged.",
        proof=(lagged,),
        source="A leader removes a follower that has not reached its log end for replica.lag.time.max.ms"
        " (Partition.isFollowerOutOfSync)",
        decides="slow-4.1 email-89-reader-t-0 broker 1 15:36:56.383",
        looks_alike="crash-2.8 shop-events-2 broker 1 01:52:31.810",
    ),
    Ruling(
        code=OutOfSyncKind.REASSIGNMENT,
        confidence=Confidence.LIKELY,
        sentence="The reassignment of the partition changed, and broker {broker} left the ISR.",
        proof=(reassignment_changed,),
        source="At the end of a reassignment the controller removes the replicas that are not in the new list"
        " (PartitionReassignmentReplicas.maybeCompleteReassignment; with ZooKeeper KafkaController)",
        decides="cancelled-4.1 parcels.83-t-0 broker 1 15:35:14.780",
        looks_alike="cancelled-4.1 parcels.83-t-0 broker 1 15:36:13.214",
    ),
    Ruling(
        code=OutOfSyncKind.REASSIGNMENT,
        confidence=Confidence.LIKELY,
        sentence="Broker {broker} is not a replica of the partition any more.",
        proof=(is_not_a_replica,),
        source="An ISR holds replicas only (PartitionRegistration)",
        decides="made: the next list of replicas lacks the broker",
        looks_alike="preferred-2.8 shop-events-3 broker 2 01:53:08.842",
    ),
    Ruling(
        code=OutOfSyncKind.UNKNOWN,
        confidence=Confidence.UNKNOWN,
        sentence="No line shows why broker {broker} left the ISR.",
        proof=(always,),
        source="Brokers log a commit without its cause (Partition.maybeUpdateIsrAndVersion)",
        decides="preferred-2.8 shop-events-3 broker 2 01:53:08.842",
        looks_alike="crash-2.8 shop-events-2 broker 1 01:52:31.810",
    ),
)
"""An outage comes before lag: a broker that is away lags too. A proposal to remove the broker counts as lag only after
the outage, when the broker had been in the ISR again."""
