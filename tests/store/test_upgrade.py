"""A lake of an earlier version: one command keeps its nights, and judges those again whose records it still has.

`earlier/version_4.json` has the columns of each table of version 4, as that version wrote them; `!` ends the name of a
column that is never null.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

from kafka_hindsight.audit import lake_upgrade as command
from kafka_hindsight.catalog import BY_NAME, TABLES, gold, quality
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.lake import publication, table_upgrade
from kafka_hindsight.lake.publishing import list_newest
from kafka_hindsight.lake.state import FILE, LAKE_VERSION, OLDEST_VERSION, require_version, require_whole
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.sql.lake import open_lake
from kafka_hindsight.sql.predicates import as_duck, tables_in_sql
from kafka_hindsight.steps import reclassify
from tests.support.lake import content_of
from tests.support.logs import ingested, published, settings
from tests.support.nights import EXCERPTS

LOGS = EXCERPTS / "groups" / "pause-4.1" / "logs"
COLUMNS = json.loads((Path(__file__).parent / "earlier" / "version_4.json").read_text(encoding="utf-8"))
TYPES = {
    "string": pa.string(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "binary": pa.binary(),
}


def arrow_type(kind: Any) -> pa.DataType:
    match kind:
        case str():
            return TYPES[kind]
        case [item]:
            return pa.list_(arrow_type(item))
    return pa.struct([(name, arrow_type(inner)) for name, inner in kind.items()])


def schema_of(columns: Mapping[str, Any]) -> pa.Schema:
    return pa.schema(
        [pa.field(n.removesuffix("!"), arrow_type(kind), not n.endswith("!")) for n, kind in columns.items()]
    )


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of one night, as this version writes it; not to be changed."""
    lake = tmp_path_factory.mktemp("night") / "lake"
    summary = ingested(lake, LOGS)[1]
    published(settings(lake, LOGS), summary)
    return lake


@pytest.fixture
def earlier_lake(night: Path, tmp_path: Path) -> Path:
    """The same lake as version 4 would have it: the tables and columns of that version, and its number."""
    lake = tmp_path / "lake"
    shutil.copytree(night, lake)
    for table in TABLES:
        folder = lake / table.layer / table.name
        rows = DeltaTable(str(folder)).to_pyarrow_table() if folder.exists() else None
        shutil.rmtree(folder, ignore_errors=True)
        if table.full_name in COLUMNS and rows is not None:
            schema = schema_of(COLUMNS[table.full_name])
            write_deltalake(str(folder), pa.table([_as_before(rows, field) for field in schema], schema))
    (lake / publication.FILE).unlink()
    list_newest(str(lake))
    (lake / FILE).write_text(json.dumps({"version": 4}))
    return lake


def _as_before(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    values = rows[field.name]
    if field.nullable or not values.null_count:
        return values.cast(field.type)
    return pc.fill_null(values, pa.scalar(0, values.type)).cast(field.type)


def run_beside(settings: Settings) -> int:
    """Judge a night again in this process."""
    reclassify.run_step(LocalWorkers(), settings, {})
    return DONE


def upgrade(lake: Path) -> list[str]:
    """Run the command, its nights in this process, and give what it says."""
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "_judge_again", run_beside)
        assert command.upgrade(str(lake), {}, lines.append) == DONE
    return lines


def nights(lake: Path) -> list[dict[str, Any]]:
    return Store(str(lake)).read(quality.NIGHTS).to_pylist()


