"""Tables that Spark and delta-rs write in turn, and what other engines read of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.catalog import TABLES, bronze, gold, silver
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store, content_of
from kafka_hindsight.lake.table_files import properties
from kafka_hindsight.shared.windows import Window
from tests.support.logs import conf
from tests.support.rows import AT, QUOTE, values
from tests.support.spark_rows import columns_ddl, frame_of, literal, quoted

HOUR = timedelta(hours=1)
WINDOW, LATER = Window(AT, AT + HOUR), Window(AT + HOUR, AT + 2 * HOUR)
EVENTS, RECORDS, REBALANCES = silver.EVENTS, bronze.LOG_RECORDS, gold.REBALANCES


@pytest.fixture
def lake(tmp_path: Path) -> str:
    return str(tmp_path / "lake")


def rows_of(table: Table, *rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), arrow_schema(table))


def rebalance(name: str, after: timedelta = timedelta(0)) -> dict[str, Any]:
    evidence = [QUOTE, QUOTE | {"text": 'ä"\x1f\\', "happened_at": AT + timedelta(microseconds=1)}]
    ends = dict.fromkeys(("started_at", "joined_at", "ended_at"), AT + after)
    return values(REBALANCES, cluster="prod", rebalance_id=name, evidence=evidence, **ends)


def first_commit(folder: str) -> dict[str, Any]:
    """The actions of a table's first commit, without what differs between two tables of one kind."""
    lines = Path(folder, "_delta_log", f"{0:020}.json").read_text().splitlines()
    actions: dict[str, Any] = {name: action for line in lines for name, action in json.loads(line).items()}
    made = actions["metaData"]
    made["schemaString"] = json.loads(made["schemaString"])
    assert UUID(made.pop("id"))
    assert made.pop("createdTime") > 0
    return actions


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.full_name)
def test_store_creates_table_like_spark_create_table(spark: SparkSession, lake: str, table: Table) -> None:
    described = ", ".join(f"'{key}' = {literal(value)}" for key, value in properties(table).items())
    spark.sql(
        f"CREATE TABLE delta.{quoted(f'{lake}/by_spark')} ({columns_ddl(table)}) USING delta"
        f" COMMENT {literal(table.grain)} TBLPROPERTIES ({described})"
    )
    Store(lake).create(table)
    ours, theirs = (first_commit(f"{lake}/{name}") for name in (f"{table.layer}/{table.name}", "by_spark"))
    assert (ours["metaData"], ours["protocol"]) == (theirs["metaData"], theirs["protocol"])
    assert ours["commitInfo"]["operation"] == theirs["commitInfo"]["operation"]


def test_every_engine_reads_tables_of_delta_rs(spark: SparkSession, lake: str) -> None:
    store, folder = Store(lake), f"{lake}/gold/rebalances"
    store.create(REBALANCES)
    store.append(REBALANCES, rows_of(REBALANCES, rebalance("a"), rebalance("old"), rebalance("b", HOUR)))
    store.replace_window(REBALANCES, rows_of(REBALANCES, rebalance("new")), "prod", WINDOW)
    content = content_of(store.read(REBALANCES), REBALANCES)
    by_spark = spark.read.format("delta").load(folder).toArrow()
    by_polars = polars.read_delta(folder).to_arrow()
    duck = duckdb.connect()
    by_duck = duck.sql(f"SELECT * FROM read_parquet({[f'{folder}/{f.path}' for f in store.files(REBALANCES)]})")
    for rows in (by_spark, by_polars, by_duck.to_arrow_table()):
        same = rows.select(REBALANCES.column_names).cast(arrow_schema(REBALANCES))
        assert content_of(same, REBALANCES).equals(content)


def replaced_by_spark(
    spark: SparkSession, lake: str, rows: list[dict[str, Any]], window: Window, turn: int = 0
) -> None:
    """Spark's own writer puts rows in the place of a window's."""
    replaced_by_frame(frame_of(spark, rows, REBALANCES), lake, window, turn)


def replaced_by_frame(frame: DataFrame, lake: str, window: Window, turn: int = 0) -> None:
    """Spark's own writer puts a frame in the place of a window's rows; once for each turn, if it has a number."""
    start, end = (f"TIMESTAMP '{at.isoformat()}'" for at in (window.start, window.end))
    where = f"cluster = 'prod' AND started_at >= {start} AND started_at < {end}"
    writer = frame.write.format("delta").mode("overwrite").option("replaceWhere", where)
    if turn:
        writer = writer.option("txnAppId", "a run").option("txnVersion", turn)
    writer.save(f"{lake}/gold/rebalances")


def commits(lake: str) -> list[dict[str, Any]]:
    """The actions of each commit of gold.rebalances, by their names."""
    files = sorted(Path(lake, "gold/rebalances/_delta_log").glob("*.json"))
    return [{name: a for line in f.read_text().splitlines() for name, a in json.loads(line).items()} for f in files]


def ids(store: Store) -> list[str]:
    return sorted(store.read(REBALANCES)["rebalance_id"].to_pylist())


