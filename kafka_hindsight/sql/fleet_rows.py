"""The nights of all clusters of a lake, and their recent incidents. Read without a JVM."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import duckdb

from kafka_hindsight.catalog.gold import INCIDENTS, OWNERSHIP, REBALANCES
from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.report.fleet import DAYS, HARMS, RECENT, Fleet
from kafka_hindsight.report.metrics import SUBJECT_COLUMNS, SubjectRows
from kafka_hindsight.shared import plain
from kafka_hindsight.sql.lake_views import dicts_of, open_views
from kafka_hindsight.sql.named_queries import named_queries, variables_set

_NIGHTS = f"""
    FROM quality.nights
    WHERE window_to >= (SELECT max(window_to) FROM quality.nights) - INTERVAL {DAYS + 1} DAYS"""
_LIST = """
    SELECT cluster, window_from, window_to, run_published_at AS published_at, state, headline, page
    FROM quality.nights ORDER BY window_to DESC, window_from DESC, cluster"""
_INCIDENTS = """
    SELECT cluster, incident_id, headline, started_at FROM gold.incidents
    WHERE list_contains($harms, harm) AND started_at >= (SELECT max(window_to) FROM quality.nights) - $late"""


def read_fleet(lake: str, at: datetime, configured: Sequence[str] = ()) -> Fleet:
    """Read all clusters of a lake as of an instant; BadInput where there is no lake."""
    with open_views(lake, (NIGHTS, INCIDENTS)) as connection:
        return _fleet(connection, at, configured)


def read_metrics(lake: str, at: datetime) -> tuple[Fleet, SubjectRows]:
    """Read all clusters of a lake, and what gauges show of the groups and topics of each; BadInput for no lake."""
    with open_views(lake, (NIGHTS, INCIDENTS, REBALANCES, OWNERSHIP)) as connection:
        fleet, queries = _fleet(connection, at, ()), named_queries()
        subjects: dict[str, list[dict[str, Any]]] = {label: [] for label in SUBJECT_COLUMNS}
        for night in fleet.newest:
            of_group = {"cluster": night.cluster, "from": night.window_from.isoformat()}
            for label, values in (("group", of_group), ("topic", {"cluster": night.cluster})):
                with variables_set(connection, values):
                    subjects[label] += dicts_of(connection.execute(queries[f"{label}_gauges"].sql))
    return fleet, subjects


def _fleet(connection: duckdb.DuckDBPyConnection, at: datetime, configured: Sequence[str]) -> Fleet:
    nights = dicts_of(connection.execute(_NIGHTS))
    late = {"harms": [str(h) for h in HARMS], "late": RECENT}
    return Fleet.of(nights, dicts_of(connection.execute(_INCIDENTS, late)), at, configured)


def read_nights(lake: str) -> list[dict[str, Any]]:
    """Every published night of a lake, the newest first, its text made harmless. Raises: BadInput for no lake."""
    with open_views(lake, (NIGHTS,)) as connection:
        return [plain.harmless(night) for night in dicts_of(connection.execute(_LIST))]
