"""The nights that a report shows beside its own: read from what was published of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.tables.store import Store
from spark_jobs.earlier_nights import apart, published_since, windows_before
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


def unavailable(at: datetime, lasted_ms: int) -> dict[str, Any]:
    columns = {
        "cluster": "prod",
        "unavailability_id": f"{lasted_ms}",
        "kind": "no_leader",
        "topic": "t",
        "partition": 0,
    }
    end = at + timedelta(milliseconds=lasted_ms)
    return values(BY_NAME["gold.unavailability"], started_at=at, ended_at=end, low_ms=0, group_id=None, **columns)


def finding(subject: str, at: datetime) -> dict[str, Any]:
    columns = {"cluster": "prod", "finding_id": subject, "subject": subject}
    return values(BY_NAME["gold.findings"], first_at=at, last_at=at, **columns)


def incident(
    incident_id: str, recurrence_id: str | None, at: datetime, harm: str | None = "broker_lost"
) -> dict[str, Any]:
    columns = {"cluster": "prod", "incident_id": incident_id, "recurrence_id": recurrence_id, "harm": harm}
    return values(BY_NAME["gold.incidents"], started_at=at, ended_at=at, **columns)


def before(store: Store, cluster: str, window: Window) -> dict[str, Any]:
    return windows_before(store, cluster, window, published_since(store, cluster, window))


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Store:
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
        "gold.failovers": [values(BY_NAME["gold.failovers"], cluster="prod", happened_at=evening)],
        "gold.unavailability": [unavailable(evening, lasted) for lasted in (300, 1_400, 5_000)],
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
    return Store(spark, str(write_lake(tmp_path_factory.mktemp("lake"), tables)))


def test_the_nights_before_are_counted_from_gold_each_once(store: Store) -> None:
    found = before(store, "prod", TONIGHT)
    assert [(n["window_from"], n["rebalances"], n["partition_seconds"]) for n in found["windows"]] == [
        (night(2).start, 1, 4.0),
        (night(1).start, 3, 12.5),
    ]
    assert [(n["failovers"], n["leaderless_ms"]) for n in found["windows"]] == [(0, 0), (1, 6_400)]
    assert [f["subject"] for f in found["findings"]] == ["orders"]
    (crash,) = found["incidents"]
    assert (crash["recurrence_id"], crash["nights"], crash["first_at"]) == ("crash", 2, night(2).start)


def test_a_first_night_has_none_before_it(store: Store) -> None:
    assert before(store, "prod", night(2)) == {}
    assert before(store, "nobody", TONIGHT) == {}


def test_of_windows_that_overlap_the_later_one_stays() -> None:
    half = Window(night(1).start + DAY / 2, night(1).end + DAY / 2)
    assert apart([half, night(2), night(1)]) == [night(2), half]