def test_spark_and_delta_rs_write_one_table_in_turn(spark: SparkSession, lake: str) -> None:
    store, a, b, late = Store(lake), rebalance("a"), rebalance("b"), rebalance("late", HOUR)
    store.create(REBALANCES)
    replaced_by_spark(spark, lake, [a], WINDOW)
    store.renew_window(REBALANCES, rows_of(REBALANCES, a), "prod", WINDOW)
    assert store.version(REBALANCES) == 1
    store.renew_window(REBALANCES, rows_of(REBALANCES, late), "prod", LATER)
    replaced_by_spark(spark, lake, [b], WINDOW)
    store.restore(REBALANCES, 2)
    store.renew_window(REBALANCES, rows_of(REBALANCES, a, b), "prod", WINDOW)
    spark.sql(f"OPTIMIZE delta.{quoted(f'{lake}/gold/rebalances')}")
    store.put_in_order(REBALANCES)
    by_spark = spark.read.format("delta").load(f"{lake}/gold/rebalances").select("rebalance_id").collect()
    assert sorted(row["rebalance_id"] for row in by_spark) == ["a", "b", "late"]
    assert sorted(store.read(REBALANCES)["rebalance_id"].to_pylist()) == ["a", "b", "late"]
    protocol = DeltaTable(f"{lake}/gold/rebalances").protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 3), "neither engine asks for newer readers"
    with pytest.raises(PySparkException):
        replaced_by_spark(spark, lake, [rebalance("c") | {"ended_at": AT - HOUR}], WINDOW)


def test_delta_rs_continues_table_of_spark(spark: SparkSession, lake: str) -> None:
    store, described = Store(lake), ", ".join(f"'{k}' = {literal(v)}" for k, v in properties(REBALANCES).items())
    spark.sql(
        f"CREATE TABLE delta.{quoted(f'{lake}/gold/rebalances')} ({columns_ddl(REBALANCES)}) USING delta"
        f" TBLPROPERTIES ({described})"
    )
    replaced_by_spark(spark, lake, [rebalance("a"), rebalance("late", HOUR)], Window(AT, AT + 2 * HOUR))
    store.renew_window(REBALANCES, rows_of(REBALANCES, rebalance("b")), "prod", WINDOW)
    assert sorted(store.read(REBALANCES)["rebalance_id"].to_pylist()) == ["b", "late"]


def test_spark_writes_the_files_that_our_tables_ask_for(spark: SparkSession, lake: str) -> None:
    """Statistics of the columns by which windows are found, our compression, and checksums of pages."""
    store, folder = Store(lake), Path(lake, "gold/rebalances")
    store.create(REBALANCES)
    with conf(spark, spark__sql__parquet__compression__codec="zstd", spark__sql__session__timeZone="America/New_York"):
        frame = frame_of(spark, [rebalance("a")], REBALANCES)
        replaced_by_frame(frame.select(*reversed(frame.columns)), lake, WINDOW)
    store.append(REBALANCES, rows_of(REBALANCES, rebalance("by us", HOUR)))
    assert sorted(store.read(REBALANCES, columns=["started_at"])["started_at"].to_pylist()) == [AT, AT + HOUR]
    added = commits(lake)[1]["add"]
    assert json.loads(added["stats"])["minValues"].keys() == {"cluster", "started_at"}
    by_spark = folder / added["path"]
    group, content = pq.ParquetFile(by_spark).metadata.row_group(0), bytearray(by_spark.read_bytes())
    column = max((group.column(n) for n in range(group.num_columns)), key=lambda c: c.total_compressed_size)
    assert column.compression == "ZSTD"
    content[(column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 2] ^= 0xFF
    by_spark.write_bytes(content)
    with pytest.raises(OSError, match=r"(?i)crc"):
        pq.ParquetFile(by_spark, page_checksum_verification=True).read()


def test_what_spark_refuses_or_has_written_leaves_no_commit(spark: SparkSession, lake: str) -> None:
    store, a = Store(lake), rebalance("a")
    store.create(REBALANCES)
    replaced_by_spark(spark, lake, [a], WINDOW, turn=1)
    replaced_by_spark(spark, lake, [rebalance("again")], WINDOW, turn=1)
    for row in (a | {"evidence": []}, a | {"group_id": None}, rebalance("late", HOUR)):
        with pytest.raises((PySparkException, Py4JError)):
            replaced_by_spark(spark, lake, [row], WINDOW)
    frame = frame_of(spark, [a, rebalance("b")], REBALANCES)
    with pytest.raises((PySparkException, Py4JError)):
        replaced_by_frame(frame.mapInArrow(die_after_rows, frame.schema), lake, WINDOW)
    assert (store.version(REBALANCES), ids(store)) == (1, ["a"])
    replaced_by_frame(frame.limit(0), lake, WINDOW)
    assert (store.version(REBALANCES), ids(store)) == (2, [])
    assert commits(lake)[2].keys() & {"add", "remove"} == {"remove"}


def die_after_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A worker that is killed while it writes."""
    yield from batches
    os._exit(3)


def test_each_engine_goes_on_after_checkpoint_of_spark(spark: SparkSession, lake: str) -> None:
    store, folder = Store(lake), Path(lake, "gold/rebalances")
    store.create(REBALANCES)
    for turn in range(10):
        replaced_by_spark(spark, lake, [rebalance(str(turn))], WINDOW)
    assert list((folder / "_delta_log").glob("*10.checkpoint*.parquet"))
    for commit in (folder / "_delta_log").glob("*.json"):
        if int(commit.stem) < 10:
            commit.unlink()
    assert ids(store) == ["9"]
    store.renew_window(REBALANCES, rows_of(REBALANCES, rebalance("late", HOUR)), "prod", LATER)
    by_spark = spark.read.format("delta").load(str(folder)).select("rebalance_id").collect()
    assert sorted(row["rebalance_id"] for row in by_spark) == ["9", "late"]
