"""Changes of leaders: what happened to each partition, why, who requested it, and what it cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY, Confidence, ElectionTrigger, FailoverKind
from kafka_hindsight.catalog.rows import Event, Failover, LeadershipGap
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Incarnation, Partition, deletions_of, incarnations_of
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import (
    FAILOVER_RULINGS,
    PREFERRED,
    UNCLEAN,
    Gap,
    LeaderChange,
    gap_between,
    gap_row,
)
from kafka_hindsight.judgements.partitions.leaders.leaderless import (
    JudgedChange,
    Leaderless,
    Reason,
    known_leaders,
    leader_losses,
    leaderless_of,
    length,
    until_led_again,
)
from kafka_hindsight.judgements.partitions.leaderships import LEADERSHIP_KINDS, Leadership, leaderships_of
from kafka_hindsight.judgements.partitions.readings import Readings
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, Commit, commits_of
from kafka_hindsight.judgements.partitions.replicas.losses import LOSS_KINDS, Loss, loss_of
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.proofs import Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Unknown, Verdict, judge
from kafka_hindsight.judgements.reasoning.timelines import Interval
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS
from kafka_hindsight.shared.windows import Window

_BY_OPERATOR = ("AdminClientTriggered", "ZkTriggered")
_REASONS = {
    FailoverKind.REASSIGNMENT: (),
    FailoverKind.PREFERRED_ELECTION: PREFERRED,
    FailoverKind.UNCLEAN_ELECTION: UNCLEAN,
}
"""The kinds of changes that can be requested, each with what lines call its elections."""

_REQUESTED = {ElectionTrigger.OPERATOR: True, ElectionTrigger.KAFKA: False}


@dataclass(frozen=True)
class TriggeredChange:
    """A change of leader that an operator can request, with its kind."""

    kind: FailoverKind
    change: LeaderChange

    @property
    def named(self) -> list[Event]:
        """The lines that start such an election at that time, this partition's among them."""
        return self.change.elections(_REASONS[self.kind])


def requested_by_operator(kind: FailoverKind, change: LeaderChange) -> bool | None:
    """Whether a person or a tool requested the change; None where it is not known, or cannot be requested."""
    if kind not in _REASONS:
        return None
    return _REQUESTED.get(ElectionTrigger(judge(ELECTION_TRIGGER_RULINGS, TriggeredChange(kind, change)).code))


def is_reassignment(case: TriggeredChange) -> Proof | None:
    """The leader changed by a reassignment."""
    return proof_if(case.kind == FailoverKind.REASSIGNMENT)


def named_as_requested(case: TriggeredChange) -> Proof | None:
    """A line that starts the election names a request of an operator's tool."""
    requested = [e for e in case.named if e.detail in _BY_OPERATOR]
    return proof_if(requested, *map(quote, requested[:1]))


def named_as_own(case: TriggeredChange) -> Proof | None:
    """A line shows the election and its trigger, which is not a request of an operator's tool."""
    own = [e for e in case.named if e.detail or e.kind == Kind.PERIODIC_ELECTION]
    return proof_if(own, *map(quote, own[:1]))


def is_unclean(case: TriggeredChange) -> Proof | None:
    """The election is unclean."""
    return proof_if(case.kind == FailoverKind.UNCLEAN_ELECTION)


def last_leader_just_detected_as_down(case: TriggeredChange) -> Proof | None:
    """The controller had just detected the last leader as down."""
    change = case.change
    outage = change.context.outage_at(change.last_leader, change.at)
    detected_at = outage.detected_at if outage else None
    return proof_if(detected_at and abs(change.at - detected_at) <= CLOCK_SKEW)


def controller_log_at_hand(case: TriggeredChange) -> Proof | None:
    """The log of the active controller covers the time of the change, which a line shows as it happened."""
    change = case.change
    return proof_if(change.after.is_exact and change.context.has_controller_log_at(change.at))


def in_zookeeper_mode(case: TriggeredChange) -> Proof | None:
    """The controllers are those of ZooKeeper mode."""
    return proof_if(case.change.context.uses_zookeeper)


def own_task_reported(case: TriggeredChange) -> Proof | None:
    """Controllers report what Kafka's own task for these elections does."""
    return proof_if(case.change.context.reported_tasks.intersection(_REASONS[case.kind]))


