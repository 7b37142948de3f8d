"""Tables that Spark and delta-rs write in turn, and what other engines read of them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import polars
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import TABLES, bronze, gold, silver
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store, content_of
from kafka_hindsight.lake.table_files import properties
from kafka_hindsight.shared.windows import Window
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


def replaced_by_spark(spark: SparkSession, lake: str, rows: list[dict[str, Any]], window: Window) -> None:
    """Spark's own writer puts rows in the place of a window's."""
    start, end = (f"TIMESTAMP '{at.isoformat()}'" for at in (window.start, window.end))
    where = f"cluster = 'prod' AND started_at >= {start} AND started_at < {end}"
    writer = frame_of(spark, rows, REBALANCES).write.format("delta").mode("overwrite").option("replaceWhere", where)
    writer.save(f"{lake}/gold/rebalances")


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
