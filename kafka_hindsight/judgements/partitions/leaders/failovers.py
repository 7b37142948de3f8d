"""Changes of leaders: their kind and cause, whether an operator requested them, and the time without a leader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, pairwise

from kafka_hindsight.catalog.codes import NOBODY, Confidence, ElectionTrigger, FailoverKind, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, Failover, LeadershipGap, Quote
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, on_failed_disk
from kafka_hindsight.judgements.brokers.controllers import active_at
from kafka_hindsight.judgements.brokers.outages import CAUSED_BY
from kafka_hindsight.judgements.partitions.incarnations import Incarnation, Partition, incarnations_of
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import (
    FAILOVER_RULINGS,
    PREFERRED,
    UNCLEAN,
    Gap,
    LeaderChange,
    gap_between,
    gap_row,
)
from kafka_hindsight.judgements.partitions.leaderships import LEADERSHIP_KINDS, Leadership, leaderships_of
from kafka_hindsight.judgements.partitions.partition_readings import Readings
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, Commit, commits_of
from kafka_hindsight.judgements.partitions.replicas.losses import LOSS_KINDS, Loss, loss_of
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, one_after_another, span
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.proofs import Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Unknown, Verdict, judge
from kafka_hindsight.judgements.reasoning.timelines import NO_SLACK, Interval
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.clock_errors import apart
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, MS, NEVER
from kafka_hindsight.shared.windows import Window

_ONLY_LEADERS = ("leader_started", "isr_updated")
"""Kinds that a broker writes only of partitions that it leads."""

Span = Interval[None]


@dataclass(frozen=True)
class Leaderless:
    """The time without a leader: `best` as witnesses show it, `low` and `high` as the bounds that they allow.

    None: not shown, not bounded.
    """

    best: Span | None = None
    low: Span | None = None
    high: Span | None = None

    def by_clocks(self, apart: timedelta) -> Leaderless:
        """The bounds alone, farther apart by the error of the clocks of its ends; unchanged where the clocks agree."""
        if not apart:
            return self
        error = apart + CLOCK_SKEW
        low, high = self.low or self.best, self.high or self.best
        return Leaderless(
            low=low and _between(low.start + error, low.end), high=high and _between(high.start - error, high.end)
        )


def length(span: Span | None) -> timedelta | None:
    """How long a span is; None for none, and for one without an end."""
    return None if span is None or span.end is None else span.end - span.start


@dataclass(frozen=True)
class _Loss:
    """The loss of the last leader.

    `at`: the instant as shown; `by`: the first proof that it led no more; `led_until`: the last that it led, or lived.
    """

    at: datetime | None
    by: datetime | None
    led_until: datetime | None


def leaderless_of(change: LeaderChange) -> Leaderless:
    """How long the partition had no leader before a change that gave it one.

    The instant at which a leader crashed or fell silent is unknown: it lies between its own last line and the first
    failure to reach it, or its detection as down. A leader that was cut off may have served the clients that it still
    reached. Where they are known, low <= best <= high.
    """
    if change.new == NOBODY or change.last_leader is None:
        return Leaderless()
    loss = _loss_of(change)
    starts = (e for e in change.incarnation.events if e.kind == "leader_started" and e.broker == change.new)
    started_at = next((e.happened_at for e in starts if e.leader_epoch == change.after.epoch), None)
    best = _between(loss.at, started_at or (change.at if change.after.is_exact else None))
    low = _between(loss.by, started_at)
    high = _between(
        loss.led_until, started_at or _first_leading_at(change.incarnation.events_by_time.since(change.at), change.new)
    )
    if best is None:
        return Leaderless(None, low, high)
    return Leaderless(
        best,
        low and min(low, best, key=lambda s: length(s) or NO_SLACK),
        high and max(high, best, key=lambda s: length(s) or NO_SLACK),
    )


def until_led_again(
    change: LeaderChange, own: Leaderless, following: LeaderChange | None, after: Leaderless
) -> Leaderless:
    """How long the partition had no leader after a change that took it: until the following change gave it one.

    `own` and `after` are the results of `leaderless_of` for both changes. Where epochs between them are not known, no
    proof bounds the second, and the time is bounded by the last proof that the last leader led.
    """
    if change.new != NOBODY:
        return own
    led_until = _loss_of(change).led_until or change.before.at
    return Leaderless(None, after.low, after.high or _between(led_until, following.at if following else None))


def without_leader(
    start_change: LeaderChange, end_change: LeaderChange | None, leaderless: Leaderless, value: Reason
) -> BoundedInterval[Reason]:
    """The time without a leader, from the change that took the leader to the one that gave the next.

    These are mostly one change; `end_change` is None where none gave a leader. The proven part lies within, even where
    clocks differ.
    """
    if end_change is None:
        loss, apart = _loss_of(start_change), _clocks_apart(start_change)
        error = apart + CLOCK_SKEW if apart else NO_SLACK
        by = min(at for at in (loss.by, start_change.at) if at)
        start = min(at for at in (loss.at, by) if at)
        since = min(loss.led_until, start) - error if loss.led_until else None
        return BoundedInterval(start, None, span(by + error, None), span(since, None), value)
    best, low, high = leaderless.best, leaderless.low, leaderless.high
    end = next((span.end for span in (best, low) if span and span.end), end_change.at)
    first = best.start if best else start_change.at if start_change is not end_change else None
    start = min(at for at in (first, low.start if low else None, end) if at)
    return BoundedInterval(start, end, low, high, value)


def _between(start: datetime | None, end: datetime | None) -> Span | None:
    """A span, never of less than nothing: the clocks of two brokers may differ a little."""
    return Interval(min(start, end), end, None) if start and end else None


def _first_leading_at(events: Iterable[Event], broker: int | None) -> datetime | None:
    """The instant of the first line of a broker that only leaders write."""
    return next((e.happened_at for e in events if e.kind in _ONLY_LEADERS and e.broker == broker), None)


def _loss_of(change: LeaderChange) -> _Loss:
    stopped_at = _stopped_at(change)
    outage = change.context.outage_at(change.last_leader, change.at)
    if outage is None and change.former == NOBODY and change.before.at:
        outage = change.context.outage_at(change.last_leader, change.before.at)
    sudden_outage = None if outage and outage.kind == OutageKind.CONTROLLED_SHUTDOWN else outage
    led_until = stopped_at if stopped_at and not sudden_outage else _last_leading_at(change, outage)
    # The first proof that the last leader led no more: its own line, its detection as down, or its process's end.
    ended_at = sudden_outage.unreachable_at if sudden_outage and sudden_outage.kind == OutageKind.CRASH else None
    by = min((at for at in (ended_at, sudden_outage and sudden_outage.detected_at, stopped_at) if at), default=None)
    return _Loss(sudden_outage.down_at if sudden_outage else stopped_at, by, led_until)


def _last_leading_at(change: LeaderChange, outage: BrokerOutage | None) -> datetime | None:
    """The last proof that the last leader led, or lived, before the partition lost it.

    Where it leads again after its return, its lines from then on show nothing of the time before.
    """
    lost_at = change.before.at if change.former == NOBODY else change.at
    until = change.incarnation.events_by_time.until(lost_at or change.at)
    led_at = _first_leading_at(reversed(until), change.last_leader)
    heard_at = outage.last_heard_at if outage else None
    return max((at for at in (led_at, heard_at) if at), default=None)


def _stopped_at(change: LeaderChange) -> datetime | None:
    """The instant at which the last leader wrote that it leads no more: it follows in a later epoch, or lost its disk.

    One that was away writes it after its return, when others have long shown the partition without a leader.
    """
    since = change.before.at - CLOCK_SKEW if change.before.at else LONG_AGO
    failures = change.context.disk_failures.between(since, change.at + CLOCK_SKEW)
    since_epoch = change.before.epoch - (change.former == NOBODY) + 1
    follows = (e for e in change.incarnation.events if e.kind == "follower_started" and e.leader_epoch is not None)
    lines = [e for e in follows if since_epoch <= (e.leader_epoch or 0) <= change.after.epoch]
    lines += [e for e in failures if change.partition in on_failed_disk(e)]
    stopped_at = min((e.happened_at for e in lines if e.broker == change.last_leader), default=None)
    lost_at = change.before.at if change.former == NOBODY else None
    return lost_at if stopped_at and lost_at and stopped_at - lost_at > CLOCK_SKEW else stopped_at


_ENDED = (OutageKind.CRASH, OutageKind.CONTROLLED_SHUTDOWN, OutageKind.FAILED_START)
"""Absences in which a broker's process had ended. One that the controller did not hear can have served all the time."""


