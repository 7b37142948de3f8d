"""When partitions had no leader, and who led them before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from kafka_hindsight.catalog.codes import NOBODY, Confidence, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Quote
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.brokers.outages import CAUSED_BY
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaders.leader_change import LeaderChange
from kafka_hindsight.judgements.partitions.leaders.leaderless import Leaderless, led_again_at, without_leader
from kafka_hindsight.judgements.partitions.leaders.leadership_gaps import Gap
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, commits_of
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, one_after_another, span
from kafka_hindsight.judgements.reasoning.timelines import Interval
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS, NEVER

_ENDED = (OutageKind.CRASH, OutageKind.CONTROLLED_SHUTDOWN, OutageKind.FAILED_START)
"""Absences in which a broker's process had ended. One that the controller did not hear can have served all the time."""


@dataclass(frozen=True)
class JudgedChange:
    """A change of leader, how long the partition had no leader before it, and its row of gold.failovers."""

    change: LeaderChange
    leaderless: Leaderless
    row: Failover


@dataclass(frozen=True)
class LeaderLoss:
    """Why a partition had no leader. `failover_id` is None where no change of leader shows it."""

    failover_id: str | None
    outage_id: str | None
    explanation: str
    confidence: Confidence
    quotes: Sequence[Quote]


def _by_changes(taken: Failover, *led: Failover) -> LeaderLoss:
    """Takes: the change that took the leader; the one that gave the next, if any."""
    quotes = [q for change in (taken, *led) for q in change.evidence]
    return LeaderLoss(taken.failover_id, taken.outage_id, taken.explanation, taken.confidence, quotes)


def _by_outage(outage: BrokerOutage) -> LeaderLoss:
    sentence = f"Broker {outage.broker}, its leader, {CAUSED_BY[outage.kind]}, and no other broker took over."
    return LeaderLoss(None, outage.outage_id, sentence, outage.confidence, outage.evidence)


def known_leaders(
    incarnation: Incarnation,
    leaderships: Sequence[Leadership],
    gaps: Sequence[Gap | None],
    gone_at: datetime | None,
) -> list[Interval[int]]:
    """Who led a partition, from when to when, where no other broker can have led in between.

    Args:
        incarnation: One incarnation of the partition.
        leaderships: Its leaderships.
        gaps: What is missing between each of them and the next.
        gone_at: When the incarnation was over; None while it is there.

    Returns:
        The broker of each in order of time. Before a gap that may hide another leader it is known up to the last
        ISR that was committed in its epoch.
    """
    leaders = []
    for now, after, gap in zip(leaderships, [*leaderships[1:], None], [*gaps, None], strict=False):
        if now.leader == NOBODY or now.at is None:
            continue
        is_hidden = (gap is not None and gap.hides_leaders) or (after is not None and after.at is None)
        end = _last_committed_at(incarnation, now) if is_hidden else after.at if after else gone_at
        if end is None or end > now.at:
            leaders.append(Interval(now.at, end, now.leader))
    return leaders


def _last_committed_at(incarnation: Incarnation, leadership: Leadership) -> datetime | None:
    commits = commits_of(e for e in incarnation.events if e.kind in ISR_KINDS)
    return max((c.at for c in commits if c.leader_epoch == leadership.epoch), default=leadership.at)


def leader_losses(
    incarnation: Incarnation,
    led: Sequence[Interval[int]],
    judged: Sequence[JudgedChange],
    gone_at: datetime | None,
    context: ClusterContext,
) -> Iterator[BoundedInterval[LeaderLoss]]:
    """When a partition had no leader: from the loss of one to the next, whatever the reason.

    Args:
        incarnation: One incarnation of the partition.
        led: Who led it.
        judged: Its changes of leader, in order.
        gone_at: When the incarnation was over.
        context: The outages of brokers.

    Returns:
        The intervals in order of time. They do not overlap, and end with the incarnation.
    """
    away = chain.from_iterable(_while_away(incarnation, span, judged, context) for span in led)
    losses = one_after_another([*_before_changes(judged), *away])
    return losses if gone_at is None else (i.over_by(gone_at) for i in losses)


def _before_changes(judged: Sequence[JudgedChange]) -> Iterator[BoundedInterval[LeaderLoss]]:
    """Before each change that gave a leader, where anything proves it; after the last one that gave none."""
    for before, now, after in zip([None, *judged], judged, [*judged[1:], None], strict=False):
        loss = before if before and before.change.new == NOBODY else now
        if now.change.new != NOBODY and (loss is not now or now.leaderless != Leaderless()):
            leaderless = replace(now.leaderless, high=now.leaderless.high or loss.leaderless.high)
            yield without_leader(loss.change, now.change, leaderless, _by_changes(loss.row, now.row))
        elif now.change.new == NOBODY and after is None:
            yield without_leader(now.change, None, now.leaderless, _by_changes(now.row))


def _while_away(
    incarnation: Incarnation, led: Interval[int], judged: Sequence[JudgedChange], context: ClusterContext
) -> Iterator[BoundedInterval[LeaderLoss]]:
    """While the leader was away and no other took over: it led again later, or every replica was away when logs end.

    No line shows it where no controller was there to take the leadership from it, as where all brokers stop: in
    ZooKeeper mode the last one is the controller.
    """
    for outage in context.outages_of(led.value):
        if outage.kind in _ENDED and led.start <= outage.down_at < (led.end or NEVER):
            end = led_again_at(incarnation, led.value, outage.up_at) if outage.up_at else None
            is_shown = end or (outage.up_at is None and _all_away(incarnation, outage, context))
            if is_shown and not _has_moved(judged, outage, end):
                yield _absence(outage, end)


def _absence(outage: BrokerOutage, end: datetime | None) -> BoundedInterval[LeaderLoss]:
    """A time without a leader from the begin of its absence on, with the bounds of that."""
    start = outage.down_at if end is None else min(outage.down_at, end)
    by, since = outage.unreachable_at or outage.detected_at, start if end is None else None
    if end and outage.away_low_ms is not None:
        by = max(start, end - outage.away_low_ms * MS)
    if end and outage.away_high_ms is not None:
        since = min(start, end - outage.away_high_ms * MS)
    return BoundedInterval(start, end, span(by, end), span(since, end), _by_outage(outage))


def _has_moved(judged: Sequence[JudgedChange], outage: BrokerOutage, end: datetime | None) -> bool:
    """Whether the broker lost its leadership from the begin of its absence on, up to when it led again."""
    since = outage.down_at - CLOCK_SKEW
    own = (j.change for j in judged if j.change.last_leader == outage.broker)
    return any(since <= change.at and (end is None or change.at <= end + CLOCK_SKEW) for change in own)


def _all_away(incarnation: Incarnation, outage: BrokerOutage, context: ClusterContext) -> bool:
    """Whether none of the partition's brokers came back."""
    replicas = incarnation.replicas_at(outage.down_at) or ()
    return bool(replicas) and all(any(o.up_at is None for o in context.outages_of(r)) for r in replicas)
