"""From one leadership of a partition to the next: gaps in the epochs, and why the leader changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial

from kafka_hindsight.catalog.codes import NOBODY, Confidence, FailoverKind, OutageKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, LeadershipGap, Quote
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, disk_owners, known_at, on_failed_disk
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, always, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling, Unknown
from kafka_hindsight.shared.durations import CLOCK_SKEW

_OF_ZOOKEEPER = (Kind.PARTITION_STATE_CHANGED, Kind.REPLICA_REMOVED_FROM_ISR, Kind.LEADER_AND_ISR_RECEIVED)

PREFERRED = ("PREFERRED", "electPreferred", "maybeBalancePartitionLeaders")
UNCLEAN = ("UNCLEAN", "electUnclean", "maybeElectUncleanLeaders")
"""What lines call elections of these types, and Kafka's own tasks that hold them."""


@dataclass(frozen=True)
class LeaderChange:
    """One change of leader of one partition, and what is known around it.

    `last_leader` is the last broker that led, also where no broker led in between; `isr_is_last` says that no commit
    lies between `isr_before` and the change.
    """

    incarnation: Incarnation
    before: Leadership
    after: Leadership
    at: datetime
    last_leader: int | None
    isr_before: tuple[int, ...] | None
    isr_is_last: bool
    context: ClusterContext

    @property
    def former(self) -> int:
        return self.before.leader

    @property
    def new(self) -> int:
        return self.after.leader

    @property
    def partition(self) -> str:
        """Topic and partition, as Kafka writes them."""
        return self.incarnation.name

    @property
    def eligible(self) -> set[int]:
        """The replicas that could lead without a loss: those of the last known ISR and of the ELR."""
        return {*(self.isr_before or ()), *self.before.elr}

    @cached_property
    def replicas(self) -> tuple[int, ...] | None:
        """The partition's replicas at that time, the preferred leader first."""
        return self.incarnation.replicas_at(self.at)

    @cached_property
    def outage(self) -> BrokerOutage | None:
        """The outage of the former leader in which the change happened."""
        if self.after.is_exact or self.before.at is None:
            return self.context.outage_at(self.former, self.at)
        return self.context.outage_of_leader(self.former, self.before.at, self.at)

    @cached_property
    def is_by_zookeeper(self) -> bool:
        """Whether a line of the partition is one that only controllers in ZooKeeper mode, and their brokers, print."""
        return any(e.kind in _OF_ZOOKEEPER for e in self.incarnation.events)

    def elections(self, reasons: Sequence[str]) -> list[Event]:
        """The lines in which a controller starts elections for these reasons, also of this partition.

        KRaft's periodic task names no partition.
        """
        near = self.context.elections.near(self.at, CLOCK_SKEW)
        is_in = (e for e in near if e.kind == Kind.PERIODIC_ELECTION or self.partition in (e.members or "").split(","))
        return [e for e in is_in if e.reason in reasons]


_HIDDEN_CHANGES = 2
"""A failover and a return, or one leader between two others, take two changes: a single rise hides nothing."""


def gap_between(
    before: Leadership, after: Leadership, at: datetime, incarnation: Incarnation, context: ClusterContext
) -> LeadershipGap | None:
    """The gap between two leaderships that follow each other as far as is known; None where there is none.

    `at` is the instant at which a witness saw the later one.
    Source: a leader epoch also rises without a change of leader: in ZooKeeper mode when the controller removes a
    replica from the ISR (ReplicaStateMachine.doRemoveReplicasFromIsr) and when replicas are reassigned
    (KafkaController.updateLeaderEpoch); in KRaft when replicas are (PartitionChangeBuilder.
    triggerLeaderEpochBumpForReplicaReassignmentIfNeeded) and, below metadata.version 3.6, with every shrink of the ISR
    (triggerLeaderEpochBumpForIsrShrinkIfNeeded, KAFKA-15021).
    """
    row = partial(_gap_row, incarnation, before, after, at)
    skipped = after.epoch - before.epoch - 1
    if after.step_quotes and skipped == 1:
        return row("one election in two steps of a new controller", after.step_quotes)
    if skipped == 0:
        # The epoch and its leader are known, only the instant is not.
        return row(None, after.quotes) if after.at is None and before.leader != after.leader else None
    rises = list(_rises_without_change(before, at, incarnation, context))
    if skipped + 1 - len(rises) < _HIDDEN_CHANGES:
        return row("; ".join(dict.fromkeys(reason for reason, _ in rises)), [q for _, q in rises])
    own_commits = _own_commits(before, after, incarnation)
    if own_commits:
        reason = "the leader itself committed all that changed in between, but for one change at most"
        return row(reason, map(quote, own_commits))
    return row(None, after.quotes)


