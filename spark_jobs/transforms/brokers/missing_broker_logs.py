"""Brokers and controllers that others name, and of which no line of their own is at hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spark_jobs.catalog.model import EVIDENCE_TYPE
from spark_jobs.transforms.brokers.liveness import marks_by_broker
from spark_jobs.transforms.controllers import Term
from spark_jobs.transforms.evidence import evidence_of, quote, quote_snapshot
from spark_jobs.transforms.windows import OutRow, Row, Window, broker_ids

MISSING_BROKER_LOGS = f"cluster STRING, broker INT, first_at TIMESTAMP, last_at TIMESTAMP, evidence {EVIDENCE_TYPE}"
"""The schema of what `find_missing_broker_logs` gives."""


def find_missing_broker_logs(ordered: Sequence[Row], readings: Iterable[Row], terms: Sequence[Term]) -> list[OutRow]:
    """One row for each node that lines or readings name and that wrote none of the lines.

    Takes: events of brokers in order, those that outages are rebuilt from; rows of bronze.broker_snapshots; the
    controllers' terms.
    Order: by broker.
    """
    heard = {e["broker"] for e in ordered if e["origin"] != "record"}
    named: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for broker, found in _named(ordered, readings, terms):
        if broker not in heard and broker >= 0 and ordered:
            named[broker].append(found)
    return [
        {
            "cluster": ordered[0]["cluster"],
            "broker": broker,
            "first_at": min(q["happened_at"] for q in quotes),
            "last_at": max(q["happened_at"] for q in quotes),
            "evidence": evidence_of(quotes),
        }
        for broker, quotes in sorted(named.items())
    ]


def named_within(rows: Iterable[Row], window: Window) -> list[OutRow]:
    """The rows of nodes that were named in a window, which they then begin in."""
    inside = (r for r in rows if r["last_at"] >= window.start and r["first_at"] < window.end)
    return [{**r, "first_at": max(r["first_at"], window.start)} for r in inside]


def _named(
    ordered: Sequence[Row], readings: Iterable[Row], terms: Sequence[Term]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in readings:
        yield row["broker"], quote_snapshot(row["snapshot_id"], row["snapshot_at"], f"broker {row['broker']} is listed")
    for broker, marks in marks_by_broker(ordered, terms).items():
        yield from ((broker, quote(mark.event)) for mark in marks)
    for term in terms:
        yield from ((term.controller, quote(line)) for line in term.lines)
    for event in ordered:
        for broker in {*(broker_ids(event["isr"]) or ()), *([event["leader"]] if event["leader"] is not None else ())}:
            yield broker, quote(event)
