"""How long a partition had no leader: as shown, or bounded by what witnesses prove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from kafka_hindsight.catalog.codes import NOBODY, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.judgements.brokers.cluster_context import on_failed_disk
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaders.leader_change import LeaderChange
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, span
from kafka_hindsight.judgements.reasoning.timelines import NO_SLACK, Interval
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO

_ONLY_LEADERS = ("leader_started", "isr_updated")
"""Kinds that a broker writes only of partitions that it leads."""

Span = Interval[None]
T = TypeVar("T")


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
    loss, started_at = _loss_of(change), _started_at(change)
    shown = _between(loss.at, started_at or (change.at if change.after.is_exact else None))
    low = _between(loss.by, started_at)
    high = _between(loss.led_until, started_at or _proved_at(change))
    return Leaderless(None, low, high) if shown is None else _around(shown, low, high)


def until_led_again(
    change: LeaderChange, own: Leaderless, following: LeaderChange | None, after: Leaderless
) -> Leaderless:
    """How long it was after a change that took the leader away: until the following change gave it one.

    Takes: what `leaderless_of` gives of both changes. Where epochs between them are not known, no proof bounds the
    second, and the time is bounded by the last proof that the last leader led.
    """
    if change.new != NOBODY:
        return own
    led_until = _loss_of(change).led_until or change.before.at
    return Leaderless(None, after.low, after.high or _between(led_until, following.at if following else None))


def without_leader(
    taken: LeaderChange, led: LeaderChange | None, leaderless: Leaderless, value: T
) -> BoundedInterval[T]:
    """From when to when the partition had no leader.

    Takes: the change that took its leader; the one that gave it the next, mostly the same one, None where none did;
    how long it was.
    """
    if led is None:
        return _still_without_leader(taken, value)
    shown, low, high = leaderless.shown, leaderless.low, leaderless.high
    end = shown.end if shown and shown.end else led.at
    starts = (shown.start if shown else None, taken.at if taken is not led else None, low.start if low else None, end)
    return BoundedInterval(min(next(at for at in starts if at), end), end, low, high, value)


def _still_without_leader(taken: LeaderChange, value: T) -> BoundedInterval[T]:
    loss, apart = _loss_of(taken), taken.context.clocks_apart
    error = apart + CLOCK_SKEW if apart else NO_SLACK
    by = min(at for at in (loss.by, taken.at) if at)
    start = min(at for at in (loss.at, by) if at)
    since = min(loss.led_until, start) - error if loss.led_until else None
    return BoundedInterval(start, None, span(by + error, None), span(since, None), value)


def _around(shown: Span, low: Span | None, high: Span | None) -> Leaderless:
    """What is shown, with bounds that hold it."""
    return Leaderless(
        shown,
        low and min(low, shown, key=_length),
        high and max(high, shown, key=_length),
    )


def _length(span: Span) -> timedelta:
    return length(span) or NO_SLACK


def _between(start: datetime | None, end: datetime | None) -> Span | None:
    """A span, never of less than nothing: the clocks of two brokers may differ a little."""
    return Interval(min(start, end), end, None) if start and end else None


def _first(events: Iterable[Event]) -> datetime | None:
    return next((e.happened_at for e in events), None)


def _outage_of(change: LeaderChange) -> BrokerOutage | None:
    """The outage of the last leader in which the change happened, or the loss of leadership before it."""
    outage = change.context.outage_at(change.last_leader, change.at)
    if outage is None and change.former == NOBODY and change.before.at:
        outage = change.context.outage_at(change.last_leader, change.before.at)
    return outage


def _loss_of(change: LeaderChange) -> _Loss:
    outage, stopped_at = _outage_of(change), _stopped_at(change)
    sudden = None if outage and outage.kind == OutageKind.CONTROLLED_SHUTDOWN else outage
    led_until = stopped_at if stopped_at and not sudden else _last_led(change, outage)
    return _Loss(sudden.down_at if sudden else stopped_at, _down_by(sudden, stopped_at), led_until)


def _down_by(sudden: BrokerOutage | None, stopped_at: datetime | None) -> datetime | None:
    """The first proof that the last leader led no more: its own line, its detection as down, or its process's end."""
    ended_at = sudden.unreachable_at if sudden and sudden.kind == OutageKind.CRASH else None
    detected_at = sudden.detected_at if sudden else None
    return min((at for at in (ended_at, detected_at, stopped_at) if at), default=None)


def _last_led(change: LeaderChange, outage: BrokerOutage | None) -> datetime | None:
    """The last proof that the last leader led, or lived, before the partition lost it.

    Edge case: where it leads again after its return, its own lines of then show nothing of the time before.
    """
    lost_at = change.before.at if change.former == NOBODY else change.at
    until = change.incarnation.events_by_time.until(lost_at or change.at)
    led_at = _first(e for e in reversed(until) if _leads(e, change.last_leader))
    heard_at = outage.last_heard_at if outage else None
    return max((at for at in (led_at, heard_at) if at), default=None)


def _leads(event: Event, broker: int | None) -> bool:
    return event.kind in _ONLY_LEADERS and event.broker == broker


def _proved_at(change: LeaderChange) -> datetime | None:
    """The first later line that only the new leader writes."""
    return _first(e for e in change.incarnation.events_by_time.since(change.at) if _leads(e, change.new))


def led_again_at(incarnation: Incarnation, leader: int, up_at: datetime) -> datetime | None:
    """When a broker that was away wrote again what only leaders write."""
    return _first(e for e in incarnation.events_by_time.since(up_at - CLOCK_SKEW) if _leads(e, leader))


def _started_at(change: LeaderChange) -> datetime | None:
    """When the new leader wrote that it leads."""
    own = (e for e in change.incarnation.events if e.kind == "leader_started" and e.broker == change.new)
    return _first(e for e in own if e.leader_epoch == change.after.epoch)


def _stopped_at(change: LeaderChange) -> datetime | None:
    """When the last leader wrote that it leads no more: as a follower in a later epoch, or because its disk failed.

    Edge case: one that was away writes it after its return, when others have long shown the partition without a leader.
    """
    since = change.before.at - CLOCK_SKEW if change.before.at else LONG_AGO
    failures = change.context.disk_failures_by_time.between(since, change.at + CLOCK_SKEW)
    stopped = [e.happened_at for e in change.incarnation.events if _follows(e, change)]
    stopped += [
        e.happened_at for e in failures if e.broker == change.last_leader and change.partition in on_failed_disk(e)
    ]
    told, lost_at = min(stopped, default=None), change.before.at if change.former == NOBODY else None
    return lost_at if told and lost_at and told - lost_at > CLOCK_SKEW else told


def _follows(event: Event, change: LeaderChange) -> bool:
    if event.kind != "follower_started" or event.broker != change.last_leader or event.leader_epoch is None:
        return False
    return change.before.epoch - (change.former == NOBODY) < event.leader_epoch <= change.after.epoch
