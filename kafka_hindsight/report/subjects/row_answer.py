"""The answer about any row of gold: its columns, and the rows that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.shared import words
from kafka_hindsight.shared.plain import harmless

HEADINGS = ("When", "Row", "Subject", "What")
_SHOWN_APART = frozenset({"cluster", "headline", "message", "advice", "evidence", "knowledge_version", "confidence"})


Related = Sequence[tuple[Table, Sequence[Row]]]
"""Rows of other tables, by their table."""


def row_answer(table: Table, row: Row, owners: Related, parts: Related) -> Answer:
    """Answer for a row of a table; `owners` are the rows that it names, `parts` those that name it."""
    safe: Any = type(row).of(harmless(row.as_dict()))
    explanation, advice = getattr(safe, "explanation", None), getattr(safe, "advice", None)
    columns = [c.name for c in table.columns if c.name not in (*_SHOWN_APART, "explanation", table.key[0])]
    return Answer(
        _noun(table),
        getattr(safe, table.key[0]),
        "",
        _verdict(safe),
        getattr(safe, "confidence", None) or "",
        explanation=explanation if explanation and explanation != _verdict(safe) else "",
        cost=ui.facts(*((name, _value(name, getattr(safe, name))) for name in columns)),
        advice=(advice,) if advice else (),
        proof=getattr(safe, "evidence", None) or (),
        sections=(
            ui.ShownSection("owners", "Part of", _table(owners)),
            ui.ShownSection("parts", "Contains: the first rows of each table", _table(parts)),
        ),
    )


def _noun(table: Table) -> str:
    return table.key[0].removesuffix("_id").replace("_", " ")


def _verdict(row: Row) -> str:
    """The sentence that a row says of itself."""
    sentences = (getattr(row, name, None) for name in ("headline", "message", "explanation"))
    return str(next(filter(None, sentences), ""))


def _value(name: str, value: Any) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return words.instant(value, precise=True)
        case bool():
            return "yes" if value else "no"
        case int() if name.endswith("_ms"):
            return words.duration(value) if abs(value) < 1_000 else f"{words.duration(value)} ({value:,} ms)"
        case Row():
            return ", ".join(f"{n} {text}" for n in value.__slots__ if (text := _value(n, getattr(value, n))))
        case list():
            return ("; " if any(isinstance(v, Row) for v in value) else ", ").join(_value("", v) for v in value)
    return str(value)


def _table(related: Related) -> tuple[ui.Block, ...]:
    rows = tuple(
        ui.row(
            ui.At(getattr(row, str(table.time_column))),
            f"{_noun(table)} {getattr(row, table.key[0])}",
            _subject(row),
            _verdict(row),
        )
        for table, rows in related
        for row in (type(row).of(harmless(row.as_dict())) for row in rows)
    )
    return (ui.PlainTable("Related rows", HEADINGS, rows),) if rows else ()


def _subject(row: Row) -> str:
    """The subject of a row in short: a partition, a broker, a group."""
    topic, group, broker = (getattr(row, name, None) for name in ("topic", "group_id", "broker"))
    if topic is not None:
        return f"{topic}-{getattr(row, 'partition', '?')}"
    if group is None and broker is not None:
        return f"broker {broker}"
    return str(group or getattr(row, "subject", ""))
