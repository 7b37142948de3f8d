"""Which logs are missing: those of nodes that others name, and all that would show whether a broker served."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.rows import BrokerSnapshot, Event, MissingBrokerLog, Quote, UnobservedSpan
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch
from kafka_hindsight.judgements.brokers.liveness import signals_by_broker
from kafka_hindsight.judgements.brokers.observed import Observed
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.timelines import Timeline
from kafka_hindsight.shared.windows import Window, broker_ids
from kafka_hindsight.shared.words import duration

_Spanned = TypeVar("_Spanned", MissingBrokerLog, UnobservedSpan)


def find_missing_broker_logs(
    ordered: Sequence[Event], readings: Iterable[BrokerSnapshot], terms: Sequence[ControllerEpoch]
) -> list[MissingBrokerLog]:
    """One row for each node, by its id, that lines in order or readings name and that wrote none of the lines."""
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


_SHOWN_FROM = timedelta(hours=1)
"""A shorter time without a line is not worth a row: a quiet log is rotated each hour. Our choice."""


def find_unobserved_spans(cluster: str, observed: Observed) -> list[UnobservedSpan]:
    """Rows of quality.unobserved_spans by broker and time: one for each span of an hour or longer.

    A span lies between two proofs of the broker's life; neither its own log nor a controller's has a line of it.
    """
    return [
        _row(cluster, broker, start, end, proofs)
        for broker in observed.signs.brokers
        for proofs in [observed.signs.proofs(broker)]
        for missing in observed.logs.missing(broker, observed.since, observed.until)
        for inside in [(p.happened_at for p in proofs.within(missing.start, missing.end))]
        for start, end in pairwise([missing.start, *inside, missing.end or missing.start])
        if end - start >= _SHOWN_FROM
    ]


def _row(cluster: str, broker: int, start: datetime, end: datetime, proofs: Timeline[Event]) -> UnobservedSpan:
    around = (proofs.last_until(start), proofs.first_since(end))
    return UnobservedSpan(
        cluster=cluster,
        unobserved_span_id=row_id(cluster, "unobserved", broker, start),
        broker=broker,
        first_at=start,
        last_at=end,
        explanation=f"Whether broker {broker} served is not known for {duration(end - start)}: neither its own log nor"
        " a controller's has a line of that time.",
        evidence=evidence_of(quote(proof) for proof in around if proof),
    )


def cut_to(window: Window, rows: Iterable[_Spanned]) -> list[_Spanned]:
    """The rows of spans that reach into a window, cut to begin in it."""
    inside = (r for r in rows if window.meets(r.first_at, r.last_at))
    return [replace(r, first_at=max(r.first_at, window.start)) for r in inside]