@dataclass(frozen=True)
class JudgedChange:
    """A change of leader, how long the partition had no leader before it, and its row of gold.failovers."""

    change: LeaderChange
    leaderless: Leaderless
    row: Failover


@dataclass(frozen=True)
class Reason:
    """Why a partition could not be used. `failover_id` is None where no change of leader shows it."""

    failover_id: str | None
    outage_id: str | None
    explanation: str
    confidence: Confidence
    quotes: Sequence[Quote]


def _by_changes(start_row: Failover, *end_rows: Failover) -> Reason:
    """The reason by the change that took the leader, and the one that gave the next, if any."""
    quotes = [q for change in (start_row, *end_rows) for q in change.evidence]
    return Reason(start_row.failover_id, start_row.outage_id, start_row.explanation, start_row.confidence, quotes)


def known_leaders(
    incarnation: Incarnation, leaderships: Sequence[Leadership], gaps: Sequence[Gap | None]
) -> list[Interval[int]]:
    """The leaders of a partition, each with the time in which no other broker can have led.

    `gaps`: what is missing between each leadership and the next. Before a gap that may hide another leader one is known
    up to the last ISR committed in its epoch.
    """
    leaders = []
    for now, after, gap in zip(leaderships, [*leaderships[1:], None], [*gaps, None], strict=False):
        if now.leader == NOBODY or now.at is None:
            continue
        end = after.at if after else incarnation.gone_at
        if (gap is not None and gap.hides_leaders) or (after is not None and after.at is None):
            commits = commits_of(e for e in incarnation.events if e.kind in ISR_KINDS)
            end = max((c.at for c in commits if c.leader_epoch == now.epoch), default=now.at)
        if end is None or end > now.at:
            leaders.append(Interval(now.at, end, now.leader))
    return leaders


