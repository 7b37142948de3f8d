"""Tables in the lake without a JVM: as declared, replaced by windows, kept whole whatever other writers do."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog import TABLES, bronze, gold, quality, silver
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake import publication, publishing, transactions
from kafka_hindsight.lake import store as store_module
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.staging import (
    Staged,
    StagingChanged,
    clear,
    list_staged,
    read_staged,
    read_staged_rows,
    stage_files,
    staging_folder,
)
from kafka_hindsight.lake.store import Store, content_of
from kafka_hindsight.lake.table_files import write_files
from kafka_hindsight.lake.transactions import TableChanged, commit, open_table
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.held_locks import end_if_lost
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps.renewal import renew_from_staging
from tests.support.draws import drawn
from tests.support.logs import lay
from tests.support.rows import AT, values

CLUSTER = "cluster"
HOUR = timedelta(hours=1)
WINDOW = Window(AT, AT + HOUR)
LATER = Window(AT + HOUR, AT + 2 * HOUR)
EVENTS, LINES, RECORDS = silver.EVENTS, quality.UNPARSED_LINES, bronze.LOG_RECORDS


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "a lake's [1];#"))
    made.create(EVENTS, LINES, RECORDS)
    return made


def rows_of(table: Table, *rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), arrow_schema(table))


def event(line_id: str, after: timedelta = timedelta(0), cluster: str = "prod", **columns: Any) -> dict[str, Any]:
    return values(EVENTS, line_id=line_id, cluster=cluster, happened_at=AT + after, **columns)


def events(*rows: dict[str, Any]) -> pa.Table:
    return rows_of(EVENTS, *rows)


def line(line_id: str, at: datetime | None) -> dict[str, Any]:
    return values(LINES, line_id=line_id, cluster="prod", happened_at=at)


def ids(store: Store, table: Table = EVENTS) -> list[str]:
    """The rows as the store and as delta-rs read them."""
    line_ids = sorted(store.read(table, columns=["line_id"])["line_id"].to_pylist())
    assert line_ids == sorted(DeltaTable(folder(store, table)).to_pyarrow_table()["line_id"].to_pylist())
    return line_ids


def folder(store: Store, table: Table = EVENTS) -> str:
    return f"{store.lake}/{table.layer}/{table.name}"


def newest(store: Store, table: Table = EVENTS) -> list[dict[str, Any]]:
    """The actions of the newest commit."""
    commit = Path(folder(store, table), "_delta_log", f"{store.version(table):020d}.json")
    return [json.loads(line) for line in commit.read_text().splitlines()]


def test_every_declared_table_is_created_with_its_columns_and_comments(store: Store) -> None:
    store.create(*TABLES)
    store.create(*TABLES)
    for table in TABLES:
        made = DeltaTable(folder(store, table))
        fields = made.schema().fields
        assert [(f.name, f.nullable) for f in fields] == [(c.name, c.nullable) for c in table.columns]
        assert all(f.metadata["comment"] for f in fields)
        checked = any(c.severity == "critical" for c in table.checks) and table.layer == "gold"
        protocol = made.protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 3 if checked else 2)
        assert made.version() == 0
        read = store.read(table)
        assert (len(read), read.schema) == (0, arrow_schema(table))


LEFT_OVER = {
    "a kill before commit 0": (),
    "a kill of delta-rs": ("00000000000000000000.json#1",),
    "a full disk": (".00000000000000000000.json.5f2d.tmp", "..00000000000000000000.json.5f2d.tmp.crc"),
}


@pytest.mark.parametrize("names", LEFT_OVER.values(), ids=LEFT_OVER)
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_table_with_interrupted_creation_is_created_again(tmp_path: Path, names: tuple[str, ...], scheme: str) -> None:
    store = Store(f"{scheme}{tmp_path}/lake")
    log = lay(tmp_path / "lake/silver/events/_delta_log", dict.fromkeys(names, "{"))
    log.mkdir(parents=True, exist_ok=True)
    assert not store.has(EVENTS)
    store.create(EVENTS)
    store.append(EVENTS, events(event("a")))
    assert (store.version(EVENTS), len(store.read(EVENTS))) == (1, 1)


@pytest.mark.parametrize(
    "lost", ["_delta_log/00000000000000000000.crc", "_delta_log/_last_checkpoint", "part-0.parquet"]
)
def test_table_with_data_and_no_commits_is_refused_and_kept(tmp_path: Path, lost: str) -> None:
    lost_table = lay(tmp_path / "silver/events", {"_delta_log/.a.tmp": "", lost: "rows"})
    with pytest.raises(BadInput, match=rf"silver\.events has no commit in .*, and the file {Path(lost).name}\."):
        Store(str(tmp_path)).create(EVENTS)
    assert (lost_table / lost).read_text() == "rows"


def test_existing_table_is_not_created_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table_id = DeltaTable(folder(store)).metadata().id
    monkeypatch.setattr(Store, "has", lambda *_: False)
    monkeypatch.setattr(store_module.landing, "files_below", lambda _: [])
    store.create(EVENTS)
    assert DeltaTable(folder(store)).metadata().id == table_id


def test_version_of_table_is_the_newest_and_missing_table_is_refused(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert not store.has(EVENTS)
    for ask in (store.version, store.read, store.put_in_order):
        with pytest.raises(LookupError, match=r"silver\.events"):
            ask(EVENTS)
    store.create(EVENTS)
    store.append(EVENTS, events(event("a")))
    assert store.version(EVENTS) == 1


def test_bronze_gains_each_row_once(store: Store) -> None:
    rows = [values(RECORDS, line_id=i, happened_at=at) for i, at in (("a", AT), ("b", None), ("c", AT - HOUR))]
    for some in (rows[:2], rows, rows[1:], rows[1:2]):
        store.append_new(RECORDS, rows_of(RECORDS, *some))
    assert ids(store, RECORDS) == ["a", "b", "c"]
    assert store.version(RECORDS) == 2, "what adds nothing is not a commit"
    far = pa.array([1 << 60], pa.int64()).cast(pa.timestamp("us", "UTC"))
    strange = rows_of(RECORDS, values(RECORDS, line_id="d"))
    strange = strange.set_column(strange.schema.get_field_index("happened_at"), "happened_at", far)
    for _ in range(2):
        store.append_new(RECORDS, strange)
    assert store.read(RECORDS, columns=["line_id"])["line_id"].to_pylist().count("d") == 1


def test_appended_columns_take_order_and_types_of_the_table(store: Store) -> None:
    shuffled = events(event("a", log_offset=7)).select(sorted(EVENTS.column_names))
    at = shuffled.schema.get_field_index("log_offset")
    store.append(EVENTS, shuffled.set_column(at, "log_offset", shuffled["log_offset"].cast(pa.string())))
    assert store.read(EVENTS).equals(events(event("a", log_offset=7)))
    with pytest.raises(ValueError, match=r"silver\.events .*missing \['line_id', .*not declared \['id'\]"):
        store.append(EVENTS, pa.table({"id": [1]}))


def test_replace_window_replaces_rows_of_its_cluster_and_window_alone(store: Store) -> None:
    store.append(
        EVENTS,
        events(event("before", -HOUR), event("in"), event("end", HOUR), event("theirs", cluster="o'ther")),
    )
    store.replace_window(EVENTS, events(event("new")), "prod", WINDOW)
    store.replace_window(EVENTS, events(), "o'ther", WINDOW)
    assert ids(store) == ["before", "end", "new"]
    assert store.read_window(EVENTS, "prod", WINDOW).equals(events(event("new")))
    assert len(store.read(EVENTS, Part("prod"))) == 3
    assert len(store.read(EVENTS, Part("o'ther"))) == 0


@pytest.mark.parametrize("cluster", ["x" * 200, "\U00020000", "\U0010ffff" * 70, "\uffff", "a\"\\\n\x00'"])
def test_window_is_replaced_for_any_cluster_name(store: Store, cluster: str) -> None:
    store.append(EVENTS, events(event("a", cluster=cluster), event("b", HOUR, cluster=cluster)))
    store.append(EVENTS, events(event("theirs", cluster=f"{cluster}y")))
    for _ in range(2):
        store.replace_window(EVENTS, events(event("new", cluster=cluster)), cluster, WINDOW)
        rows = store.read(EVENTS, Part(cluster))["line_id"].to_pylist()
        assert (sorted(rows), ids(store)) == (["b", "new"], ["b", "new", "theirs"])
        store.put_in_order(EVENTS)


def test_files_without_rows_of_the_window_stay_untouched(store: Store) -> None:
    for row in (event("before", -HOUR), event("in"), event("theirs", cluster="other")):
        store.append(EVENTS, events(row))
    window = Part("prod", "happened_at", (WINDOW.start, WINDOW.end))
    assert [len(store.files(EVENTS, part)) for part in (None, Part("prod"), window)] == [3, 2, 1]
    store.replace_window(EVENTS, events(event("new")), "prod", WINDOW)
    assert [next(iter(action)) for action in newest(store)] == ["commitInfo", "add", "remove"]
    assert ids(store) == ["before", "new", "theirs"]


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("wrong", [event("late", HOUR), event("theirs", cluster="other")])
def test_a_row_outside_the_window_is_refused(store: Store, filled: bool, wrong: dict[str, Any]) -> None:
    store.append(EVENTS, events(*([event("in")] if filled else [])))
    rows = events(event("new"), wrong)
    for batch in (rows, write_files(folder(store), EVENTS, rows.to_batches())):
        with pytest.raises(ValueError, match=r"A row for silver\.events lies outside .*cluster prod, happened_at 2026"):
            store.replace_window(EVENTS, batch, "prod", WINDOW)
    assert ids(store) == (["in"] if filled else [])


def test_files_written_by_workers_are_added_to_the_table(store: Store) -> None:
    def files(table: Table, *rows: dict[str, Any]) -> Any:
        return write_files(folder(store, table), table, rows_of(table, *rows).to_batches())

    store.append(EVENTS, files(EVENTS, event("a"), event("b", HOUR)))
    store.append(EVENTS, files(EVENTS))
    assert store.version(EVENTS) == 1
    store.replace_window(EVENTS, files(EVENTS, event("new")), "prod", WINDOW)
    assert ids(store) == ["b", "new"]
    store.replace_window(LINES, files(LINES, line("a", AT), line("timeless", None)), "prod", WINDOW)
    store.replace_window(LINES, files(LINES, line("b", AT), line("timeless", None)), "prod", WINDOW)
    assert ids(store, LINES) == ["b", "timeless"]


def test_rows_without_timestamp_are_added_once_and_never_removed(store: Store) -> None:
    def lines(*named: tuple[str, datetime | None]) -> pa.Table:
        return rows_of(LINES, *(line(*name) for name in named))

    store.replace_window(LINES, lines(("a", AT), ("timeless", None)), "prod", WINDOW)
    store.replace_window(LINES, lines(("b", AT), ("timeless", None), ("another", None)), "prod", WINDOW)
    store.replace_window(LINES, lines(("c", AT + HOUR)), "prod", LATER)
    assert ids(store, LINES) == ["another", "b", "c", "timeless"]
    assert store.delete_before(LINES, "happened_at", AT + HOUR) == 1
    assert ids(store, LINES) == ["another", "c", "timeless"]


def test_renew_window_commits_only_where_rows_differ(store: Store) -> None:
    store.append(EVENTS, events(event("before", -HOUR)))

    def renewed(window: Window, *rows: dict[str, Any]) -> int:
        store.renew_window(EVENTS, events(*rows), "prod", window)
        return store.version(EVENTS)

    first = renewed(WINDOW, event("a"), event("b"))
    assert renewed(WINDOW, event("b"), event("a")) == first
    assert renewed(LATER, event("later", HOUR)) == first + 1
    assert renewed(WINDOW, event("a"), event("b")) == first + 1
    assert renewed(LATER) == first + 2
    assert renewed(LATER) == first + 2
    store.delete_before(EVENTS, "happened_at", AT + HOUR)
    assert renewed(LATER) == first + 3, "nothing is left to replace"
    assert renewed(WINDOW, event("a")) == first + 4
    assert ids(store) == ["a"]


def test_rows_of_a_run_replace_its_former_rows(store: Store) -> None:
    table = quality.PUBLICATIONS
    store.create(table)

    def published(run_id: str, *tables: str) -> pa.Table:
        named = {"run_id": run_id, "cluster": "prod", "window_from": WINDOW.start, "window_to": WINDOW.end}
        return rows_of(table, *(values(table, **named, table=name) for name in tables))

    for run_id, tables in (("o'ne", ("a", "b")), ("two", ("a",)), ("o'ne", ("c",))):
        store.replace_rows_of_run(table, published(run_id, *tables), "prod", WINDOW, run_id)
    rows = store.read(table)
    assert sorted(zip(rows["run_id"].to_pylist(), rows["table"].to_pylist())) == [("o'ne", "c"), ("two", "a")]
    with pytest.raises(ValueError, match="outside of what is replaced: cluster prod, run_id three"):
        store.replace_rows_of_run(table, published("two", "a"), "prod", WINDOW, "three")
    with pytest.raises(ValueError, match="no time column"):
        store.replace_window(table, published("two", "a"), "prod", WINDOW)


def test_row_with_null_in_required_column_is_refused_except_in_staging(store: Store) -> None:
    table = gold.REBALANCES
    nameless = rows_of(table, values(table, group_id=None))
    store.create(table)
    staged = Staged("run", {table.full_name: stage_files(store.lake, CLUSTER, table, nameless.to_batches())})
    assert read_staged_rows(store.lake, CLUSTER, table, staged)["group_id"].to_pylist() == [None]
    with pytest.raises(ValueError, match=r"Rows for gold\.rebalances have no value in group_id"):
        store.replace_window(table, nameless, "cluster", WINDOW)
    with pytest.raises(ValueError, match="group_id"):
        write_files(folder(store, table), table, nameless.to_batches())
    assert len(store.read(table)) == 0


@pytest.mark.parametrize("count", [0, 3])
def test_staging_holds_only_the_rows_staged_last(store: Store, count: int) -> None:
    table = gold.REBALANCES
    lay(
        Path(staging_folder(store.lake, CLUSTER, table)), {"_columns.json": "", "part-0.parquet": "what another staged"}
    )
    for names in ([f"former-{n}" for n in range(5)], [f"now-{n}" for n in range(count)]):
        rows = rows_of(table, *(values(table, rebalance_id=name) for name in names))
        clear(store.lake, CLUSTER)
        assert read_staged(store.lake, CLUSTER) is None, "what a kill leaves belongs to no run"
        staged = Staged("run", {table.full_name: stage_files(store.lake, CLUSTER, table, rows.to_batches())})
        list_staged(store.lake, CLUSTER, staged)
    assert read_staged(store.lake, CLUSTER).version == staged.version
    assert read_staged_rows(store.lake, CLUSTER, table, read_staged(store.lake, CLUSTER)).cast(rows.schema).equals(rows)
    assert len([*Path(staging_folder(store.lake, CLUSTER, table)).glob("*")]) == (1 if count else 0)


def staged_rebalances(store: Store, *parts: list[str]) -> Staged:
    """Rebalances of these ids, staged in a file for each part."""
    table = gold.REBALANCES
    rows = [rows_of(table, *(values(table, rebalance_id=name) for name in names)) for names in parts]
    files = [file for part in rows for file in stage_files(store.lake, CLUSTER, table, part.to_batches())]
    return Staged("run", {table.full_name: files})


def test_staged_files_replace_the_window_but_for_withheld_rows(store: Store) -> None:
    table, window = gold.REBALANCES, Window(AT, AT + timedelta(hours=1))
    store.create(table)
    staged = staged_rebalances(store, ["a", "b"], ["c", "d"], ["e"])
    renew_from_staging(store, table, staged, CLUSTER, window, withheld=(1, 2))
    assert sorted(store.read(table)["rebalance_id"].to_pylist()) == ["a", "d", "e"]
    version = store.version(table)
    renew_from_staging(store, table, staged_rebalances(store, ["e", "d"], ["a"]), CLUSTER, window)
    assert store.version(table) == version, "the same rows in other files make no commit"
    renew_from_staging(store, table, staged_rebalances(store, ["e", "d"], ["f"]), CLUSTER, window)
    assert sorted(store.read(table)["rebalance_id"].to_pylist()) == ["d", "e", "f"]


def test_staged_file_that_changed_after_its_check_is_not_taken_over(store: Store) -> None:
    table, window = gold.REBALANCES, Window(AT, AT + timedelta(hours=1))
    store.create(table)
    staged, other = staged_rebalances(store, ["a"]), staged_rebalances(store, ["b"])
    assert staged.version != other.version
    folder = Path(staging_folder(store.lake, CLUSTER, table))
    (of_staged,), (of_other,) = staged.of(table), other.of(table)
    (folder / of_staged.path).write_bytes((folder / of_other.path).read_bytes())
    with pytest.raises(StagingChanged, match=of_staged.path):
        renew_from_staging(store, table, staged, CLUSTER, window)
    assert len(store.read(table)) == 0


def test_window_is_renewed_for_each_difference_but_order_and_run_columns(store: Store) -> None:
    def is_renewed(*rows: dict[str, Any]) -> bool:
        before = store.version(RECORDS)
        store.renew_window(RECORDS, rows_of(RECORDS, *rows), "prod", WINDOW)
        return store.version(RECORDS) > before

    a, b = (values(RECORDS, line_id=name, cluster="prod") for name in "ab")
    a, moved = a | {"layout": "x", "raw": None}, a | {"layout": None, "raw": b"x"}
    micro = b | {"happened_at": AT + timedelta(microseconds=1)}
    for others in ([], [a], [a, a], [a, b, b], [a, micro], [moved, b], [a, b | {"text": ""}], [a, b | {"raw": b"x"}]):
        is_renewed(a, b)
        assert not is_renewed(b | {"run_collected_at": AT + HOUR}, a)
        assert is_renewed(*others)


def test_content_has_lists_and_structs() -> None:
    table = gold.INCIDENTS
    quote = {"line_id": "l", "source": "s", "happened_at": AT, "text": "t"}
    lists = [[], [quote], [quote, quote], [quote | {"text": None}], [None], [quote | {"line_id": "ls", "source": ""}]]
    contents = [content_of(rows_of(table, values(table, evidence=e)), table) for e in lists]
    assert not any(one.equals(other) for one, other in combinations(contents, 2))
    two = rows_of(table, *(values(table, incident_id=str(n), evidence=e) for n, e in enumerate(lists)))
    shuffled = pa.concat_tables([two.slice(3), two.slice(0, 3)])
    assert content_of(two, table).equals(content_of(shuffled, table))


def test_put_in_order_merges_files_and_removes_week_old_strays(store: Store) -> None:
    for n in range(3):
        store.append(EVENTS, events(event(str(n), n * HOUR)))
    store.put_in_order(EVENTS)
    assert len(store.files(EVENTS)) == 1
    assert newest(store)[0]["commitInfo"]["operationParameters"]["compacts"] == "3"
    names = ("part-stray-old.parquet", "part-stray-young.parquet")
    lay(Path(folder(store)), dict.fromkeys(names, ""))
    week_ago = time.time() - timedelta(days=8).total_seconds()
    os.utime(Path(folder(store), names[0]), (week_ago, week_ago))
    store.put_in_order(EVENTS)
    assert [Path(folder(store), name).exists() for name in names] == [False, True]
    version = store.version(EVENTS)
    store.put_in_order(EVENTS)
    assert store.version(EVENTS) == version, "what is in order stays as it is"
    assert ids(store) == ["0", "1", "2"]
    store.replace_window(EVENTS, events(event("new", HOUR)), "prod", LATER)
    assert ids(store) == ["0", "2", "new"]
    store.restore(EVENTS, 3)
    assert ids(store) == ["0", "1", "2"]


def test_maintenance_keeps_months_apart_and_an_old_window_rewrites_its_own_alone(store: Store) -> None:
    days = [timedelta(days=n) for n in (0, 1, 40, 41)]
    for n, (days_after, cluster) in enumerate((d, c) for d in days for c in ("dev", "prod")):
        store.append(EVENTS, events(event(str(n), days_after, cluster)))
    store.put_in_order(EVENTS)
    before = {file.path for file in store.files(EVENTS)}
    assert len(before) == 4, "two clusters, each with two months"
    window = Window(AT + days[1], AT + days[1] + HOUR)
    store.replace_window(EVENTS, events(event("new", days[1])), "prod", window)
    after = {file.path for file in store.files(EVENTS)}
    assert len(before - after) == 1
    assert ids(store) == ["0", "1", "2", "4", "5", "6", "7", "new"]
    store.put_in_order(EVENTS)
    assert len(store.files(EVENTS)) == 4


def test_publication_is_half_done_after_row_writes_and_not_after_maintenance(
    tmp_path: Path,
) -> None:
    store, table = Store(str(tmp_path)), gold.REBALANCES
    store.create(table)

    def half() -> bool:
        return table in publication.half_published(store.lake, publication.newest_versions(store.lake, table))

    def rebalances(*names: str) -> pa.Table:
        return rows_of(table, *(values(table, rebalance_id=name, cluster="prod", started_at=AT) for name in names))

    writes: list[Callable[[], object]] = [
        lambda: store.append(table, rebalances("a")),
        lambda: store.replace_window(table, rebalances("b"), "prod", WINDOW),
        lambda: store.renew_window(table, rebalances("c"), "prod", WINDOW),
        lambda: store.replace_window(table, rebalances(), "prod", WINDOW),
        lambda: store.append_new(table, rebalances("d")),
    ]
    for write in writes:
        publishing.list_newest(store.lake)
        assert not half()
        write()
        assert half()
    store.append(table, rebalances("e"))
    publishing.list_newest(store.lake)
    store.put_in_order(table)
    store.delete_before(table, "started_at", AT + HOUR)
    assert store.version(table) == publication.newest_versions(store.lake, table)[table] > 6
    assert not half()
    store.append(table, rebalances("f"))
    assert set(publishing.take_back(store.lake, store.restore)) == {table}
    assert not half()
    protocol = DeltaTable(folder(store, table)).protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 3), "any writer leaves it portable"


@pytest.mark.parametrize(
    "harm",
    [lambda file: file.unlink(), lambda file: file.write_bytes(file.read_bytes()[:-7])],
    ids=["missing", "cut short"],
)
def test_missing_or_truncated_data_file_is_named(store: Store, harm: Callable[[Path], object]) -> None:
    store.append(EVENTS, events(event("a")))
    (file,) = Path(folder(store)).glob("*.parquet")
    harm(file)
    with pytest.raises(OSError, match=rf"{file.name} of silver\.events has \d+ of the \d+ bytes .*doctor --lake"):
        store.read(EVENTS)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """What another writer does once, between the opening of a table and the next commit to it."""
    acts = [act]

    def end_behind() -> None:
        if acts:
            acts.pop()()
        end_if_lost()

    monkeypatch.setattr(transactions, "end_if_lost", end_behind)


def test_append_succeeds_beside_concurrent_writers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append(EVENTS, events(event("a")))
    meanwhile(monkeypatch, lambda: store.append(EVENTS, events(event("b", HOUR))))
    store.append(EVENTS, events(event("c", HOUR)))
    meanwhile(monkeypatch, lambda: store.replace_window(EVENTS, events(event("new")), "prod", WINDOW))
    store.append(EVENTS, events(event("d", HOUR)))
    assert ids(store) == ["b", "c", "d", "new"]


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.append(EVENTS, events(event("theirs"))),
        lambda store: store.replace_window(EVENTS, events(event("theirs", cluster="other")), "other", WINDOW),
        lambda store: store.delete_before(EVENTS, "happened_at", AT + HOUR),
        lambda store: store.put_in_order(EVENTS),
        lambda store: store.fence(EVENTS, "another"),
    ],
    ids=["appended", "replaced", "deleted", "compacted", "fenced"],
)
@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.append_new(EVENTS, events(event("theirs"))),
        lambda store: store.replace_window(EVENTS, events(event("ours")), "prod", WINDOW),
        lambda store: store.renew_window(EVENTS, events(event("ours")), "prod", WINDOW),
        lambda store: store.delete_before(EVENTS, "happened_at", AT + HOUR / 2),
        lambda store: store.put_in_order(EVENTS),
        lambda store: store.restore(EVENTS, 1),
    ],
    ids=["append_new", "replace", "renew", "delete", "compact", "restore"],
)
def test_write_beside_another_one_is_as_if_it_came_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Store], object], write: Callable[[Store], object]
) -> None:
    one, other = Store(str(tmp_path / "one")), Store(str(tmp_path / "other"))
    for store in (one, other):
        store.create(EVENTS)
        store.append(EVENTS, events(event("a"), event("theirs before", cluster="other")))
        store.append(EVENTS, events(event("b", HOUR)))
    act(one)
    write(one)
    meanwhile(monkeypatch, lambda: act(other))
    write(other)
    assert ids(other) == ids(one)
    Store(other.lake).read(EVENTS)


def test_commit_over_an_older_version_is_refused(store: Store) -> None:
    """So is what a run that lost its lock still has on the way, once its successor has fenced the table."""
    store.append(EVENTS, events(event("a")))
    (file,), late = store.files(EVENTS), open_table(folder(store, EVENTS), EVENTS)
    store.fence(EVENTS, "another")
    with pytest.raises(TableChanged, match=r"had version 1, and another writer has changed it since"):
        commit(late, (), [file])
    assert ids(store) == ["a"]


PIECES = st.tuples(st.sampled_from(["a", "b"]), st.integers(-2, 2))
STEPS = st.lists(st.tuples(st.sampled_from(["append", "replace", "new", "delete", "order"]), st.sets(PIECES), PIECES))


@drawn(0.3)
@given(STEPS)
def test_table_has_the_rows_of_a_model_after_any_sequence_of_writes(
    tmp_path_factory: pytest.TempPathFactory, steps: Any
) -> None:
    """A model of sets: a row is a cluster, an hour, and the step that wrote it."""
    store = Store(str(tmp_path_factory.mktemp("lake")))
    store.create(EVENTS)
    wanted: set[tuple[str, int, str]] = set()
    for n, (step, pieces, (cluster, hour)) in enumerate(steps):
        window = Window(AT + hour * HOUR, AT + (hour + 1) * HOUR)
        new = {(c, h, f"{c}{h}" if step == "new" else f"{c}{h}-{n}") for c, h in pieces}
        if step == "replace":
            new = {row for row in new if row[:2] == (cluster, hour)}
        rows = events(*(event(i, h * HOUR, c) for c, h, i in new))
        if step == "append":
            store.append(EVENTS, rows)
            wanted |= new
        elif step == "new":
            store.append_new(EVENTS, rows)
            wanted |= new
        elif step == "replace":
            store.replace_window(EVENTS, rows, cluster, window)
            wanted = {row for row in wanted if row[:2] != (cluster, hour)} | new
        elif step == "delete":
            count = store.delete_before(EVENTS, "happened_at", window.start)
            old = {row for row in wanted if row[1] < hour}
            assert count == len(old)
            wanted -= old
        else:
            store.put_in_order(EVENTS)
    read = store.read(EVENTS)
    at = [(t.astimezone(UTC) - AT) // HOUR for t in read["happened_at"].to_pylist()]
    assert sorted(zip(read["cluster"].to_pylist(), at, read["line_id"].to_pylist())) == sorted(wanted)