def _rises_without_change(
    before: Leadership, at: datetime, incarnation: Incarnation, context: ClusterContext
) -> Iterator[tuple[str, Quote]]:
    """The reasons that raised the epoch once each without a change of leader, each with a line that proves it."""
    if before.at is None:
        return
    for move in incarnation.of_kind(Kind.REASSIGNMENT_CHANGED).between(before.at, at)[:1]:
        yield "its replicas were reassigned", quote(move)
    others = {*(incarnation.replicas_at(at) or ())} - {before.leader} if context.uses_zookeeper else set()
    for replica in others:
        outage = context.outage_between(replica, before.at, at)
        if outage and before.at <= outage.down_at:
            yield f"the controller took broker {replica}, which was away, out of the ISR", outage.evidence[0]


def _own_commits(before: Leadership, after: Leadership, incarnation: Incarnation) -> list[Event]:
    """The leader's own commits between two of its epochs, where they leave no room for two changes of leader.

    Each change of leader, and each commit of an ISR, raises the partition epoch by one.
    Source: PartitionRegistration.merge; ZooKeeper's version of the partition's state.
    """
    epochs = [(e.leader_epoch, e.partition_epoch) for e in incarnation.events if e.leader_epoch is not None]
    since = max((version for epoch, version in epochs if version is not None and epoch <= before.epoch), default=None)
    until = min((version for epoch, version in epochs if version is not None and epoch >= after.epoch), default=None)
    if since is None or until is None or before.leader == NOBODY or before.leader != after.leader:
        return []
    commits = (e for e in incarnation.of_kind(Kind.ISR_UPDATED) if e.broker == before.leader)
    own_commits = {e.partition_epoch: e for e in commits if since < (e.partition_epoch or 0) <= until}
    return list(own_commits.values()) if until - since - len(own_commits) < _HIDDEN_CHANGES else []


def hides_leaders(gap: LeadershipGap | None) -> bool:
    """Whether another broker may have led in a gap."""
    return gap is not None and gap.explained_by is None


def epochs_between(first: int, last: int) -> str:
    """The epochs between two that witnesses show, in words."""
    return f"leader epoch {first + 1}" if first + 2 == last else f"leader epochs {first + 1} to {last - 1}"


def _gap_row(
    incarnation: Incarnation,
    before: Leadership,
    after: Leadership,
    at: datetime,
    explained_by: str | None,
    quotes: Iterable[Quote],
) -> LeadershipGap:
    """A row of quality.leadership_gaps. `explained_by` is None where a change of leader may lie in it."""
    cluster, topic, partition = incarnation.key
    return LeadershipGap(
        cluster=cluster,
        topic=topic,
        partition=partition,
        topic_incarnation=incarnation.number,
        after_epoch=before.epoch,
        next_epoch=after.epoch,
        leader_before=before.leader,
        leader_after=after.leader,
        seen_at=at,
        explained_by=explained_by,
        explanation=_explanation(before, after, explained_by),
        evidence=evidence_of([*before.quotes[:1], *quotes, *after.quotes[:1]]),
    )


