"""The DuckDBs that the wheel accepts: which are tried, and that each shows the same rows of the published views.

The whole of the lake's SQL runs on the locked one in every other test, and on the older one by `make test-versions`.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import duckdb
import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.lake import publication
from kafka_hindsight.lake.publishing import list_newest
from kafka_hindsight.lake.transactions import open_table
from kafka_hindsight.settings.home import HOME
from tests.store.test_named_queries import LAKE
from tests.support.lake import write_lake
from tests.support.older_duckdb import OlderDuckDB

LOCKED, OLDER = "2.0.1", "1.5.5"
"""The DuckDB of all tests, and the one of an environment of its own, with its extensions."""
NAMES = "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
STAND_IN = (
    "CREATE MACRO delta_scan(place, version := 0) AS TABLE FROM read_parquet(getvariable(place || '@' || version))"
)
"""It has the signature of the extension's function, and reads the files that delta-rs lists."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = write_lake(tmp_path_factory.mktemp("published") / "lake", LAKE)
    list_newest(str(lake))
    return lake


def test_bounds_of_duckdb_are_versions_that_are_tried() -> None:
    requirements = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    (bounds,) = (name for name in requirements if name.startswith("duckdb"))
    assert bounds == f"duckdb>={OLDER.rpartition('.')[0]},<{int(LOCKED[0]) + 1}"
    locks = {"spark.txt": LOCKED, "local.txt": LOCKED, "duckdb-1.5.txt": OLDER}
    for name, version in locks.items():
        text = (HOME / "locks" / name).read_text(encoding="utf-8")
        assert re.findall(r"^duckdb==(\S+)", text, flags=re.MULTILINE) == [version], name
    assert duckdb.__version__ in (LOCKED, OLDER)


def test_published_views_show_the_same_rows_on_each_duckdb(lake: Path, tmp_path: Path) -> None:
    """The older DuckDB reads by its extension for Delta, the other one by a macro in its place."""
    script = (lake / publication.DUCKDB).read_text()
    older, newer = OlderDuckDB(tmp_path), duckdb.connect()
    newer.execute("SET TimeZone = 'UTC'").execute(STAND_IN)
    versions = json.loads((lake / "published.json").read_text())["versions"]
    for name, version in versions.items():
        table = BY_NAME[name]
        folder = lake / table.layer / table.name
        files = open_table(str(folder), table, version).file_uris()
        newer.execute(f'SET VARIABLE "{folder}@{version}" = {files}')
    newer.execute(script)
    names = [name for (name,) in newer.execute(NAMES).fetchall()]
    assert {name for name in names if name in BY_NAME} == {*versions}
    of_all = " UNION ALL ".join(f"SELECT '{name}', to_json(v)::VARCHAR FROM {name} AS v" for name in names)
    rows = newer.execute(f"{of_all} ORDER BY ALL").fetchall()
    assert {name for name, _ in rows} == {*names}
    assert [list(row) for row in rows] == older.rows(["SET TimeZone = 'UTC'", script, f"{of_all} ORDER BY ALL"])


def test_without_extension_views_name_what_to_install(lake: Path, tmp_path: Path) -> None:
    with duckdb.connect(config={"extension_directory": str(tmp_path), "autoinstall_known_extensions": False}) as duck:
        with pytest.raises(duckdb.Error, match='using "INSTALL delta"'):
            duck.execute((lake / publication.DUCKDB).read_text())
        duck.rollback()
        assert duck.execute(NAMES).fetchall() == []
