"""How long a partition had no leader: as shown, or bounded by what witnesses prove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from kafka_hindsight.catalog.codes import NOBODY, Confidence, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, Failover, Quote
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, on_failed_disk
from kafka_hindsight.judgements.brokers.outages import CAUSED_BY
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import Gap, LeaderChange
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, commits_of
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, one_after_another, span
from kafka_hindsight.judgements.reasoning.timelines import NO_SLACK, Interval
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, MS, NEVER

_ONLY_LEADERS = ("leader_started", "isr_updated")
"""Kinds that a broker writes only of partitions that it leads."""

Span = Interval[None]


@dataclass(frozen=True)
class Leaderless:
    """From when to when it was, as witnesses show it, and the least and the most that they allow.

    None: not shown, not bounded.
    """

    shown: Span | None = None
    low: Span | None = None
    high: Span | None = None

    def by_clocks(self, apart: timedelta) -> Leaderless:
        """What is left of it where its ends were read from clocks that are known to differ: bounds, as much wider."""
        if not apart:
            return self
        error = apart + CLOCK_SKEW
        low, high = self.low or self.shown, self.high or self.shown
        return Leaderless(
            low=low and _between(low.start + error, low.end), high=high and _between(high.start - error, high.end)
        )


def length(span: Span | None) -> timedelta | None:
    """How long a span is; None for none, and for one without an end."""
    return None if span is None or span.end is None else span.end - span.start


@dataclass(frozen=True)
class _Loss:
    """When the last leader was lost: as shown, the first proof that it led no more, the last that it led, or lived."""

    at: datetime | None
    by: datetime | None
    led_until: datetime | None


def leaderless_of(change: LeaderChange) -> Leaderless:
    """How long the partition had no leader before a change that gave it one.

    Keeps: low <= shown <= high, where they are known.
    Edge case: the instant at which a leader crashed or fell silent is unknown: it lies between its own last line and
    the first failure to reach it, or its detection as down. A leader that was cut off may have served the clients that
    it still reached.
    """
    if change.new == NOBODY or change.last_leader is None:
        return Leaderless()
    loss = _loss_of(change)
    own = (e for e in change.incarnation.events if e.kind == "leader_started" and e.broker == change.new)
    started_at = next((e.happened_at for e in own if e.leader_epoch == change.after.epoch), None)
    shown = _between(loss.at, started_at or (change.at if change.after.is_exact else None))
    low = _between(loss.by, started_at)
    high = _between(
        loss.led_until, started_at or _first_led(change.incarnation.events_by_time.since(change.at), change.new)
    )
    if shown is None:
        return Leaderless(None, low, high)
    return Leaderless(
        shown,
        low and min(low, shown, key=lambda s: length(s) or NO_SLACK),
        high and max(high, shown, key=lambda s: length(s) or NO_SLACK),
    )


def until_led_again(
    change: LeaderChange, own: Leaderless, following: LeaderChange | None, after: Leaderless
) -> Leaderless:
    """How long it was after a change that took the leader away: until the following change gave it one.

    `own` and `after` are what `leaderless_of` gives of both changes. Where epochs between them are not known, no proof
    bounds the second, and the time is bounded by the last proof that the last leader led.
    """
    if change.new != NOBODY:
        return own
    led_until = _loss_of(change).led_until or change.before.at
    return Leaderless(None, after.low, after.high or _between(led_until, following.at if following else None))


def without_leader(
    taken: LeaderChange, led: LeaderChange | None, leaderless: Leaderless, value: Reason
) -> BoundedInterval[Reason]:
    """From when to when the partition had no leader: from the change that took it to the one that gave it the next.

    These are mostly one change; `led` is None where none gave it a leader.
    """
    if led is None:
        loss, apart = _loss_of(taken), taken.context.clocks_apart
        error = apart + CLOCK_SKEW if apart else NO_SLACK
        by = min(at for at in (loss.by, taken.at) if at)
        start = min(at for at in (loss.at, by) if at)
        since = min(loss.led_until, start) - error if loss.led_until else None
        return BoundedInterval(start, None, span(by + error, None), span(since, None), value)
    shown, low, high = leaderless.shown, leaderless.low, leaderless.high
    end = shown.end if shown and shown.end else led.at
    starts = (shown.start if shown else None, taken.at if taken is not led else None, low.start if low else None, end)
    return BoundedInterval(min(next(at for at in starts if at), end), end, low, high, value)


def _between(start: datetime | None, end: datetime | None) -> Span | None:
    """A span, never of less than nothing: the clocks of two brokers may differ a little."""
    return Interval(min(start, end), end, None) if start and end else None


def _first_led(events: Iterable[Event], broker: int | None) -> datetime | None:
    """When a broker first wrote what only leaders write."""
    return next((e.happened_at for e in events if e.kind in _ONLY_LEADERS and e.broker == broker), None)


def _loss_of(change: LeaderChange) -> _Loss:
    stopped_at = _stopped_at(change)
    outage = change.context.outage_at(change.last_leader, change.at)
    if outage is None and change.former == NOBODY and change.before.at:
        outage = change.context.outage_at(change.last_leader, change.before.at)
    sudden = None if outage and outage.kind == OutageKind.CONTROLLED_SHUTDOWN else outage
    led_until = stopped_at if stopped_at and not sudden else _last_led(change, outage)
    # The first proof that the last leader led no more: its own line, its detection as down, or its process's end.
    ended_at = sudden.unreachable_at if sudden and sudden.kind == OutageKind.CRASH else None
    by = min((at for at in (ended_at, sudden and sudden.detected_at, stopped_at) if at), default=None)
    return _Loss(sudden.down_at if sudden else stopped_at, by, led_until)


def _last_led(change: LeaderChange, outage: BrokerOutage | None) -> datetime | None:
    """The last proof that the last leader led, or lived, before the partition lost it.

    Edge case: where it leads again after its return, its own lines of then show nothing of the time before.
    """
    lost_at = change.before.at if change.former == NOBODY else change.at
    until = change.incarnation.events_by_time.until(lost_at or change.at)
    led_at = _first_led(reversed(until), change.last_leader)
    heard_at = outage.last_heard_at if outage else None
    return max((at for at in (led_at, heard_at) if at), default=None)


def _stopped_at(change: LeaderChange) -> datetime | None:
    """When the last leader wrote that it leads no more: as a follower in a later epoch, or because its disk failed.

    Edge case: one that was away writes it after its return, when others have long shown the partition without a leader.
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


