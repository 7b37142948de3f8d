"""Answers of a query as text: a table to read, CSV or JSON to work with."""

from __future__ import annotations

import base64
import csv
import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, TextIO

import duckdb

from kafka_hindsight.shared.plain import visible

MAX_ROWS = 1000
"""The most rows that a terminal shows; CSV and JSON give them all."""
_LAST_WIDTH = 30
_BATCH = 1000

ColumnNames = Sequence[str]
Tuples = Iterable[Sequence[Any]]
_NUMBERS = (bool, int, float, Decimal)
_FORMULA = re.compile("[=+\\-@\uff1d\uff0b\uff0d\uff20]")
"""How a formula begins in a spreadsheet, in the wide forms too."""


def _write_table(names: ColumnNames, rows: Tuples, out: TextIO) -> None:
    """Write a table where it fits the terminal, else one block for each row. No text of it can steer the terminal.

    The last column may run over the edge, as long as it begins well before it. A pipe or a file has no edge: there an
    answer is always a table.
    """
    first = list(islice(rows, MAX_ROWS + 1))
    cells = [["" if v is None else visible(_text(v)) for v in row] for row in first[:MAX_ROWS]]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    width = sum(w + 2 for w in widths[:-1]) + min(widths[-1], _LAST_WIDTH)
    if width <= shutil.get_terminal_size((sys.maxsize, 24)).columns:
        are_numbers = [all(isinstance(v, _NUMBERS) or v is None for v in column) for column in zip(*first, strict=True)]
        lines = _aligned((names, ["-" * w for w in widths], *cells), widths, are_numbers or [False] * len(names))
    else:
        lines = _blocks(names, cells)
    out.writelines(f"{line.rstrip()}\n" for line in lines)
    more = " or more, the others are left out: use LIMIT, or --format csv" if len(first) > MAX_ROWS else ""
    out.write(f"({len(cells)} {'row' if len(cells) == 1 else 'rows'}{more})\n")


def _aligned(rows: Iterable[ColumnNames], widths: Sequence[int], are_numbers: Sequence[bool]) -> Iterator[str]:
    for cells in rows:
        columns = zip(cells, widths, are_numbers, strict=True)
        yield "  ".join(cell.rjust(width) if is_number else cell.ljust(width) for cell, width, is_number in columns)


def _blocks(names: ColumnNames, rows: Sequence[ColumnNames]) -> Iterator[str]:
    width = max(map(len, names))
    for number, cells in enumerate(rows, 1):
        yield f"--- row {number}"
        yield from (f"{name.ljust(width)}  {cell}" for name, cell in zip(names, cells, strict=True))


def _write_csv(names: ColumnNames, rows: Tuples, out: TextIO) -> None:
    """Write CSV in which no text is a command of a terminal or a formula. JSON gives each value as it is."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_inert, names))
    for row in rows:
        writer.writerow(["" if v is None else _text(v) if isinstance(v, _NUMBERS) else _inert(_text(v)) for v in row])


def _inert(text: str) -> str:
    """A text in which line ends stay, other control characters are written out, and a formula is marked as text."""
    inert = "\n".join(visible(line) for line in text.split("\n"))
    return f"'{inert}" if _FORMULA.match(inert) else inert


def _write_json(names: ColumnNames, rows: Tuples, out: TextIO) -> None:
    out.write("[")
    for number, row in enumerate(rows):
        value = {n: plain(v) for n, v in zip(names, row, strict=True)}
        out.write(("," if number else "") + "\n" + json.dumps(value))
    out.write("\n]\n")


FORMATS: Mapping[str, Callable[[ColumnNames, Tuples, TextIO], None]] = {
    "table": _write_table,
    "csv": _write_csv,
    "json": _write_json,
}


def write_rows(names: ColumnNames, rows: Tuples, format_: str) -> None:
    """Print rows in one of FORMATS. Instants are in UTC; a null is empty in a table and in CSV."""
    FORMATS[format_]([visible(name) for name in names], rows, sys.stdout)


def answer_rows(answer: duckdb.DuckDBPyConnection) -> Iterator[Sequence[Any]]:
    """Read the rows of an answer, some at a time."""
    while rows := answer.fetchmany(_BATCH):
        yield from rows


def _text(value: Any) -> str:
    simple = plain(value)
    if isinstance(simple, (list, dict)):
        return json.dumps(simple, ensure_ascii=False)
    return str(simple).lower() if isinstance(simple, bool) else str(simple)


def plain(value: Any) -> Any:
    """A value as JSON has it: instants in UTC, decimals as numbers, bytes in base 64."""
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else _other(value)


def _instant(value: datetime) -> str:
    at = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    precision = "milliseconds" if at.microsecond % 1000 == 0 else "microseconds"
    return at.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def _other(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if isinstance(value, date) else str(value)
