"""The delivery of alerts: each is recorded in the ledger, then sent to its receivers once. One that is down waits.

The ledger is written after each message, so that a killed process repeats one at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from kafka_hindsight.alerts import ledger, sightings
from kafka_hindsight.alerts.alert_model import (
    AlertRows,
    Ledger,
    LedgerEntry,
    NightWindow,
    Sighting,
    alerts_folder,
    ledger_path,
    read_ledger,
    write_ledger,
)
from kafka_hindsight.alerts.messages import message_of
from kafka_hindsight.alerts.pages import ended_pages, new_pages
from kafka_hindsight.alerts.receivers import Send, sender
from kafka_hindsight.lake import landing
from kafka_hindsight.settings.alerts import AlertSettings, Receiver
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import counted

Write = Callable[[Ledger], None]


class LakeUnreadable(RuntimeError):
    """A lake could not be read completely. Alerts that do not depend on it were sent."""


@dataclass(frozen=True)
class DeliveryOrder:
    """The arguments of a delivery. A scheduler adds URLs of receivers by name, and an event such as a failed run."""

    lake: str
    at: datetime
    environment: Mapping[str, str]
    urls: Mapping[str, str]
    event: Sighting | None = None


@dataclass(frozen=True)
class Delivery:
    """The ledger after alerts were sent, the alerts sent and waiting, and the problems of receivers."""

    state: Ledger
    count: int = 0
    waiting: int = 0
    problems: list[Exception] = field(default_factory=list)


def record_event(order: DeliveryOrder) -> Ledger:
    """Write the event into the ledger, and return it. A damaged ledger is moved aside first, which is an event too."""
    before, damaged = read_ledger(order.lake)
    events = [order.event] if order.event else []
    if damaged:
        name = f"ledger-damaged-{order.at.astimezone(UTC):%Y%m%dT%H%M%SZ}.jsonl"
        aside = f"{alerts_folder(order.lake)}/{name}"
        landing.write_atomically(aside, landing.read_bytes(ledger_path(order.lake)))
        reason = f"The ledger of alerts has {counted(damaged, 'damaged line')}. It was moved to {masked(aside)}"
        events.append(sightings.of_look("ledger_damaged", name, reason, order.at))
    state = ledger.record(before, events, order.at)
    write_ledger(order.lake, state)
    return state


def deliver_event(order: DeliveryOrder, state: Ledger, settings: AlertSettings) -> Delivery:
    """Send the event of the order, and what waits in the ledger. Without an event nothing is sent."""
    return _send(order, state, settings, partial(write_ledger, order.lake)) if order.event else Delivery(state)


def deliver(order: DeliveryOrder, state: Ledger, settings: AlertSettings, rows: AlertRows) -> Delivery:
    """Record what the rows of the lake show, and send what is due. What could not be read is among the problems."""
    current, nights, failures = sightings_in(rows, order)
    state = ledger.record(state, current, order.at, nights)
    if nights:
        lake = masked(order.lake)
        state = {k: ledger.end_entry(e, order.at) if _is_unread(e.sighting, lake) else e for k, e in state.items()}
    delivery = _send(order, state, settings, partial(write_ledger, order.lake))
    return replace(delivery, problems=[*delivery.problems, *failures])


def deliver_unrecorded(order: DeliveryOrder, event: Sighting, settings: AlertSettings) -> Delivery:
    """Send an event that cannot be recorded: now or never."""
    return _send(order, ledger.record({}, [event], order.at), settings, lambda _: None)


def sightings_in(rows: AlertRows, order: DeliveryOrder) -> tuple[list[Sighting], list[NightWindow], list[Exception]]:
    """The alerts of the lake, the published nights, and what could not be read, which is an alert too.

    If anything cannot be read there are no nights, since nothing shows which alerts are resolved.
    """
    current = [
        *sightings.of_incidents(rows.incidents, rows.windows),
        *sightings.of_findings(rows.findings, rows.windows, rows.declared, rows.incidents),
        *sightings.of_validations(rows.broken),
        *sightings.of_coverage(rows.coverage, order.at - ledger.OLDEST),
    ]
    nights = [(w["cluster"], w["window_from"], w["window_to"]) for w in rows.windows]
    if not rows.unread:
        return current, nights, []
    lake = masked(order.lake)
    reason = f"The lake {lake} could not be read, or not all of it: {' '.join(rows.unread)}"
    alert = sightings.of_look("lake_unreadable", lake, reason, order.at)
    return [*current, alert], [], [LakeUnreadable(reason)]


def _is_unread(sighting: Sighting, lake: str) -> bool:
    return (sighting.rule, sighting.subject) == ("lake_unreadable", lake)


def _send(order: DeliveryOrder, state: Ledger, settings: AlertSettings, write: Write) -> Delivery:
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
            message = message_of(batch, receiver, settings, order.at)
            title = message.title if receiver.kind == "page" else ""
            reason = senders[receiver.name](message)
            for entry in (e for e in batch if e in due):
                state[entry.sighting.key] = ledger.mark_tried(entry, receiver, order.at, reason, title)
                count, waiting = count + (not reason), waiting + bool(reason)
            write(state)
    return Delivery(state, count, waiting, list(unusable.values()))


def _batches(due: list[LedgerEntry], state: Ledger, receiver: Receiver, at: datetime) -> list[list[LedgerEntry]]:
    """The entries of each message. Alertmanager gets those that go on again: it forgets them when it is restarted."""
    if receiver.kind == "webhook":
        return [[entry] for entry in due]
    if receiver.kind == "page":
        recoveries = [entry for entry in due if receiver.name in entry.sent]
        return [*new_pages([e for e in due if e not in recoveries]), *ended_pages(state, recoveries, receiver.name)]
    again = ledger.open_entries(state, receiver, at) if receiver.kind == "alertmanager" else []
    return [[*due, *again]] if due or again else []


def _senders(
    order: DeliveryOrder, state: Ledger, settings: AlertSettings
) -> tuple[dict[str, Send], dict[str, Exception]]:
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