def _explanation(before: Leadership, after: Leadership, explained_by: str | None) -> str:
    first, then = (
        "the partition had no leader" if leader == NOBODY else f"broker {leader} led"
        for leader in (before.leader, after.leader)
    )
    if after.epoch == before.epoch + 1:
        return f"{then} after {first}, as a later line shows; when that began is not known."
    skipped = epochs_between(before.epoch, after.epoch)
    if before.leader == after.leader:
        leaders, hidden = f"{first} before and after {skipped}", "a failover and a return are possible"
    else:
        leaders, hidden = f"{first} before {skipped}, and {then} after", "more changes of leader are possible"
    return f"{leaders}; no line shows the leader in between: {explained_by or hidden}."


_SAME_LEADER = "leader=-2,"
"""How a record of KRaft writes that the leader stays."""

_RECOVERING = re.compile(r"(?:^|-> )RECOVERING\b")
_WITH_RECOVERY_STATE = (Kind.UNCLEAN_PARTITION_CHANGE, Kind.PARTITION_CHANGED, Kind.PARTITION_STATE_CHANGED)

_DISK_FAILED_BEFORE = timedelta(minutes=1)
_REASSIGNED_BEFORE = timedelta(minutes=5)


def disk_of_partition_failed(change: LeaderChange) -> Proof | None:
    """The former leader writes that the log directory which failed held the partition."""
    return _first_line(e for e in _failed_disks(change) if change.partition in on_failed_disk(e))


def some_disk_failed(change: LeaderChange) -> Proof | None:
    """A log directory of the former leader failed, and no line names the partitions that it held."""
    failures = _failed_disks(change)
    return None if any(map(on_failed_disk, failures)) else _first_line(failures)


def _failed_disks(change: LeaderChange) -> list[Event]:
    near = change.context.disk_failures.between(change.at - _DISK_FAILED_BEFORE, change.at + CLOCK_SKEW)
    own = [e for e in near if change.former in disk_owners(e)]
    if not own:
        return []
    # The former leader may have been started again since its disk failed, in a start that failed too, and lead.
    ends = [o.up_at for o in change.context.outages_of(change.former) if o.kind is not OutageKind.UNRESPONSIVE]
    returns = [at for at in ends if at and at <= change.at]
    return [e for e in own if not any(e.happened_at - CLOCK_SKEW <= at for at in returns)]


def directories_not_online(change: LeaderChange) -> Proof | None:
    """The controller was just given directories of replicas which their broker does not have online."""
    return _first_line(change.context.assignments.near(change.at, CLOCK_SKEW))


def another_broker_leads(change: LeaderChange) -> Proof | None:
    """The new leader is not the last broker that led."""
    if change.last_leader is None or change.new in (NOBODY, change.last_leader):
        return None
    return _in_outage(change.context.outage_at(change.last_leader, change.at))


def not_in_last_isr(change: LeaderChange) -> Proof | None:
    """The ISR just before the change is known, and the new leader was neither in it nor in the ELR."""
    return not_in_known_isr(change) if change.isr_is_last else None


def not_in_known_isr(change: LeaderChange) -> Proof | None:
    """An ISR before the change is known, and the new leader was neither in it nor in the ELR."""
    is_known = change.isr_before is not None
    return proof_if(is_known and change.new not in change.eligible, isr=sorted(change.isr_before or ()))


def isr_may_lack_leader(change: LeaderChange) -> Proof | None:
    """No evidence shows that the new leader was in the ISR just before the change, or in the ELR."""
    if change.new in change.eligible and (change.isr_before is None or change.isr_is_last):
        return None
    if change.isr_before is None:
        return Proof(words={"isr_coverage": "the ISR before is not known"})
    return Proof(
        words={"isr_coverage": f"the last ISR that is known, {sorted(change.isr_before)}, may have changed since"}
    )


def alone_in_isr(change: LeaderChange) -> Proof | None:
    """The new leader began alone in the ISR, as after each unclean election, or that ISR is not known."""
    return proof_if(change.after.isr is None or set(change.after.isr) == {change.new})


