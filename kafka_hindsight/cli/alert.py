"""`hindsight alert`: send the alerts of a lake that are due, each once. One whose receiver is down waits."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, TextIO

import typer

from kafka_hindsight.alerts import delivery, ledger, sightings
from kafka_hindsight.alerts.alert_model import Ledger, LedgerEntry, Sighting, read_ledger, to_text
from kafka_hindsight.alerts.delivery import DeliveryOrder
from kafka_hindsight.cli.options import AsJson, AtOption, LakeOption, instant_or_now
from kafka_hindsight.lake.lock import LakeBusy, hold_lock
from kafka_hindsight.settings.alerts import AlertSettings, alert_settings
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput, exit_code, sentences_of
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.words import counted
from kafka_hindsight.sql.alert_rows import read_alert_rows

PATIENCE = timedelta(minutes=2)
"""How long this command waits for another one on the same lake."""


def command(
    lake: LakeOption = str(LAKE),
    at: AtOption = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="read receivers and an event from stdin as JSON")] = False,
    lists: Annotated[bool, typer.Option("--list", help="print the alerts that were sent, and send nothing")] = False,
    as_json: AsJson = False,
) -> int:
    """Send the alerts that are due, or list those that were sent."""
    if lists:
        print(
            ledger_text(lake, instant_or_now(at), as_json) or "No evaluation of this lake has found anything to send."
        )
        return DONE
    return run(order_of(lake, os.environ, sys.stdin if stdin else None, instant_or_now(at)))


def order_of(lake: str, environment: Mapping[str, str], stream: TextIO | None, at: datetime) -> DeliveryOrder:
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
    return DeliveryOrder(lake, at, environment, request.get("urls", {}), event)


def run(order: DeliveryOrder) -> int:
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
            state = delivery.record_event(order)
            is_recorded = True
            problems = _deliver(order, state)
    except (OSError, LakeBusy, BadInput) as problem:
        problems = [problem]
        if order.event and not is_recorded:
            problems += _deliver_unrecorded(order, order.event)
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
    aside = [f"The ledger has {counted(damaged, 'damaged line')}. The next look moves it aside."] if damaged else []
    return "\n".join([*sentences, *aside, *problems])


def _fate(entry: LedgerEntry, settings: AlertSettings, at: datetime) -> str:
    """The fate of an alert, in words."""
    if entry.sighting.declared:
        return "declared"
    others = grouped(
        (r for r in settings.receivers if r.name not in entry.sent),
        lambda r: ledger.why_not(entry, r, settings, at) or entry.failures.get(r.name, "it is due"),
    )
    reasons = [f"not to {', '.join(r.name for r in receivers)}: {reason}" for reason, receivers in others.items()]
    return "; ".join([f"state {entry.state}", f"sent to {', '.join(entry.sent) or 'no receiver'}", *reasons])


def _deliver(order: DeliveryOrder, state: Ledger) -> list[Exception]:
    """Send the alerts of the ledger, then those of the lake. Return what could not be used or read."""
    settings = alert_settings()
    first = delivery.deliver_event(order, state, settings)
    since = order.at - ledger.OLDEST
    rows = read_alert_rows(order.lake, since, since - sightings.FORMER_NIGHTS)
    second = delivery.deliver(order, first.state, settings, rows)
    alerts = counted(first.count + second.count, "alert")
    print(f"{alerts} sent, {second.waiting or 'none'} waiting for their receiver", flush=True)
    return second.problems


def _deliver_unrecorded(order: DeliveryOrder, event: Sighting) -> list[Exception]:
    """Send an event that cannot be recorded. Return what could not be used."""
    try:
        settings = alert_settings()
    except BadInput as problem:
        return [problem]
    only = delivery.deliver_unrecorded(order, event, settings)
    sent = counted(only.count, "alert")
    print(f"{sent} sent, {only.waiting or 'none'} lost: the ledger cannot be written", flush=True)
    return only.problems
