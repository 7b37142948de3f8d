"""A group or a partition with all rows of gold that are about it; and the worst and the latest incident."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import duckdb

from kafka_hindsight.catalog import Table
from kafka_hindsight.catalog.gold import FINDINGS, INCIDENTS
from kafka_hindsight.report.story import RelatedRows, Story, Subject
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql.related_rows import TOLD, counted, id_in, row_with_relations, where_readable

_FIRST = (INCIDENTS, FINDINGS)
_OTHERS = tuple(t for t in TOLD if t not in _FIRST)
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
"""Where the names of subjects are found."""

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


def story_of(connection: duckdb.DuckDBPyConnection, asked: str) -> Story | Subject:
    """What was asked for: a group, a partition as topic-number, a row by its id, or the worst or latest incident.

    Order: of a group or a partition incidents and findings come first, then the tables as the catalog has them.
    Raises: BadInput where the lake has nothing of that name.
    """
    asked = asked.strip()
    if asked in _INCIDENT_OF_WORD:
        return row_with_relations(connection, _incident_of(connection, asked))
    names = {kind: _names(connection, queries) for kind, queries in _SUBJECTS.items()}
    kind = next((kind for kind, known in names.items() if asked in known), None)
    if kind:
        return Subject(kind, asked, [r for t in (*_FIRST, *_OTHERS) for r in _rows(connection, t, kind, asked)])
    row_id = id_in(asked)
    if row_id:
        return row_with_relations(connection, row_id)
    near = visible(did_you_mean(asked, chain.from_iterable(names.values())))
    raise BadInput(
        f"{visible(asked)!r} is not an id, a group or a partition of this lake.{near} Needed: the id of a row of gold"
        " (32 characters of 0-9 and a-f) or its first six or more, an address in the report that ends in one, a group"
        " id, topic-partition, worst or latest. `hindsight sql` finds ids."
    )


def _incident_of(connection: duckdb.DuckDBPyConnection, word: str) -> str:
    row = connection.execute(_INCIDENT_OF_WORD[word]).fetchone()
    if row is None:
        where = "The newest night" if word == "worst" else "The lake"
        raise BadInput(f"{where} has no incident, or no night was published. Audit a night, or ask for an id.")
    return str(row[0])


def _names(connection: duckdb.DuckDBPyConnection, queries: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for query in queries:
        with where_readable(connection, query.rpartition("FROM ")[2]):
            found |= {name for (name,) in connection.execute(query).fetchall() if name}
    return found


def _rows(connection: duckdb.DuckDBPyConnection, table: Table, kind: str, name: str) -> Iterator[RelatedRows]:
    condition = _about(table, kind)
    if not condition:
        return
    topic, _, partition = name.rpartition("-")
    value = {"name": name, "topic": topic, "partition": partition}
    used = {key: text for key, text in value.items() if f"${key}" in condition}
    yield from counted(connection, table, condition, used)


def _about(table: Table, kind: str) -> str:
    """The condition under which a row of a table is about a group or a partition; empty where none can be."""
    columns = set(table.column_names)
    if {"subject_kind", "subject"} <= columns:
        return f"subject_kind = '{kind}' AND subject = $name"
    if kind == "partition":
        held = "topic = $topic AND partition = $partition::INTEGER"
        of_topic = "list_contains(topics, $topic)" if "topics" in columns else ""
        return held if {"topic", "partition"} <= columns else of_topic
    return "group_id = $name" if "group_id" in columns else "list_contains(group_ids, $name)" * ("group_ids" in columns)
