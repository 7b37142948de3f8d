"""The rows that a run withheld from gold: the first screen names them, and what counts them is a lower bound."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_hindsight.catalog.codes import WitnessKind
from kafka_hindsight.catalog.rows import WithheldRow
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

REASONS_NAMED = 3
ADVICE = "quality.withheld_rows has each of them with its reason: a report with these rows helps to mend it."


def withheld_sentences(rows: Iterable[WithheldRow]) -> list[str]:
    """A sentence for each table with withheld rows, with the reasons."""
    return [_sentence(table, own) for table, own in grouped(rows, lambda r: r.table).items()]


def _sentence(table: str, rows: list[WithheldRow]) -> str:
    reasons = [reason.partition(": ") for reason in dict.fromkeys(s for row in rows for s in row.sentences)]
    parts = [f"{name} ({says})" for name, _, says in reasons]
    is_withheld = words.verb(len(rows), "is withheld: it breaks", "are withheld: they break")
    return f"{words.counted(len(rows), 'row')} of {table} {is_withheld} {words.listed(parts, REASONS_NAMED)}."


def kinds_withheld(rows: Iterable[WithheldRow]) -> frozenset[WitnessKind]:
    """The kinds of event of whose rows some are withheld."""
    tables = {row.table for row in rows}
    return frozenset(kind for kind in WitnessKind if not tables.isdisjoint(kind.noun.tables))
