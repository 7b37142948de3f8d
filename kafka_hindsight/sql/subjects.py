"""The subjects of `hindsight explain`, read from a lake.

A row of gold by its id, with the rows that it names and those that name it; a group or a partition with the rows that
are about it; the worst and the latest incident.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any

import duckdb

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.gold import FINDINGS, INCIDENTS
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.report.story import RelatedRows, Story, Subject
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql.duck_types import CANNOT_BE_READ, one_sentence, view_name
from kafka_hindsight.sql.lake_views import dicts_of

WITH_ID = tuple(t for t in TABLES if t.layer == "gold" and len(t.key) == 1)
"""The tables whose rows have an id."""

_ID = re.compile(r"(?:.*#)?(?:[a-z_-]+-)?([0-9a-f]{6,32})")
_ROWS = 10
_AMBIGUOUS = 5
_FIRST = (INCIDENTS, FINDINGS)
_OTHERS = tuple(t for t in WITH_ID if t not in _FIRST)
_SUBJECTS = {
    "group": (
        "SELECT group_id FROM gold.rebalances",
        "SELECT group_id FROM gold.lag_verdicts",
        "SELECT group_id FROM gold.member_settings",
        "SELECT unnest(group_ids) FROM gold.incidents",
    ),
    "partition": tuple(
        f"SELECT concat(topic, '-', partition) FROM gold.{table}"
        for table in ("failovers", "partition_risks", "lag_verdicts", "isr_changes")
    ),
}
"""Queries for the names of subjects."""

_INCIDENT_OF_WORD = {
    "worst": """
        SELECT incident_id FROM gold.incidents AS i
        JOIN (
            SELECT cluster, window_from, window_to FROM quality.publications ORDER BY run_published_at DESC LIMIT 1
        ) AS w ON i.cluster = w.cluster AND i.started_at >= w.window_from AND i.started_at < w.window_to
        ORDER BY harm_rank NULLS LAST, started_at LIMIT 1""",
    "latest": "SELECT incident_id FROM gold.incidents ORDER BY started_at DESC, harm_rank NULLS LAST LIMIT 1",
}
"""The most harmful incident of the newest night; the incident that started last."""


def story_of(connection: duckdb.DuckDBPyConnection, subject: str) -> Story | Subject:
    """Read a subject: a group, a partition as topic-number, a row by its id, or the worst or latest incident.

    Of a group or a partition, incidents and findings come first, then the tables in the order of the catalog.

    Raises:
        BadInput: The lake has nothing of that name.
    """
    subject = subject.strip()
    if subject in _INCIDENT_OF_WORD:
        return _row_with_relations(connection, _incident_of(connection, subject))
    names = {kind: _names(connection, queries) for kind, queries in _SUBJECTS.items()}
    kind = next((kind for kind, subjects in names.items() if subject in subjects), None)
    if kind:
        return Subject(kind, subject, [r for t in (*_FIRST, *_OTHERS) for r in _rows(connection, t, kind, subject)])
    row_id = _id_in(subject)
    if row_id:
        return _row_with_relations(connection, row_id)
    hint = visible(did_you_mean(subject, chain.from_iterable(names.values())))
    raise BadInput(
        f"{visible(subject)!r} is not an id, a group or a partition of this lake.{hint} Needed: the id of a row of gold"
        " (32 characters of 0-9 and a-f) or its first six or more, an address in the report that ends in one, a group"
        " id, topic-partition, worst or latest. `hindsight sql` finds ids."
    )


def _incident_of(connection: duckdb.DuckDBPyConnection, word: str) -> str:
    row = connection.execute(_INCIDENT_OF_WORD[word]).fetchone()
    if row is None:
        subject = "The newest night" if word == "worst" else "The lake"
        raise BadInput(f"{subject} has no incident, or no night was published. Audit a night, or ask for an id.")
    return str(row[0])


def _names(connection: duckdb.DuckDBPyConnection, queries: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for query in queries:
        with _where_readable(connection, query.rpartition("FROM ")[2]):
            names |= {name for (name,) in connection.execute(query).fetchall() if name}
    return names


def _rows(connection: duckdb.DuckDBPyConnection, table: Table, kind: str, name: str) -> Iterator[RelatedRows]:
    condition = _about(table, kind)
    if not condition:
        return
    topic, _, partition = name.rpartition("-")
    all_parameters = {"name": name, "topic": topic, "partition": partition}
    parameters = {key: text for key, text in all_parameters.items() if f"${key}" in condition}
    yield from _related(connection, table, condition, parameters)


def _about(table: Table, kind: str) -> str:
    """The condition under which a row of a table is about a group or a partition; empty where none can be."""
    columns = set(table.column_names)
    if {"subject_kind", "subject"} <= columns:
        return f"subject_kind = '{kind}' AND subject = $name"
    if kind == "partition":
        of_partition = "topic = $topic AND partition = $partition::INTEGER"
        of_topic = "list_contains(topics, $topic)" if "topics" in columns else ""
        return of_partition if {"topic", "partition"} <= columns else of_topic
    return "group_id = $name" if "group_id" in columns else "list_contains(group_ids, $name)" * ("group_ids" in columns)


def _id_in(subject: str) -> str | None:
    """The id of a row, or its beginning: the text itself, or the end of an address. None where it is neither."""
    match = _ID.fullmatch(subject)
    return match[1] if match else None


def _row_with_relations(connection: duckdb.DuckDBPyConnection, row_id: str) -> Story:
    """The row of an id, or of the first six or more characters of one.

    Raises:
        BadInput: No row has the id, or several have.
    """
    matches = [(t, row) for t in WITH_ID for row in _rows_where(connection, t, f"starts_with({t.key[0]}, ?)", [row_id])]
    if not matches:
        raise BadInput(
            f"No row of gold has the id {row_id}. Needed: an id of {', '.join(t.name for t in WITH_ID)}; or name"
            " the lake that holds it with --lake."
        )
    if len(matches) > 1:
        ids = "; ".join(f"{t.name} {getattr(row, t.key[0])}" for t, row in matches[:_AMBIGUOUS])
        raise BadInput(f"{row_id} begins the ids of {len(matches)} rows or more: {ids}. Needed: more of the id.")
    table, row = matches[0]
    return Story(table, row, list(_part_of(connection, table, row)), list(_parts(connection, table, row)))


def _part_of(connection: duckdb.DuckDBPyConnection, table: Table, row: Row) -> Iterator[RelatedRows]:
    """The rows that a row names by their ids."""
    for other in WITH_ID:
        key = other.key[0]
        values = [getattr(row, key, None), *(getattr(row, f"{key}s", None) or ())]
        ids = [] if other is table else [i for i in values if i]
        rows = _rows_where(connection, other, f"list_contains(?, {key})", [ids]) if ids else []
        if rows:
            yield RelatedRows(other, len(ids), rows)


def _parts(connection: duckdb.DuckDBPyConnection, table: Table, row: Row) -> Iterator[RelatedRows]:
    """The rows that name a row by its id."""
    key = table.key[0]
    for other in WITH_ID:
        names = {c.name for c in other.columns} if other is not table else set()
        conditions = [f"{key} = ?"] if key in names else [f"list_contains({key}s, ?)"] if f"{key}s" in names else []
        for condition in conditions:
            yield from _related(connection, other, condition, [getattr(row, key)])


def _related(connection: duckdb.DuckDBPyConnection, table: Table, condition: str, values: Any) -> Iterator[RelatedRows]:
    """The number of rows of a table that meet a condition, and the first of them; empty where none does."""
    with _where_readable(connection, table.full_name):
        count = connection.execute(f"SELECT count(*) FROM {view_name(table)} WHERE {condition}", values).fetchone()
        if count and count[0]:
            yield RelatedRows(table, count[0], _rows_where(connection, table, condition, values))


@contextmanager
def _where_readable(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[None]:
    """Leave the block where a table cannot be read, and print so.

    Opening the lake reports what the table's log shows. Only reading the rows shows a missing or damaged file.
    """
    try:
        yield
    except duckdb.Error as problem:
        if CANNOT_BE_READ not in str(problem):
            _say_once(connection, f"The table {table}{CANNOT_BE_READ}{one_sentence(problem)}. {_TO_DO}")


_TO_DO = "What to do: `hindsight doctor` with --lake names each table that is not whole."


@lru_cache(16)
def _say_once(_: duckdb.DuckDBPyConnection, line: str) -> None:
    """Print a line once: several queries read the same file."""
    print(line, file=sys.stderr)


def _rows_where(connection: duckdb.DuckDBPyConnection, table: Table, condition: str, values: Any) -> list[Row]:
    """The first rows of a table, in order of time, for which a condition with these parameters holds."""
    order = ", ".join(filter(None, (table.time_column, table.key[0])))
    rows: list[Row] = []
    with _where_readable(connection, table.full_name):
        answer = connection.execute(
            f"SELECT * FROM {view_name(table)} WHERE {condition} ORDER BY {order} LIMIT {_ROWS}", values
        )
        rows += map(table.row_class.of, dicts_of(answer))
    return rows
