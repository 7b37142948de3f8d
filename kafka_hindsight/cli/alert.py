"""`hindsight alert`: send the alerts of a lake that are due, each once. One whose receiver is down waits."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, TextIO

import typer

from kafka_hindsight.alerts import memory as ledger
from kafka_hindsight.alerts import sightings
from kafka_hindsight.alerts.alert_model import RECOVERED, Ledger, Night, Sighting, of_text, to_text
from kafka_hindsight.alerts.messages import body_of, recovery_of, title_of
from kafka_hindsight.alerts.receivers import Address
from kafka_hindsight.cli.options import AsJson, At, Lake, instant
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.lock import hold_lock
from kafka_hindsight.lake.waiting import LakeBusy
from kafka_hindsight.settings.alerts import AlertSettings, alert_settings
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput, exit_code, sentences_of
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.sql.alert_rows import read_alert_rows

PATIENCE = timedelta(minutes=2)
"""How long this command waits for another one on the same lake."""

Write = Callable[[Ledger], None]


class LakeUnreadable(RuntimeError):
    """A lake could not be read completely. Alerts that do not depend on it were sent."""


def command(
    lake: Lake = str(LAKE),
    at: At = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="read receivers and an event from stdin as JSON")] = False,
    lists: Annotated[bool, typer.Option("--list", help="print the alerts that were sent, and send nothing")] = False,
    as_json: AsJson = False,
) -> int:
    """Send the alerts that are due, or list those that were sent."""
    if lists:
        print(ledger_text(lake, as_json) or "No alert has been sent yet.")
        return DONE
    return run(order_of(lake, os.environ, sys.stdin if stdin else None, instant(at)))


@dataclass(frozen=True)
class Order:
    """The arguments of one call. A scheduler adds the URLs of receivers by name, and an event such as a failed run."""

    lake: str
    at: datetime
    environment: Mapping[str, str]
    urls: Mapping[str, str]
    event: Sighting | None = None


def order_of(lake: str, environment: Mapping[str, str], stream: TextIO | None, at: datetime) -> Order:
    """The order of a command. The first line of `stream` may hold `urls` by receiver and an `event`, as JSON.

    Raises:
        BadInput: The line cannot be used.
    """
    line = stream.readline() if stream else ""
    try:
        request = json.loads(line or "{}")
    except ValueError:
        raise BadInput("Stdin is not JSON. Needed: one line with urls and event.") from None
    if not isinstance(request, dict):
        raise BadInput("Stdin is not a JSON object. Needed: one line with urls and event.")
    event = sightings.of_event(request["event"]) if request.get("event") else None
    return Order(lake, at, environment, request.get("urls", {}), event)


def run(order: Order) -> int:
    """Send the alerts that are due, and record them in the ledger.

    The event is recorded before settings, receivers and tables are read, and is sent before tables are read, even if
    the ledger cannot be written. The ledger is written after each message, so that a killed process repeats one at
    most. A receiver that is down is not an error.

    Returns:
        0; 2 if the settings or a receiver cannot be used; 1 if the lake cannot be read, or the ledger cannot be read or
        written. All other alerts were sent.
    """
    is_recorded = False
    try:
        with hold_lock(order.lake, "alerts", f"{os.getpid()}", PATIENCE):
            state = _record_event(order)
            is_recorded = True
            problems = _look(order, state)
    except (OSError, LakeBusy, BadInput) as problem:
        problems = [problem]
        if order.event and not is_recorded:
            problems += _send_without_ledger(order, order.event)
    for sentence in dict.fromkeys(sentence for problem in problems for sentence in sentences_of(problem)):
        print(visible(masked(sentence)), file=sys.stderr)
    codes = {exit_code(problem) for problem in problems}
    return BAD_INPUT if BAD_INPUT in codes else FAULT if codes else DONE


def ledger_text(lake: str, as_json: bool = False) -> str:
    """The ledger as text or JSON, newest first: the alerts, and the receivers that got them."""
    entries, damaged = _read_ledger(lake)
    newest = sorted(entries.values(), key=lambda e: e.seen_to, reverse=True)
    if as_json:
        lines = to_text(entries).split("\n")[:-1]
        return json.dumps({"entries": [*map(json.loads, lines)], "damaged_lines": damaged}, indent=2)
    sentences = [
        visible(f"{e.seen_to:%Y-%m-%d} {s.severity} {s.cluster} {s.rule} {s.subject}: ")
        + ("declared" if s.declared else f"sent to {', '.join(e.sent) or 'no receiver yet'}")
        for e in newest
        for s in [e.sighting]
    ]
    aside = [f"Damaged lines in the ledger: {damaged}. The next look moves it aside."] if damaged else []
    return "\n".join([*sentences, *aside])


def _record_event(order: Order) -> Ledger:
    """Write the event into the ledger, and return it. A damaged ledger is moved aside first, which is an event too."""
    before, damaged = _read_ledger(order.lake)
    events = [order.event] if order.event else []
    if damaged:
        name = f"ledger-damaged-{order.at.astimezone(UTC):%Y%m%dT%H%M%SZ}.jsonl"
        aside = f"{_alerts_folder(order.lake)}/{name}"
        landing.write_atomically(aside, landing.read_bytes(_ledger_path(order.lake)))
        reason = f"Damaged lines in the ledger: {damaged}. It was moved to {masked(aside)}"
        events.append(sightings.of_look("ledger_damaged", name, reason, order.at))
    state = ledger.record(before, events, order.at)
    _write_ledger(order.lake, state)
    return state


def _look(order: Order, state: Ledger) -> list[Exception]:
    """Send the alerts of the ledger, then those of the lake. Return what could not be used or read."""
    settings, write = alert_settings(), partial(_write_ledger, order.lake)
    first = _send(order, state, settings, write) if order.event else _Delivery(state)
    current, nights, failures = _current_sightings(order)
    state = ledger.record(first.state, current, order.at, nights)
    if nights:
        lake = masked(order.lake)
        state = {k: ledger.end_entry(e, order.at) if _is_unread(e.sighting, lake) else e for k, e in state.items()}
    second = _send(order, state, settings, write)
    print(f"{first.count + second.count} messages sent, {second.waiting} waiting for their receiver", flush=True)
    return [*second.problems, *failures]


def _is_unread(sighting: Sighting, lake: str) -> bool:
    return (sighting.rule, sighting.subject) == ("lake_unreadable", lake)


def _send_without_ledger(order: Order, event: Sighting) -> list[Exception]:
    """Send an event that cannot be recorded: now or never. Return what could not be used."""
    try:
        settings = alert_settings()
    except BadInput as problem:
        return [problem]
    delivery = _send(order, ledger.record({}, [event], order.at), settings, lambda _: None)
    print(f"{delivery.count} messages sent, {delivery.waiting} lost: the ledger cannot be written", flush=True)
    return delivery.problems


@dataclass(frozen=True)
class _Delivery:
    """The ledger after alerts were sent, the messages sent and waiting, and the problems of receivers."""

    state: Ledger
    count: int = 0
    waiting: int = 0
    problems: list[Exception] = field(default_factory=list)


def _send(order: Order, state: Ledger, settings: AlertSettings, write: Write) -> _Delivery:
    values = [(order.urls.get(r.name) or order.environment.get(r.variable, "")).strip() for r in settings.receivers]
    urls = {r.name: url for r, url in zip(settings.receivers, values, strict=True) if url}
    is_due = any(ledger.due_entries(state, r, settings, order.at) for r in settings.receivers if r.name in urls)
    folder = None if is_uri(order.lake) else f"{_alerts_folder(order.lake)}/receivers"
    addresses, unusable = _addresses(urls, folder) if is_due else ({}, {})
    alerts = [sightings.of_look("receiver_unusable", name, str(p), order.at) for name, p in unusable.items()]
    state = ledger.record(state, alerts, order.at)
    write(state)
    count = waiting = 0
    for receiver in settings.receivers:
        for entry in ledger.due_entries(state, receiver, settings, order.at) if receiver.name in addresses else ():
            sighting, is_over = entry.sighting, receiver.name in entry.sent
            severity, body = (
                (RECOVERED, recovery_of(entry)) if is_over else (sighting.severity, body_of(sighting, settings.link))
            )
            if addresses[receiver.name].send(severity, title_of(sighting), body):
                state = {**state, sighting.key: ledger.mark_delivered(entry, receiver, order.at)}
                write(state)
                count += 1
            else:
                waiting += 1
    return _Delivery(state, count, waiting, list(unusable.values()))


def _addresses(urls: Mapping[str, str], folder: str | None) -> tuple[dict[str, Address], dict[str, Exception]]:
    """The address of each receiver, and the problems of those that cannot be used."""
    addresses: dict[str, Address] = {}
    unusable: dict[str, Exception] = {}
    for name, url in urls.items():
        try:
            addresses[name] = Address(name, url, folder)
        except BadInput as problem:
            unusable[name] = problem
    return addresses, unusable


def _current_sightings(order: Order) -> tuple[list[Sighting], list[Night], list[Exception]]:
    """The alerts of the lake, the published nights, and what could not be read, which is an alert too.

    If anything cannot be read there are no nights, since nothing shows which alerts are resolved.
    """
    since = order.at - ledger.OLDEST
    rows = read_alert_rows(order.lake, since, since - sightings.FORMER_NIGHTS)
    current = [
        *sightings.of_incidents(rows.incidents, rows.windows),
        *sightings.of_findings(rows.findings, rows.windows, rows.declared),
        *sightings.of_validations(rows.broken),
        *sightings.of_coverage(rows.coverage, since),
    ]
    nights = [(w["cluster"], w["window_from"], w["window_to"]) for w in rows.windows]
    if not rows.unread:
        return current, nights, []
    lake = masked(order.lake)
    reason = f"The lake {lake} could not be read, or not all of it: {' '.join(rows.unread)}"
    alert = sightings.of_look("lake_unreadable", lake, reason, order.at)
    return [*current, alert], [], [LakeUnreadable(reason)]


def _read_ledger(lake: str) -> tuple[Ledger, int]:
    """The ledger, and the number of its damaged lines."""
    try:
        return of_text(landing.read_bytes(_ledger_path(lake)).decode(errors="replace"))
    except FileNotFoundError:
        return {}, 0


def _write_ledger(lake: str, state: Ledger) -> None:
    landing.write_atomically(_ledger_path(lake), to_text(state))


def _ledger_path(lake: str) -> str:
    return f"{_alerts_folder(lake)}/ledger.jsonl"


def _alerts_folder(lake: str) -> str:
    return f"{lake.rstrip('/')}/alerts"
