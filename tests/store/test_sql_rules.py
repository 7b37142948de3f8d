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
from lab.sql_fuzz.__main__ import lines
from lab.sql_fuzz.engines import REFUSED as OUTCOME_REFUSED
from lab.sql_fuzz.engines import ask_duckdb, duckdb_statements, places
from lab.sql_fuzz.watch import Watch, watching
from tests.support.asked_lake import LAKE, answers
from tests.support.duck_statements import READS, REFUSED
from tests.support.lake import write_lake

SEED = 18


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
    return statement.format(**places(folder / "a lake's 100%", folder / "outside", watch.url))


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


def test_statements_made_from_these_do_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = ask_duckdb(tmp_path, SEED, range(1200))
    assert result.happened == [], "\n".join(lines("duckdb", SEED, result))
    assert result.outcomes.total() == 1200
    assert result.outcomes[OUTCOME_REFUSED] > len(REFUSED)


def test_a_seed_and_a_number_make_the_same_statement_again(session: sql.Session, tmp_path: Path) -> None:
    named = places(tmp_path, tmp_path, "http://127.0.0.1:1")
    one, other = (duckdb_statements(session.connection, SEED, named) for _ in range(2))
    numbers = range(len(one.corpus), len(one.corpus) + 200)
    assert [one[n] for n in numbers] == [other[n] for n in reversed(numbers)][::-1]
    assert len({one[n] for n in numbers}) > 190


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