def leader_losses(
    incarnation: Incarnation, leaders: Sequence[Interval[int]], judged: Sequence[JudgedChange], context: ClusterContext
) -> Iterator[BoundedInterval[Reason]]:
    """The times in which a partition had no leader: from the loss of one to the next, for any reason.

    `leaders`: its known leaders; `judged`: its changes of leader, in order. No interval lasts beyond the incarnation.
    """
    away = chain.from_iterable(_while_away(incarnation, span, judged, context) for span in leaders)
    losses, gone_at = chain(_before_changes(judged), away), incarnation.gone_at
    return (i.within(None, gone_at) for i in losses if gone_at is None or i.start <= gone_at)


def _before_changes(judged: Sequence[JudgedChange]) -> Iterator[BoundedInterval[Reason]]:
    """Before each change that gave a leader, where anything proves it; after the last one that gave none."""
    for before, now, after in zip([None, *judged], judged, [*judged[1:], None], strict=False):
        loss = before if before and before.change.new == NOBODY else now
        if now.change.new != NOBODY and (loss is not now or now.leaderless != Leaderless()):
            leaderless = replace(loss.leaderless, best=now.leaderless.best)
            yield without_leader(loss.change, now.change, leaderless, _by_changes(loss.row, now.row))
        elif now.change.new == NOBODY and after is None:
            yield without_leader(now.change, None, now.leaderless, _by_changes(now.row))


def _while_away(
    incarnation: Incarnation, leader: Interval[int], judged: Sequence[JudgedChange], context: ClusterContext
) -> Iterator[BoundedInterval[Reason]]:
    """While the leader was away and no other took over: it led again later, or every replica was away when logs end.

    No line shows it where no controller was there to take the leadership from it, as where all brokers stop: in
    ZooKeeper mode the last one is the controller.
    """
    for outage in context.outages_of(leader.value):
        if outage.kind in _ENDED and leader.start <= outage.down_at < (leader.end or NEVER):
            since = outage.up_at and incarnation.events_by_time.since(outage.up_at - CLOCK_SKEW)
            end = _first_leading_at(since or (), leader.value)
            replicas = incarnation.replicas_at(outage.down_at) or ()
            are_all_away = replicas and all(any(o.up_at is None for o in context.outages_of(r)) for r in replicas)
            is_shown = end or (outage.up_at is None and are_all_away)
            if is_shown and not _has_moved(judged, outage, end):
                yield _absence(outage, end)


def _absence(outage: BrokerOutage, end: datetime | None) -> BoundedInterval[Reason]:
    """A time without a leader from the begin of its absence on, with the bounds of that."""
    start = outage.down_at if end is None else min(outage.down_at, end)
    by, since = outage.unreachable_at or outage.detected_at, start if end is None else None
    if end and outage.away_low_ms is not None:
        by = max(start, end - outage.away_low_ms * MS)
    if end and outage.away_high_ms is not None:
        since = min(start, end - outage.away_high_ms * MS)
    sentence = f"Broker {outage.broker}, its leader, {CAUSED_BY[outage.kind]}, and no other broker took over."
    loss = Reason(None, outage.outage_id, sentence, outage.confidence, outage.evidence)
    return BoundedInterval(start, end, span(by, end), span(since, end), loss)