def controller_just_changed(case: TriggeredChange) -> Proof | None:
    """A controller became active at that time: it commits what a task of the former one elected."""
    at = case.change.at
    begun = (abs(at - e.since) <= CLOCK_SKEW for e in case.change.context.controller_epochs)
    return proof_if(any(begun))


_ZOOKEEPER = (
    "KafkaController.onReplicaElection names the trigger of each election; an unclean election that no request"
    " triggers is not printed."
)
_KRAFT = (
    "ReplicationControlManager.electLeaders, generateLeaderAndIsrUpdates; QuorumController."
    "maybeScheduleNextBalancePartitionLeaders. Since 3.9 a controller reports the elections of its own tasks, and"
    " prints nothing for those that are requested."
)

ELECTION_TRIGGER_RULINGS: tuple[Ruling[TriggeredChange], ...] = (
    Certain(
        ElectionTrigger.OPERATOR,
        "The reassignment was requested: no task of Kafka's own reassigns replicas.",
        proof=[is_reassignment],
        source="KIP-455: only AlterPartitionReassignments reassigns replicas.",
        cases=("reassignment-4.3 crm-6-tracker-t-0 epoch 1", "cancelled-4.1 parcels.83-t-0 epoch 4"),
    ),
    Certain(
        ElectionTrigger.OPERATOR,
        "An operator's tool requested the election, as the line that starts it shows.",
        proof=[named_as_requested],
        source=_ZOOKEEPER,
        cases=("reordered-2.8 billing.46-t-0 epoch 2", "elections-3.9 search-34-sink-t-0 epoch 9"),
    ),
    Certain(
        ElectionTrigger.KAFKA,
        "A task of Kafka's own made the election, as a line of the controller shows.",
        proof=[named_as_own],
        source=_KRAFT,
        cases=("cancelled-4.1 parcels.83-t-0 epoch 4", "reordered-2.8 billing.46-t-0 epoch 2"),
    ),
    Likely(
        ElectionTrigger.KAFKA,
        "The controller elected an unclean leader at once when it detected the last leader as down.",
        proof=[is_unclean, last_leader_just_detected_as_down],
        source="unclean.leader.election.enable: ReplicationControlManager.handleBrokerFenced.",
        cases=("unclean-4.1 fraud-risky-19-0 epoch 1", "cancelled-4.1 parcels.83-t-0 epoch 4"),
    ),
    Likely(
        ElectionTrigger.KAFKA,
        "The controller elected an unclean leader by itself: in ZooKeeper mode it names every request.",
        proof=[is_unclean, in_zookeeper_mode, controller_log_at_hand],
        source=_ZOOKEEPER,
        cases=("made: unclean-2.8, when the last leader had been down for long", "unclean-2.8 ads-risky-18-0 epoch 3"),
    ),
    Likely(
        ElectionTrigger.OPERATOR,
        "The election was requested: the controller reports the elections of Kafka's own tasks, and not this one.",
        proof=[controller_log_at_hand, own_task_reported],
        unless=[in_zookeeper_mode, controller_just_changed],
        source=_KRAFT,
        cases=("night-4.1 shop-events-1 epoch 2", "cancelled-4.1 parcels.83-t-0 epoch 4"),
    ),
    Unknown(
        ElectionTrigger.UNKNOWN,
        "The evidence does not show whether the election was requested.",
        proof=[always],
        source="Every election that no ruling above explains.",
        cases=("metadata-4.3 orders-0 epoch 3", "night-4.1 shop-events-1 epoch 2"),
    ),
)


_CAUSE_KINDS = ("partition_recovering", "preferred_election_completed", "reassignment_changed")
FAILOVER_KINDS = frozenset((*LEADERSHIP_KINDS, *ISR_KINDS, *LOSS_KINDS, *_CAUSE_KINDS))

_Step = tuple[Leadership, Leadership]


@dataclass(frozen=True)
class LeaderHistory:
    """Rows of gold.failovers and of quality.leadership_gaps; who is known to have led, and when no broker led."""

    failovers: list[Failover]
    gaps: list[LeadershipGap]
    leaders: defaultdict[Partition, list[Interval[int]]]
    leaderless: defaultdict[Partition, list[BoundedInterval[Reason]]]


