"""What is parsed: what is new and what changed, and nothing twice; the tables are those of one undisturbed run."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from spark_jobs.catalog import quality, silver
from spark_jobs.catalog.model import Table
from spark_jobs.edges.store import Store
from spark_jobs.transforms.intake import parse
from tests.support.logs import content, lay, line, resigned, rows, run

KEPT = (silver.EVENTS, quality.COVERAGE, quality.UNPARSED_LINES, quality.QUARANTINE, quality.PARSED_HOURS)
SILENT = "Cluster ID = MyWfhVxSNOBAy-tm_oW-w"
SOURCE = "host-a/server.log"


def silent(at: str) -> str:
    """A line that becomes an event and names no broker."""
    return line(SILENT, at, "kafka.server.KafkaServer")


def night(store: Store, spark: SparkSession, text: str, first: str, last: str) -> dict[str, Any]:
    """The step ingest for a window of 21 November, once the log has grown to `text`."""
    logs = Path(store.lake).parent / "logs"
    lay(logs, {SOURCE: text})
    window = {"window_from": f"2026-11-21T{first}Z", "window_to": f"2026-11-21T{last}Z"}
    return run(spark, Path(store.lake), logs, **window, look_back_hours="6", look_ahead_hours="1")[1]


def hashes(store: Store) -> dict[str, str]:
    return {table.full_name: content(store, table) for table in KEPT}


def forget(store: Store, table: Table, where: str) -> None:
    """Takes rows away behind ingest's back: they come back where their hour is parsed again."""
    DeltaTable.forPath(store.spark, f"{store.lake}/{table.layer}/{table.name}").delete(where)


def hours(store: Store) -> list[int]:
    return [r["happened_at"].hour for r in rows(store, silver.EVENTS, "happened_at")]


NUL = resigned(9, "02:20:00,000").rstrip("\n") + "\0\n"
OLD = "before the first head\n" + resigned(1, "01:10:00,000") + silent("01:50:00,000") + NUL
NEW = (
    OLD
    + resigned(3, "03:10:00,000")
    + line("[GroupCoordinator 1]: unheard", "03:40:00,000")
    + resigned(5, "05:00:00,000")
)
LATE = OLD.replace(NUL, resigned(2, "02:00:00,000") + NUL) + NEW.removeprefix(OLD)


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    return Store(spark, str(tmp_path / "lake"))


@pytest.fixture(scope="module")
def whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of two windows of a log that lay there from the beginning; not to be changed."""
    lake = tmp_path_factory.mktemp("whole") / "lake"
    for first, last in (("01:00", "03:00"), ("03:00", "05:30")):
        night(Store(spark, str(lake)), spark, NEW, first, last)
    return lake


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, whole: Path) -> dict[str, str]:
    """What it holds."""
    return hashes(Store(spark, str(whole)))


def test_a_night_parses_what_is_new_and_leaves_what_was_parsed(
    spark: SparkSession, store: Store, undisturbed: dict[str, str]
) -> None:
    night(store, spark, OLD, "01:00", "03:00")
    forget(store, silver.EVENTS, "happened_at < '2026-11-21 01:30:00'")
    told = night(store, spark, NEW, "03:00", "05:30")
    assert told["lines"]["lines_in"] == 3
    assert hours(store) == [1, 3, 5], "the hour that was parsed is not looked at again"
    forget(store, quality.PARSED_HOURS, "hour_from < '2026-11-21 02:00:00'")
    assert night(store, spark, NEW, "03:00", "05:30") == told
    assert hashes(store) == undisturbed, "what a run did not finish the next one does"


def test_what_came_late_is_parsed_with_its_hour(spark: SparkSession, store: Store, undisturbed: dict[str, str]) -> None:
    night(store, spark, NEW, "03:00", "05:30")
    night(store, spark, NEW, "01:00", "03:00")
    assert hashes(store) == undisturbed, "whichever window comes first"
    night(store, spark, LATE, "03:00", "05:30")
    assert hours(store) == [1, 1, 2, 3, 5]
    assert [r["source"] for r in rows(store, quality.QUARANTINE)] == [SOURCE], "what was broken stays"
    (window,) = rows(store, quality.COVERAGE, "window_from")[1:]
    assert window["lines_in"] == 3


def test_events_are_given_the_writer_that_a_later_line_names(spark: SparkSession, store: Store) -> None:
    night(store, spark, silent("01:50:00,000"), "01:00", "03:00")
    assert [r["broker"] for r in rows(store, silver.EVENTS)] == [None]
    night(store, spark, silent("01:50:00,000") + resigned(1, "04:00:00,000", broker=4), "03:00", "05:00")
    assert [r["broker"] for r in rows(store, silver.EVENTS)] == [4, 4]


def test_everything_around_a_window_is_parsed_again_when_more_is_known(
    spark: SparkSession, store: Store, whole: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(whole, store.lake)
    before = {r["parsed_as"] for r in rows(store, quality.PARSED_HOURS)}
    forget(store, silver.EVENTS, "true")
    monkeypatch.setattr(parse, "PARSED_AS", "other")
    night(store, spark, NEW, "03:00", "05:30")
    assert content(store, silver.EVENTS) == undisturbed[silver.EVENTS.full_name]
    assert {r["parsed_as"] for r in rows(store, quality.PARSED_HOURS)} == {"other"} != before


def test_a_window_may_cut_an_hour_in_two(spark: SparkSession, store: Store) -> None:
    text = "".join(resigned(n, f"01:{n:02}:00,000") for n in range(0, 60, 10))
    assert night(store, spark, text, "01:00", "02:00")["lines"]["lines_in"] == 6
    assert night(store, spark, text, "01:15", "01:45")["lines"]["lines_in"] == 3
    (whole, part) = rows(store, quality.COVERAGE, "window_from")
    assert (whole["longest_silence_ms"], part["longest_silence_ms"]) == (600_000, 600_000)
    assert part["first_at"].replace(tzinfo=UTC) == datetime(2026, 11, 21, 1, 20, tzinfo=UTC)
    assert night(store, spark, text, "01:00", "02:00")["lines"]["lines_in"] == 6
    assert rows(store, quality.COVERAGE) == [whole], "the window that holds another one replaces it"
    counted = [(r["hour_from"].minute, r["records"]) for r in rows(store, quality.PARSED_HOURS, "hour_from")]
    assert counted == [(0, 6)], "an hour is counted once, as it was parsed last"
