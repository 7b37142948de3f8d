"""Tables of few files are opened and replaced by what their checksums name, and hold what Delta says that they hold."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import quality, silver
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables import table_order
from kafka_hindsight.spark.tables.store import Store, forget_snapshots
from kafka_hindsight.spark.tables.table_state import newest_state
from tests.support.rows import AT, values

HOUR = timedelta(hours=1)
WINDOW = Window(AT, AT + HOUR)
EVENTS, LINES = silver.EVENTS, quality.UNPARSED_LINES
LONG = "a cluster with a name of more than 32 letters"


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    made = Store(spark, str(tmp_path / "a lake [1]"))
    made.create(EVENTS, LINES)
    return made


def event(line_id: str, after: timedelta = timedelta(0), cluster: str = "prod") -> dict[str, Any]:
    return values(EVENTS, line_id=line_id, cluster=cluster, happened_at=AT + after)


@pytest.fixture(scope="module")
def filled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake to copy: five events, in three files."""
    made = Store(spark, str(tmp_path_factory.mktemp("filled")))
    made.create(EVENTS)
    for rows in ([event("a"), event("before", -HOUR)], [event("b", HOUR)], [event("c", cluster=LONG), event("d")]):
        made.append(EVENTS, frame(made, *rows))
    return Path(made.lake)


def frame(store: Store, *rows: dict[str, Any]) -> DataFrame:
    return frame_of(store.spark, rows, EVENTS).coalesce(1)


def ids(rows: DataFrame) -> list[str]:
    return sorted(row["line_id"] for row in rows.collect())


def folder(store: Store) -> Path:
    return Path(store.lake, "silver/events")


def newest(store: Store) -> list[dict[str, Any]]:
    """The actions of the newest commit that add or remove a file."""
    commit = folder(store) / "_delta_log" / f"{store.version(EVENTS):020d}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    return [action for action in actions if action.keys() & {"add", "remove"}]


def crowd(store: Store) -> None:
    many = frame(store, *(event(f"one of many {n}") for n in range(100)))
    store.append(EVENTS, many.repartition(20))
    assert len(DeltaTable(str(folder(store))).file_uris()) == 23


def leave_a_checksum_behind(store: Store) -> None:
    log, version = folder(store) / "_delta_log", store.version(EVENTS)
    stale = (log / f"{version:020d}.crc").read_text()
    for left in log.glob(f"*{version:020d}*"):
        left.unlink()
    forget_snapshots(store.spark)
    store.append(EVENTS, frame(store, event("after a commit that was put aside")))
    (log / f".{version:020d}.crc.crc").unlink(missing_ok=True)
    (log / f"{version:020d}.crc").write_text(stale)


DONE: dict[str, Callable[[Store], object]] = {
    "nothing": lambda store: None,
    "a window replaced": lambda store: store.replace_window(EVENTS, frame(store, event("new")), "prod", WINDOW),
    "rows deleted": lambda store: store.delete_before(EVENTS, "happened_at", AT),
    "files joined": lambda store: store.put_in_order(EVENTS),
    "an older version restored": lambda store: store.restore(EVENTS, store.version(EVENTS) - 1),
    "many files": crowd,
    "a checksum that is lost": lambda store: (
        folder(store) / "_delta_log" / f"{store.version(EVENTS):020d}.crc"
    ).unlink(),
    "a checksum of another commit": leave_a_checksum_behind,
}


@pytest.mark.parametrize("done", DONE)
def test_a_table_holds_what_other_readers_see_whatever_was_done_to_it(
    spark: SparkSession, filled: Path, tmp_path: Path, done: str
) -> None:
    store = Store(spark, str(shutil.copytree(filled, tmp_path / "a lake [1]")))
    DONE[done](store)
    table = DeltaTable(str(folder(store))).to_pyarrow_table().to_pylist()
    asked, wanted = {"all": store.read(EVENTS)}, {("all", row["line_id"]) for row in table}
    for cluster in ("prod", LONG, "none"):
        asked[cluster] = store.read_cluster(EVENTS, cluster)
        asked[f"{cluster} within"] = store.read_window(EVENTS, cluster, WINDOW)
        mine = [row for row in table if row["cluster"] == cluster]
        wanted |= {(cluster, row["line_id"]) for row in mine}
        within = [row for row in mine if WINDOW.holds(row["happened_at"].astimezone(UTC))]
        wanted |= {(f"{cluster} within", row["line_id"]) for row in within}
    told = reduce(DataFrame.unionAll, (rows.select(F.lit(name), "line_id") for name, rows in asked.items()))
    assert sorted(map(tuple, told.collect())) == sorted(wanted)


def test_files_that_hold_other_rows_alone_are_not_opened(store: Store) -> None:
    for row in (event("before", -HOUR), event("in"), event("theirs", cluster="other")):
        store.append(EVENTS, frame(store, row))
    assert len(store.read(EVENTS).inputFiles()) == 3
    assert len(store.read_cluster(EVENTS, "prod").inputFiles()) == 2
    assert len(store.read_window(EVENTS, "prod", WINDOW).inputFiles()) == 1
    assert store.read_window(EVENTS, "prod", Window(AT + HOUR, AT + 2 * HOUR)).inputFiles() == []


