"""Tables in the lake: as declared, replaced by windows, readable without Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
from deltalake import DeltaTable
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import BY_NAME, TABLES, bronze, gold, quality, silver
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.ddl import columns_ddl, literal, properties, quoted
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import conform, frame_of
from kafka_hindsight.spark.tables.store import Store
from kafka_hindsight.spark.tables.table_content import contents
from kafka_hindsight.spark.tables.table_creation import create_table
from tests.support.lake import rows
from tests.support.logs import lay
from tests.support.rows import AT, values

HOUR = timedelta(hours=1)
WINDOW = Window(AT, AT + HOUR)
EVENTS, LINES, RECORDS = silver.EVENTS, quality.UNPARSED_LINES, bronze.LOG_RECORDS


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    return Store(spark, str(tmp_path / "a lake's"))


def fill(store: Store, table: Table, *rows: dict[str, Any]) -> Store:
    store.create(table)
    store.append_new(table, frame_of(store.spark, rows, table))
    return store


def line_ids(store: Store, table: Table) -> list[str]:
    return sorted(row["line_id"] for row in rows(store.lake, table.full_name))


def event(line_id: str, after: timedelta = timedelta(0), cluster: str = "prod") -> dict[str, Any]:
    return values(EVENTS, line_id=line_id, cluster=cluster, happened_at=AT + after)


def test_a_frame_with_other_columns_is_refused_and_all_of_them_are_named(spark: SparkSession) -> None:
    strange = spark.range(1).select("id")
    with pytest.raises(ValueError, match=r"silver.events .*missing \['line_id', .*not declared \['id'\]"):
        conform(strange, EVENTS)


def test_a_frame_gets_the_order_and_the_types_of_its_table(spark: SparkSession) -> None:
    given = frame_of(spark, [values(EVENTS)], EVENTS)
    shuffled = given.select(*(given[n].cast("string") for n in sorted(given.columns)))
    assert conform(shuffled, EVENTS).dtypes == [(c.name, c.type.lower()) for c in EVENTS.columns]


def test_every_declared_table_can_be_made_and_says_what_it_holds(store: Store) -> None:
    store.create(*TABLES)
    store.create(*TABLES)
    for table in TABLES:
        made = DeltaTable(f"{store.lake}/{table.layer}/{table.name}")
        fields = made.schema().fields
        assert [(f.name, f.nullable) for f in fields] == [(c.name, c.nullable) for c in table.columns]
        assert all(f.metadata["comment"] for f in fields)
        assert made.protocol().reader_features is None
        assert made.protocol().min_reader_version == 1
        constraints = {k.rpartition(".")[2] for k in made.metadata().configuration if k.startswith("delta.constraints")}
        critical = {c.name for c in table.checks if c.severity == "critical"}
        assert constraints == (critical if table.layer == "gold" else set())


LEFT_OVER = {
    "a kill before commit 0": (),
    "a kill of delta-rs": ("00000000000000000000.json#1",),
    "a full disk": (".00000000000000000000.json.5f2d.tmp", "..00000000000000000000.json.5f2d.tmp.crc"),
}


@pytest.mark.parametrize("table", [RECORDS, EVENTS, gold.REBALANCES, gold.INCIDENTS], ids=lambda t: t.full_name)
def test_a_table_is_created_as_spark_creates_it(store: Store, table: Table) -> None:
    told = ", ".join(f"'{key}' = {literal(value)}" for key, value in properties(table).items())
    path = f"{store.lake}/by_spark"
    store.spark.sql(
        f"CREATE TABLE delta.{quoted(path)} ({columns_ddl(table)}) USING delta COMMENT {literal(table.grain)} "
        f"TBLPROPERTIES ({told})"
    )
    store.create(table)
    ours, theirs = (first_commit(folder) for folder in (f"{store.lake}/{table.layer}/{table.name}", path))
    assert (ours["metaData"], ours["protocol"]) == (theirs["metaData"], theirs["protocol"])
    assert ours["commitInfo"]["operation"] == theirs["commitInfo"]["operation"]


def first_commit(folder: str) -> dict[str, Any]:
    """The actions of a table's first commit, without what differs between two tables of one kind."""
    lines = Path(folder, "_delta_log", f"{0:020}.json").read_text().splitlines()
    actions: dict[str, Any] = {name: action for line in lines for name, action in json.loads(line).items()}
    made = actions["metaData"]
    made["schemaString"] = json.loads(made["schemaString"])
    assert UUID(made.pop("id"))
    assert made.pop("createdTime") > 0
    return actions


def test_a_table_that_is_there_is_not_created_over(store: Store) -> None:
    store.create(EVENTS)
    with pytest.raises(Py4JJavaError, match="FileAlreadyExists"):
        create_table(store.spark, EVENTS, f"{store.lake}/silver/events")


