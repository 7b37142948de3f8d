"""What is parsed: what is new and what changed, and nothing twice; the tables are those of one undisturbed run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from kafka_hindsight.catalog import quality, silver
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake import parsed_events
from kafka_hindsight.lake.landing import scratch
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps import parsing
from kafka_hindsight.steps.parsing import parse_window
from tests.support.logs import Row, collected, content, hashes, lay, line, resigned, rows, with_tables
from tests.support.nights import at

KEPT = (silver.EVENTS, quality.COVERAGE, quality.UNPARSED_LINES, quality.QUARANTINE, quality.PARSED_HOURS)
SILENT = "Cluster ID = MyWfhVxSNOBAy-tm_oW-w"
SOURCE = "host-a/server.log"

OTHER = "host-b/server.log"

Night = Callable[[Store, str, str, str], dict[str, int]]
"""Takes a lake, what lies in the folder, and the first and the last instant of a window. Gives its lines by fate."""


def silent(at: str) -> str:
    """A line that becomes an event and names no broker."""
    return line(SILENT, at, "kafka.server.KafkaServer")


def forget(store: Store, table: Table, where: str) -> None:
    """Takes rows away behind ingest's back: they come back where their hour is parsed again."""
    DeltaTable(f"{store.lake}/{table.layer}/{table.name}").delete(where)


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


SILENT_LOG = silent("01:55:00,000")
NAMED_LOG = SILENT_LOG + resigned(1, "04:00:00,000", broker=4)
MINUTES = "".join(resigned(n, f"01:{n:02}:00,000") for n in range(0, 60, 10))

GROWS = (
    {"old": {SOURCE: OLD}, "new": {SOURCE: NEW}, "late": {SOURCE: LATE}},
    {"silent": {SOURCE: MINUTES, OTHER: SILENT_LOG}, "named": {SOURCE: MINUTES, OTHER: NAMED_LOG}},
)
"""Two folders, and what lies in them one after the other."""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """Parses a window of 21 November as the step ingest does, once a folder has grown to what is named.

    The step collect reads each folder as it grows; the lakes of the tests take its bronze over.
    """
    grown = dict[str, Path]()
    for folder in GROWS:
        root = tmp_path_factory.mktemp("grown")
        for name, files in folder.items():
            collected(root / "lake", lay(root / "logs", files))
            grown[name] = shutil.copytree(root / "lake/bronze", root / name)

    def parsed(store: Store, name: str, first: str, last: str) -> dict[str, int]:
        lake = with_tables(Path(store.lake))
        shutil.copytree(grown[name], lake / "bronze", dirs_exist_ok=True)
        window = Window(at(first), at(last))
        around = Window(window.start - timedelta(hours=6), window.end + timedelta(hours=1))
        lines, _ = parse_window(LocalEngine(), store, "prod", window, around)
        assert lines
        return lines

    return parsed


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "lake"))


@pytest.fixture(scope="module")
def whole(night: Night, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of two windows, the later one first, of a log that lay there from the beginning; not to be changed."""
    lake = tmp_path_factory.mktemp("whole") / "lake"
    for first, last in (("03:00", "05:30"), ("01:00", "03:00")):
        night(Store(str(lake)), "new", first, last)
    return lake


@pytest.fixture(scope="module")
def undisturbed(whole: Path) -> dict[str, str]:
    """What it holds."""
    return hashes(Store(str(whole)), KEPT)


@pytest.fixture(scope="module")
def hour(night: Night, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of one hour of two logs; not to be changed."""
    lake = tmp_path_factory.mktemp("hour") / "lake"
    assert night(Store(str(lake)), "silent", "01:00", "02:00")["lines_in"] == 7
    return lake


def test_only_unparsed_hours_are_parsed(night: Night, store: Store, undisturbed: dict[str, str]) -> None:
    night(store, "old", "01:00", "03:00")
    forget(store, silver.EVENTS, "happened_at < '2026-11-21 01:30:00'")
    counts = night(store, "new", "03:00", "05:30")
    assert counts["lines_in"] == 3
    assert hours(store) == [1, 3, 5], "the hour that was parsed is not looked at again"
    forget(store, quality.PARSED_HOURS, "hour_from < '2026-11-21 02:00:00'")
    assert night(store, "new", "03:00", "05:30") == counts
    assert hashes(store, KEPT) == undisturbed, "what a run did not finish the next does, whichever window comes first"


def test_late_record_is_parsed_with_its_hour(night: Night, store: Store, whole: Path) -> None:
    shutil.copytree(whole, store.lake)
    night(store, "late", "03:00", "05:30")
    assert hours(store) == [1, 1, 2, 3, 5]
    assert [r["source"] for r in rows(store, quality.QUARANTINE)] == [SOURCE], "what was broken stays"
    (window,) = rows(store, quality.COVERAGE, "window_from")[1:]
    assert window["lines_in"] == 3


def test_events_get_broker_that_later_line_names(night: Night, store: Store, hour: Path) -> None:
    shutil.copytree(hour, store.lake)
    assert [r["broker"] for r in rows(store, silver.EVENTS) if r["source"] == OTHER] == [None]
    night(store, "named", "03:00", "05:00")
    assert [r["broker"] for r in rows(store, silver.EVENTS) if r["source"] == OTHER] == [4, 4]


def test_new_knowledge_version_parses_window_again(
    night: Night, store: Store, whole: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(whole, store.lake)
    before = {r["parsed_as"] for r in rows(store, quality.PARSED_HOURS)}
    forget(store, silver.EVENTS, "true")
    monkeypatch.setattr(parsing, "version_of", lambda rooms: "other")
    night(store, "new", "03:00", "05:30")
    assert content(store, silver.EVENTS) == undisturbed[silver.EVENTS.full_name]
    assert {r["parsed_as"] for r in rows(store, quality.PARSED_HOURS)} == {"other"} != before


def test_events_packed_in_many_files_give_same_tables(
    night: Night, store: Store, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsed_events, "_PACKED", 1)
    night(store, "new", "03:00", "05:30")
    night(store, "new", "01:00", "03:00")
    assert hashes(store, KEPT) == undisturbed
    assert not Path(scratch(store.lake), "parsed").exists()


def test_window_may_split_an_hour(night: Night, store: Store, hour: Path) -> None:
    shutil.copytree(hour, store.lake)

    def of_log(table: Table, *order: str) -> list[Row]:
        return [r for r in rows(store, table, *order) if r["source"] == SOURCE]

    assert night(store, "silent", "01:15", "01:45")["lines_in"] == 3
    (whole, part) = of_log(quality.COVERAGE, "window_from")
    assert (whole["lines_in"], whole["longest_silence_ms"], part["longest_silence_ms"]) == (6, 600_000, 600_000)
    assert part["first_at"].replace(tzinfo=UTC) == datetime(2026, 11, 21, 1, 20, tzinfo=UTC)
    assert night(store, "silent", "01:00", "02:00")["lines_in"] == 7
    assert of_log(quality.COVERAGE) == [whole], "the window that holds another one replaces it"
    counted = [(r["hour_from"].minute, r["records"]) for r in of_log(quality.PARSED_HOURS, "hour_from")]
    assert counted == [(0, 6)], "an hour is counted once, as it was parsed last"