def _has_moved(judged: Sequence[JudgedChange], outage: BrokerOutage, end: datetime | None) -> bool:
    """Whether the broker lost its leadership from the begin of its absence on, up to when it led again."""
    since = outage.down_at - CLOCK_SKEW
    changes = (j.change for j in judged if j.change.last_leader == outage.broker)
    return any(since <= change.at and (end is None or change.at <= end + CLOCK_SKEW) for change in changes)


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
    def election_lines(self) -> list[Event]:
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
    requests = [e for e in case.election_lines if e.detail in _BY_OPERATOR]
    return proof_if(requests, *map(quote, requests[:1]))


def named_as_own(case: TriggeredChange) -> Proof | None:
    """A line shows the election and its trigger, which is not a request of an operator's tool."""
    own_lines = [e for e in case.election_lines if e.detail or e.kind == Kind.PERIODIC_ELECTION]
    return proof_if(own_lines, *map(quote, own_lines[:1]))


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
    starts = (abs(at - e.since) <= CLOCK_SKEW for e in case.change.context.controller_epochs)
    return proof_if(any(starts))


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
    """Rows of gold.failovers and of quality.leadership_gaps; the known leaders, and the times without a leader."""

    failovers: list[Failover]
    gaps: list[LeadershipGap]
    leaders: defaultdict[Partition, list[Interval[int]]]
    leaderless: defaultdict[Partition, list[BoundedInterval[Reason]]]


def rebuild_leaders(
    events: Iterable[Event], readings: Readings, context: ClusterContext, window: Window
) -> LeaderHistory:
    """One row for each partition and leader epoch where the leader really changed, and one for each gap, in order.

    Within one incarnation of a partition, the leader of one row is the leader that the next one comes from, or a gap
    leads to its epoch. Each epoch that a row skips is marked by a gap. Epochs and instants do not fall. A line that is
    printed again, by another broker or after a start, adds no row. A creation is not a failover. `events` are
    silver.events of at least FAILOVER_KINDS and topic_deleted, of whole topics, with look-back.
    """
    history = LeaderHistory([], [], defaultdict(list), defaultdict(list))
    for incarnation in incarnations_of(events, readings, FAILOVER_KINDS, context.controller_epochs):
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
        leaders = known_leaders(incarnation, leaderships, [gap for _, gap in steps])
        history.leaders[incarnation.key] += leaders
        history.leaderless[incarnation.key] += leader_losses(incarnation, leaders, judged, context)
    history.leaderless.update({key: [*one_after_another(losses)] for key, losses in history.leaderless.items()})
    return history


def _leaderless(changes: Sequence[LeaderChange]) -> list[Leaderless]:
    """How long each change left no leader. Where it took the leader away, the next change bounds that."""
    bounds, errors = [*map(leaderless_of, changes)], [*map(_clocks_apart, changes)]
    following = zip([*changes[1:], None], [*bounds[1:], Leaderless()], strict=False)
    with_bounds = (until_led_again(c, own, *after) for c, own, after in zip(changes, bounds, following, strict=False))
    both = zip(changes, errors, [*errors[1:], NO_SLACK], strict=False)
    widest = (max(error, later) if change.new == NOBODY else error for change, error, later in both)
    return [own.by_clocks(error) for own, error in zip(with_bounds, widest, strict=True)]


def _clocks_apart(change: LeaderChange) -> timedelta:
    """By how much the clocks may differ that time a change: those of both leaders and of the controller."""
    controller = active_at(change.context.controller_epochs, change.at)
    return apart(change.context.clocks, (change.new, change.last_leader, controller), change.at)


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
    """The instant by which a leadership without one had begun: that of the next one, else of its own line."""
    last: datetime = steps[0][1].quotes[0].happened_at
    return next((at for before, after in steps if (at := _happened_at(before, after, context))), last)


def _happened_at(before: Leadership, after: Leadership, context: ClusterContext) -> datetime | None:
    """The instant at which a witness saw it; without one, that at which the former leader was detected as down."""
    if after.at is None or after.is_exact or before.at is None:
        return after.at
    outage = context.outage_of_leader(before.leader, before.at, after.at)
    detected_at = outage.detected_at if outage else None
    return detected_at if detected_at and before.at <= detected_at <= after.at else after.at


def _shows_commits(leadership: Leadership, incarnation: Incarnation, until: datetime, context: ClusterContext) -> bool:
    """Whether the leader's own logs are at hand up to the change: they show when it began to lead, and its commits."""
    starts = (e for e in incarnation.events if e.kind == "leader_started" and e.broker == leadership.leader)
    start = next((e for e in starts if e.leader_epoch == leadership.epoch), None)
    if start is None:
        return False
    outage = context.outage_between(leadership.leader, start.happened_at, until)
    ended_at = min(until, outage.last_heard_at or until) if outage else until
    return context.has_log_between(leadership.leader, start.happened_at, ended_at)


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
        leaderless_ms=_ms(length(leaderless.best)),
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
