"""Brokers and controllers that others name, and that wrote none of the known lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.rows import BrokerSnapshot, Event, MissingBrokerLog, Quote
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch
from kafka_hindsight.judgements.brokers.liveness import signals_by_broker
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot
from kafka_hindsight.shared.windows import Window, broker_ids


def find_missing_broker_logs(
    ordered: Sequence[Event], readings: Iterable[BrokerSnapshot], terms: Sequence[ControllerEpoch]
) -> list[MissingBrokerLog]:
    """One row for each node that lines or readings name and that wrote none of the lines.

    Takes: events of brokers in order, those that outages are rebuilt from; the controllers' terms.
    Order: by broker.
    """
    known = {e.broker for e in ordered if e.origin != Origin.RECORD}
    named: dict[int, list[Quote]] = defaultdict(list)
    for broker, found in _named(ordered, readings, terms):
        if broker not in known and broker >= 0 and ordered:
            named[broker].append(found)
    return [
        MissingBrokerLog(
            cluster=ordered[0].cluster,
            broker=broker,
            first_at=min(q.happened_at for q in quotes),
            last_at=max(q.happened_at for q in quotes),
            evidence=evidence_of(quotes),
        )
        for broker, quotes in sorted(named.items())
    ]


def named_within(rows: Iterable[MissingBrokerLog], window: Window) -> list[MissingBrokerLog]:
    """The rows of nodes that are named in a window, cut to begin in it."""
    inside = (r for r in rows if window.meets(r.first_at, r.last_at))
    return [replace(r, first_at=max(r.first_at, window.start)) for r in inside]


def _named(
    ordered: Sequence[Event], readings: Iterable[BrokerSnapshot], terms: Sequence[ControllerEpoch]
) -> Iterator[tuple[int, Quote]]:
    for row in readings:
        yield row.broker, quote_snapshot(row, f"broker {row.broker} is listed")
    for broker, signals in signals_by_broker(ordered, terms).items():
        yield from ((broker, quote(signal.event)) for signal in signals)
    for term in terms:
        yield from ((term.controller, quote(line)) for line in term.lines)
    for event in ordered:
        for broker in {*(broker_ids(event.isr) or ()), *(() if event.leader is None else (event.leader,))}:
            yield broker, quote(event)