def rebuild_leaders(
    events: Iterable[Event], readings: Readings, context: ClusterContext, window: Window
) -> LeaderHistory:
    """One row for each partition and leader epoch where the leader really changed, and one for each gap, in order.

    Takes: silver.events of at least FAILOVER_KINDS and topic_deleted, of any number of whole topics, with look-back.
    Keeps: within one incarnation of a partition, the leader of one row is the leader that the next one comes from, or a
    gap leads to its epoch; each epoch that a row skips is marked by a gap; epochs and instants do not fall; a line
    that is printed again, by another broker or after a start, adds no row; a creation is not a failover.
    """
    history = LeaderHistory([], [], defaultdict(list), defaultdict(list))
    lines = list(events)
    deleted = deletions_of(lines, context.controller_epochs)
    lives = incarnations_of(lines, readings, FAILOVER_KINDS, context.controller_epochs)
    for incarnation, following in zip(lives, [*lives[1:], None], strict=False):
        leaderships = leaderships_of(incarnation, context)
        steps = list(leader_changes_of(incarnation, leaderships, context))
        history.gaps.extend(gap_row(incarnation, gap) for _, gap in steps if gap and window.holds(gap.at))
        changes = [(change, gap) for change, gap in steps if change is not None]
        judged = [
            JudgedChange(change, leaderless, _row(change, gap, leaderless))
            for (change, gap), leaderless in zip(changes, _leaderless([c for c, _ in changes]), strict=True)
            if window.holds(change.at)
        ]
        history.failovers.extend(j.row for j in judged)
        gone_at = _gone_at(incarnation, following, deleted[incarnation.key[:2]])
        led = known_leaders(incarnation, leaderships, [gap for _, gap in steps], gone_at)
        history.leaders[incarnation.key] += led
        history.leaderless[incarnation.key] += leader_losses(incarnation, led, judged, gone_at, context)
    return history


def _gone_at(incarnation: Incarnation, following: Incarnation | None, deleted: Sequence[datetime]) -> datetime | None:
    """When the partition was there no more: its topic was deleted, or its next incarnation had begun."""
    start = incarnation.events[0].happened_at if incarnation.events else None
    ends = [at for at in deleted if start is None or at > start]
    if following and following.key == incarnation.key:
        ends += [following.events[0].happened_at]
    return min(ends, default=None)


def _leaderless(changes: Sequence[LeaderChange]) -> list[Leaderless]:
    """How long each change left no leader. Where it took the leader away, the next change bounds that."""
    bounds = [leaderless_of(change) for change in changes]
    following = zip([*changes[1:], None], [*bounds[1:], Leaderless()], strict=False)
    bounded = (until_led_again(c, own, *after) for c, own, after in zip(changes, bounds, following, strict=False))
    return [own.by_clocks(change.context.clocks_apart) for change, own in zip(changes, bounded, strict=True)]


def leader_changes_of(
    incarnation: Incarnation, leaderships: Sequence[Leadership], context: ClusterContext
) -> Iterator[tuple[LeaderChange | None, Gap | None]]:
    """Each step from one leadership of a partition to the next: a change of leader, a gap in the epochs, or both."""
    commits = commits_of(e for e in incarnation.events if e.kind in ISR_KINDS)
    last_leader: int | None = None
    steps = list(pairwise(leaderships))
    for i, (before, after) in enumerate(steps):
        last_leader = last_leader if before.leader == NOBODY else before.leader
        at = _happened_at(before, after, context)
        gap = gap_between(before, after, at or _shown_by(steps[i:], context), incarnation, context)
        if before.leader == after.leader or at is None:
            yield None, gap
            continue
        isr, is_last = _isr_before(after, at, commits, _shows_commits(before, incarnation, at, context))
        yield LeaderChange(incarnation, before, after, at, last_leader, isr, is_last, context), gap
        last_leader = None if gap and gap.hides_leaders else last_leader


def _shown_by(steps: Sequence[_Step], context: ClusterContext) -> datetime:
    """By when a leadership without an instant had begun: by the next one that has one, else by its own line."""
    last: datetime = steps[0][1].quotes[0].happened_at
    return next((at for before, after in steps if (at := _happened_at(before, after, context))), last)


def _happened_at(before: Leadership, after: Leadership, context: ClusterContext) -> datetime | None:
    """When a witness saw it; where only later lines show it, when the former leader was detected as down."""
    if after.at is None or after.is_exact or before.at is None:
        return after.at
    outage = context.outage_between(before.leader, before.at, after.at)
    detected_at = outage.detected_at if outage else None
    return detected_at if detected_at and before.at <= detected_at <= after.at else after.at