def marked_recovering(change: LeaderChange) -> Proof | None:
    """The controller or the new leader marks the partition as RECOVERING in the epoch of the change."""
    marks = [e for e in change.incarnation.events if _marks_recovering(e, change)]
    return proof_if(marks, *map(quote, marks[:2]))


def _marks_recovering(event: Event, change: LeaderChange) -> bool:
    if event.kind in _WITH_RECOVERY_STATE:
        return event.leader_epoch == change.after.epoch and _RECOVERING.search(event.detail or "") is not None
    is_of_leader = event.kind == Kind.PARTITION_RECOVERING and event.broker == change.new
    return is_of_leader and abs(event.happened_at - change.at) <= CLOCK_SKEW


def last_leader_was_away(change: LeaderChange) -> Proof | None:
    """The last broker that led was away."""
    outage = change.context.outage_at(change.last_leader, change.at)
    return _in_outage(outage) if outage else None


def moved_by_shutdown(change: LeaderChange) -> Proof | None:
    """The former leader's controlled shutdown moved the leader, as the controller had not released that broker yet."""
    outage = change.context.outage_at(change.former, change.at)
    if outage is None or outage.kind is not OutageKind.CONTROLLED_SHUTDOWN:
        return None
    return proof_if(change.at <= (outage.detected_at or outage.down_at + SHUTDOWN_LASTS) + CLOCK_SKEW)


def in_zookeeper_mode(change: LeaderChange) -> Proof | None:
    """The cluster's controllers are those of ZooKeeper mode, which mark nothing as RECOVERING."""
    return proof_if(change.is_by_zookeeper or change.context.uses_zookeeper)


def changed_in_zookeeper_mode(change: LeaderChange) -> Proof | None:
    """A controller in ZooKeeper mode changed the partition."""
    return proof_if(change.is_by_zookeeper)


def is_leaderless(change: LeaderChange) -> Proof | None:
    """The partition has no leader any more; less sure where no line names that epoch."""
    return proof_if(change.new == NOBODY, confidence=_most(change.after))


def was_leaderless(change: LeaderChange) -> Proof | None:
    """The partition had no leader before; less sure where no line names that epoch."""
    return proof_if(change.former == NOBODY, confidence=_most(change.before))


def _most(leadership: Leadership) -> Confidence:
    return Confidence.CERTAIN if leadership.is_shown else Confidence.LIKELY


def had_every_record(change: LeaderChange) -> Proof | None:
    """The new leader led last, or was in the last known ISR or in the ELR."""
    return proof_if(change.new == change.last_leader or change.new in change.eligible)


def former_leader_was_away(change: LeaderChange) -> Proof | None:
    """The former leader was away at that time."""
    return _in_outage(change.outage) if change.outage else None


def former_leader_gone(change: LeaderChange) -> Proof | None:
    """The former leader was away, or it stopped leading the partition."""
    outage = change.outage
    absence = f"was away ({outage.kind.replace('_', ' ')})" if outage else "stopped leading the partition"
    return _in_outage(outage) + Proof(words={"absence": absence})


def reassignment_changed_leader(change: LeaderChange) -> Proof | None:
    """A line of a reassignment names this leader epoch, or the leader that has to go.

    A controller of KRaft that starts repeats all reassignments: one of another epoch is another change.
    """
    is_next = change.after.epoch == change.before.epoch + 1
    return _first_line(e for e in _reassignments(change) if is_next and _moves_leader(e, change))


def _moves_leader(move: Event, change: LeaderChange) -> bool:
    if move.leader_epoch is None:
        return move.leader == change.former and abs(change.at - move.happened_at) <= CLOCK_SKEW
    return move.leader_epoch == change.after.epoch and _SAME_LEADER not in (move.detail or "")


