"""One look at a lake for what alerts are due: each is sent once, or kept while a receiver is down and sent later."""

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
from kafka_hindsight.alerts.model import RECOVERED, Ledger, Night, Sighting, of_text, to_text
from kafka_hindsight.alerts.receivers import Address
from kafka_hindsight.alerts.words import body_of, recovery_of, title_of
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
"""How long a look waits for another on its lake."""

Write = Callable[[Ledger], None]


class LakeUnreadable(RuntimeError):
    """What lies in a lake could not be read, or not all of it. Alerts that do not need that lake were sent."""


def command(
    lake: Lake = str(LAKE),
    at: At = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="a line of JSON on stdin adds receivers and an event")] = False,
    lists: Annotated[bool, typer.Option("--list", help="print what was sent, and send nothing")] = False,
    as_json: AsJson = False,
) -> int:
    """Looks, or lists the ledger."""
    if lists:
        print(listed(lake, as_json) or "No alert has been sent yet.")
        return DONE
    return run(order_of(lake, os.environ, sys.stdin if stdin else None, instant(at)))


@dataclass(frozen=True)
class Order:
    """Which lake to look at, where receivers may be named, and what a scheduler adds: their URLs by name, an event."""

    lake: str
    at: datetime
    environment: Mapping[str, str]
    urls: Mapping[str, str]
    event: Sighting | None = None


def order_of(lake: str, environment: Mapping[str, str], given: TextIO | None, at: datetime) -> Order:
    """The order of a command. Takes: a stream whose first line may hold `urls` by receiver and an `event`, as JSON.

    Raises: BadInput where the line cannot be used.
    """
    line = given.readline() if given else ""
    try:
        added = json.loads(line or "{}")
    except ValueError:
        raise BadInput("What came on stdin is not JSON. Needed: one line with urls and event.") from None
    if not isinstance(added, dict):
        raise BadInput("What came on stdin is not a JSON object. Needed: one line with urls and event.")
    event = sightings.of_event(added["event"]) if added.get("event") else None
    return Order(lake, at, environment, added.get("urls", {}), event)


def run(order: Order) -> int:
    """Keeps the event, looks, sends the alerts that are due, and remembers them.

    Gives: 0; 2 where the settings or a receiver cannot be used; 1 where the lake or the ledger cannot be read or
        written. All else has been sent by then. A receiver that is down fails nothing.
    Keeps: the event is in the ledger before settings, receivers and tables are read, and goes out before tables are;
        where the ledger cannot be written it goes out all the same. After each message that went out the ledger is
        written, so that whatever ends us repeats one at most.
    """
    is_kept = False
    try:
        with hold_lock(order.lake, "alerts", f"{os.getpid()}", PATIENCE):
            state = _keep(order)
            is_kept = True
            problems = _look(order, state)
    except (OSError, LakeBusy, BadInput) as problem:
        problems = [problem]
        if order.event and not is_kept:
            problems += _send_unkept(order, order.event)
    for sentence in dict.fromkeys(sentence for problem in problems for sentence in sentences_of(problem)):
        print(visible(masked(sentence)), file=sys.stderr)
    codes = {exit_code(problem) for problem in problems}
    return BAD_INPUT if BAD_INPUT in codes else FAULT if codes else DONE


def listed(lake: str, as_json: bool = False) -> str:
    """The ledger, newest first, in sentences or as JSON: what was sent to which receiver, and what was declared."""
    entries, damaged = _read(lake)
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
    aside = [f"{damaged} lines of the ledger are damaged; the next look puts it aside"] if damaged else []
    return "\n".join([*sentences, *aside])


