"""What a lake holds that somebody may have to be told: read without a JVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from spark_jobs.edges.lake_views import open_lake
from spark_jobs.shared.exits import BadInput

Rows = Sequence[Mapping[str, Any]]

_WINDOWS = "SELECT DISTINCT cluster, window_from, window_to FROM quality.publications WHERE window_to >= $since"
_FINDINGS = """
    SELECT f.cluster, finding_id, rule_id, severity, subject_kind, subject, first_at, last_at, message, advice
    FROM gold.findings f
    WHERE first_at >= (SELECT min(window_from) FROM quality.publications WHERE window_to >= $since)"""
_PLANNED = """
    SELECT cluster, 'group' AS subject_kind, unnest(group_ids) AS subject, started_at AS "from", ended_at AS "to"
    FROM gold.incidents WHERE planned AND coalesce(ended_at, started_at) >= $former
    UNION ALL
    SELECT cluster, 'broker', broker::VARCHAR, down_at, coalesce(isr_recovered_at, up_at)
    FROM gold.broker_outages WHERE planned AND down_at >= $former"""
_BROKEN = """
    SELECT cluster, window_from, window_to, "table", expectation, description, severity, sentences
    FROM (FROM quality.validation_results WHERE window_to >= $since
          QUALIFY run_checked_at = max(run_checked_at) OVER (PARTITION BY cluster, window_from, window_to))
    WHERE NOT success"""
_COVERAGE = """
    SELECT cluster, source, window_from, window_to, lines_in, last_at, longest_silence_ms
    FROM quality.coverage WHERE window_to >= $former"""


@dataclass(frozen=True)
class AlertRows:
    """Rows of the nights that ended lately, and of the nights before them where those tell what is usual."""

    windows: Rows = ()
    findings: Rows = ()
    planned: Rows = ()
    broken: Rows = ()
    coverage: Rows = ()


def read_alert_rows(lake: str, since: datetime, former: datetime) -> AlertRows:
    """The rows of nights that ended since then; none where nothing lies there yet.

    Takes: `former`, where the nights begin that tell what is usual.
    """
    try:
        connection = open_lake(lake)
    except BadInput:
        return AlertRows()
    instants = {"since": since, "former": former}
    with connection:
        return AlertRows(*(_rows(connection, q, instants) for q in (_WINDOWS, _FINDINGS, _PLANNED, _BROKEN, _COVERAGE)))


def _rows(connection: duckdb.DuckDBPyConnection, query: str, instants: Mapping[str, datetime]) -> Rows:
    used = {name: at for name, at in instants.items() if f"${name}" in query}
    answer = connection.execute(query, used)
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