def replicas_reassigned(change: LeaderChange) -> Proof | None:
    """The partition's replicas were reassigned in the five minutes before."""
    moves = [e for e in _reassignments(change) if e.leader_epoch in (None, change.before.epoch)]
    news = [e for e in moves if not _is_repeated(e, change)]
    return proof_if(news, *map(quote, news[-1:]))


def _is_repeated(move: Event, change: LeaderChange) -> bool:
    """Whether a controller that started printed a record again that another one, or it itself, had printed before."""
    earlier = change.incarnation.events_by_time.until(move.happened_at - CLOCK_SKEW)
    return move.detail is not None and any((e.kind, e.detail) == (move.kind, move.detail) for e in earlier)


def _reassignments(change: LeaderChange) -> Sequence[Event]:
    moves = change.incarnation.of_kind(Kind.REASSIGNMENT_CHANGED)
    return moves.between(change.at - _REASSIGNED_BEFORE, change.at + CLOCK_SKEW)


def _lost_in(kind: OutageKind, says: str) -> Predicate[LeaderChange]:
    """A predicate: the change happened in an outage of this kind."""

    def holds(change: LeaderChange) -> Proof | None:
        outage = change.outage
        if outage is None or outage.kind != kind or (change.at < known_at(outage) and _may_be_preferred(change)):
            return None
        return _in_outage(outage) + Proof(confidence=_confidence_in(outage, change))

    return with_sentence(says, holds)


former_leader_shut_down = _lost_in(
    OutageKind.CONTROLLED_SHUTDOWN, "The former leader had a controlled shutdown, and leaders moved at that time."
)
former_leader_unresponsive = _lost_in(
    OutageKind.UNRESPONSIVE, "The former leader was alive, and the controller did not hear it."
)
former_leader_crashed = _lost_in(
    OutageKind.CRASH, "The former leader crashed, and the controller had detected it as down."
)
former_leader_lost = _lost_in(OutageKind.UNKNOWN, "The former leader was down; the evidence does not show why.")


def _confidence_in(outage: BrokerOutage, change: LeaderChange) -> Confidence:
    """How sure an outage is the cause: no surer than its own verdict.

    Between two readings the leader may have changed more than once, and may have been away twice. A change just before
    the outage was known fits only within the tolerance of clocks. Where the return is not known, the broker may have
    been back by then.
    """
    most = Confidence.CERTAIN
    if not change.after.is_exact:
        since = outage.up_at + 2 * CLOCK_SKEW if outage.up_at else None
        second_outage = change.context.outage_between(change.former, since, change.at) if since else None
        is_next = change.after.epoch == change.before.epoch + 1
        most = Confidence.LIKELY if is_next and not second_outage else Confidence.POSSIBLE
    if (
        outage.up_at is None
        and change.at > outage.down_at + timedelta(milliseconds=outage.away_low_ms or 0) + CLOCK_SKEW
    ):
        most = most.at_most(Confidence.LIKELY)
    confidence = outage.confidence.at_most(most)
    if change.at < known_at(outage) and confidence == Confidence.CERTAIN:
        return Confidence.LIKELY if change.replicas else Confidence.POSSIBLE
    return confidence


def preferred_election_shown(change: LeaderChange) -> Proof | None:
    """A line of the controller shows a preferred election of this partition at that time."""
    elections = [*_named_preferred(change), *change.elections(PREFERRED)]
    return proof_if(elections and _may_be_preferred(change), *map(quote, elections[:2]))


def first_replica_leads(change: LeaderChange) -> Proof | None:
    """The new leader is the first replica of the partition."""
    return proof_if(change.new in (change.replicas or ())[:1])


def former_stays_in_isr(change: LeaderChange) -> Proof | None:
    """No ISR shows that the change took the former leader out of it: a preferred election takes no broker out."""
    # Source: PartitionChangeBuilder.electLeader, Election.leaderForPreferredReplica. A controlled shutdown takes the
    # former leader out in the same change, as does a broker that is lost.
    isr = change.after.isr
    return proof_if(isr is None or change.former in (None, NOBODY, *isr))


