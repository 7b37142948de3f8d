"""What was seen and what was sent: pure functions from one state of the ledger to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.alerts.model import RECOVERED, Entry, Ledger, Message, Night, Sighting
from kafka_hindsight.alerts.routes import AlertSettings, Route
from kafka_hindsight.alerts.words import Digest, body_of, recovery_of, title_of
from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.shared.grouping import grouped

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


def seen(
    ledger: Ledger,
    sightings: Iterable[Sighting],
    settings: AlertSettings,
    now: datetime,
    nights: Iterable[Night] = (),
) -> Ledger:
    """The ledger after a look at nights.

    Takes: `nights`, those that were published: what lasted and the newest of them no longer shows has ended.
    Keeps: looking again changes nothing; what lasts is one entry; what is declared or muted is due to no receiver until
    a night shows it that is neither.
    """
    routed = {k: _routed(e, settings, now) if e.held == UNROUTED else e for k, e in ledger.items()}
    return _with_ends(_after(routed, sightings, now, lambda s: _new(s, settings, now)), nights, settings)


def _with_ends(ledger: Ledger, nights: Iterable[Night], settings: AlertSettings) -> Ledger:
    newest: dict[str, Night] = {}
    for night in sorted(nights, key=lambda n: n[1]):
        newest[night[0]] = night
    return {k: _over(e, newest.get(e.sighting.cluster), settings) for k, e in ledger.items()}


def _over(entry: Entry, night: Night | None, settings: AlertSettings) -> Entry:
    """The entry, ended where the night comes after those that showed it."""
    return entry if night is None or night[1] < entry.seen_to else _ended(entry, night[2], settings)


def _ended(entry: Entry, at: datetime, settings: AlertSettings) -> Entry:
    """The entry, ended where it lasted until then. The routes that sent it send that too."""
    if not entry.sighting.lasts or not entry.told or entry.waiting or entry.ended_at:
        return entry
    known = {r.name for r in settings.routes}
    return replace(entry, ended_at=at, waiting={route: () for route in entry.told if route in known})


def readable(ledger: Ledger, lake: str, settings: AlertSettings, now: datetime) -> Ledger:
    """The ledger after a look that could read its whole lake: that an earlier one could not has ended."""
    unread = ("lake_unreadable", lake)
    return {
        k: _ended(e, now, settings) if (e.sighting.rule, e.sighting.subject) == unread else e for k, e in ledger.items()
    }


def kept(ledger: Ledger, events: Iterable[Sighting], now: datetime) -> Ledger:
    """The ledger with what only a scheduler knows, before anything else is known: `seen` says which alerts are due."""
    return _after(ledger, events, now, lambda s: Entry(s, s.night_from, s.night_to, held=UNROUTED))


def due(ledger: Ledger, settings: AlertSettings, receivers: Receivers, now: datetime) -> list[Message]:
    """What is to be sent now to each receiver: what cannot wait, by cluster and rule; what of that has ended; then a
    digest of all else for each cluster."""
    open_now = [r for r in settings.routes if not (r.quiet and r.quiet.holds(now))]
    return [
        message
        for route in open_now
        for receiver in receivers.get(route.name, ())
        for message in _messages(ledger, route, receiver, settings.link)
    ]


def delivered(ledger: Ledger, message: Message, receivers: Receivers, now: datetime) -> Ledger:
    """The ledger after a message went out."""
    return {**ledger, **{key: _told(ledger[key], message, receivers, now) for key in message.keys}}


def _told(entry: Entry, message: Message, receivers: Receivers, now: datetime) -> Entry:
    after = entry.with_told(message)
    owed = set(receivers[message.route]) - set(after.waiting[message.route])
    return after if owed else after.with_done(message.route, now)


def _messages(ledger: Ledger, route: Route, receiver: str, link: str) -> Iterator[Message]:
    owed = [e for e in _ordered(ledger) if receiver not in e.waiting.get(route.name, (receiver,))]
    parts = grouped(owed, lambda e: (route.pages(e.sighting), e.ended_at is not None))
    for entries in grouped(parts.get((True, False), ()), _rule).values():
        seen = [e.sighting for e in entries]
        title, body = title_of(seen), body_of(seen, link)
        yield Message(route.name, receiver, _keys(entries), seen[0].severity, title, body, is_page=True)
    rest = [*parts.get((False, False), ()), *parts.get((False, True), ())]
    for title, page in _pages_of(ledger, route, receiver, parts.get((True, True), ())).items():
        over = [e for e in page if e.ended_at]
        due_now = [e for e in over if e in owed]
        if len(over) == len(page):
            yield Message(route.name, receiver, _keys(due_now), RECOVERED, title, recovery_of(over))
        else:
            rest += due_now
    if "digest" in route.sends:
        yield from _digests(ledger, route, receiver, rest, link)


def _digests(ledger: Ledger, route: Route, receiver: str, owed: Sequence[Entry], link: str) -> Iterator[Message]:
    for cluster, entries in grouped(owed, lambda e: e.sighting.cluster).items():
        digest = _digest(ledger, route, cluster, entries)
        yield Message(route.name, receiver, _keys(entries), digest.severity, digest.title, digest.body(link))


def _pages_of(ledger: Ledger, route: Route, receiver: str, ended: Sequence[Entry]) -> Mapping[str, Sequence[Entry]]:
    """The pages that named what has ended, by title, each with all that it named.

    Edge case: an entry from before titles were kept was a page by itself.
    """
    named = grouped(ledger.values(), lambda e: e.title_of_page(route.name, receiver))
    found: dict[str, Sequence[Entry]] = {}
    for entry in ended:
        title = entry.title_of_page(route.name, receiver)
        found[title or title_of([entry.sighting])] = named[title] if title else [entry]
    return found


def _digest(ledger: Ledger, route: Route, cluster: str, owed: Sequence[Entry]) -> Digest:
    """What is new, what is still so, and what has ended, of a cluster; what was sent by itself is named."""
    keys, night = set(_keys(owed)), max(e.ended_at or e.seen_to for e in owed)
    others = [e for e in _ordered(ledger) if e.sighting.key not in keys and _is_of(e, route, cluster, night)]
    paged = grouped(others, lambda e: route.pages(e.sighting))
    states = grouped((e.sighting for e in owed), lambda s: ledger[s.key].ended_at is not None)
    return Digest(
        cluster=cluster,
        night_to=night,
        new=states.get(False, ()),
        paged=[e.sighting for e in paged.get(True, ()) if e.seen_from == e.sighting.night_from],
        lasting=[e for e in paged.get(False, ()) if route.name in e.told and e.sighting.lasts],
        ended=states.get(True, ()),
    )


def _is_of(entry: Entry, route: Route, cluster: str, night: datetime) -> bool:
    """Whether a night of a cluster shows what an entry is about, and the route wants it."""
    shown = entry.sighting.cluster == cluster and entry.seen_to == night
    return shown and not entry.held and not entry.ended_at and route.wants(entry.sighting)


def _ordered(ledger: Ledger) -> list[Entry]:
    """The entries, the worst first: what happened by its harm, then what rules and we ourselves say by severity."""
    return sorted(ledger.values(), key=lambda e: _rank(e.sighting))


def _rank(s: Sighting) -> tuple[bool, int, str, datetime, str]:
    harm = -1 if s.lasts else list(Harm).index(Harm(s.rule))
    return s.lasts, harm, s.severity, s.began_at, s.subject


def _rule(entry: Entry) -> tuple[str, str, str]:
    s = entry.sighting
    return s.severity, s.cluster, s.rule


def _keys(entries: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(e.sighting.key for e in entries)


def _after(ledger: Ledger, sightings: Iterable[Sighting], now: datetime, new: Callable[[Sighting], Entry]) -> Ledger:
    held = dict(ledger)
    for s in sorted(sightings, key=lambda s: (s.night_to, s.began_at)):
        if now - s.night_to <= OLDEST:
            before = held.get(s.key)
            held[s.key] = _lasting(before, s, new) if before and not before.ended_at and _lasts(before, s) else new(s)
    return {k: e for k, e in held.items() if e.waiting or now - e.seen_to < FORGOTTEN}


def _lasts(before: Entry, s: Sighting) -> bool:
    return s.night_from - before.seen_to < LASTS and before.seen_from - s.night_to < LASTS


def _lasting(before: Entry, s: Sighting, new: Callable[[Sighting], Entry]) -> Entry:
    is_later = s.night_to > before.seen_to
    entry = new(s) if before.held and is_later else before
    return replace(entry, seen_from=min(before.seen_from, s.night_from), seen_to=max(before.seen_to, s.night_to))


def _new(s: Sighting, settings: AlertSettings, now: datetime) -> Entry:
    held = _held(s, settings, now)
    waiting = {} if held else {r.name: () for r in settings.routes if r.wants(s)}
    return Entry(s, s.night_from, s.night_to, waiting, {}, held)


def _routed(entry: Entry, settings: AlertSettings, now: datetime) -> Entry:
    return replace(_new(entry.sighting, settings, now), seen_from=entry.seen_from, seen_to=entry.seen_to)


def _held(s: Sighting, settings: AlertSettings, now: datetime) -> str | None:
    if s.declared:
        return "declared"
    mute = next((m for m in settings.mutes if m.covers(s, now)), None)
    return f"muted until {mute.until.isoformat()}: {mute.why}" if mute else None
