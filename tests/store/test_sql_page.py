"""docs/sql.md: what it tells people to type is typed here, over a tiny lake of real Delta tables."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import derived_views
from kafka_hindsight.lake.publishing import list_newest
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.sql.named_queries import named_queries, named_question
from tests.store.test_named_queries import LAKE
from tests.support.command_line import understood
from tests.support.lake import write_lake
from tests.support.older_duckdb import OlderDuckDB

PAGE = (HOME / "docs" / "sql.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))


def examples(section: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTIONS[section], flags=re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    list_newest(str(write_lake(folder / "lake", LAKE)))
    return folder


@pytest.fixture(scope="module")
def older_duckdb(folder: Path) -> OlderDuckDB:
    return OlderDuckDB(folder)


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))


def test_duckdb_examples_on_sql_page_run(folder: Path, older_duckdb: OlderDuckDB) -> None:
    (opened,) = examples("DuckDB", "python")
    answers = [f"\nprint(lake.execute({example!r}).fetchall())" for example in examples("DuckDB", "sql")]
    *_, cost, lines = older_duckdb.run("".join([opened, *answers]), folder).splitlines()  # after a bar of progress
    assert cost.startswith("[('orders', 'member_left', 1, 6.0)")
    assert lines.count("'broker-1/server.log', 'what the broker wrote')") == 5


def test_delta_rs_examples_on_sql_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    costs, history = examples("delta-rs and pandas", "python")
    names: dict[str, object] = {}
    exec(costs, names)
    assert set(names["rebalances"].columns) == {"group_id", "cause", "started_at", "partition_seconds"}  # type: ignore[attr-defined]
    assert "member_left" in capsys.readouterr().out
    exec(history, names)
    assert capsys.readouterr().out.startswith("0 ")


def test_polars_example_on_sql_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = examples("Polars", "python")
    names: dict[str, object] = {}
    exec(example, names)
    assert names["cost"].collect().rows_by_key("cause")["member_left"] == [(1, 6.0)]  # type: ignore[attr-defined]
    assert "member_left" in capsys.readouterr().out


def test_spark_example_on_sql_page_runs(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    (asked,) = examples("Spark", "python")
    exec(asked, {})  # its builder gets the running session
    assert re.search(r"member_left *\| *1\|", capsys.readouterr().out)


def test_notebook_example_on_sql_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = examples("A notebook", "python")
    names: dict[str, object] = {}
    exec(example, names)
    assert list(names["causes"]["cause"]) == ["member_dead", "member_left", "member_rejoined"]  # type: ignore[index]
    assert "broker_crash" in capsys.readouterr().out


def test_superset_example_gives_read_only_view_per_table(folder: Path, older_duckdb: OlderDuckDB) -> None:
    (example,) = examples("Superset", "python")
    older_duckdb.run(example, folder)
    with duckdb.connect("hindsight.duckdb", read_only=True) as views:  # a file of the older one
        names = "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
        view_names = {name for (name,) in views.execute(names).fetchall()}
        with pytest.raises(duckdb.Error, match="read-only"):
            views.execute("CREATE TABLE gold.x AS SELECT 1")
    derived = {view.full_name for view in derived_views.VIEWS if {t.full_name for t in view.reads} <= LAKE.keys()}
    assert view_names == {name for name in LAKE if not name.startswith("bronze.")} | derived
    of_rebalances = "SELECT count(*) FROM superset.gold.rebalances"
    assert older_duckdb.rows([f"ATTACH '{folder}/hindsight.duckdb' AS superset (READ_ONLY)", of_rebalances]) == [[5]]


def test_hindsight_commands_on_sql_page_are_valid() -> None:
    for line in re.findall(r"^    \./hindsight (.*)$", PAGE, flags=re.MULTILINE):
        words = shlex.split(re.split(r" [<>#] | && ", line)[0])
        understood(*words)
    asked = re.findall(r'["`](\w+ \w+=[^"`]*)["`]', PAGE)
    assert len(asked) == 3
    assert all(named_question(query, named_queries()) for query in asked)
