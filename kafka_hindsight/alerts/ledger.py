"""The ledger of alerts: pure functions from one state to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.alerts.alert_model import Ledger, LedgerEntry, NightWindow, Sighting
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


def record(ledger: Ledger, sightings: Iterable[Sighting], now: datetime, nights: Iterable[NightWindow] = ()) -> Ledger:
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


def _after(before: LedgerEntry | None, s: Sighting) -> LedgerEntry:
    """The entry after a sighting. A later night replaces a sighting that was declared.

    An evaluation reads nights again that earlier ones have read. They change nothing, unless a night was judged again
    and now shows that an incident is over.
    """
    if before and s.night_to <= before.seen_to:
        return replace(before, ended_at=before.ended_at or s.ended_at)
    if before is None or before.ended_at or s.night_from - before.seen_to >= LASTS:
        return LedgerEntry(s, s.night_to, ended_at=s.ended_at)
    return replace(before, sighting=s if before.sighting.declared else before.sighting, seen_to=s.night_to)


def end_entry(entry: LedgerEntry, at: datetime) -> LedgerEntry:
    """End an entry that goes on; an incident, and one that is over, stays as it is."""
    return entry if entry.sighting.is_incident or entry.ended_at else replace(entry, ended_at=at)


def due_entries(ledger: Ledger, receiver: Receiver, settings: AlertSettings, now: datetime) -> list[LedgerEntry]:
    """The entries to send to a receiver now: new ones, the gravest first, then delivered ones that have ended."""
    return sorted(
        (e for e in ledger.values() if is_due(e, receiver, settings, now)),
        key=lambda e: (receiver.name in e.sent, *_rank(e.sighting)),
    )


def open_entries(ledger: Ledger, receiver: Receiver, now: datetime) -> list[LedgerEntry]:
    """The entries that a receiver has got, that go on, and that a night showed not longer than LASTS ago."""
    return [e for e in ledger.values() if receiver.name in e.sent and not e.ended_at and now - e.seen_to <= LASTS]


def _rank(s: Sighting) -> tuple[int, bool, int, datetime]:
    """The order of alerts, as the report's: by severity, then incidents, those that go on first, then by harm."""
    harm = [*Harm].index(Harm(s.rule)) if s.is_incident else len(Harm)
    is_later = s.ended_at is not None or not s.is_incident
    return [*FindingSeverity].index(FindingSeverity(s.severity)), is_later, harm, s.began_at


def is_due(entry: LedgerEntry, receiver: Receiver, settings: AlertSettings, now: datetime) -> bool:
    """Whether to send an entry to a receiver now: it is new, or has ended and was sent by an evaluation before."""
    if receiver.name not in entry.sent:
        return not why_not(entry, receiver, settings, now)
    is_news = entry.ended_at is not None and receiver.name not in entry.recovered
    return is_news and entry.sent[receiver.name] < now <= entry.seen_to + RETRIED_FOR


def why_not(entry: LedgerEntry, receiver: Receiver, settings: AlertSettings, now: datetime) -> str:
    """Why a receiver does not get an entry; empty where it does."""
    s = entry.sighting
    if s.declared:
        return "it was declared"
    if s.severity not in receiver.severities:
        return f"it is not {' or '.join(receiver.severities)}"
    if receiver.owner and receiver.owner not in settings.owners_of(s.cluster, s.groups, s.topics):
        return f"{receiver.owner} does not own it"
    if receiver.kind == "page" and (calm := _calm_reason(entry)):
        return calm
    return "its night ended more than seven days ago" if now - entry.seen_to > RETRIED_FOR else ""


def _calm_reason(entry: LedgerEntry) -> str:
    """Why a pager calls no one for an entry; empty where it does."""
    is_past = entry.ended_at is not None and not entry.sighting.is_lasting
    return "it was over before it was sent" if is_past else entry.sighting.calm_reason


def mark_tried(
    entry: LedgerEntry, receiver: Receiver, now: datetime, failure: str = "", title: str = ""
) -> LedgerEntry:
    """Mark that an entry was sent to a receiver, or why it did not get there.

    `title` is that of its page.

    What is over by then needs no second message, but for a pager: lost records open a page, so that someone is called,
    and the message that closes it goes out with the next evaluation.
    """
    name = receiver.name
    failures = {n: reason for n, reason in {**entry.failures, name: failure}.items() if reason}
    if failure:
        return replace(entry, failures=failures)
    is_last = entry.ended_at and (name in entry.sent or receiver.kind != "page")
    recovered = (*entry.recovered, name) if is_last else entry.recovered
    pages = {**({name: title} if title else {}), **entry.pages}
    return replace(entry, sent={name: now, **entry.sent}, recovered=recovered, failures=failures, pages=pages)
