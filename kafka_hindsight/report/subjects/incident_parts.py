"""The parts of an incident: which absence, change of leader or rebalance each of its quotations is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Failover,
    Incident,
    OffsetJump,
    Rebalance,
    Truncation,
    Unavailability,
)
from kafka_hindsight.report import phrases
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain


def _failover(row: Failover) -> str:
    return f"{phrases.partition_name(row.topic, row.partition)}, {row.kind.noun.label}"


def _truncation(row: Truncation) -> str:
    return f"broker {row.broker} cut its log of {phrases.partition_name(row.topic, row.partition)}"


def _rebalance(row: Rebalance) -> str:
    who = phrases.member_name(row)
    return f"group {plain.shortened(row.group_id, 48)}, {row.cause.noun.label}{f' ({who})' if who else ''}"


def _jump(row: OffsetJump) -> str:
    return f"group {plain.shortened(row.group_id, 48)}, {row.cause.noun.clause}"


def _interval(row: Unavailability) -> str:
    is_group = row.topic is None
    name = (
        f"group {plain.shortened(row.group_id or '', 48)}"
        if is_group
        else phrases.partition_name(row.topic or "", row.partition or 0)
    )
    return f"{name} {row.kind.noun.predicate}"


_LABELS: Mapping[type[Row], Callable[[Any], str]] = {
    BrokerOutage: phrases.outage_words,
    Failover: _failover,
    Truncation: _truncation,
    Rebalance: _rebalance,
    OffsetJump: _jump,
    Unavailability: _interval,
}
"""The label of a part, by its class. A quotation of several parts belongs to the first."""


def parts_of(page: PageRows, incident: Incident) -> Mapping[str, str]:
    """The part that each quotation of an incident is about, by the id of its line; empty where it has only one."""
    parts: dict[str, str] = {}
    for line_id, label in _quotations(page, incident.incident_id):
        parts.setdefault(line_id, label)
    own = {quote.line_id: parts[quote.line_id] for quote in incident.evidence if quote.line_id in parts}
    return own if len({*own.values()}) > 1 else {}


def _quotations(page: PageRows, incident_id: str) -> Iterator[tuple[str, str]]:
    for kind, label_of in _LABELS.items():
        for row in page.rows_of(kind, "incident_id", incident_id):
            label = label_of(row)
            yield from ((quote.line_id, label) for quote in row.evidence)  # type: ignore[attr-defined]