@pytest.mark.parametrize("named", LEFT_OVER)
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_table_whose_creation_was_cut_short_is_absent_and_is_created(
    spark: SparkSession, tmp_path: Path, named: str, scheme: str
) -> None:
    store = Store(spark, f"{scheme}{tmp_path}/lake")
    log = lay(tmp_path / "lake/silver/events/_delta_log", dict.fromkeys(LEFT_OVER[named], "{"))
    log.mkdir(parents=True, exist_ok=True)
    assert (store.has(EVENTS), store.is_half_made(EVENTS)) == (False, True)
    assert line_ids(fill(store, EVENTS, event("a")), EVENTS) == ["a"]
    assert (store.version(EVENTS), store.is_half_made(EVENTS)) == (1, False)


@pytest.mark.parametrize(
    "lost", ["_delta_log/00000000000000000000.crc", "_delta_log/_last_checkpoint", "part-0.parquet"]
)
def test_a_table_that_lost_its_commits_is_neither_created_nor_removed(store: Store, lost: str) -> None:
    folder = lay(Path(store.lake, "silver/events"), {"_delta_log/.a.tmp": "", lost: "rows"})
    with pytest.raises(BadInput, match=rf"silver\.events has no commit in .*, and the file {Path(lost).name}\."):
        store.create(EVENTS)
    assert (folder / lost).read_text() == "rows"


def test_bronze_gains_each_row_once(store: Store) -> None:
    fill(store, RECORDS, values(RECORDS, line_id="a"), values(RECORDS, line_id="b", happened_at=None))
    fill(
        store,
        RECORDS,
        *(values(RECORDS, line_id=i, happened_at=at) for i, at in (("a", AT), ("b", None), ("c", AT - HOUR))),
    )
    assert line_ids(store, RECORDS) == ["a", "b", "c"]


def test_a_window_is_replaced_and_nothing_else(store: Store, spark: SparkSession) -> None:
    fill(store, EVENTS, event("before", -HOUR), event("in"), event("end", HOUR), event("theirs", cluster="o'ther"))
    store.replace_window(EVENTS, frame_of(spark, [event("new")], EVENTS), "prod", WINDOW)
    store.replace_window(EVENTS, frame_of(spark, [], EVENTS), "o'ther", WINDOW)
    assert line_ids(store, EVENTS) == ["before", "end", "new"]


def test_a_lake_of_an_earlier_version_gains_the_columns_declared_since(store: Store, spark: SparkSession) -> None:
    earlier = replace(EVENTS, columns=tuple(c for c in EVENTS.columns if c.name != "heartbeat_interval_ms"))
    fill(store, earlier, event("then"))
    store.append_new(EVENTS, frame_of(spark, [], EVENTS))
    assert store.read(EVENTS).columns[-1] == "heartbeat_interval_ms"
    later = [event("now", HOUR * 2) | {"heartbeat_interval_ms": 3000}]
    store.replace_window(EVENTS, frame_of(spark, later, EVENTS), "prod", Window(AT + HOUR, AT + 3 * HOUR))
    told = {r["line_id"]: r["heartbeat_interval_ms"] for r in store.read(EVENTS).collect()}
    assert told == {"then": None, "now": 3000}


def test_a_window_is_renewed_where_it_holds_other_rows_whoever_wrote_them(store: Store, spark: SparkSession) -> None:
    fill(store, EVENTS, event("before", -HOUR))

    def renewed(window: Window, *rows: dict[str, Any]) -> int:
        store.renew_window(EVENTS, frame_of(spark, rows, EVENTS), "prod", window)
        return store.version(EVENTS)

    first = renewed(WINDOW, event("a"), event("b"))
    assert renewed(WINDOW, event("b"), event("a")) == first, "the newest commit says what the window holds"
    later = Window(AT + HOUR, AT + 2 * HOUR)
    assert renewed(later, event("later", HOUR)) == first + 1
    assert renewed(WINDOW, event("a"), event("b")) == first + 1, "the newest commit is about another window"
    assert renewed(later) == first + 2
    assert renewed(later) == first + 2
    store.delete_before(EVENTS, "happened_at", AT + HOUR)
    assert renewed(later) == first + 3, "nothing is left to replace"
    assert renewed(WINDOW, event("a")) == first + 4
    assert line_ids(store, EVENTS) == ["a"]


@pytest.mark.parametrize("filled", [False, True])
def test_a_row_outside_the_window_is_refused(store: Store, spark: SparkSession, filled: bool) -> None:
    fill(store, EVENTS, *([event("in")] if filled else []))
    with pytest.raises((PySparkException, Py4JError)):
        store.replace_window(EVENTS, frame_of(spark, [event("late", HOUR)], EVENTS), "prod", WINDOW)
    assert line_ids(store, EVENTS) == (["in"] if filled else [])