def _shows_commits(leadership: Leadership, incarnation: Incarnation, until: datetime, context: ClusterContext) -> bool:
    """Whether the leader's own logs are at hand up to the change: they show when it began to lead, and its commits."""
    own = (e for e in incarnation.events if e.kind == "leader_started" and e.broker == leadership.leader)
    started = next((e for e in own if e.leader_epoch == leadership.epoch), None)
    if started is None:
        return False
    outage = context.outage_between(leadership.leader, started.happened_at, until)
    ended_at = min(until, outage.last_heard_at or until) if outage else until
    return context.has_log_between(leadership.leader, started.happened_at, ended_at)


def _isr_before(
    after: Leadership, at: datetime, commits: Sequence[Commit], shows_commits: bool
) -> tuple[tuple[int, ...] | None, bool]:
    """The last ISR known before a leadership, and whether no other lies between.

    `shows_commits`: whether the former leader's log does; where no line names a version, nothing else proves it.
    """
    i = next((i for i, c in enumerate(commits) if c.leader_epoch is not None and c.leader_epoch >= after.epoch), None)
    if i is None:
        earlier = [c for c in commits if c.at < at]
        return (earlier[-1].isr, False) if earlier else (None, False)
    if i == 0:
        return None, False
    before, now = commits[i - 1], commits[i]
    if before.version is not None and now.version is not None:
        return before.isr, now.version == before.version + 1 and now.leader_epoch == after.epoch
    return before.isr, shows_commits and before.leader_epoch == after.epoch - 1


def _row(change: LeaderChange, gap: Gap | None, leaderless: Leaderless) -> Failover:
    cluster, topic, partition = change.incarnation.key
    number = change.incarnation.number
    verdict = _beside(gap, judge(FAILOVER_RULINGS, change))
    kind = FailoverKind(verdict.code)
    loss: Loss | None = None
    if kind == FailoverKind.UNCLEAN_ELECTION and change.last_leader is not None:
        events, readings = change.incarnation.events, list(change.incarnation.readings)
        loss = loss_of(change.after, change.last_leader, change.isr_before or (), events, readings)
    replicas, isr_after = change.replicas, change.after.isr
    return Failover(
        cluster=cluster,
        failover_id=row_id(cluster, "failover", topic, partition, change.after.epoch, *((number,) if number else ())),
        topic=topic,
        partition=partition,
        happened_at=change.at,
        leader_from=change.former,
        leader_to=change.new,
        epoch_from=change.before.epoch,
        epoch_to=change.after.epoch,
        topic_incarnation=number,
        kind=kind,
        requested_by_operator=requested_by_operator(kind, change),
        leaderless_ms=_ms(length(leaderless.shown)),
        leaderless_low_ms=_ms(length(leaderless.low)),
        leaderless_high_ms=_ms(length(leaderless.high)),
        preferred_leader=replicas[0] if replicas else None,
        isr_before=sorted(change.isr_before) if change.isr_before is not None else None,
        isr_after=sorted(isr_after) if isr_after is not None else None,
        records_lost_low=loss.low if loss else None,
        records_lost_high=loss.high if loss else None,
        outage_id=verdict.facts.get("outage_id"),
        confidence=verdict.confidence,
        explanation=f"{verdict.sentence} Records lost: {loss.says}." if loss else verdict.sentence,
        evidence=evidence_of([*change.after.quotes, *verdict.evidence, *(loss.quotes if loss else ())]),
    )


def _ms(length: timedelta | None) -> int | None:
    return None if length is None else length // MS


def _beside(gap: Gap | None, verdict: Verdict) -> Verdict:
    """A verdict on a change, less sure where the gap before it may hide another change."""
    if gap is None or not gap.hides_leaders:
        return verdict
    # Another broker may have led last; that no broker leads now is right all the same.
    most = Confidence.LIKELY if verdict.code == FailoverKind.OFFLINE else Confidence.POSSIBLE
    sentence = f"{verdict.sentence} The leader in {gap.skipped} is not known: no line shows it."
    return replace(verdict, sentence=sentence, confidence=verdict.confidence.at_most(most))
