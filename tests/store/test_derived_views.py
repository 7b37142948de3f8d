"""The views over gold: each figure within its bounds, and each dimension has what rows name."""

from __future__ import annotations

import duckdb
import pytest

from kafka_hindsight.catalog import BY_NAME, derived_views
from kafka_hindsight.catalog.rows import Unavailability
from kafka_hindsight.lake.publication import DUCKDB, views
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, unused
from kafka_hindsight.sql import prompt
from kafka_hindsight.sql.lake_views import dicts_of, open_views
from tests.support.asked_lake import answers
from tests.support.lake import write_lake
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END
from tests.support.rows import values


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    tables, _ = night()
    window = {"cluster": CLUSTER, "window_from": DAY, "window_to": END}
    publication = values(BY_NAME["quality.publications"], **window, table="gold.rebalances")
    gold = {name: rows for name, rows in tables.items() if name.startswith("gold.")}
    folder = tmp_path_factory.mktemp("views") / "lake"
    return open_views(str(write_lake(folder, {**gold, "quality.publications": [publication]})))


def test_durations_lie_within_their_bounds_and_are_those_of_their_tables(connection: duckdb.DuckDBPyConnection) -> None:
    rows = dicts_of(connection.execute("FROM gold.durations"))
    assert {row["source"] for row in rows} == {"unavailability", "broker_outages", "rebalances"}
    for row in rows:
        bounds = [row[name] for name in ("least_ms", "best_ms", "most_ms") if row[name] is not None]
        assert bounds == sorted(bounds), row


@pytest.mark.parametrize("kinds", [LEADERLESS, NO_WRITES])
def test_noticed_durations_add_up_to_what_pages_count(
    connection: duckdb.DuckDBPyConnection, kinds: tuple[str, ...]
) -> None:
    tables, _ = night()
    sums = unused((Unavailability.of(row) for row in tables["gold.unavailability"]), kinds)
    query = "SELECT sum(least_ms), sum(best_ms) FROM gold.durations WHERE is_noticed AND list_contains($kinds, kind)"
    counted = connection.execute(query, {"kinds": [*map(str, kinds)]}).fetchone()
    assert counted and tuple(figure or 0 for figure in counted) == (sums.least_ms, sums.total_ms)


def test_dimensions_have_each_name_of_gold_once(connection: duckdb.DuckDBPyConnection) -> None:
    for dimension, column, source in (
        ("dim_broker", "broker", "broker_outages"),
        ("dim_topic", "topic", "failovers"),
        ("dim_group", "group_id", "rebalances"),
    ):
        names = connection.execute(f"SELECT {column} FROM gold.{dimension}").fetchall()
        assert len(names) == len(set(names)) > 0
        assert set(connection.execute(f"SELECT {column} FROM gold.{source}").fetchall()) <= set(names)


def test_night_of_is_the_date_of_the_window(connection: duckdb.DuckDBPyConnection) -> None:
    ((night_of, row_count),) = connection.execute(
        "SELECT any_value(night), count(*) FROM gold.rebalances AS r JOIN gold.night_of AS n"
        " ON n.cluster = r.cluster AND n.window_from <= r.started_at AND r.started_at < n.window_to"
    ).fetchall()
    assert (night_of, row_count > 0) == (f"{DAY.date()}", True)


def test_views_of_duckdb_have_those_whose_tables_are_published() -> None:
    (reads,) = (view.reads for view in derived_views.VIEWS if view.full_name == "gold.dim_group")
    text = views("/lake", dict.fromkeys(reads, 3))[DUCKDB]
    assert "CREATE OR REPLACE VIEW gold.dim_group AS" in text
    assert "gold.dim_topic" not in text


def test_prompt_describes_views(connection: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]) -> None:
    session = prompt.Session(connection, {}, "json")
    columns = {row["column"] for row in answers(session, ".describe gold.durations", capsys)}
    assert columns == {name for (name, *_) in connection.execute("DESCRIBE gold.durations").fetchall()}
