"""What was seen and what was sent: pure functions from one state of the ledger to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from spark_jobs.alerts.model import Entry, Ledger, Message, Sighting
from spark_jobs.alerts.settings import AlertSettings, Route
from spark_jobs.alerts.words import body_of, title_of

LASTS = timedelta(hours=36)
"""What is seen again before as long has passed since it was last seen, still lasts: one night without an audit, or a
night shifted by hours, ends nothing."""

OLDEST = timedelta(hours=48)
"""A night that ended longer ago is history: a backfill and a re-audit of the past send no alert."""

FORGOTTEN = timedelta(days=90)
"""How long an entry that owes nothing is kept."""

UNROUTED = "not routed yet"
"""Why an event is held that was kept before the settings were read."""

Receivers = Mapping[str, tuple[str, ...]]
"""The receivers of each route that has any, under names that hold no secret."""


def seen(ledger: Ledger, sightings: Iterable[Sighting], settings: AlertSettings, now: datetime) -> Ledger:
    """The ledger after a look at nights.

    Keeps: looking again changes nothing; what lasts is one entry; what is planned or muted is due to no receiver until
    a night shows it that is neither.
    """
    routed = {k: _routed(e, settings, now) if e.held == UNROUTED else e for k, e in ledger.items()}
    return _after(routed, sightings, now, lambda s: _new(s, settings, now))


def kept(ledger: Ledger, events: Iterable[Sighting], now: datetime) -> Ledger:
    """The ledger with what only a scheduler knows, before anything else is known: `seen` says which alerts are due."""
    return _after(ledger, events, now, lambda s: Entry(s, s.night_from, s.night_to, held=UNROUTED))


def due(ledger: Ledger, settings: AlertSettings, receivers: Receivers, now: datetime) -> list[Message]:
    """What is to be sent now: one message for each receiver, cluster, rule and severity; worst first."""
    open_now = [r for r in settings.routes if not (r.quiet and r.quiet.holds(now))]
    return [
        _message(route, receiver, entries, settings)
        for route in open_now
        for receiver in receivers.get(route.name, ())
        for entries in _together(ledger, route, receiver)
    ]


def delivered(ledger: Ledger, message: Message, receivers: Receivers, now: datetime) -> Ledger:
    """The ledger after a message went out."""
    return {**ledger, **{key: _told(ledger[key], message, receivers, now) for key in message.keys}}


def _told(entry: Entry, message: Message, receivers: Receivers, now: datetime) -> Entry:
    after = entry.with_told(message.route, message.receiver)
    owed = set(receivers[message.route]) - set(after.waiting[message.route])
    return after if owed else after.with_done(message.route, now)


def _together(ledger: Ledger, route: Route, receiver: str) -> list[list[Entry]]:
    owed = [e for e in ledger.values() if route.name in e.waiting and receiver not in e.waiting[route.name]]
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in sorted(owed, key=lambda e: (e.sighting.severity, e.sighting.began_at, e.sighting.subject)):
        s = entry.sighting
        groups.setdefault((s.severity, s.cluster, s.rule), []).append(entry)
    return list(groups.values())


def _message(route: Route, receiver: str, entries: list[Entry], settings: AlertSettings) -> Message:
    seen = [e.sighting for e in entries]
    keys = tuple(s.key for s in seen)
    return Message(route.name, receiver, keys, seen[0].severity, title_of(seen), body_of(seen, settings.link))


def _after(ledger: Ledger, sightings: Iterable[Sighting], now: datetime, new: Callable[[Sighting], Entry]) -> Ledger:
    held = dict(ledger)
    for s in sorted(sightings, key=lambda s: (s.night_to, s.began_at)):
        if now - s.night_to <= OLDEST:
            before = held.get(s.key)
            held[s.key] = _lasting(before, s, new) if before and _lasts(before, s) else new(s)
    return {k: e for k, e in held.items() if e.waiting or now - e.seen_to < FORGOTTEN}


def _lasts(before: Entry, s: Sighting) -> bool:
    return s.night_from - before.seen_to < LASTS and before.seen_from - s.night_to < LASTS


def _lasting(before: Entry, s: Sighting, new: Callable[[Sighting], Entry]) -> Entry:
    is_later = s.night_to > before.seen_to
    entry = new(s) if before.held and is_later else before
    return replace(entry, seen_from=min(before.seen_from, s.night_from), seen_to=max(before.seen_to, s.night_to))


def _new(s: Sighting, settings: AlertSettings, now: datetime) -> Entry:
    held = _held(s, settings, now)
    waiting = {} if held else {r.name: () for r in settings.routes if s.severity in r.severities}
    return Entry(s, s.night_from, s.night_to, waiting, {}, held)


def _routed(entry: Entry, settings: AlertSettings, now: datetime) -> Entry:
    return replace(_new(entry.sighting, settings, now), seen_from=entry.seen_from, seen_to=entry.seen_to)


def _held(s: Sighting, settings: AlertSettings, now: datetime) -> str | None:
    if s.planned:
        return "planned"
    mute = next((m for m in settings.mutes if m.covers(s, now)), None)
    return f"muted until {mute.until.isoformat()}: {mute.why}" if mute else None
