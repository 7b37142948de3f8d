"""What was seen and what was sent: pure functions from one state of the ledger to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.alerts.model import Entry, Ledger, Night, Sighting
from kafka_hindsight.catalog.codes import FindingSeverity, Harm
from kafka_hindsight.settings.alerts import AlertSettings, Receiver

LASTS = timedelta(hours=36)
"""What is seen again before as long has passed since it was last seen, still lasts: one night without an audit, or a
night shifted by hours, ends nothing."""

OLDEST = timedelta(hours=48)
"""A night that ended longer ago is history: a backfill and a re-audit of the past send no alert."""

RETRIED = timedelta(days=7)
"""How long after the last night that showed it an alert is tried again, and sent to a receiver that is new."""

FORGOTTEN = timedelta(days=90)
"""How long an entry is kept."""


def seen(ledger: Ledger, sightings: Iterable[Sighting], now: datetime, nights: Iterable[Night] = ()) -> Ledger:
    """The ledger after a look at nights.

    Args:
        ledger: The ledger before.
        sightings: What the nights show. Of nights that are history, nothing is taken.
        now: When the look is.
        nights: Those that were published: what lasted and the newest of its cluster no longer shows has ended.

    Returns:
        The ledger. Looking again changes nothing; what lasts is one entry.
    """
    entries = dict(ledger)
    for s in sorted(sightings, key=lambda s: (s.night_to, s.began_at)):
        if now - s.night_to <= OLDEST:
            entries[s.key] = _after(entries.get(s.key), s)
    for cluster, start, end in sorted(nights, key=lambda night: night[1]):
        for key, entry in entries.items():
            if entry.sighting.cluster == cluster and entry.seen_to <= start:
                entries[key] = ended(entry, end)
    return {key: e for key, e in entries.items() if now - e.seen_to < FORGOTTEN}


def _after(before: Entry | None, s: Sighting) -> Entry:
    """The entry after a sighting. What was declared, and is seen later, is what the later night says of it.

    Edge case: a look reads nights again that looks before it have read; they change nothing.
    """
    if before and s.night_to <= before.seen_to:
        return before
    if before is None or before.ended_at or s.night_from - before.seen_to >= LASTS:
        return Entry(s, s.night_to)
    return replace(before, sighting=s if before.sighting.declared else before.sighting, seen_to=s.night_to)


def ended(entry: Entry, at: datetime) -> Entry:
    """The entry, ended where it lasted until then."""
    return replace(entry, ended_at=at) if entry.sighting.lasts and not entry.ended_at else entry


def due(ledger: Ledger, receiver: Receiver, settings: AlertSettings, now: datetime) -> list[Entry]:
    """What is to be sent now to a receiver, the gravest first: what it has not got; of what it got, what has ended."""
    return sorted(
        (e for e in ledger.values() if now - e.seen_to <= RETRIED and _is_due(e, receiver, settings)),
        key=lambda entry: _rank(entry.sighting),
    )


def _rank(s: Sighting) -> tuple[int, int, datetime]:
    """How grave: by severity; what happened before what rules and we ourselves say, and by its harm."""
    harm = len(Harm) if s.lasts else [*Harm].index(Harm(s.rule))
    return [*FindingSeverity].index(FindingSeverity(s.severity)), harm, s.began_at


def _is_due(entry: Entry, receiver: Receiver, settings: AlertSettings) -> bool:
    if receiver.name in entry.sent:
        return entry.ended_at is not None and receiver.name not in entry.recovered
    s = entry.sighting
    return not s.declared and settings.wants(receiver, s.severity, s.cluster, s.groups, s.topics)


def delivered(entry: Entry, receiver: Receiver, now: datetime) -> Entry:
    """The entry after what was due of it went out."""
    if receiver.name in entry.sent:
        return replace(entry, recovered=(*entry.recovered, receiver.name))
    return replace(entry, sent={**entry.sent, receiver.name: now})
