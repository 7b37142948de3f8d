"""One row of gold by its id, with the rows that it names and those that name it: as the catalog declares them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import duckdb

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.report.story import RelatedRows, Story
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql.duck_types import CANNOT_BE_READ, one_sentence, view_name
from kafka_hindsight.sql.lake_views import dicts_of

TOLD = tuple(t for t in TABLES if t.layer == "gold" and len(t.key) == 1)
"""The tables whose rows have an id."""

_ID = re.compile(r"(?:.*#)?(?:[a-z_-]+-)?([0-9a-f]{6,32})")
_FIRST = 10
_AMBIGUOUS = 5


def id_in(asked: str) -> str | None:
    """The id of a row, or its beginning: the text itself, or the end of an address. None where it is neither."""
    matched = _ID.fullmatch(asked)
    return matched[1] if matched else None


def row_with_relations(connection: duckdb.DuckDBPyConnection, row_id: str) -> Story:
    """The row whose id was asked for.

    Takes: an id, or the first six characters of one or more.
    Raises: BadInput where no row has it, or where several have.
    """
    found = [(t, row) for t in TOLD for row in rows_where(connection, t, f"starts_with({t.key[0]}, ?)", [row_id])]
    if not found:
        raise BadInput(
            f"No row of gold has the id {row_id}. Needed: an id of {', '.join(t.name for t in TOLD)}; or name the"
            " lake that holds it with --lake."
        )
    if len(found) > 1:
        which = "; ".join(f"{t.name} {getattr(row, t.key[0])}" for t, row in found[:_AMBIGUOUS])
        raise BadInput(f"{row_id} begins the ids of {len(found)} rows or more: {which}. Needed: more of the id.")
    table, row = found[0]
    return Story(table, row, list(_part_of(connection, table, row)), list(_parts(connection, table, row)))


def _part_of(connection: duckdb.DuckDBPyConnection, table: Table, row: Row) -> Iterator[RelatedRows]:
    """The rows that a row names by their ids."""
    for other in TOLD:
        key = other.key[0]
        named = [getattr(row, key, None), *(getattr(row, f"{key}s", None) or ())]
        ids = [] if other is table else [i for i in named if i]
        rows = rows_where(connection, other, f"list_contains(?, {key})", [ids]) if ids else []
        if rows:
            yield RelatedRows(other, len(ids), rows)


def _parts(connection: duckdb.DuckDBPyConnection, table: Table, row: Row) -> Iterator[RelatedRows]:
    """The rows that name a row by its id."""
    key = table.key[0]
    for other in TOLD:
        names = {c.name for c in other.columns} if other is not table else set()
        holds = [f"{key} = ?"] if key in names else [f"list_contains({key}s, ?)"] if f"{key}s" in names else []
        for condition in holds:
            yield from counted(connection, other, condition, [getattr(row, key)])


def counted(connection: duckdb.DuckDBPyConnection, table: Table, condition: str, values: Any) -> Iterator[RelatedRows]:
    """How many rows of a table meet a condition, and the first of them; nothing where none does."""
    with where_readable(connection, table.full_name):
        count = connection.execute(f"SELECT count(*) FROM {view_name(table)} WHERE {condition}", values).fetchone()
        if count and count[0]:
            yield RelatedRows(table, count[0], rows_where(connection, table, condition, values))


@contextmanager
def where_readable(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[None]:
    """Leaves the block where a table cannot be read, and says so.

    Edge case: what the table's log shows was said as the lake was opened. A file that is missing or damaged is found
    only as its rows are read.
    """
    try:
        yield
    except duckdb.Error as problem:
        if CANNOT_BE_READ not in str(problem):
            _say_once(connection, f"The table {table}{CANNOT_BE_READ}{one_sentence(problem)}. {_TO_DO}")


_TO_DO = "What to do: `hindsight doctor` with --lake names each table that is not whole."


@lru_cache(16)
def _say_once(_: duckdb.DuckDBPyConnection, line: str) -> None:
    """Several queries meet the same file."""
    print(line, file=sys.stderr)


def rows_where(connection: duckdb.DuckDBPyConnection, table: Table, condition: str, values: Any) -> list[Row]:
    """The first rows of a table, in order of time, for which a condition holds. Takes: the values of its parameters."""
    order = ", ".join(filter(None, (table.time_column, table.key[0])))
    rows: list[Row] = []
    with where_readable(connection, table.full_name):
        answer = connection.execute(
            f"SELECT * FROM {view_name(table)} WHERE {condition} ORDER BY {order} LIMIT {_FIRST}", values
        )
        rows += map(table.row_class.of, dicts_of(answer))
    return rows
