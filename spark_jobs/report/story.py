"""One row of gold as a story for a terminal: what, why, what to do, its kin, and the lines that prove it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spark_jobs.catalog.model import Column, Table
from spark_jobs.report.plain import harmless
from spark_jobs.shared import words

Row = Mapping[str, Any]

_TOLD_APART = frozenset({"cluster", "explanation", "message", "advice", "evidence", "knowledge_version"})
_SAID_BY = ("explanation", "message")
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
    """The story for machines: the table's name, the row as it stands in gold, and its kin."""

    def of(kin: Sequence[RelatedRows]) -> list[dict[str, Any]]:
        return [{"table": k.table.full_name, "count": k.count, "rows": k.rows} for k in kin]

    return {
        "table": story.table.full_name,
        "row": story.row,
        "part_of": of(story.part_of),
        "parts": of(story.parts),
    }


def told(story: Story, width: int = 100) -> Iterator[str]:
    """The story in lines of at most `width` columns, quoted lines excepted.

    Keeps: nothing but printable characters, whatever names clients chose.
    """
    row = harmless(story.row)
    yield f"{_noun(story.table)} {row[story.table.key[0]]}, cluster {row['cluster']}"
    for column in (*_SAID_BY, "advice"):
        if row.get(column):
            yield from _wrapped(f"{'→ ' if column == 'advice' else ''}{row[column]}", width)
    yield ""
    yield from _facts(story.table, row, width)
    for title, kin in (("Part of", story.part_of), ("What belongs to it", story.parts)):
        if kin:
            yield from ("", title)
            yield from (line for k in kin for line in _kin(k, width))
    yield from ("", "The lines that prove it" if row["evidence"] else "No line is quoted.")
    for quote in row["evidence"]:
        yield f"  {words.instant(quote['happened_at'], precise=True)}  {quote['source']}"
        yield from (f"    {line}" for line in quote["text"].split("\n"))


def _noun(table: Table) -> str:
    return words.sentence(table.key[0].removesuffix("_id").replace("_", " "))


def _facts(table: Table, row: Row, width: int) -> Iterator[str]:
    shown = [
        c for c in table.columns if c.name not in (*_TOLD_APART, table.key[0]) and row.get(c.name) not in (None, [])
    ]
    label = max((len(c.name) for c in shown), default=0)
    for column in shown:
        text = _value(column, row[column.name])
        yield from textwrap.wrap(
            text,
            max(width, label + 24),
            initial_indent=f"  {column.name.ljust(label)}  ",
            subsequent_indent=" " * (label + 4),
            break_on_hyphens=False,
        ) or [f"  {column.name}"]


def _value(column: Column, value: Any) -> str:
    if column.name.endswith("_ms") and isinstance(value, int):
        return words.duration(value) if abs(value) < 1_000 else f"{words.duration(value)} ({words.number(value)} ms)"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return words.instant(value, precise=True)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(v)}" for name, v in value.items() if v is not None)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ("; " if any(isinstance(v, Mapping) for v in value) else ", ").join(map(_plain, value)) or "none"
    return str(value)


def _kin(kin: RelatedRows, width: int) -> Iterator[str]:
    noun = _noun(kin.table).lower()
    if kin.count > 1:
        yield f"  {words.counted(kin.count, noun)}"
    for row in kin.rows[:_LIST]:
        safe = harmless(row)
        at = words.instant(safe[kin.table.time_column]) if kin.table.time_column else ""
        says = next((safe[c] for c in _SAID_BY if safe.get(c)), "")
        yield "  ".join(filter(None, ("", at, f"{noun} {safe[kin.table.key[0]]}", _subject(safe))))
        yield from _wrapped(str(says), width, "    ")
    if kin.count > _LIST:
        yield f"  and {words.number(kin.count - _LIST)} more"


def _subject(row: Row) -> str:
    """What a row is about, in short."""
    if row.get("topic") is not None and row.get("partition") is not None:
        return f"{row['topic']}-{row['partition']}"
    about = next((row[c] for c in ("group_id", "broker", "subject") if row.get(c) is not None), "")
    return f"broker {about}" if "broker" in row and about == row["broker"] else str(about)


def _wrapped(text: str, width: int, margin: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
