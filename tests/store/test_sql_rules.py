"""SQL over the lake only reads it: DuckDB refuses what would do anything else, and nothing happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.asked_lake import LAKE, answers
from tests.support.duck_statements import READS, REFUSED
from tests.support.lake import write_lake
from tests.support.watch import Watch, watching


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    write_lake(folder / "a lake's 100%", LAKE)
    write_lake(folder / "outside", {"gold.findings": LAKE["gold.findings"]})
    (folder / "outside" / "secret").write_text("not in the lake\n")
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> sql.Session:
    return sql.Session(open_views(str(folder / "a lake's 100%")), named_queries(), "json")


@pytest.fixture(scope="module")
def watch(folder: Path, session: sql.Session) -> Iterator[Watch]:
    with watching((folder / "outside",), (folder / "a lake's 100%",)) as watch:
        yield watch


def fill(statement: str, folder: Path, watch: Watch) -> str:
    lake, outside = (str(folder / name).replace("'", "''") for name in ("a lake's 100%", "outside"))
    return statement.format(lake=lake, outside=outside, url=watch.url)


@pytest.mark.parametrize("statement", READS)
def test_statement_that_reads_lake_is_answered(
    session: sql.Session, folder: Path, watch: Watch, statement: str
) -> None:
    session.ask(fill(statement, folder, watch))
    assert watch.happened() == []


@pytest.mark.parametrize("statement", REFUSED)
def test_statement_with_other_effect_is_refused(
    session: sql.Session, folder: Path, watch: Watch, statement: str
) -> None:
    with pytest.raises(BadInput):
        session.tell(fill(statement, folder, watch))
    assert watch.happened() == []


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("COPY (SELECT 1) TO '{outside}/written'", r"written: .*/outside/written"),
        ("FROM read_text('{outside}/secret')", r"read: .*/outside/secret"),
    ],
)
def test_watch_detects_file_access_of_unlocked_duckdb(folder: Path, watch: Watch, statement: str, what: str) -> None:
    duckdb.connect().execute(fill(statement, folder, watch))
    (folder / "outside" / "written").unlink(missing_ok=True)
    assert any(re.search(what, access) for access in watch.happened())


def test_query_log_is_not_written(folder: Path, tmp_path: Path) -> None:
    """DuckDB ends the process that asked for it."""
    asked = "FROM enable_logging('QueryLog', storage = 'file', storage_config = {'path': 'log'}); SELECT 1"
    code = "import sys; from kafka_hindsight.sql import prompt; sys.exit(prompt.main(*sys.argv[1:]))"
    words = [sys.executable, "-c", code, str(folder / "a lake's 100%"), asked]
    assert subprocess.run(words, cwd=tmp_path, env=os.environ, capture_output=True).returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_python_variable_is_not_a_table(session: sql.Session) -> None:
    secret = session.connection.sql("SELECT 1 AS a").to_arrow_table()
    with pytest.raises(BadInput, match="secret does not exist"):
        session.tell("FROM secret")
    assert secret is not None


def test_sql_variable_can_be_set(session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "SET VARIABLE topic = 'none'; SELECT getvariable('topic') AS t; RESET VARIABLE topic"
    assert answers(session, asked, capsys) == [{"t": "none"}]


def test_tables_of_user_exist_in_memory_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = str(folder / "a lake's 100%")
    session = sql.Session(open_views(lake), named_queries(), "json")
    made = "CREATE TABLE mine AS SELECT 42 AS a; DROP VIEW gold.rebalances; FROM mine"
    assert answers(session, made, capsys) == [{"a": 42}]
    other = sql.Session(open_views(lake), named_queries(), "json")
    assert answers(other, "SELECT count(*) AS n FROM gold.rebalances", capsys) == [{"n": 3}]


def test_statement_before_refused_one_is_answered(session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="Permission Error"):
        session.tell("SELECT 40 + 2; COPY (SELECT 1) TO 'x.csv'")
    assert "42" in capsys.readouterr().out
