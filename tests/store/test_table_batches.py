"""Workers read a table's files: they find the rows that Spark finds, whoever wrote the files, however many."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import File
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables import table_batches
from kafka_hindsight.spark.tables.store import Store
from kafka_hindsight.spark.tables.table_commit import commit_rows
from tests.support.logs import Row, conf
from tests.support.rows import AT, values

HOUR = timedelta(hours=1)
WINDOW = Window(AT, AT + HOUR)


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    made = Store(spark, str(tmp_path / "a lake [1];# %41"))
    made.create(LOG_RECORDS)
    return made


def record(line_id: str, after: timedelta | None = timedelta(0), cluster: str = "prod", **columns: Any) -> Row:
    at = None if after is None else AT + after
    return values(LOG_RECORDS, line_id=line_id, cluster=cluster, happened_at=at, **columns)


OF_THE_WINDOW = [
    record("first", text="ünï\x00code 🦉"),
    record("last", HOUR - timedelta(microseconds=1), raw=b"\xff"),
    record("timeless", None, layout=None),
]
OTHERS = [
    record("before", -timedelta(microseconds=1)),
    record("after", HOUR),
    record("theirs", cluster="other"),
    record("theirs, timeless", None, cluster="other"),
]


def frame(store: Store, *rows: Row) -> DataFrame:
    return frame_of(store.spark, rows, LOG_RECORDS).coalesce(1)


def read(store: Store) -> list[Row]:
    """What workers get of the window, in the order of the lines' names."""
    found = [row for batches in store.read_batches(LOG_RECORDS, "prod", WINDOW) for row in batches.rows().collect()]
    return sorted((row.asDict() for row in found), key=lambda row: str(row["line_id"]))


def ids(store: Store) -> list[str]:
    return [row["line_id"] for row in read(store)]


def folder(store: Store) -> Path:
    return Path(store.lake) / "bronze/log_records"


def parquet(store: Store) -> list[Path]:
    return sorted(folder(store).glob("*.parquet"))


def add(store: Store, *files: list[Row]) -> None:
    """Adds these files to the table in one commit, two rows in each of their row groups."""
    added = []
    for n, rows in enumerate(files):
        file = folder(store) / f"part {n}%.parquet"
        pq.write_table(pa.Table.from_pylist(rows, arrow_schema(LOG_RECORDS)), file, row_group_size=2)
        added.append(File(file.name, file.stat().st_size, {}))
    commit_rows(store.spark, str(folder(store)), added, "")


@pytest.mark.parametrize("written_as", ["INT96", "TIMESTAMP_MICROS"])
def test_rows_are_those_that_spark_reads(store: Store, written_as: str) -> None:
    with conf(store.spark, spark__sql__parquet__outputTimestampType=written_as):
        store.append(LOG_RECORDS, frame(store, *OF_THE_WINDOW, *OTHERS))
    at = f"happened_at IS NULL OR happened_at >= '{AT}' AND happened_at < '{AT + HOUR}'"
    told = store.read_cluster(LOG_RECORDS, "prod").where(at).orderBy("line_id").collect()
    assert read(store) == [row.asDict() for row in told]
    assert ids(store) == ["first", "last", "timeless"]


def test_a_window_without_a_file_has_no_row(store: Store) -> None:
    assert read(store) == []
    store.append(LOG_RECORDS, frame(store, *OTHERS))
    assert read(store) == []


def test_files_are_found_however_many_there_are(store: Store) -> None:
    names = [f"line-{n:02}" for n in range(52)]
    add(store, *([record(name)] for name in names))
    assert "allFiles" not in (folder(store) / "_delta_log" / f"{1:020d}.crc").read_text()
    assert ids(store) == names


def test_spark_reads_large_files_and_workers_the_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append(LOG_RECORDS, frame(store, OF_THE_WINDOW[0], *OTHERS))
    store.append(LOG_RECORDS, frame(store, *OF_THE_WINDOW[1:], record("long", text="".join(map(chr, range(20_000))))))
    small, large = sorted(parquet(store), key=lambda file: file.stat().st_size)
    for most in (0, small.stat().st_size, large.stat().st_size):
        monkeypatch.setattr(table_batches, "_MOST", most)
        assert ids(store) == ["first", "last", "long", "timeless"]


def test_the_row_groups_of_a_file_are_shared_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"line-{n}" for n in range(9)]
    add(store, [record(name) for name in names])
    (file,) = parquet(store)
    for shares in (1, 2, 7):
        monkeypatch.setattr(table_batches, "_UNIT", file.stat().st_size // shares)
        assert ids(store) == names


def test_a_file_without_a_column_has_none_of_its_values(store: Store) -> None:
    rows = frame(store, OF_THE_WINDOW[0]).drop("raw", "layout")
    rows.write.format("delta").mode("append").save(str(folder(store)))
    (row,) = read(store)
    assert (row["line_id"], row["raw"], row["layout"]) == ("first", None, None)


@pytest.mark.parametrize("kept", [0, 100])
def test_a_file_that_is_lost_or_cut_is_named(store: Store, kept: int) -> None:
    store.append(LOG_RECORDS, frame(store, *OF_THE_WINDOW))
    (file,) = parquet(store)
    size, content = file.stat().st_size, file.read_bytes()[:kept]
    file.unlink()
    if content:
        file.write_bytes(content)
    with pytest.raises(PySparkException, match=f"{file.name} of bronze.log_records has {kept} of the {size} bytes"):
        read(store)
