"""One look at a lake for what somebody should be told: told once, kept where a receiver is down, told later."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TextIO

from spark_jobs.alerts import ledger, sightings
from spark_jobs.alerts.model import Ledger, Message, Sighting, of_text, to_text
from spark_jobs.alerts.settings import AlertSettings, settings_of
from spark_jobs.edges import landing
from spark_jobs.edges.alert_rows import read_alert_rows
from spark_jobs.edges.lock import held
from spark_jobs.edges.receivers import Receivers
from spark_jobs.report.plain import visible
from spark_jobs.shared.clusters import file_path, read_file
from spark_jobs.shared.exits import DONE, BadInput

PATIENCE = timedelta(minutes=2)
"""How long a look waits for another on its lake."""


@dataclass(frozen=True)
class Order:
    """Which lake to look at, and what a scheduler adds: the receivers of routes that it knows, and an event."""

    lake: str
    at: datetime
    settings: AlertSettings
    urls: Mapping[str, str]
    event: Sighting | None = None


def order_of(lake: str, environment: Mapping[str, str], given: TextIO | None, at: datetime | None = None) -> Order:
    """The order of a command. Takes: a stream whose first line may hold `urls` by route and an `event`, as JSON.

    Raises: BadInput where the file or the line cannot be used.
    """
    said = _said(given)
    settings = settings_of(read_file(file_path()).get("alerts", {}))
    here = {r.name: environment.get(r.variable, "").strip() for r in settings.routes}
    known = {r.name for r in settings.routes}
    urls = {**here, **{route: text for route, text in said.get("urls", {}).items() if text and route in known}}
    event = sightings.of_event(said["event"]) if said.get("event") else None
    return Order(lake, at or datetime.now(UTC), settings, {r: t for r, t in urls.items() if t}, event)


def run(order: Order, say: Callable[[str], None] = print) -> int:
    """Looks, tells who is to be told, and remembers it. A receiver that is down fails nothing.

    Keeps: after each message that went out the ledger is written, so that whatever ends us repeats one at most.
    """
    with held(order.lake, "alerts", f"{os.getpid()}", PATIENCE):
        known = _read(order.lake)
        now = ledger.seen(known, _seen(order), order.settings, order.at)
        books = {route: Receivers(route, text) for route, text in order.urls.items()} if _owes(now, order) else {}
        told, kept = _deliver(order, now, books)
        say(f"{told} messages went out, {kept} wait for their receiver")
    return DONE


def listed(lake: str) -> list[str]:
    """The ledger in sentences, newest first: what is owed, what was told, what is held back and why."""
    entries = sorted(_read(lake).values(), key=lambda e: e.seen_to, reverse=True)
    return [
        visible(
            f"{e.seen_to:%Y-%m-%d} {e.sighting.severity} {e.sighting.cluster} {e.sighting.rule} {e.sighting.subject}: "
        )
        + (e.held or f"told {_names(e.told)}, waits for {_names(e.waiting)}")
        for e in entries
    ]


def _deliver(order: Order, state: Ledger, books: Mapping[str, Receivers]) -> tuple[int, int]:
    names = {route: book.names for route, book in books.items()}
    write = partial(_write, order.lake)
    write(state)
    messages = ledger.due(state, order.settings, names, order.at)
    told = 0
    for message in messages:
        if _sent(books[message.route], message):
            state = ledger.delivered(state, message, names, order.at)
            write(state)
            told += 1
    return told, len(messages) - told


def _sent(book: Receivers, message: Message) -> bool:
    return book.send(message.receiver, message.severity, message.title, message.body)


def _owes(state: Ledger, order: Order) -> bool:
    return any(set(entry.waiting) & set(order.urls) for entry in state.values())


def _seen(order: Order) -> list[Sighting]:
    since = order.at - ledger.OLDEST
    rows = read_alert_rows(order.lake, since, since - sightings.FORMER_NIGHTS)
    return [
        *sightings.of_findings(rows.findings, rows.windows, rows.planned),
        *sightings.of_validations(rows.broken),
        *sightings.of_coverage(rows.coverage, since),
        *([order.event] if order.event else []),
    ]


def _read(lake: str) -> Ledger:
    try:
        return of_text(landing.read_text(_place(lake)))
    except FileNotFoundError:
        return {}


def _write(lake: str, state: Ledger) -> None:
    landing.write_atomically(_place(lake), to_text(state))


def _place(lake: str) -> str:
    return f"{lake.rstrip('/')}/alerts/ledger.jsonl"


def _said(given: TextIO | None) -> dict[str, Any]:
    line = given.readline() if given else ""
    try:
        said = json.loads(line or "{}")
    except ValueError:
        raise BadInput("What came on stdin is no JSON. Needed: one line with urls and event.") from None
    if not isinstance(said, dict):
        raise BadInput("What came on stdin is no JSON object. Needed: one line with urls and event.")
    return said


def _names(routes: Mapping[str, object]) -> str:
    return ", ".join(routes) or "nobody"