def _keep(order: Order) -> Ledger:
    """The ledger with the event, written. One that is damaged is put aside first, and that is an event too."""
    before, damaged = _read(order.lake)
    events = [order.event] if order.event else []
    if damaged:
        name = f"ledger-damaged-{order.at.astimezone(UTC):%Y%m%dT%H%M%SZ}.jsonl"
        aside = f"{_folder(order.lake)}/{name}"
        landing.write_atomically(aside, landing.read_bytes(_place(order.lake)))
        reason = f"{damaged} lines of what was sent and what waits could not be read. They lie in {masked(aside)}"
        events.append(sightings.of_look("ledger_damaged", name, reason, order.at))
    state = ledger.record(before, events, order.at)
    _write(order.lake, state)
    return state


def _look(order: Order, kept: Ledger) -> list[Exception]:
    """Sends what is kept already, then what the lake holds. Gives: what could not be used or read."""
    settings, write = alert_settings(), partial(_write, order.lake)
    before = _send(order, kept, settings, write) if order.event else _Sent(kept)
    shown, nights, unread = _seen(order)
    state = ledger.record(before.state, shown, order.at, nights)
    if nights:
        lake = masked(order.lake)
        state = {k: ledger.end_entry(e, order.at) if _is_unread(e.sighting, lake) else e for k, e in state.items()}
    after = _send(order, state, settings, write)
    print(f"{before.count + after.count} messages went out, {after.waiting} wait for their receiver", flush=True)
    return [*after.problems, *unread]


def _is_unread(seen: Sighting, lake: str) -> bool:
    return (seen.rule, seen.subject) == ("lake_unreadable", lake)


def _send_unkept(order: Order, event: Sighting) -> list[Exception]:
    """Sends an event for which there is no ledger: it goes out now or never. Gives: what could not be used."""
    try:
        settings = alert_settings()
    except BadInput as problem:
        return [problem]
    sent = _send(order, ledger.record({}, [event], order.at), settings, lambda _: None)
    print(f"{sent.count} messages went out, {sent.waiting} are lost: the ledger cannot be written", flush=True)
    return sent.problems


@dataclass(frozen=True)
class _Sent:
    """The ledger after what was due was sent: how many messages were, how many wait, which receivers are unusable."""

    state: Ledger
    count: int = 0
    waiting: int = 0
    problems: list[Exception] = field(default_factory=list)


def _send(order: Order, state: Ledger, settings: AlertSettings, write: Write) -> _Sent:
    urls = [(order.urls.get(r.name) or order.environment.get(r.variable, "")).strip() for r in settings.receivers]
    named = {r.name: url for r, url in zip(settings.receivers, urls, strict=True) if url}
    is_due = any(ledger.due_entries(state, r, settings, order.at) for r in settings.receivers if r.name in named)
    kept_in = None if is_uri(order.lake) else f"{_folder(order.lake)}/receivers"
    addresses, unusable = _addresses(named, kept_in) if is_due else ({}, {})
    bad = [sightings.of_look("receiver_unusable", name, str(p), order.at) for name, p in unusable.items()]
    state = ledger.record(state, bad, order.at)
    write(state)
    count = waiting = 0
    for receiver in settings.receivers:
        for entry in ledger.due_entries(state, receiver, settings, order.at) if receiver.name in addresses else ():
            seen, is_over = entry.sighting, receiver.name in entry.sent
            severity, body = (
                (RECOVERED, recovery_of(entry)) if is_over else (seen.severity, body_of(seen, settings.link))
            )
            if addresses[receiver.name].send(severity, title_of(seen), body):
                state = {**state, seen.key: ledger.mark_delivered(entry, receiver, order.at)}
                write(state)
                count += 1
            else:
                waiting += 1
    return _Sent(state, count, waiting, list(unusable.values()))


def _addresses(urls: Mapping[str, str], kept_in: str | None) -> tuple[dict[str, Address], dict[str, Exception]]:
    """Where each receiver is, and why those of others cannot be used: one says nothing about another."""
    addresses: dict[str, Address] = {}
    unusable: dict[str, Exception] = {}
    for name, url in urls.items():
        try:
            addresses[name] = Address(name, url, kept_in)
        except BadInput as problem:
            unusable[name] = problem
    return addresses, unusable


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
