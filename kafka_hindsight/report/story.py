"""One row of gold explained in a terminal: headline, reason, advice, related rows, and the lines that prove it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.table_model import Column, Table
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.terminal import Terminal
from kafka_hindsight.shared import words
from kafka_hindsight.shared.plain import harmless

_SHOWN_APART = frozenset({"cluster", "headline", "explanation", "message", "advice", "evidence", "knowledge_version"})
_LIST = 8


@dataclass(frozen=True)
class RelatedRows:
    """Rows of another table that are named by a row, or that name it: how many, and the first of them."""

    table: Table
    count: int
    rows: Sequence[Row]


@dataclass(frozen=True)
class Story:
    """One row of a table of gold, the rows that it names (`part_of`), and those that name it (`parts`)."""

    table: Table
    row: Row
    part_of: Sequence[RelatedRows] = ()
    parts: Sequence[RelatedRows] = ()


def as_data(story: Story) -> dict[str, Any]:
    """The story for machines: the table's name, the row as it stands in gold, and the related rows."""

    def as_dicts(related: Sequence[RelatedRows]) -> list[dict[str, Any]]:
        return [{"table": r.table.full_name, "count": r.count, "rows": [w.as_dict() for w in r.rows]} for r in related]

    return {
        "table": story.table.full_name,
        "row": story.row.as_dict(),
        "part_of": as_dicts(story.part_of),
        "parts": as_dicts(story.parts),
    }


def as_lines(story: Story, width: int = 100) -> Iterator[str]:
    """The story in lines of at most `width` columns, quoted lines excepted.

    All characters are printable, whatever names clients chose.
    """
    terminal = Terminal(width)
    row = _safe(story.row)
    cluster, advice, evidence = (getattr(row, name, None) for name in ("cluster", "advice", "evidence"))
    yield from terminal.text(f"{words.sentence(_row_name(story.table, row))}, cluster {cluster}")
    if headline := getattr(row, "headline", None):
        yield from terminal.text(f"{headline}.")
    yield from terminal.text(_reason(row))
    if advice:
        yield from terminal.blocks([ui.advice_box(advice)])
    yield ""
    yield from terminal.blocks([ui.Facts(tuple(_facts(story.table, row)))], 2)
    for title, related in (("Part of", story.part_of), ("Contains", story.parts)):
        if related:
            yield from terminal.blocks([ui.Heading(title)])
            yield from terminal.blocks([ui.List(tuple(item for rows in related for item in _items(rows)))], 2)
    quotes = tuple(ui.Quotation(q.text, q.source, ui.At(q.happened_at, precise=True)) for q in evidence or ())
    yield from terminal.blocks([ui.Heading("The lines that prove it" if quotes else "No line is quoted.")])
    yield from terminal.blocks([ui.Evidence(quotes)], 2)


def _safe(row: Row) -> Row:
    return type(row).of(harmless(row.as_dict()))


def _reason(row: Row) -> str:
    return str(getattr(row, "explanation", None) or getattr(row, "message", None) or "")


def _noun(table: Table) -> str:
    return table.key[0].removesuffix("_id").replace("_", " ")


def _row_name(table: Table, row: Row) -> str:
    return f"{_noun(table)} {getattr(row, table.key[0])}"


def _facts(table: Table, row: Row) -> Iterator[ui.Fact]:
    for column in table.columns:
        value = getattr(row, column.name)
        if column.name not in (*_SHOWN_APART, table.key[0]) and value not in (None, []):
            yield ui.Fact(column.name, _value(column, value))


def _value(column: Column, value: Any) -> str:
    if column.name.endswith("_ms") and isinstance(value, int):
        return words.duration(value) if abs(value) < 1_000 else f"{words.duration(value)} ({words.number(value)} ms)"
    return _plain(value)


def _plain(value: Any) -> str:
    match value:
        case datetime():
            return words.instant(value, precise=True)
        case bool():
            return "yes" if value else "no"
        case Row():
            return ", ".join(f"{n} {_plain(v)}" for n in value.__slots__ if (v := getattr(value, n)) is not None)
        case list():
            return ("; " if any(isinstance(v, Row) for v in value) else ", ").join(map(_plain, value)) or "none"
    return str(value)


def _items(related: RelatedRows) -> Iterator[ui.Item]:
    noun = _noun(related.table)
    if related.count > 1:
        yield ui.Item(words.counted(related.count, noun, noun if noun.endswith("s") else ""))
    for row in map(_safe, related.rows[:_LIST]):
        at = getattr(row, related.table.time_column) if related.table.time_column else None
        line = "  ".join(filter(None, (words.instant(at), _row_name(related.table, row), _subject(row))))
        yield ui.Item(line, blocks=(ui.Paragraph(getattr(row, "headline", None) or _reason(row)),))
    if related.count > _LIST:
        yield ui.Item(f"and {words.number(related.count - _LIST)} more")


def _subject(row: Row) -> str:
    """The subject of a row in short: a partition, a broker, a group."""
    topic, group, broker = (getattr(row, name, None) for name in ("topic", "group_id", "broker"))
    if topic is not None:
        return f"{topic}-{getattr(row, 'partition', '?')}"
    if group is None and broker is not None:
        return f"broker {broker}"
    return str(group or getattr(row, "subject", ""))
