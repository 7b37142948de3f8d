"""How long a partition had no leader: as shown, or bounded by what witnesses prove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import NOBODY, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.judgements.brokers.cluster_context import on_failed_disk
from kafka_hindsight.judgements.partitions.leaders.leader_change import LeaderChange
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO

_ONLY_LEADERS = ("leader_started", "isr_updated")
"""Kinds that a broker writes only of partitions that it leads."""


@dataclass(frozen=True)
class Leaderless:
    """How long it was, as witnesses show it, and its bounds. None: not shown, not bounded."""

    shown: timedelta | None = None
    low: timedelta | None = None
    high: timedelta | None = None

    def by_clocks(self, apart: timedelta) -> Leaderless:
        """What is left of it where its ends were read from clocks that are known to differ: bounds, as much wider."""
        if not apart:
            return self
        error = apart + CLOCK_SKEW
        low, high = (self.shown if bound is None else bound for bound in (self.low, self.high))
        return Leaderless(
            low=None if low is None else max(timedelta(0), low - error), high=None if high is None else high + error
        )


def leaderless_of(change: LeaderChange) -> Leaderless:
    """How long the partition had no leader before a change that gave it one.

    Keeps: low <= shown <= high, where they are known.
    Edge case: the instant at which a leader crashed or fell silent is unknown: it lies between its own last line and
    the first failure to reach it, or its detection as down. A leader that was cut off may have served the clients that
    it still reached.
    """
    if change.new == NOBODY or change.last_leader is None:
        return Leaderless()
    outage = _outage_of(change)
    sudden = None if outage and outage.kind == OutageKind.CONTROLLED_SHUTDOWN else outage
    stopped_at = _stopped_at(change)
    started_at = _started_at(change)
    shown_at = change.at if change.after.is_exact else None
    shown = _between(sudden.down_at if sudden else stopped_at, started_at or shown_at)
    low = _between(_down_by(sudden, stopped_at), started_at)
    led_until = stopped_at if stopped_at and not sudden else _last_led(change, outage)
    high = _between(led_until, started_at or _proved_at(change))
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
    led_until = _last_led(change, _outage_of(change)) or change.before.at
    return Leaderless(None, after.low, after.high or _between(led_until, following.at if following else None))


def _around(shown: timedelta, low: timedelta | None, high: timedelta | None) -> Leaderless:
    """What is shown, with bounds that hold it."""
    return Leaderless(shown, None if low is None else min(low, shown), None if high is None else max(high, shown))


def _between(start: datetime | None, end: datetime | None) -> timedelta | None:
    """How long it was, never below zero: the clocks of two brokers may differ a little."""
    return max(timedelta(0), end - start) if start and end else None


def _first(events: Iterable[Event]) -> datetime | None:
    return next((e.happened_at for e in events), None)


def _outage_of(change: LeaderChange) -> BrokerOutage | None:
    """The outage of the last leader in which the change happened, or the loss of leadership before it."""
    outage = change.context.outage_at(change.last_leader, change.at)
    if outage is None and change.former == NOBODY and change.before.at:
        outage = change.context.outage_at(change.last_leader, change.before.at)
    return outage


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
