"""The memory of alerts: pure functions from one state of the ledger to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.alerts.alert_model import Entry, Ledger, Night, Sighting
from kafka_hindsight.catalog.codes import FindingSeverity, Harm
from kafka_hindsight.settings.alerts import AlertSettings, Receiver

LASTS = timedelta(hours=36)
"""A trouble that is seen again within this time goes on: one night without an audit, or a night shifted by hours, ends
nothing."""

OLDEST = timedelta(hours=48)
"""A night that ended longer ago is history: a backfill and a re-audit of the past send no alert."""

RETRIED_FOR = timedelta(days=7)
"""How long after the last night that showed it an alert is retried, and sent to a new receiver."""

KEPT_FOR = timedelta(days=90)
"""How long an entry is kept."""


def record(ledger: Ledger, sightings: Iterable[Sighting], now: datetime, nights: Iterable[Night] = ()) -> Ledger:
    """Record what nights show.

    Args:
        ledger: The ledger before.
        sightings: What the nights show. Nights older than OLDEST are left out.
        now: The instant of the evaluation.
        nights: The published nights. A trouble that the newest one of its cluster no longer shows has ended.

    Returns:
        The next ledger. Recording the same nights again changes nothing; a trouble that goes on is one entry.
    """
    entries = dict(ledger)
    for s in sorted(sightings, key=lambda s: (s.night_to, s.began_at)):
        if now - s.night_to <= OLDEST:
            entries[s.key] = _after(entries.get(s.key), s)
    for cluster, start, end in sorted(nights, key=lambda night: night[1]):
        for key, entry in entries.items():
            if entry.sighting.cluster == cluster and entry.seen_to <= start:
                entries[key] = end_entry(entry, end)
    return {key: e for key, e in entries.items() if now - e.seen_to < KEPT_FOR}


def _after(before: Entry | None, s: Sighting) -> Entry:
    """The entry after a sighting. A later night replaces a sighting that was declared.

    An evaluation reads nights again that earlier ones have read; they change nothing.
    """
    if before and s.night_to <= before.seen_to:
        return before
    if before is None or before.ended_at or s.night_from - before.seen_to >= LASTS:
        return Entry(s, s.night_to)
    return replace(before, sighting=s if before.sighting.declared else before.sighting, seen_to=s.night_to)


def end_entry(entry: Entry, at: datetime) -> Entry:
    """End an entry that goes on; any other stays as it is."""
    return replace(entry, ended_at=at) if entry.sighting.lasts and not entry.ended_at else entry


def due_entries(ledger: Ledger, receiver: Receiver, settings: AlertSettings, now: datetime) -> list[Entry]:
    """The entries to send to a receiver now, the gravest first: new ones, and delivered ones that have ended."""
    return sorted(
        (e for e in ledger.values() if now - e.seen_to <= RETRIED_FOR and _is_due(e, receiver, settings)),
        key=lambda entry: _rank(entry.sighting),
    )


def _rank(s: Sighting) -> tuple[int, int, datetime]:
    """The order of alerts: by severity, then incidents by their harm, then findings and our own troubles."""
    harm = len(Harm) if s.lasts else [*Harm].index(Harm(s.rule))
    return [*FindingSeverity].index(FindingSeverity(s.severity)), harm, s.began_at


def _is_due(entry: Entry, receiver: Receiver, settings: AlertSettings) -> bool:
    if receiver.name in entry.sent:
        return entry.ended_at is not None and receiver.name not in entry.recovered
    s = entry.sighting
    return not s.declared and settings.wants(receiver, s.severity, s.cluster, s.groups, s.topics)


def mark_delivered(entry: Entry, receiver: Receiver, now: datetime) -> Entry:
    """Mark an entry as delivered to a receiver."""
    if receiver.name in entry.sent:
        return replace(entry, recovered=(*entry.recovered, receiver.name))
    return replace(entry, sent={**entry.sent, receiver.name: now})