def old_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of quality.nights that version 4 has."""
    return {name.removesuffix("!"): row[name.removesuffix("!")] for name in COLUMNS["quality.nights"]}


def test_lake_is_todays_after_upgrade(night: Path, earlier_lake: Path) -> None:
    with pytest.raises(BadInput, match=r"holds .*4.*run `hindsight upgrade`"):
        require_version(str(earlier_lake))
    lines = upgrade(earlier_lake)
    assert "now have today's columns" in lines[0]
    assert lines[-1] == "1 night was judged again by this version."
    require_whole(str(earlier_lake), BY_NAME)
    for table in gold.TABLES:
        assert content_of(earlier_lake, table) == content_of(night, table), table.full_name
    with open_lake(str(earlier_lake)) as lake:
        (one,) = lake.nights
        assert lake.report(one).markdown()
    (row,) = nights(earlier_lake)
    (expected,) = nights(night)
    moved = ("run_id", "run_published_at")
    assert {n: v for n, v in row.items() if n not in moved} == {n: v for n, v in expected.items() if n not in moved}


def test_second_upgrade_does_nothing(earlier_lake: Path) -> None:
    upgrade(earlier_lake)
    before = publication.newest_versions(str(earlier_lake))
    assert upgrade(earlier_lake) == ["no nights were judged again by this version."]
    assert publication.newest_versions(str(earlier_lake)) == before


def test_night_without_records_keeps_its_rows_and_figures(earlier_lake: Path) -> None:
    before = {table: content(earlier_lake, table) for table in (gold.REBALANCES, gold.INCIDENTS, gold.FAILOVERS)}
    (figures,) = DeltaTable(str(earlier_lake / "quality" / "nights")).to_pyarrow_table().to_pylist()
    DeltaTable(str(earlier_lake / "bronze" / "log_records")).delete("happened_at > '2000-01-01T00:00:00Z'")
    (*_, last) = upgrade(earlier_lake)
    assert last.startswith("Not judged again, since the lake does not have all of its records any more: prod, ")
    assert {table: content(earlier_lake, table) for table in before} == before
    (row,) = nights(earlier_lake)
    assert old_values(row) == old_values(figures)
    assert set(row["not_known"]) == {"records_lost", *row["not_known"]}, "that version did not ask"


def content(lake: Path, table: Table) -> list[dict[str, Any]]:
    """The rows of a table by the columns that version 4 has."""
    names = [name.removesuffix("!") for name in COLUMNS[table.full_name]]
    rows = DeltaTable(str(lake / table.layer / table.name)).to_pyarrow_table().select(names).to_pylist()
    for row in rows:
        row["evidence"] = [{k: v for k, v in quote.items() if k != "kind"} for quote in row["evidence"]]
    return sorted(rows, key=lambda row: str([row[column] for column in table.key]))


def test_upgrade_goes_on_where_a_kill_ended_it(earlier_lake: Path, night: Path) -> None:
    class Killed(BaseException):
        """The end of a process."""

    def dying(upgrade_table: Any, allowed: int) -> Any:
        left = iter(range(allowed))

        def upgrade_or_die(store: Store, table: Table) -> bool:
            if next(left, None) is None:
                raise Killed
            return bool(upgrade_table(store, table))

        return upgrade_or_die

    for allowed in (3, 12):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(table_upgrade, "upgrade_table", dying(table_upgrade.upgrade_table, allowed))
            with pytest.raises(Killed):
                upgrade(earlier_lake)
        assert json.loads((earlier_lake / FILE).read_text()) == {"version": 4}

    def die_before_report(*given: Any) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reclassify, "write_report", die_before_report)
        with pytest.raises(Killed):
            upgrade(earlier_lake)
    assert upgrade(earlier_lake)[-1] == "1 night was judged again by this version."
    (row,) = nights(earlier_lake)
    assert row["run_id"].startswith(f"upgrade-{LAKE_VERSION}-prod-")
    for table in gold.TABLES:
        assert content_of(earlier_lake, table) == content_of(night, table), table.full_name


def test_old_rows_keep_todays_laws(earlier_lake: Path) -> None:
    table_upgrade.upgrade_tables(str(earlier_lake), "run")
    for table in gold.TABLES:
        with tables_in_sql({"rows": Store(str(earlier_lake)).read(table)}) as connection:
            for check in table.checks:
                law = as_duck(check.predicate)
                broken = connection.sql(f"SELECT count(*) FROM rows WHERE NOT coalesce({law}, true)")
                assert check.severity != "critical" or broken.fetchall() == [(0,)], f"{table.full_name}: {check.name}"


def test_every_column_that_is_never_null_has_a_value_for_earlier_rows() -> None:
    missing = [
        f"{name}.{column.name}"
        for name, columns in COLUMNS.items()
        if name in BY_NAME
        for column in BY_NAME[name].columns
        if not column.nullable and column.earlier is None and not _had(columns, column.name)
    ]
    assert missing == []


def _had(columns: Mapping[str, Any], name: str) -> bool:
    return f"{name}!" in columns


@pytest.mark.parametrize("version", [OLDEST_VERSION - 1, LAKE_VERSION + 1])
def test_other_versions_are_refused(earlier_lake: Path, version: int) -> None:
    (earlier_lake / FILE).write_text(json.dumps({"version": version}))
    with pytest.raises(BadInput, match="into a new LAKE"):
        upgrade(earlier_lake)


def test_folder_without_lake_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no lake_version.json .*Name one with --lake"):
        upgrade(tmp_path)
