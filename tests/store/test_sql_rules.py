"""SQL over the lake only reads it: what is allowed is answered, anything else is refused, and nothing happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.duck_rules import FUNCTIONS
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


def filled(statement: str, folder: Path, watch: Watch) -> str:
    lake, outside = (str(folder / name).replace("'", "''") for name in ("a lake's 100%", "outside"))
    return statement.format(lake=lake, outside=outside, url=watch.url)


@pytest.mark.parametrize("statement", READS)
def test_what_reads_the_lake_is_answered(session: sql.Session, folder: Path, watch: Watch, statement: str) -> None:
    session.ask(filled(statement, folder, watch))
    assert watch.happened() == []


@pytest.mark.parametrize("statement", REFUSED)
def test_what_would_do_anything_else_is_refused(
    session: sql.Session, folder: Path, watch: Watch, statement: str
) -> None:
    with pytest.raises(BadInput, match=r"the lake is read-only here|Error: |There is no query named"):
        session.tell(filled(statement, folder, watch))
    assert watch.happened() == []


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("SELECT write_blob('{outside}/written', 'x'::BLOB)", r"written: .*/outside/written"),
        ("FROM delta_scan('{outside}/gold/findings')", r"read: .*/outside/gold/findings"),
        ("FROM delta_scan('{url}/x')", "connected"),
    ],
)
def test_the_watch_sees_what_duckdb_does_without_the_rules(
    session: sql.Session, folder: Path, watch: Watch, statement: str, what: str
) -> None:
    try:
        session.connection.execute(filled(statement, folder, watch)).fetchall()
    except duckdb.Error:
        pass
    finally:
        (folder / "outside" / "written").unlink(missing_ok=True)
    assert any(re.search(what, seen) for seen in watch.happened())


def test_every_function_that_is_allowed_is_one_of_duckdb(session: sql.Session) -> None:
    there = {
        n.lower() for (n,) in session.connection.execute("SELECT function_name FROM duckdb_functions()").fetchall()
    }
    of_lists = {n for n in FUNCTIONS if n.startswith(("list_", "array_"))}
    assert sorted(FUNCTIONS - of_lists - there) == []


def test_a_name_that_is_mistyped_is_told_with_the_one_that_is_near(session: sql.Session) -> None:
    with pytest.raises(BadInput, match=r"Found the function 'strlenn'; .* Did you mean \"strlen\"\?"):
        session.ask("SELECT strlenn('x')")


def test_duckdb_itself_reads_no_other_file_and_its_lock_holds(session: sql.Session, folder: Path) -> None:
    for query in ("FROM '{0}/secret.csv'", "FROM read_text('{0}/secret')", "FROM glob('{0}/*')"):
        with pytest.raises(duckdb.Error, match="Permission Error"):
            session.connection.execute(query.format(folder / "outside"))
    for setting in ("enable_external_access = true", "allowed_directories = ['/']", "temp_directory = '/x'"):
        with pytest.raises(duckdb.Error, match="configuration has been locked"):
            session.connection.execute(f"SET {setting}")


def test_no_variable_of_python_is_a_table(session: sql.Session) -> None:
    secret = session.connection.execute("SELECT 1 AS a").arrow()
    with pytest.raises(BadInput, match="secret does not exist"):
        session.tell("FROM secret")
    assert secret is not None


def test_a_variable_can_be_set(session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "SET VARIABLE topic = 'none'; SELECT getvariable('topic') AS t; RESET VARIABLE topic"
    assert answers(session, asked, capsys) == [{"t": "none"}]


def test_a_statement_before_one_that_is_refused_is_answered(
    session: sql.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadInput, match="the lake is read-only here"):
        session.tell("SELECT 40 + 2; DROP VIEW gold.rebalances")
    assert "42" in capsys.readouterr().out
    assert session.connection.execute("SELECT count(*) FROM gold.rebalances").fetchone() == (3,)
