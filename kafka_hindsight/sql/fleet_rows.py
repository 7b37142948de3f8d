"""The nights of all clusters of a lake, and their incidents of late: read without a JVM."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import duckdb

from kafka_hindsight.catalog.gold import INCIDENTS
from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.catalog.rows import Night
from kafka_hindsight.report.fleet import DAYS, HARMS, OF_LATE, Fleet
from kafka_hindsight.sql.lake_views import open_views

_NIGHTS = f"""
    FROM quality.nights
    WHERE window_to >= (SELECT max(window_to) FROM quality.nights) - INTERVAL {DAYS + 1} DAYS"""
_INCIDENTS = """
    SELECT cluster, incident_id, headline, started_at FROM gold.incidents
    WHERE list_contains($harms, harm) AND started_at >= (SELECT max(window_to) FROM quality.nights) - $late"""


def read_nights(lake: str) -> list[Night]:
    """The nights of the last days, as they are in the lake. Raises: BadInput where there is no lake."""
    with open_views(lake, (NIGHTS,)) as connection:
        return [Night.of(row) for row in _rows(connection, _NIGHTS, {})]


def read_fleet(lake: str, at: datetime, expected: Sequence[str] = ()) -> Fleet:
    """All clusters of a lake at an instant. Raises: BadInput where there is no lake."""
    with open_views(lake, (NIGHTS, INCIDENTS)) as connection:
        nights = _rows(connection, _NIGHTS, {})
        incidents = _rows(connection, _INCIDENTS, {"harms": [str(h) for h in HARMS], "late": OF_LATE})
    return Fleet.of(nights, incidents, at, expected)


def _rows(connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    answer = connection.execute(query, values)
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
