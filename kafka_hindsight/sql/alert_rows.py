"""The rows of a lake that alerts may be sent for. Read without a JVM."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import duckdb

from kafka_hindsight.alerts.alert_model import AlertRows
from kafka_hindsight.catalog import gold, quality
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput, sentences_of
from kafka_hindsight.sql.duck_types import one_sentence
from kafka_hindsight.sql.lake_views import dicts_of, open_views

_WINDOWS = "SELECT DISTINCT cluster, window_from, window_to FROM quality.publications WHERE window_to >= $since"
_FINDINGS = """
    SELECT f.cluster, finding_id, rule_id, severity, subject_kind, subject, first_at, last_at, message, advice
    FROM gold.findings f
    WHERE first_at >= (SELECT min(window_from) FROM quality.publications WHERE window_to >= $since)"""
_INCIDENTS = """
    SELECT * REPLACE ([] AS evidence)
    FROM gold.incidents
    WHERE harm IS NOT NULL
        AND started_at >= (SELECT min(window_from) FROM quality.publications WHERE window_to >= $since)"""
_DECLARED = """
    WITH declared AS (
        SELECT cluster, incident_id, group_ids, started_at, ended_at, declared_until FROM gold.incidents
        WHERE intent = 'declared' AND ended_at >= $former
    )
    SELECT cluster, 'group' AS subject_kind, unnest(group_ids) AS subject, started_at AS "from",
        least(ended_at, declared_until) AS "to"
    FROM declared
    UNION ALL
    SELECT o.cluster, 'broker', broker::VARCHAR, down_at, least(coalesce(isr_recovered_at, up_at), declared_until)
    FROM gold.broker_outages AS o JOIN declared USING (cluster, incident_id)"""
_BROKEN = """
    SELECT cluster, window_from, window_to, "table", expectation, description, severity, sentences
    FROM (FROM quality.validation_results WHERE window_to >= $since
          QUALIFY run_checked_at = max(run_checked_at) OVER (PARTITION BY cluster, window_from, window_to))
    WHERE NOT success"""
_COVERAGE = """
    SELECT cluster, source, window_from, window_to, lines_in, last_at, longest_silence_ms
    FROM quality.coverage WHERE window_to >= $former"""
_PARTS = (
    {"windows": _WINDOWS, "findings": _FINDINGS, "incidents": _INCIDENTS, "declared": _DECLARED},
    {"broken": _BROKEN},
    {"coverage": _COVERAGE},
)
"""Queries that are read together or not at all: without declared work, a finding would be sent to the people who
declared it.
"""

_TABLES = (
    gold.BROKER_OUTAGES, gold.FINDINGS, gold.INCIDENTS, quality.COVERAGE, quality.PUBLICATIONS,
    quality.VALIDATION_RESULTS,
)  # fmt: skip
"""The tables that the parts read. Creating views takes most of the time, so there are no others."""


def read_alert_rows(lake: str, since: datetime, former: datetime) -> AlertRows:
    """Read the rows of recent nights. A damaged table is reported in `unread` and not raised, so that the rest is sent.

    Args:
        lake: Its folder, or a URI.
        since: The nights are those that ended since then.
        former: Coverage is read of the nights that ended since then.

    Returns:
        The rows; none where there is no lake yet.
    """
    try:
        connection = open_views(lake, _TABLES)
    except BadInput:
        return AlertRows()
    except Exception as problem:  # DuckDB, delta-rs and pyarrow have no common error of a damaged table
        return AlertRows(unread=_reasons(problem))
    instants = {"since": since, "former": former}
    rows: dict[str, Any] = {}
    unread: list[str] = []
    with connection:
        for part in _PARTS:
            try:
                rows |= {name: _rows(connection, query, instants) for name, query in part.items()}
            except duckdb.Error as problem:
                unread += _reasons(problem)
    rows["incidents"] = [Incident.of(row) for row in rows.get("incidents", ())]
    return AlertRows(**rows, unread=tuple(unread))


def _reasons(problem: Exception) -> tuple[str, ...]:
    sentences = (one_sentence(problem),) if isinstance(problem, duckdb.Error) else sentences_of(problem)
    return tuple(masked(sentence) for sentence in sentences)


def _rows(connection: duckdb.DuckDBPyConnection, query: str, instants: Mapping[str, datetime]) -> list[RowValues]:
    parameters = {name: at for name, at in instants.items() if f"${name}" in query}
    return dicts_of(connection.execute(query, parameters))