def test_rows_without_an_instant_are_added_once_and_never_taken_away(store: Store, spark: SparkSession) -> None:
    def lines(*named: tuple[str, Any]) -> Any:
        return frame_of(spark, [values(LINES, line_id=i, cluster="prod", happened_at=at) for i, at in named], LINES)

    store.create(LINES)
    store.replace_window(LINES, lines(("a", AT), ("timeless", None)), "prod", WINDOW)
    store.replace_window(LINES, lines(("b", AT), ("timeless", None), ("another", None)), "prod", WINDOW)
    store.replace_window(LINES, lines(("c", AT + HOUR)), "prod", Window(AT + HOUR, AT + 2 * HOUR))
    assert line_ids(store, LINES) == ["another", "b", "c", "timeless"]


def test_gold_refuses_what_breaks_its_laws_and_staging_takes_it(store: Store, spark: SparkSession) -> None:
    table = gold.REBALANCES
    backwards = frame_of(spark, [values(table, ended_at=AT - HOUR)], table)
    nameless = frame_of(spark, [values(table, group_id=None)], table)
    store.create(table)
    for bad in (backwards, nameless):
        store.overwrite_staging(table, bad)
        assert store.read_staging(table).count() == 1
        with pytest.raises((PySparkException, Py4JError)):
            store.replace_window(table, bad, "cluster", WINDOW)
    assert store.read(table).count() == 0


@pytest.mark.parametrize("count", [0, 3])
def test_staging_holds_what_was_staged_last(store: Store, spark: SparkSession, count: int) -> None:
    table = gold.REBALANCES
    for names in ((f"former-{n}" for n in range(5)), (f"now-{n}" for n in range(count))):
        staged = frame_of(spark, [values(table, rebalance_id=name) for name in names], table)
        store.overwrite_staging(table, staged.repartition(2))
    read = store.read_staging(table)
    assert [(f.name, f.dataType) for f in read.schema] == [(f.name, f.dataType) for f in staged.schema]
    assert sorted(read.collect()) == sorted(staged.collect())
    assert read.count() == count
    files = duckdb.read_parquet(f"{store.lake}/staging/{table.name}/*.parquet")
    assert sorted(files.project("rebalance_id").fetchall()) == [(f"now-{n}",) for n in range(count)]


def test_content_is_the_rows_in_any_order_and_nothing_that_depends_on_the_run(spark: SparkSession) -> None:
    a, b = values(RECORDS, line_id="a"), values(RECORDS, line_id="b")
    moved = a | {"text": None, "source": a["text"]}
    others = [(), (a,), (a, a), (a, b, b), (a, b | {"happened_at": AT + timedelta(microseconds=1)}), (moved, b)]
    asked = [(a, b), (b | {"run_collected_at": AT + HOUR}, a), *others]
    this, again, *unlike = contents(*((RECORDS, frame_of(spark, given, RECORDS).repartition(2)) for given in asked))
    assert this == again
    assert this not in unlike
    assert this.row_count == 2 and unlike[0].row_count == 0


def test_a_hash_knows_the_content_alone(store: Store, spark: SparkSession, tmp_path: Path) -> None:
    def stored(name: str, *commits: list[dict[str, Any]]) -> str:
        other = Store(spark, str(tmp_path / name))
        for added in commits:
            fill(other, RECORDS, *added)
        return other.content_hash(RECORDS)

    a, b = values(RECORDS, line_id="a"), values(RECORDS, line_id="b")
    again, micro = b | {"run_collected_at": AT + HOUR}, b | {"happened_at": AT + timedelta(microseconds=1)}
    one = stored("one", [a], [b])
    assert one == stored("two", [again, a])
    others = {stored("three", [a]), stored("four", [a, b | {"text": "x"}]), stored("five", [a, micro])}
    assert len(others | {one}) == 4


def test_a_version_is_the_newest_one(store: Store, spark: SparkSession) -> None:
    assert not store.has(EVENTS)
    with pytest.raises(LookupError, match=r"silver\.events"):
        store.version(EVENTS)
    assert fill(store, EVENTS, event("a")).version(EVENTS) == 1
    store.replace_window(EVENTS, frame_of(spark, [event("b")], EVENTS), "prod", WINDOW)
    assert store.version(EVENTS) == 2


def test_other_engines_read_text_that_was_broken(store: Store) -> None:
    odd = b"a\xff\0b".decode(errors="replace")
    fill(store, RECORDS, values(RECORDS, text=odd, raw=b"a\xff\0b"))
    path = f"{store.lake}/bronze/log_records"
    assert DeltaTable(path).to_pyarrow_table().to_pylist()[0]["text"] == odd
    reader = duckdb.connect()
    reader.register("records", DeltaTable(path).to_pyarrow_dataset())
    assert reader.execute('SELECT text, "order" FROM records').fetchall() == [(odd, 1)]


def test_only_declared_tables_have_windows(store: Store, spark: SparkSession) -> None:
    table = BY_NAME["quality.publications"]
    with pytest.raises(ValueError, match="no time column"):
        store.replace_window(table, frame_of(spark, [values(table)], table), "prod", WINDOW)
