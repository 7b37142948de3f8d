"""The nights that a report shows beside its own: read from what was published of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.report_rows import READ, nights_before, without_overlap
from tests.support.lake import write_lake
from tests.support.rows import values

DAY = timedelta(days=1)
TONIGHT = Window(datetime(2026, 10, 3, tzinfo=UTC), datetime(2026, 10, 4, tzinfo=UTC))


def night(days_ago: int, length: timedelta = DAY) -> Window:
    start = TONIGHT.start - days_ago * DAY
    return Window(start, start + length)


def publication(window: Window, cluster: str = "prod", run: str = "1") -> dict[str, Any]:
    columns = {"cluster": cluster, "window_from": window.start, "window_to": window.end, "run_id": run}
    return values(BY_NAME["quality.publications"], table="gold.rebalances", **columns)


def rebalance(at: datetime, cost: float | None, cluster: str = "prod") -> dict[str, Any]:
    instants = dict.fromkeys(("started_at", "joined_at", "ended_at"), at)
    columns = {"cluster": cluster, "rebalance_id": f"{cluster}{at}", "partition_seconds": cost}
    return values(BY_NAME["gold.rebalances"], **columns, **instants)


def finding(subject: str, at: datetime) -> dict[str, Any]:
    columns = {"cluster": "prod", "finding_id": subject, "subject": subject}
    return values(BY_NAME["gold.findings"], first_at=at, last_at=at, **columns)


def unavailability(name: str, at: datetime, ms: int, kind: str = "no_leader") -> dict[str, Any]:
    columns = {"cluster": "prod", "unavailability_id": name, "kind": kind, "low_ms": ms}
    return values(BY_NAME["gold.unavailability"], started_at=at, ended_at=at + timedelta(milliseconds=ms), **columns)


def incident(
    incident_id: str, recurrence_id: str | None, at: datetime, harm: str | None = "broker_lost"
) -> dict[str, Any]:
    columns = {"cluster": "prod", "incident_id": incident_id, "recurrence_id": recurrence_id, "harm": harm}
    return values(BY_NAME["gold.incidents"], started_at=at, ended_at=at, **columns)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Two nights of a cluster, published, the second twice; a short window; a night too old; another cluster."""
    evening = night(1).start + timedelta(hours=20)
    tables = {
        "quality.publications": [
            *(publication(w) for w in (night(2), night(1), night(1, timedelta(hours=3)), night(40), TONIGHT)),
            publication(night(1), run="2"),
            publication(night(3), cluster="test"),
        ],
        "gold.rebalances": [
            *(rebalance(evening + timedelta(minutes=i), cost) for i, cost in enumerate((10.0, 2.5, None))),
            rebalance(night(2).start, 4.0),
            rebalance(TONIGHT.start, 100.0),
            rebalance(evening, 100.0, cluster="test"),
        ],
        "gold.failovers": [values(BY_NAME["gold.failovers"], cluster="prod", happened_at=evening, leaderless_ms=700)],
        "gold.unavailability": [
            unavailability("noticed", evening, 1_700),
            unavailability("not noticed", evening, 300),
            unavailability("writes alone", evening, 9_000, kind="acks_all_hung"),
            unavailability("not over", evening, 2_000) | {"ended_at": None},
        ],
        "gold.findings": [
            finding("orders", evening),
            finding("billing", night(2).start),
        ],
        "gold.incidents": [
            *(
                incident(f"crash {n}", "crash", at)
                for n, at in enumerate((night(2).start, evening, evening + DAY / 24))
            ),
            incident("joined", "joined", evening, harm="routine"),
            incident("tonight", "crash", TONIGHT.start),
            incident("an old one", None, evening, harm=None),
        ],
    }
    with open_views(str(write_lake(tmp_path_factory.mktemp("lake"), tables)), READ) as connection:
        yield connection


def test_earlier_nights_are_counted_once_from_gold_tables(lake: duckdb.DuckDBPyConnection) -> None:
    history, is_newest = nights_before(lake, "prod", TONIGHT)
    assert is_newest
    assert [(n["window_from"], n["rebalances"], n["partition_seconds"]) for n in history["windows"]] == [
        (night(2).start, 1, 4.0),
        (night(1).start, 3, 12.5),
    ]
    assert [(n["failovers"], n["leaderless_ms"]) for n in history["windows"]] == [(0, 0), (1, 3_700)]
    assert [f["subject"] for f in history["findings"]] == ["orders"]
    (crash,) = history["incidents"]
    assert (crash["recurrence_id"], crash["first_at"]) == ("crash", night(2).start)
    assert crash["windows"] == [night(2).start, night(1).start]


def test_first_night_has_no_earlier_nights(lake: duckdb.DuckDBPyConnection) -> None:
    assert nights_before(lake, "prod", night(2)) == ({}, False)
    assert nights_before(lake, "nobody", TONIGHT) == ({}, True)


def test_later_of_overlapping_windows_is_kept() -> None:
    half = Window(night(1).start + DAY / 2, night(1).end + DAY / 2)
    assert without_overlap([half, night(2), night(1)]) == [night(2), half]
