"""A lake of an earlier version: renamed tables and columns, every row kept, whenever the run that upgrades it ends."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.catalog.upgrades import LAKE_VERSION, UPGRADES, Renames
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.version import FILE, lake_version
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.spark.tables import lake_upgrade
from kafka_hindsight.spark.tables.store import forget_snapshots
from kafka_hindsight.sql import lake_views

OLD = Path(__file__).parents[1] / "lakes" / "version-1.tar.xz"
"""The lake that 28d0312 made of a short night."""

RENAMES = UPGRADES[2]


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(OLD) as archive:
        archive.extractall(folder, filter="data")
    (lake,) = folder.iterdir()
    return lake


@pytest.fixture(scope="module")
def upgraded(spark: SparkSession, old: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The lake after an upgrade, and the tables that were written again; not to be changed."""
    lake = shutil.copytree(old, tmp_path_factory.mktemp("upgraded") / "lake")
    return lake, lake_upgrade.upgrade_lake(spark, str(lake))


def rows(lake: Path, name: str) -> list[dict[str, Any]]:
    found = DeltaTable(str(lake / name.replace(".", "/"))).to_pyarrow_table().to_pylist()
    return sorted(found, key=lambda r: json.dumps(r, default=str, sort_keys=True))


def renamed(row: dict[str, Any], name: str) -> dict[str, Any]:
    """A row of the old lake as the new one has to hold it."""
    columns = RENAMES.columns.get(name, {})
    found = {columns.get(column, column): value for column, value in row.items()}
    for (table, column), values in RENAMES.values.items():
        if table == name:
            found[column] = values.get(found[column], found[column])
    return found


def test_every_row_of_a_lake_of_before_is_kept_under_its_new_names(
    spark: SparkSession, old: Path, upgraded: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert lake_version(str(old)) == 1
    lake_views.open_views(str(old)).close()
    assert "The next run of any step upgrades the lake" in capsys.readouterr().err
    lake, written_again = upgraded
    assert written_again == [
        *RENAMES.touched,
        *UPGRADES[3].touched,
        "gold.broker_outages",
        "gold.rolling_restarts",
        "quality.rule_firings",
    ]
    for name in RENAMES.touched:
        kept = [renamed(row, name) for row in rows(old, RENAMES.old_name(name))]
        order = BY_NAME[name].column_names
        assert rows(lake, name) == sorted(
            ({c: row.get(c) for c in order} for row in kept), key=lambda r: json.dumps(r, default=str, sort_keys=True)
        ), name
    assert any(rows(lake, name) for name in RENAMES.tables.values())
    assert not [old_name for old_name in RENAMES.tables if (lake / old_name.replace(".", "/")).exists()]
    assert not (lake / "upgrade").exists() and not (lake / "staging").exists()
    assert lake_version(str(lake)) == LAKE_VERSION
    assert lake_upgrade.upgrade_lake(spark, str(lake)) == []
    lake_views.open_views(str(lake)).close()
    assert capsys.readouterr().err == ""


SMALL = Renames(
    tables={"gold.isr_lapses": "gold.out_of_sync_periods"},
    columns={name: RENAMES.columns[name] for name in ("gold.out_of_sync_periods", "gold.failovers")},
)
CHANGES = ((lake_upgrade, "_move"), (landing, "remove"), (landing, "write_atomically"))


class Killed(BaseException):
    """The run ends here, as a kill would end it."""


def ending_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a run end before its change of that number to the lake."""
    left = [count]

    def counted(change: Callable[..., None]) -> Callable[..., None]:
        def changed(*arguments: Any) -> None:
            if not left[0]:
                raise Killed
            left[0] -= 1
            change(*arguments)

        return changed

    for module, name in CHANGES:
        monkeypatch.setattr(module, name, counted(getattr(module, name)))


def test_incidents_of_before_keep_their_outage_and_may_have_no_cause(
    old: Path, upgraded: tuple[Path, list[str]]
) -> None:
    lake, _ = upgraded
    before, after = ({r["incident_id"]: r for r in rows(at, "gold.incidents")} for at in (old, lake))
    assert before and {i: r["outage_id"] for i, r in before.items()} == {
        i: r["first_outage_id"] for i, r in after.items()
    }
    assert {(r["harm"], r["intent"]) for r in after.values()} == {(None, "unknown")}
    fields = {f.name: f.nullable for f in DeltaTable(str(lake / "gold/incidents")).schema().fields}
    assert fields["cause"] and not fields["kind"]


def test_what_was_planned_is_routine_of_unknown_intent_until_it_is_judged_again(spark: SparkSession) -> None:
    held = spark.createDataFrame(
        [("a", True, "planned"), ("b", False, "broker_lost")], "id string, planned boolean, harm string"
    )
    found = lake_upgrade._renamed(held, "gold.incidents", UPGRADES[4]).orderBy("id").collect()
    assert [tuple(r) for r in found] == [("a", "unknown", "routine"), ("b", "unknown", "broker_lost")]


def test_an_upgrade_that_was_killed_goes_on_where_it_stopped(
    spark: SparkSession, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake_upgrade, "UPGRADES", {2: SMALL})
    monkeypatch.setattr(lake_upgrade, "LAKE_VERSION", 2)
    write, kept_as = lake_upgrade._write, tmp_path / "written"

    def written_once(session: SparkSession, frame: DataFrame, table: Table, path: str) -> None:
        """What Spark writes is the same each time: it writes it once, and the rest of this test copies it."""
        if not (kept_as / table.name).exists():
            write(session, frame, table, str(kept_as / table.name))
        shutil.copytree(kept_as / table.name, path)

    monkeypatch.setattr(lake_upgrade, "_write", written_once)
    wanted = {n: [renamed(r, n) for r in rows(old, SMALL.old_name(n))] for n in SMALL.touched}
    for count in range(40):
        lake = tmp_path / f"lake-{count}"
        for name in SMALL.touched:
            path = SMALL.old_name(name).replace(".", "/")
            shutil.copytree(old / path, lake / path)
        with monkeypatch.context() as patched:
            ending_after(count, patched)
            try:
                lake_upgrade.upgrade_lake(spark, str(lake))
                is_whole = True
            except Killed:
                is_whole = False
        forget_snapshots(spark)  # the next run is a new process
        lake_upgrade.upgrade_lake(spark, str(lake))
        for name, kept in wanted.items():
            assert {json.dumps(r, default=str, sort_keys=True) for r in rows(lake, name)} == {
                json.dumps({c: r.get(c) for c in BY_NAME[name].column_names}, default=str, sort_keys=True) for r in kept
            }, (count, name)
        assert sorted(p.name for p in lake.iterdir() if p.suffix != ".crc") == ["gold", FILE]
        shutil.rmtree(lake)
        if is_whole:
            break
    assert is_whole and count > 10


def test_a_lake_that_is_newer_than_the_code_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / FILE).write_text(json.dumps({"version": LAKE_VERSION + 1}))
    with pytest.raises(BadInput, match=f"have version {LAKE_VERSION + 1}. Needed: version {LAKE_VERSION} or older"):
        lake_upgrade.upgrade_lake(spark, str(tmp_path))
    with pytest.raises(BadInput, match="use that one, or name another LAKE"):
        lake_views.open_views(str(tmp_path))


def test_a_new_lake_has_this_version(tmp_path: Path, spark: SparkSession) -> None:
    assert lake_upgrade.upgrade_lake(spark, str(tmp_path)) == []
    assert json.loads((tmp_path / FILE).read_text()) == {"version": LAKE_VERSION}
