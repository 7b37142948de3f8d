"""What lies between one leadership of a partition and the next: a change of leader, or a gap in the epochs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import BrokerOutage, Event, LeadershipGap, Quote
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote
from kafka_hindsight.shared.durations import CLOCK_SKEW

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
        """The leader before the change."""
        return self.before.leader

    @property
    def new(self) -> int:
        """The leader after the change."""
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
        return self.context.outage_between(self.former, self.before.at, self.at)

    @cached_property
    def is_by_zookeeper(self) -> bool:
        """Whether a line of the partition is one that only controllers in ZooKeeper mode print."""
        return any(e.kind in ("partition_state_changed", "replica_removed_from_isr") for e in self.incarnation.events)

    def nearby(self, kind: str) -> list[Event]:
        """The partition's events of a kind at that time, as far as the clocks of two brokers may differ."""
        return [e for e in self.incarnation.events_by_time.near(self.at, CLOCK_SKEW) if e.kind == kind]

    def elections(self, reasons: Sequence[str]) -> list[Event]:
        """The lines of a controller that starts elections for these reasons, this partition's among them. KRaft's
        periodic task names no partition.
        """
        near = self.context.elections_by_time.near(self.at, CLOCK_SKEW)
        is_in = (e for e in near if e.kind == "periodic_election" or self.partition in (e.members or "").split(","))
        return [e for e in is_in if e.reason in reasons]


_HIDDEN_CHANGES = 2
"""A failover and a return, or one leader between two others, take two changes: a single rise hides nothing."""


@dataclass(frozen=True)
class Gap:
    """A gap between two leaderships. `explained_by` is None where a change of leader may lie in it."""

    before: Leadership
    after: Leadership
    at: datetime
    explained_by: str | None
    quotes: tuple[Quote, ...]

    @property
    def hides_leaders(self) -> bool:
        """Whether another broker may have led in it."""
        return self.explained_by is None

    @property
    def skipped(self) -> str:
        """The epochs that no witness shows, in words."""
        first, last = self.before.epoch + 1, self.after.epoch - 1
        return f"leader epoch {first}" if first == last else f"leader epochs {first} to {last}"


def gap_between(
    before: Leadership, after: Leadership, at: datetime, incarnation: Incarnation, context: ClusterContext
) -> Gap | None:
    """The gap between two leaderships that follow each other as far as is known; None where there is none.

    Takes: `at`, when the later one was seen.
    Source: a leader epoch also rises without a change of leader: in ZooKeeper mode when the controller removes a
    replica from the ISR (ReplicaStateMachine.doRemoveReplicasFromIsr) and when replicas are reassigned
    (KafkaController.updateLeaderEpoch); in KRaft when replicas are (PartitionChangeBuilder.
    triggerLeaderEpochBumpForReplicaReassignmentIfNeeded) and, below metadata.version 3.6, with every shrink of the ISR
    (triggerLeaderEpochBumpForIsrShrinkIfNeeded, KAFKA-15021).
    """
    skipped = after.epoch - before.epoch - 1
    if after.step_quotes and skipped == 1:
        return Gap(before, after, at, "one election in two steps of a new controller", after.step_quotes)
    if skipped == 0:
        # The epoch and its leader are known, only the instant is not.
        is_lost = after.at is None and before.leader != after.leader
        return Gap(before, after, at, None, after.quotes) if is_lost else None
    raised = list(_raised_without_change(before, at, incarnation, context))
    if skipped + 1 - len(raised) < _HIDDEN_CHANGES:
        reasons = "; ".join(dict.fromkeys(reason for reason, _ in raised))
        return Gap(before, after, at, reasons, tuple(q for _, q in raised))
    own = _own_commits(before, after, incarnation)
    if own:
        reason = "the leader itself committed all that changed in between, but for one change at most"
        return Gap(before, after, at, reason, tuple(map(quote, own)))
    return Gap(before, after, at, None, after.quotes)


def _raised_without_change(
    before: Leadership, at: datetime, incarnation: Incarnation, context: ClusterContext
) -> Iterator[tuple[str, Quote]]:
    """What raised the epoch once each, and left the leader as it was: why, and a line that proves it."""
    if before.at is None:
        return
    between = incarnation.events_by_time.between(before.at, at)
    moved = next((e for e in between if e.kind == "reassignment_changed"), None)
    if moved:
        yield "its replicas were reassigned", quote(moved)
    others = {*(incarnation.replicas_at(at) or ())} - {before.leader} if context.uses_zookeeper else set()
    for replica in others:
        outage = context.outage_between(replica, before.at, at)
        if outage and before.at <= outage.down_at:
            yield f"the controller took broker {replica}, which was away, out of the ISR", outage.evidence[0]


def _own_commits(before: Leadership, after: Leadership, incarnation: Incarnation) -> list[Event]:
    """The leader's own commits between two of its epochs, where they leave no room for two changes of leader.

    Edge case: each change of leader, and each commit of an ISR, raises the partition epoch by one.
    Source: PartitionRegistration.merge; ZooKeeper's version of the partition's state.
    """
    known = [(e.leader_epoch, e.partition_epoch) for e in incarnation.events if e.leader_epoch is not None]
    since = max((version for epoch, version in known if version is not None and epoch <= before.epoch), default=None)
    until = min((version for epoch, version in known if version is not None and epoch >= after.epoch), default=None)
    if since is None or until is None or before.leader == NOBODY or before.leader != after.leader:
        return []
    committed = (e for e in incarnation.events if e.kind == "isr_updated" and e.broker == before.leader)
    own = {e.partition_epoch: e for e in committed if since < (e.partition_epoch or 0) <= until}
    return list(own.values()) if until - since - len(own) < _HIDDEN_CHANGES else []


def gap_row(incarnation: Incarnation, gap: Gap) -> LeadershipGap:
    """A row of quality.leadership_gaps."""
    cluster, topic, partition = incarnation.key
    return LeadershipGap(
        cluster=cluster,
        topic=topic,
        partition=partition,
        topic_incarnation=incarnation.number,
        after_epoch=gap.before.epoch,
        next_epoch=gap.after.epoch,
        leader_before=gap.before.leader,
        leader_after=gap.after.leader,
        seen_at=gap.at,
        explained_by=gap.explained_by,
        explanation=_explanation(gap),
        evidence=evidence_of([*gap.before.quotes[:1], *gap.quotes, *gap.after.quotes[:1]]),
    )


def _explanation(gap: Gap) -> str:
    before, after = _leader(gap.before), _leader(gap.after)
    if gap.after.epoch == gap.before.epoch + 1:
        return f"{after} after {before}, as a later line shows; when that began is not known."
    if gap.before.leader == gap.after.leader:
        leaders, hidden = f"{before} before and after {gap.skipped}", "a failover and a return are possible"
    else:
        leaders, hidden = f"{before} before {gap.skipped}, and {after} after", "more changes of leader are possible"
    return f"{leaders}; no line shows the leader in between: {gap.explained_by or hidden}."


def _leader(leadership: Leadership) -> str:
    return "the partition had no leader" if leadership.leader == NOBODY else f"broker {leadership.leader} led"
