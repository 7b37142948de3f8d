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
from kafka_hindsight.alerts.alert_model import (
    Entry,
    Ledger,
    Night,
    Sighting,
    alerts_folder,
    ledger_path,
    read_ledger,
    to_text,
    write_ledger,
)
from kafka_hindsight.alerts.messages import message_of
from kafka_hindsight.alerts.receivers import Send, sender
from kafka_hindsight.cli.options import AsJson, At, Lake, instant
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.lock import LakeBusy, hold_lock
from kafka_hindsight.settings.alerts import AlertSettings, Receiver, alert_settings
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput, exit_code, sentences_of
from kafka_hindsight.shared.grouping import grouped
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
        print(ledger_text(lake, instant(at), as_json) or "No evaluation of this lake has found anything to send.")
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


def ledger_text(lake: str, at: datetime, as_json: bool = False) -> str:
    """The ledger as text or JSON, newest first: the alerts, who got each, and why the other receivers did not."""
    entries, damaged = read_ledger(lake)
    newest = sorted(entries.values(), key=lambda e: e.seen_to, reverse=True)
    if as_json:
        lines = to_text(entries).split("\n")[:-1]
        return json.dumps({"entries": [*map(json.loads, lines)], "damaged_lines": damaged}, indent=2)
    try:
        settings, problems = alert_settings(), []
    except BadInput as problem:
        settings, problems = AlertSettings(receivers=[]), [*problem.sentences]
    sentences = [
        visible(f"{e.seen_to:%Y-%m-%d} {s.severity} {s.cluster} {s.rule} {s.subject}: {_fate(e, settings, at)}")
        for e in newest
        for s in [e.sighting]
    ]
    aside = [f"Damaged lines in the ledger: {damaged}. The next look moves it aside."] if damaged else []
    return "\n".join([*sentences, *aside, *problems])


def _fate(entry: Entry, settings: AlertSettings, at: datetime) -> str:
    """The fate of an alert, in words."""
    if entry.sighting.declared:
        return "declared"
    others = grouped(
        (r for r in settings.receivers if r.name not in entry.sent),
        lambda r: ledger.why_not(entry, r, settings, at) or entry.failures.get(r.name, "it is due"),
    )
    reasons = [f"not to {', '.join(r.name for r in receivers)}: {reason}" for reason, receivers in others.items()]
    return "; ".join([f"state {entry.state}", f"sent to {', '.join(entry.sent) or 'no receiver'}", *reasons])


def _record_event(order: Order) -> Ledger:
    """Write the event into the ledger, and return it. A damaged ledger is moved aside first, which is an event too."""
    before, damaged = read_ledger(order.lake)
    events = [order.event] if order.event else []
    if damaged:
        name = f"ledger-damaged-{order.at.astimezone(UTC):%Y%m%dT%H%M%SZ}.jsonl"
        aside = f"{alerts_folder(order.lake)}/{name}"
        landing.write_atomically(aside, landing.read_bytes(ledger_path(order.lake)))
        reason = f"Damaged lines in the ledger: {damaged}. It was moved to {masked(aside)}"
        events.append(sightings.of_look("ledger_damaged", name, reason, order.at))
    state = ledger.record(before, events, order.at)
    write_ledger(order.lake, state)
    return state


def _look(order: Order, state: Ledger) -> list[Exception]:
    """Send the alerts of the ledger, then those of the lake. Return what could not be used or read."""
    settings, write = alert_settings(), partial(write_ledger, order.lake)
    first = _send(order, state, settings, write) if order.event else _Delivery(state)
    current, nights, failures = _current_sightings(order)
    state = ledger.record(first.state, current, order.at, nights)
    if nights:
        lake = masked(order.lake)
        state = {k: ledger.end_entry(e, order.at) if _is_unread(e.sighting, lake) else e for k, e in state.items()}
    second = _send(order, state, settings, write)
    print(f"{first.count + second.count} alerts sent, {second.waiting} waiting for their receiver", flush=True)
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
    print(f"{delivery.count} alerts sent, {delivery.waiting} lost: the ledger cannot be written", flush=True)
    return delivery.problems


@dataclass(frozen=True)
class _Delivery:
    """The ledger after alerts were sent, the alerts sent and waiting, and the problems of receivers."""

    state: Ledger
    count: int = 0
    waiting: int = 0
    problems: list[Exception] = field(default_factory=list)


def _send(order: Order, state: Ledger, settings: AlertSettings, write: Write) -> _Delivery:
    senders, unusable = _senders(order, state, settings)
    alerts = [sightings.of_look("receiver_unusable", name, str(p), order.at) for name, p in unusable.items()]
    state = {**ledger.record(state, alerts, order.at)}
    for receiver in settings.receivers:
        if receiver.name not in senders:
            missing = f"it has no URL in {receiver.variable} or {receiver.connection}"
            reason = "its URL cannot be used" if receiver.name in unusable else missing
            for entry in ledger.due_entries(state, receiver, settings, order.at):
                state[entry.sighting.key] = ledger.mark_tried(entry, receiver, order.at, reason)
    write(state)
    count = waiting = 0
    for receiver in settings.receivers:
        due = ledger.due_entries(state, receiver, settings, order.at)
        for batch in _batches(due, state, receiver, order.at) if receiver.name in senders else ():
            reason = senders[receiver.name](message_of(batch, receiver, settings, order.at))
            for entry in (e for e in batch if e in due):
                state[entry.sighting.key] = ledger.mark_tried(entry, receiver, order.at, reason)
                count, waiting = count + (not reason), waiting + bool(reason)
            write(state)
    return _Delivery(state, count, waiting, list(unusable.values()))


def _batches(due: list[Entry], state: Ledger, receiver: Receiver, at: datetime) -> list[list[Entry]]:
    """The entries of each message. Alertmanager gets those that go on again: it forgets them when it is restarted."""
    if receiver.kind in ("page", "webhook"):
        return [[entry] for entry in due]
    again = ledger.open_entries(state, receiver, at) if receiver.kind == "alertmanager" else []
    return [[*due, *again]] if due or again else []


def _senders(order: Order, state: Ledger, settings: AlertSettings) -> tuple[dict[str, Send], dict[str, Exception]]:
    """The senders of all receivers, where one gets something new, and the problems of those that cannot be used."""
    storage = None if is_uri(order.lake) else f"{alerts_folder(order.lake)}/receivers"
    senders: dict[str, Send] = {}
    unusable: dict[str, Exception] = {}
    due = {r.name: ledger.due_entries(state, r, settings, order.at) for r in settings.receivers}
    for receiver in settings.receivers:
        url = (order.urls.get(receiver.name) or order.environment.get(receiver.variable, "")).strip()
        if url and (any(due.values()) or _batches([], state, receiver, order.at)):
            try:
                senders[receiver.name] = sender(receiver, url, storage)
            except BadInput as problem:
                unusable[receiver.name] = problem
    return senders, unusable


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
