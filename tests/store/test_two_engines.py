"""Tables that Spark and delta-rs write in turn, and what other engines read of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import polars
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import TABLES, bronze, gold, silver
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.content import content_hash
from kafka_hindsight.lake.ddl import columns_ddl, literal, properties, quoted
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables.store import Store as SparkStore
from kafka_hindsight.spark.tables.store import forget_snapshots
from tests.support.rows import AT, QUOTE, values

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
    at = dict.fromkeys(("started_at", "joined_at", "ended_at"), AT + after)
    return values(REBALANCES, cluster="prod", rebalance_id=name, evidence=evidence, **at)


def first_commit(folder: str) -> dict[str, Any]:
    """The actions of a table's first commit, without what differs between two tables of one kind."""
    lines = Path(folder, "_delta_log", f"{0:020}.json").read_text().splitlines()
    actions: dict[str, Any] = {name: action for line in lines for name, action in json.loads(line).items()}
    made = actions["metaData"]
    made["schemaString"] = json.loads(made["schemaString"])
    assert UUID(made.pop("id"))
    assert made.pop("createdTime") > 0
    return actions


def test_tables_are_created_as_spark_creates_them(spark: SparkSession, lake: str, tmp_path: Path) -> None:
    Store(lake).create(*TABLES)
    SparkStore(spark, str(tmp_path / "spark")).create(*TABLES)
    for table in TABLES:
        ours, theirs = (first_commit(f"{place}/{table.layer}/{table.name}") for place in (lake, tmp_path / "spark"))
        assert (ours["metaData"], ours["protocol"]) == (theirs["metaData"], theirs["protocol"])


@pytest.mark.parametrize("table", [RECORDS, EVENTS, REBALANCES, gold.INCIDENTS], ids=lambda t: t.full_name)
def test_a_table_is_created_as_create_table_makes_it(spark: SparkSession, lake: str, table: Table) -> None:
    described = ", ".join(f"'{key}' = {literal(value)}" for key, value in properties(table).items())
    spark.sql(
        f"CREATE TABLE delta.{quoted(f'{lake}/by_spark')} ({columns_ddl(table)}) USING delta"
        f" COMMENT {literal(table.grain)} TBLPROPERTIES ({described})"
    )
    Store(lake).create(table)
    ours, theirs = (first_commit(f"{lake}/{name}") for name in (f"{table.layer}/{table.name}", "by_spark"))
    assert (ours["metaData"], ours["protocol"]) == (theirs["metaData"], theirs["protocol"])
    assert ours["commitInfo"]["operation"] == theirs["commitInfo"]["operation"]


def test_every_engine_reads_what_delta_rs_wrote(spark: SparkSession, lake: str) -> None:
    store, folder = Store(lake), f"{lake}/gold/rebalances"
    store.create(REBALANCES)
    store.append(REBALANCES, rows_of(REBALANCES, rebalance("a"), rebalance("old"), rebalance("b", HOUR)))
    store.replace_window(REBALANCES, rows_of(REBALANCES, rebalance("new")), "prod", WINDOW)
    content = store.content_hash(REBALANCES)
    by_spark = SparkStore(spark, lake).read(REBALANCES).toArrow()
    by_polars = polars.read_delta(folder).to_arrow()
    duck = duckdb.connect()
    by_duck = duck.sql(f"SELECT * FROM read_parquet({[f'{folder}/{f.path}' for f in store.files(REBALANCES)]})")
    for rows in (by_spark, by_polars, by_duck.to_arrow_table()):
        assert content_hash(rows.select(REBALANCES.column_names).cast(arrow_schema(REBALANCES)), REBALANCES) == content


ENGINES: dict[str, Callable[[SparkSession, str], Callable[[Table, list[dict[str, Any]], Window], None]]] = {
    "spark": lambda spark, lake: (
        lambda table, rows, window: SparkStore(spark, lake).renew_window(
            table, frame_of(spark, rows, table), "prod", window
        )
    ),
    "delta-rs": lambda _, lake: (
        lambda table, rows, window: Store(lake).renew_window(table, rows_of(table, *rows), "prod", window)
    ),
}


@pytest.mark.parametrize("first", ENGINES)
def test_a_table_that_one_engine_wrote_is_continued_by_the_other(spark: SparkSession, lake: str, first: str) -> None:
    one, other = (ENGINES[name](spark, lake) for name in sorted(ENGINES, key=first.__ne__))
    store, theirs = Store(lake), SparkStore(spark, lake)
    (theirs if first == "spark" else store).create(REBALANCES)

    def versions(*acts: Callable[[], None]) -> list[int]:
        steps = []
        for act in acts:
            act()
            forget_snapshots(spark)
            steps.append(store.version(REBALANCES))
        return steps

    a, b, late = rebalance("a"), rebalance("b"), rebalance("late", HOUR)
    assert versions(
        lambda: one(REBALANCES, [a], WINDOW),
        lambda: other(REBALANCES, [a], WINDOW),
        lambda: other(REBALANCES, [late], LATER),
        lambda: one(REBALANCES, [b], WINDOW),
        lambda: one(REBALANCES, [late], LATER),
        lambda: other(REBALANCES, [b], WINDOW),
        lambda: other(REBALANCES, [], WINDOW),
        lambda: store.restore(REBALANCES, 3),
        lambda: one(REBALANCES, [b], WINDOW),
    ) == [1, 1, 2, 3, 3, 3, 4, 5, 5]
    versions(
        lambda: theirs.put_in_order(REBALANCES),
        lambda: one(REBALANCES, [a, b], WINDOW),
        lambda: store.put_in_order(REBALANCES),
    )
    assert sorted(store.read(REBALANCES)["rebalance_id"].to_pylist()) == ["a", "b", "late"]
    assert sorted(row["rebalance_id"] for row in theirs.read(REBALANCES).collect()) == ["a", "b", "late"]
    backwards = frame_of(spark, [rebalance("c") | {"joined_at": AT - HOUR}], REBALANCES)
    with pytest.raises(PySparkException):
        theirs.replace_window(REBALANCES, backwards, "prod", WINDOW)