def _by_changes(taken: Failover, *led: Failover) -> Reason:
    """Takes: the change that took the leader; the one that gave the next, if any."""
    quotes = [q for change in (taken, *led) for q in change.evidence]
    return Reason(taken.failover_id, taken.outage_id, taken.explanation, taken.confidence, quotes)


def known_leaders(
    incarnation: Incarnation,
    leaderships: Sequence[Leadership],
    gaps: Sequence[Gap | None],
    gone_at: datetime | None,
) -> list[Interval[int]]:
    """Who led a partition, from when to when, where no other broker can have led in between.

    `gaps`: what is missing between each leadership and the next; `gone_at`: when the incarnation was over, None while
    it is there. Before a gap that may hide another leader one is known up to the last ISR committed in its epoch.
    """
    leaders = []
    for now, after, gap in zip(leaderships, [*leaderships[1:], None], [*gaps, None], strict=False):
        if now.leader == NOBODY or now.at is None:
            continue
        end = after.at if after else gone_at
        if (gap is not None and gap.hides_leaders) or (after is not None and after.at is None):
            commits = commits_of(e for e in incarnation.events if e.kind in ISR_KINDS)
            end = max((c.at for c in commits if c.leader_epoch == now.epoch), default=now.at)
        if end is None or end > now.at:
            leaders.append(Interval(now.at, end, now.leader))
    return leaders


def leader_losses(
    incarnation: Incarnation,
    led: Sequence[Interval[int]],
    judged: Sequence[JudgedChange],
    gone_at: datetime | None,
    context: ClusterContext,
) -> Iterator[BoundedInterval[Reason]]:
    """When a partition had no leader: from the loss of one to the next, whatever the reason, in order of time.

    `led`: who led it; `judged`: its changes of leader, in order. No interval lasts beyond `gone_at`.
    """
    away = chain.from_iterable(_while_away(incarnation, span, judged, context) for span in led)
    losses = one_after_another([*_before_changes(judged), *away])
    return losses if gone_at is None else (i.within(None, gone_at) for i in losses)


def _before_changes(judged: Sequence[JudgedChange]) -> Iterator[BoundedInterval[Reason]]:
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
) -> Iterator[BoundedInterval[Reason]]:
    """While the leader was away and no other took over: it led again later, or every replica was away when logs end.

    No line shows it where no controller was there to take the leadership from it, as where all brokers stop: in
    ZooKeeper mode the last one is the controller.
    """
    for outage in context.outages_of(led.value):
        if outage.kind in _ENDED and led.start <= outage.down_at < (led.end or NEVER):
            since = outage.up_at and incarnation.events_by_time.since(outage.up_at - CLOCK_SKEW)
            end = _first_led(since or (), led.value)
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
    own = (j.change for j in judged if j.change.last_leader == outage.broker)
    return any(since <= change.at and (end is None or change.at <= end + CLOCK_SKEW) for change in own)