def test_files_of_a_window_give_way_whole_and_what_shares_a_file_with_it_stays(store: Store) -> None:
    store.append(EVENTS, frame(store, event("a"), event("b", HOUR - timedelta(milliseconds=1))))
    store.append(EVENTS, frame(store, event("later", HOUR)))
    store.replace_window(EVENTS, frame(store, event("new")), "prod", WINDOW)
    assert sorted(kind for action in newest(store) for kind in action) == ["add", "remove"]
    assert ids(store.read(EVENTS)) == ["later", "new"]
    store.append(EVENTS, frame(store, event("mine"), event("theirs", cluster="other")))
    store.replace_window(EVENTS, frame(store, event("newer")), "prod", WINDOW)
    assert ids(store.read(EVENTS)) == ["later", "newer", "theirs"]


def test_delta_is_not_asked_to_order_what_is_in_order_and_files_that_nobody_reads_go(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(EVENTS, frame(store, event("a")))
    with monkeypatch.context() as patched:
        patched.setattr(table_order, "DeltaTable", None)
        store.put_in_order(EVENTS)
        store.put_in_order(LINES)
    names = ("part-stray-old.parquet", "part-stray-young.parquet")
    for name in names:
        (folder(store) / name).write_text("")
    week_ago = time.time() - timedelta(days=8).total_seconds()
    os.utime(folder(store) / names[0], (week_ago, week_ago))
    store.put_in_order(EVENTS)
    assert [(folder(store) / name).exists() for name in names] == [False, True]
    assert ids(store.read(EVENTS)) == ["a"]


def test_what_changes_nothing_is_no_commit(store: Store) -> None:
    store.replace_window(EVENTS, frame(store), "prod", WINDOW)
    store.append_new(EVENTS, frame(store))
    assert store.version(EVENTS) == 0
    store.append(EVENTS, frame(store, event("a")))
    store.replace_window(EVENTS, frame(store), "prod", WINDOW)
    assert (store.version(EVENTS), ids(store.read(EVENTS))) == (2, [])


def test_a_table_that_another_writer_changed_meanwhile_is_not_replaced(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(EVENTS, frame(store, event("a")))
    seen = newest_state(str(folder(store) / "_delta_log"), 1)
    store.append(EVENTS, frame(store, event("b")))
    monkeypatch.setattr(Store, "_state", lambda *_: seen)
    with pytest.raises(RuntimeError, match="another writer has changed it since"):
        store.replace_window(EVENTS, frame(store, event("new")), "prod", WINDOW)


def file(low: str | None, high: str | None, nulls: int | None = 0, cluster: str = "prod") -> File:
    least, most = ({"cluster": cluster, **({"at": at} if at else {})} for at in (low, high))
    counts = {"cluster": 0, **({} if nulls is None else {"at": nulls})}
    return File("part-0", 1, {"numRecords": 3, "minValues": least, "maxValues": most, "nullCount": counts})


@pytest.mark.parametrize(
    ("held", "timeless", "may_be_in", "is_all_of"),
    [
        (file("2026-10-01T03:00:00.000Z", "2026-10-01T03:59:59.999Z"), False, True, True),
        (file("2026-10-01T03:00:00.000Z", "2026-10-01T04:00:00.000Z"), False, True, False),
        (file("2026-10-01T02:00:00.000Z", "2026-10-01T02:59:59.999Z"), False, False, False),
        (file("2026-10-01T02:00:00.000Z", "2026-10-01T03:00:00.000Z"), False, True, False),
        (file("2026-10-01T04:00:00.000Z", "2026-10-01T05:00:00.000Z"), False, False, False),
        (file("2026-10-01T04:00:00.000Z", "2026-10-01T05:00:00.000Z", nulls=1), True, True, False),
        (file("2026-10-01T03:00:00.000Z", "2026-10-01T03:10:00.000Z", nulls=1), True, True, True),
        (file("2026-10-01T03:00:00.000Z", "2026-10-01T03:10:00.000Z", nulls=1), False, True, False),
        (file("2026-10-01T03:00:00.000Z", "2026-10-01T03:10:00.000Z", nulls=None), False, True, False),
        (file(None, None, nulls=None), False, True, False),
        (file("+11226-10-01T03:00:00.000Z", "+11226-10-01T03:10:00.000Z"), False, True, False),
        (file("2026-10-01T03:00:00.000Z", "9999-12-31T23:59:59.999Z"), False, True, False),
        (file("2026-10-01T03:00:00.000Z", "2026-10-01T03:10:00.000Z", cluster="other"), False, False, False),
        (File("part-0", 1, {}), False, True, False),
    ],
)
def test_statistics_say_what_a_file_may_hold_and_what_it_holds_alone(
    held: File, timeless: bool, may_be_in: bool, is_all_of: bool
) -> None:
    at = datetime(2026, 10, 1, 3, tzinfo=UTC)
    part = Part("prod", "at", (at, at + HOUR), timeless)
    assert (part.may_be_in(held), part.is_all_of(held)) == (may_be_in, is_all_of)