def controller_is_heard(change: LeaderChange) -> Proof | None:
    """A KRaft controller's log, or the metadata log, covers that time and shows no outage of the former leader."""
    # A controller in ZooKeeper mode would have named the election.
    is_heard = change.after.is_exact and change.context.shows_outages_at(change.at)
    return proof_if(is_heard and not change.context.uses_zookeeper)


def _may_be_preferred(change: LeaderChange) -> bool:
    """Whether the first replica leads, or a controller names the partition as it elects the preferred leader.

    The first replica may be a new one. Of an election that is requested, a controller in ZooKeeper mode prints only the
    start (KafkaController.onReplicaElection).
    """
    elections = [e for e in change.elections(PREFERRED) if e.kind != Kind.PERIODIC_ELECTION]
    is_first = first_replica_leads(change) and former_stays_in_isr(change)
    return bool(is_first or _named_preferred(change) or elections)


def _named_preferred(change: LeaderChange) -> list[Event]:
    """The lines of a controller in ZooKeeper mode that call the new leader the preferred one."""
    near = change.incarnation.of_kind(Kind.PREFERRED_ELECTION_COMPLETED).near(change.at, CLOCK_SKEW)
    return [e for e in near if e.leader == change.new]


def _in_outage(outage: BrokerOutage | None) -> Proof:
    return Proof(tuple(outage.evidence[:3]), facts={"outage_id": outage.outage_id}) if outage else Proof()


def _first_line(events: Iterable[Event]) -> Proof | None:
    first = next(iter(events), None)
    return Proof((quote(first),)) if first else None


_DISKS = (
    "ReplicaManager.handleLogDirFailure: a broker names the partitions of a failed directory and leads the others;"
    " without its metadata directory or its last one it ends. Controllers name only the broker."
)
_UNCLEAN = (
    "Since metadata.version 3.2 an unclean leader is marked RECOVERING, by the controller and by itself; the controller"
    " marks the last leader of a leaderless partition too, which has every record. Before 3.2, and in ZooKeeper mode,"
    " only the ISR shows it."
)
_REASSIGNED = (
    "ReplicationControlManager names the leader epoch of the change; KafkaController."
    "moveReassignedPartitionLeaderIfRequired names the leader that has to go."
)
_PREFERRED = (
    "KafkaController, PeriodicTaskControlManager: nothing else but a reassignment makes a healthy leader give way."
)
_OUTAGES = "gold.broker_outages; ReplicationControlManager.handleBrokerFenced, KafkaController.onBrokerFailure."

