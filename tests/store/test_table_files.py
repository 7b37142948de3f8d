"""Files that workers write are a table's files: every reader sees their rows, and Delta what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import silver
from kafka_hindsight.lake import table_files
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_schema
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.batches import Batches
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables.store import Store
from kafka_hindsight.spark.tables.table_state import newest_state
from tests.support.rows import AT, values

EVENTS = silver.EVENTS
HOUR = timedelta(hours=1)
WINDOW = Window(AT, AT + HOUR)

Rows = Iterable[pa.RecordBatch]


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    made = Store(spark, str(tmp_path / "a lake [1];#"))
    made.create(EVENTS)
    return made


def event(line_id: str, after: timedelta = timedelta(0), **columns: Any) -> dict[str, Any]:
    return values(EVENTS, line_id=line_id, happened_at=AT + after, **{"cluster": "prod", **columns})


def as_they_are(batches: Rows) -> Iterator[pa.RecordBatch]:
    yield from batches


def without_an_order(batches: Rows) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        at = batch.schema.get_field_index("order")
        yield batch.set_column(at, "order", pa.nulls(len(batch), pa.int32()))


def given(store: Store, *rows: dict[str, Any], make: Any = as_they_are) -> Batches:
    return Batches(frame_of(store.spark, rows, EVENTS).coalesce(1), make, EVENTS)


def held(store: Store) -> list[str]:
    """The events as Spark and as delta-rs see them."""
    table = DeltaTable(f"{store.lake}/silver/events").to_pyarrow_table(columns=["line_id"])
    seen = sorted(r["line_id"] for r in store.read(EVENTS).collect())
    assert seen == sorted(table["line_id"].to_pylist())
    return seen


def test_rows_of_workers_are_those_that_spark_would_have_written(
    store: Store, spark: SparkSession, tmp_path: Path
) -> None:
    rows = [event("ä\x1f\\", group_id='"g"\n', log_offset=-1), event("b", -HOUR, cluster="o'ther"), event("c", HOUR)]
    store.append(EVENTS, given(store, *rows))
    plain = Store(spark, str(tmp_path / "plain"))
    plain.create(EVENTS)
    plain.append(EVENTS, frame_of(spark, rows, EVENTS))
    assert store.content_hash(EVENTS) == plain.content_hash(EVENTS)
    assert held(store) == ["b", "c", "ä\x1f\\"]
    assert not [f for f in Path(store.lake, "silver/events").glob("*.parquet") if f.stat().st_mode & 0o077]


def test_a_window_gives_way_to_files_of_workers(store: Store) -> None:
    store.append(EVENTS, given(store, event("a"), event("b", HOUR / 2)))
    store.append(EVENTS, given(store, event("later", HOUR)))
    for n in range(2):
        store.replace_window(EVENTS, given(store, event(f"new {n}")), "prod", WINDOW)
        assert held(store) == ["later", f"new {n}"]
    store.append(EVENTS, given(store, event("mine"), event("theirs", cluster="other")))
    store.replace_window(EVENTS, given(store, event("newest")), "prod", WINDOW)
    assert held(store) == ["later", "newest", "theirs"], "a file of two windows is written again by Spark"
    version = store.version(EVENTS)
    store.append(EVENTS, given(store))
    assert store.version(EVENTS) == version, "nothing was added"


@pytest.mark.parametrize("wrong", [event("late", HOUR), event("theirs", cluster="other")])
def test_files_with_a_row_outside_of_the_window_are_no_part_of_the_table(store: Store, wrong: dict[str, Any]) -> None:
    store.append(EVENTS, given(store, event("in")))
    with pytest.raises(ValueError, match=r"A row for silver\.events lies outside of what is replaced"):
        store.replace_window(EVENTS, given(store, event("new"), wrong), "prod", WINDOW)
    assert held(store) == ["in"]


def test_a_row_without_what_is_never_null_is_refused(store: Store) -> None:
    with pytest.raises(PySparkException, match="'order'"):
        store.append(EVENTS, given(store, event("a"), make=without_an_order))
    assert held(store) == []


@pytest.mark.parametrize("after", [timedelta(0), timedelta(days=365 * 7000)])
def test_delta_knows_what_a_file_holds(store: Store, after: timedelta) -> None:
    long = "a cluster with a name of more than 32 letters"
    rows = [event("a", after, cluster=long), event("b", after + timedelta(microseconds=1_999), cluster=long)]
    store.append(EVENTS, given(store, *rows))
    state = newest_state(f"{store.lake}/silver/events/_delta_log", 1)
    assert state
    (file,) = state.files
    first = (AT + after).isoformat(timespec="milliseconds")[:-6]
    assert file.stats == {
        "numRecords": 2,
        "minValues": {"cluster": long, "happened_at": f"{first}Z"},
        "maxValues": {"cluster": long, "happened_at": f"{first[:-1]}1Z"},
        "nullCount": {"cluster": 0, "happened_at": 0},
    }
    assert Part(long, "happened_at", (AT + after, AT + after + HOUR)).is_all_of(file)


def in_files(at: Iterable[int | None], monkeypatch: pytest.MonkeyPatch, size: int = 1) -> list[dict[str, Any]]:
    """The files that a worker makes of events at these microseconds, one in a batch, by what it tells of them."""
    monkeypatch.setattr(table_files, "_GROUP", 1)
    monkeypatch.setattr(table_files, "_FILE", size)
    schema = arrow_schema(EVENTS)
    rows = [{**values(EVENTS, happened_at=None), "happened_at": pa.scalar(n, pa.int64()).cast(INSTANT)} for n in at]
    batches = [pa.record_batch([pa.array([row[f.name]], f.type) for f in schema], schema) for row in rows]
    monkeypatch.setattr(table_files, "write_atomically", lambda place, content: None)
    return [dict(file.stats) for file in table_files.write_files("", EVENTS, batches)]


def test_a_long_task_makes_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    told = in_files(range(0, 4_000_000, 1_000_000), monkeypatch)
    assert [t["minValues"]["happened_at"] for t in told] == [f"1970-01-01T00:00:0{n}.000Z" for n in range(4)]
    (whole,) = in_files(range(0, 4_000_000, 1_000_000), monkeypatch, 1 << 30)
    assert (whole["numRecords"], whole["maxValues"]["happened_at"]) == (4, "1970-01-01T00:00:03.000Z")


def test_an_instant_of_a_year_that_python_does_not_have_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    (told,) = in_files([0, 1 << 60], monkeypatch, 1 << 30)
    assert (told["numRecords"], "happened_at" in told["maxValues"]) == (2, False)
    (before,) = in_files([-1], monkeypatch)
    assert before["minValues"]["happened_at"] == "1969-12-31T23:59:59.999Z"
