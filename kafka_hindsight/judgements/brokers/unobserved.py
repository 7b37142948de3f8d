"""From when to when nothing shows whether a broker served: no log of the time is at hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.rows import Event, UnobservedSpan
from kafka_hindsight.judgements.brokers.observed import Observed
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.timelines import Interval, Timeline
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import duration

TOLD_FROM = timedelta(hours=1)
"""A shorter time without a line is not worth a row: a quiet log is rotated each hour. Our choice."""


def find_unobserved_spans(cluster: str, observed: Observed) -> list[UnobservedSpan]:
    """Rows of quality.unobserved_spans: one for each span of an hour or longer.

    Gives: the spans between two proofs of the broker's life in which neither its own log nor a controller's has a line.
    Order: by broker and time.
    """
    return [
        _row(cluster, broker, start, end, proofs)
        for broker in observed.signs.brokers
        for proofs in [observed.signs.proofs(broker)]
        for missing in observed.logs.missing(broker, observed.since, observed.until)
        for start, end in pairwise([missing.start, *_inside(missing, proofs), missing.end or missing.start])
        if end - start >= TOLD_FROM
    ]


def unobserved_within(rows: Iterable[UnobservedSpan], window: Window) -> list[UnobservedSpan]:
    """The rows of spans that reach into a window, cut to begin in it."""
    inside = (r for r in rows if window.meets(r.first_at, r.last_at))
    return [replace(r, first_at=max(r.first_at, window.start)) for r in inside]


def _inside(missing: Interval[None], proofs: Timeline[Event]) -> list[datetime]:
    """The instants within a span at which others show the broker to live."""
    return [proof.happened_at for proof in proofs.within(missing.start, missing.end)]


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