FAILOVER_RULINGS: tuple[Ruling[LeaderChange], ...] = (
    Certain(
        FailoverKind.LOG_DIR_FAILED,
        "The log directory of broker {former} that held the partition failed, so the broker could not lead it.",
        proof=(disk_of_partition_failed,),
        source=_DISKS,
        cases=("disk-4.3 disk-t-9 epoch 1", "disk-4.3 disk-t-9 epoch 2"),
    ),
    Likely(
        FailoverKind.LOG_DIR_FAILED,
        "A log directory of broker {former} failed; it probably held the partition, but no line names the partitions.",
        proof=(some_disk_failed,),
        source=_DISKS,
        cases=("made: only the controller reports the failed directory", "disk-4.3 disk-t-10 epoch 1"),
    ),
    Certain(
        FailoverKind.UNCLEAN_ELECTION,
        "Broker {new} was made leader although it was not in sync: the last ISR was {isr}, and the partition was marked"
        " RECOVERING. The records that broker {new} had not copied are lost.",
        proof=(another_broker_leads, not_in_last_isr, marked_recovering, alone_in_isr),
        source=_UNCLEAN,
        cases=("unclean-4.1 fraud-risky-19-0 epoch 1", "offline-4.1 crm-single-20-0 epoch 2"),
    ),
    Certain(
        FailoverKind.UNCLEAN_ELECTION,
        "Broker {new} was made leader although it was not in sync: the last ISR was {isr}. The records that broker"
        " {new} had not copied are lost.",
        proof=(another_broker_leads, not_in_last_isr, changed_in_zookeeper_mode, alone_in_isr),
        source=_UNCLEAN,
        cases=("unclean-2.8 ads-risky-18-0 epoch 3", "crash-2.8 shop-events-2 epoch 1"),
    ),
    Likely(
        FailoverKind.UNCLEAN_ELECTION,
        "The partition was marked RECOVERING when broker {new} was made leader; {isr_coverage}. The records that broker"
        " {new} had not copied are lost.",
        proof=(another_broker_leads, isr_may_lack_leader, marked_recovering, alone_in_isr),
        source=_UNCLEAN,
        cases=("made: no ISR is known", "offline-4.1 crm-single-20-0 epoch 2"),
    ),
    Possible(
        FailoverKind.UNCLEAN_ELECTION,
        "Broker {new} was made leader, and is not in the last ISR that is known, {isr}: it was not in sync, or it had"
        " caught up unseen. Where it was not, the records that it had not copied are lost.",
        proof=(another_broker_leads, last_leader_was_away, not_in_known_isr, in_zookeeper_mode, alone_in_isr),
        unless=(moved_by_shutdown,),
        source=f"{_UNCLEAN} The election for a broker that shuts down takes replicas of the ISR alone:"
        " ControlledShutdownLeaderSelector, from 1.1 on controlledShutdownPartitionLeaderElection.",
        cases=("made: an ISR of two epochs before in ZooKeeper mode", "unclean-2.8 ads-risky-18-0 epoch 3"),
    ),
    Possible(
        FailoverKind.OFFLINE,
        "The partition had no leader, and no outage of broker {former} is known: the deletion of the topic looks the"
        " same.",
        proof=(is_leaderless, changed_in_zookeeper_mode),
        unless=(former_leader_was_away,),
        source="TopicDeletionManager.onTopicDeletion sets the leaders of a topic to -1 on the way.",
        cases=("made: a leader of -1 in ZooKeeper mode", "offline-3.9 mobile-single-19-0 epoch 1"),
    ),
    Certain(
        FailoverKind.OFFLINE,
        "The partition had no leader: broker {former} {absence}, and no replica could take over.",
        proof=(is_leaderless, former_leader_gone),
        source="A leader of -1 in the metadata of the partition; gold.broker_outages.",
        cases=("offline-3.9 mobile-single-19-0 epoch 1", "disk-3.9 disk-single-4 epoch 1"),
    ),
    Certain(
        FailoverKind.LEADER_RESTORED,
        "Broker {new} leads the partition, which had no leader; broker {new} had every record.",
        proof=(was_leaderless, had_every_record),
        source="PartitionChangeBuilder.electLeader: the ISR, the ELR, and the last known leader.",
        cases=("offline-4.1 crm-single-20-0 epoch 2", "unclean-4.1 fraud-risky-19-0 epoch 1"),
    ),
    Possible(
        FailoverKind.LEADER_RESTORED,
        "Broker {new} leads the partition, which had no leader; whether broker {new} had every record is not known.",
        proof=(was_leaderless,),
        source="PartitionChangeBuilder.electLeader: the ISR, the ELR, and the last known leader.",
        cases=("made: another broker leads again, and no ISR is known", "offline-4.1 crm-single-20-0 epoch 2"),
    ),
    Certain(
        FailoverKind.REASSIGNMENT,
        "Leadership moved from broker {former} to broker {new} by a reassignment of the partition's replicas.",
        proof=(reassignment_changed_leader,),
        source=_REASSIGNED,
        cases=("reassignment-4.3 crm-6-tracker-t-0 epoch 1", "cancelled-4.1 parcels.83-t-0 epoch 4"),
    ),
    Likely(
        FailoverKind.REASSIGNMENT,
        "Leadership moved from broker {former} to broker {new} while the partition's replicas were reassigned.",
        proof=(replicas_reassigned,),
        unless=(preferred_election_shown, former_leader_was_away),
        source=_REASSIGNED,
        cases=("cancelled-4.1 parcels.83-t-0 epoch 2", "elections-3.9 search-34-sink-t-0 epoch 5"),
    ),
    Certain(
        FailoverKind.CONTROLLED_SHUTDOWN,
        "Leadership moved from broker {former} to broker {new}, because broker {former} had a controlled shutdown.",
        proof=(former_leader_shut_down,),
        source=_OUTAGES,
        cases=("metadata-4.3 orders-0 epoch 1", "metadata-4.3 orders-1 epoch 1"),
    ),
    Certain(
        FailoverKind.BROKER_UNRESPONSIVE,
        "Leadership moved from broker {former} to broker {new}, because the controller did not hear broker {former},"
        " which was alive.",
        proof=(former_leader_unresponsive,),
        source=_OUTAGES,
        cases=("pause-4.1 shop-events-5 epoch 5", "crash-2.8 shop-events-2 epoch 1"),
    ),
    Certain(
        FailoverKind.BROKER_CRASH,
        "Leadership moved from broker {former} to broker {new}, because broker {former} had crashed.",
        proof=(former_leader_crashed,),
        source=_OUTAGES,
        cases=("crash-2.8 shop-events-2 epoch 1", "pause-4.1 shop-events-5 epoch 5"),
    ),
    Unknown(
        FailoverKind.UNKNOWN,
        "Leadership moved from broker {former} to broker {new}, because broker {former} was down; the evidence does not"
        " show whether it was shut down, crashed or was unresponsive.",
        proof=(former_leader_lost,),
        source=_OUTAGES,
        cases=("made: an outage of unknown kind", "crash-2.8 shop-events-2 epoch 1"),
    ),
    Certain(
        FailoverKind.PREFERRED_ELECTION,
        "Leadership moved from broker {former} to broker {new}, the first replica, in a preferred election.",
        proof=(preferred_election_shown,),
        source=_PREFERRED,
        cases=("preferred-2.8 shop-events-3 epoch 5", "preferred-2.8 shop-events-3 epoch 3"),
    ),
    Unknown(
        FailoverKind.UNKNOWN,
        "Leadership moved from broker {former} to broker {new} as replicas were assigned to directories that their"
        " broker does not have online: a directory failed, or a second process used the broker's id.",
        proof=(directories_not_online,),
        source="ReplicationControlManager.handleAssignReplicasToDirs (KIP-858) takes such replicas out of the ISR",
        cases=("made: directories of another process are assigned", "preferred-2.8 shop-events-3 epoch 3"),
    ),
    Likely(
        FailoverKind.PREFERRED_ELECTION,
        "Leadership moved from broker {former}, which was alive, to broker {new}, the first replica: only a preferred"
        " election does that.",
        proof=(first_replica_leads, former_stays_in_isr, controller_is_heard),
        source=_PREFERRED,
        cases=("metadata-4.3 orders-0 epoch 3", "metadata-4.3 orders-0 epoch 2"),
    ),
    Possible(
        FailoverKind.PREFERRED_ELECTION,
        "Leadership moved from broker {former} to broker {new}, the first replica, in a preferred election or because"
        " broker {former} was away: no log of the controller shows which.",
        proof=(first_replica_leads, former_stays_in_isr),
        source=_PREFERRED,
        cases=("made: preferred-2.8 without the controllers' logs", "preferred-2.8 shop-events-3 epoch 5"),
    ),
    Unknown(
        FailoverKind.UNKNOWN,
        "Leadership moved from broker {former} to broker {new}; the evidence does not show why.",
        proof=(always,),
        source="Every change that no ruling above explains.",
        cases=("preferred-2.8 shop-events-3 epoch 3", "preferred-2.8 shop-events-3 epoch 5"),
    ),
)
