"""One look at a lake for what alerts are due: each is sent once, or kept while a receiver is down and sent later."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TextIO

from kafka_hindsight.alerts import memory as ledger
from kafka_hindsight.alerts import sightings
from kafka_hindsight.alerts.model import Ledger, Night, Sighting, of_text, to_text
from kafka_hindsight.alerts.receivers import Receivers
from kafka_hindsight.alerts.routes import AlertSettings, settings_of
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.lock import held
from kafka_hindsight.lake.waiting import LakeBusy
from kafka_hindsight.settings.clusters import file_path, read_file
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput, exit_code, sentences_of
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.sql.alert_rows import read_alert_rows

PATIENCE = timedelta(minutes=2)
"""How long a look waits for another on its lake."""

Write = Callable[[Ledger], None]


def _say(text: str) -> None:
    print(text, flush=True)  # before the problems, which are the last words on stderr


class LakeUnreadable(RuntimeError):
    """What lies in a lake could not be read, or not all of it. Alerts that do not need that lake were sent."""


@dataclass(frozen=True)
class Order:
    """Which lake to look at, where receivers may be named, and what a scheduler adds: receivers by route, an event."""

    lake: str
    at: datetime
    environment: Mapping[str, str]
    urls: Mapping[str, str]
    event: Sighting | None = None


def order_of(lake: str, environment: Mapping[str, str], given: TextIO | None, at: datetime | None = None) -> Order:
    """The order of a command. Takes: a stream whose first line may hold `urls` by route and an `event`, as JSON.

    Raises: BadInput where the line cannot be used.
    """
    said = _said(given)
    event = sightings.of_event(said["event"]) if said.get("event") else None
    return Order(lake, at or datetime.now(UTC), environment, said.get("urls", {}), event)


def run(order: Order, say: Callable[[str], None] = _say) -> int:
    """Keeps the event, looks, sends the alerts that are due, and remembers them.

    Gives: 0; 2 where the settings or a route cannot be used; 1 where the lake or the ledger cannot be read or
        written. All else has been sent by then. A receiver that is down fails nothing.
    Keeps: the event is in the ledger before settings, receivers and tables are read, and goes out before tables are;
        where the ledger cannot be written it goes out all the same. After each message that went out the ledger is
        written, so that whatever ends us repeats one at most.
    """
    is_kept = False
    try:
        with held(order.lake, "alerts", f"{os.getpid()}", PATIENCE):
            state = _keep(order)
            is_kept = True
            problems = _look(order, state, say)
    except (OSError, LakeBusy, BadInput) as problem:
        problems = [problem]
        if order.event and not is_kept:
            problems += _tell_unkept(order, order.event, say)
    for sentence in dict.fromkeys(sentence for problem in problems for sentence in sentences_of(problem)):
        print(visible(masked(sentence)), file=sys.stderr)
    codes = {exit_code(problem) for problem in problems}
    return BAD_INPUT if BAD_INPUT in codes else FAULT if codes else DONE


def listed(lake: str, as_json: bool = False) -> str:
    """The ledger, newest first, in sentences or as JSON: what is due, what was sent, what is held back and why."""
    known, damaged = _read(lake)
    entries = sorted(known.values(), key=lambda e: e.seen_to, reverse=True)
    if as_json:
        return json.dumps({"entries": [json.loads(e.to_json()) for e in entries], "damaged_lines": damaged}, indent=2)
    told = [
        visible(
            f"{e.seen_to:%Y-%m-%d} {e.sighting.severity} {e.sighting.cluster} {e.sighting.rule} {e.sighting.subject}: "
        )
        + (e.held or f"sent to {_names(e.told)}, waits for {_names(e.waiting)}")
        for e in entries
    ]
    aside = [f"{damaged} lines of the ledger are damaged; the next look puts it aside"] if damaged else []
    return "\n".join([*told, *aside])


def _keep(order: Order) -> Ledger:
    """The ledger with the event, written. One that is damaged is put aside first, and that is an event too."""
    known, damaged = _read(order.lake)
    events = [order.event] if order.event else []
    if damaged:
        name = f"ledger-damaged-{order.at.astimezone(UTC):%Y%m%dT%H%M%SZ}.jsonl"
        aside = f"{_folder(order.lake)}/{name}"
        landing.write_atomically(aside, landing.read_bytes(_place(order.lake)))
        reason = f"{damaged} lines of what was sent and what waits could not be read. They lie in {masked(aside)}"
        events.append(sightings.of_look("ledger_damaged", name, reason, order.at))
    state = ledger.kept(known, events, order.at)
    _write(order.lake, state)
    return state


def _look(order: Order, known: Ledger, say: Callable[[str], None]) -> list[Exception]:
    """Sends what is known already, then what the lake holds. Gives: what could not be used or read."""
    settings, write = _settings(), partial(_write, order.lake)
    before = _Sent(ledger.seen(known, [], settings, order.at))
    if order.event:
        before = _send(order, before.state, settings, write)
    seen, nights, unread = _seen(order)
    state = ledger.seen(before.state, seen, settings, order.at, nights)
    if nights:
        state = ledger.readable(state, masked(order.lake), settings, order.at)
    after = _send(order, state, settings, write)
    say(f"{before.told + after.told} messages went out, {after.waiting} wait for their receiver")
    return [*after.problems, *unread]


def _tell_unkept(order: Order, event: Sighting, say: Callable[[str], None]) -> list[Exception]:
    """Sends an event for which there is no ledger: it goes out now or never. Gives: what could not be used."""
    try:
        settings = _settings()
    except BadInput as problem:
        return [problem]
    sent = _send(order, ledger.seen({}, [event], settings, order.at), settings, lambda _: None)
    say(f"{sent.told} messages went out, {sent.waiting} are lost: the ledger cannot be written")
    return sent.problems


@dataclass(frozen=True)
class _Sent:
    """The ledger after what was due was sent: how many messages were, how many wait, which routes cannot be used."""

    state: Ledger
    told: int = 0
    waiting: int = 0
    problems: list[Exception] = field(default_factory=list)


def _send(order: Order, state: Ledger, settings: AlertSettings, write: Write) -> _Sent:
    urls = _urls(order, settings)
    books, unusable = (
        _books(urls, None if is_uri(order.lake) else f"{_folder(order.lake)}/receivers")
        if _owes(state, urls)
        else ({}, {})
    )
    bad = [sightings.of_look("receivers_unusable", f"route {r}", str(p), order.at) for r, p in unusable.items()]
    state = ledger.seen(state, bad, settings, order.at)
    names = {route: book.names for route, book in books.items()}
    write(state)
    messages = ledger.due(state, settings, names, order.at)
    told = 0
    for message in messages:
        if books[message.route].send(message.receiver, message.severity, message.title, message.body):
            state = ledger.delivered(state, message, names, order.at)
            write(state)
            told += 1
    return _Sent(state, told, len(messages) - told, list(unusable.values()))


def _books(urls: Mapping[str, str], kept_in: str | None) -> tuple[dict[str, Receivers], dict[str, Exception]]:
    """The receivers of each route, and why those of the others cannot be used: one says nothing about another."""
    books: dict[str, Receivers] = {}
    unusable: dict[str, Exception] = {}
    for route, text in urls.items():
        try:
            books[route] = Receivers(route, text, kept_in)
        except BadInput as problem:
            unusable[route] = problem
    return books, unusable


def _owes(state: Ledger, urls: Mapping[str, str]) -> bool:
    return any(set(entry.waiting) & set(urls) for entry in state.values())


def _seen(order: Order) -> tuple[list[Sighting], list[Night], list[Exception]]:
    """What the lake holds, the nights that were published, and what cannot be read, which is an alert as well.

    Edge case: where anything cannot be read no night is given, since nothing shows what has ended.
    """
    since = order.at - ledger.OLDEST
    rows = read_alert_rows(order.lake, since, since - sightings.FORMER_NIGHTS)
    found = [
        *sightings.of_incidents(rows.incidents, rows.windows),
        *sightings.of_findings(rows.findings, rows.windows, rows.declared),
        *sightings.of_validations(rows.broken),
        *sightings.of_coverage(rows.coverage, since),
    ]
    nights = [(w["cluster"], w["window_from"], w["window_to"]) for w in rows.windows]
    if not rows.unread:
        return found, nights, []
    lake = masked(order.lake)
    reason = f"The lake {lake} could not be read, or not all of it: {' '.join(rows.unread)}"
    told = sightings.of_look("lake_unreadable", lake, reason, order.at)
    return [*found, told], [], [LakeUnreadable(reason)]


def _settings() -> AlertSettings:
    return settings_of(read_file(file_path()))


def _urls(order: Order, settings: AlertSettings) -> dict[str, str]:
    """The receivers by route: those of the scheduler stand above the variables."""
    named = {r.name: order.urls.get(r.name) or order.environment.get(r.variable, "") for r in settings.routes}
    return {route: text.strip() for route, text in named.items() if text.strip()}


def _read(lake: str) -> tuple[Ledger, int]:
    """The ledger, and how many of its lines are damaged."""
    try:
        return of_text(landing.read_bytes(_place(lake)).decode(errors="replace"))
    except FileNotFoundError:
        return {}, 0


def _write(lake: str, state: Ledger) -> None:
    landing.write_atomically(_place(lake), to_text(state))


def _place(lake: str) -> str:
    return f"{_folder(lake)}/ledger.jsonl"


def _folder(lake: str) -> str:
    return f"{lake.rstrip('/')}/alerts"


def _said(given: TextIO | None) -> dict[str, Any]:
    line = given.readline() if given else ""
    try:
        said = json.loads(line or "{}")
    except ValueError:
        raise BadInput("What came on stdin is not JSON. Needed: one line with urls and event.") from None
    if not isinstance(said, dict):
        raise BadInput("What came on stdin is not a JSON object. Needed: one line with urls and event.")
    return said


def _names(routes: Mapping[str, object]) -> str:
    return ", ".join(routes) or "nobody"
