"""The lake over JDBC: Spark's Thrift server as `hindsight thrift` starts it, asked through Hive's own driver."""

from __future__ import annotations

import re
import shlex
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import pytest
from deltalake import DeltaTable, write_deltalake
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from kafka_hindsight.lake.ddl import literal
from kafka_hindsight.lake.publication import list_versions
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.spark.thrift import thrift_rules, thrift_server
from kafka_hindsight.start.launch import jars, spark_home
from lab.sql_fuzz.__main__ import lines
from lab.sql_fuzz.engines import ask_served
from tests.support.rows import AT
from tests.support.thrift_served import HOSTILE, REBALANCES, SECRET, Served, connect, rows, serving
from tests.support.thrift_statements import READS, REFUSED

REFUSAL = (
    "The lake is only read here|SCHEMA_NOT_FOUND|UNRESOLVED_ROUTINE|INVALID_STATEMENT_OR_CLAUSE|PARSE_SYNTAX_ERROR"
)


@pytest.fixture(scope="module")
def served(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(spark, tmp_path_factory.mktemp("served")) as served:
        yield served


def test_every_table_is_listed_with_what_it_means(served: Served) -> None:
    assert served.said.startswith("4 of ")
    about = served.connection.getMetaData()
    listed = {(t[1], t[2], t[4]) for t in rows(about.getTables(None, "%", "%", None))}
    assert {f"{schema}.{name}" for schema, name, _ in listed} == {
        "bronze.log_records", "silver.events", "gold.rebalances", "quality.coverage"
    }  # fmt: skip
    assert ("gold", "rebalances", REBALANCES.grain) in listed
    columns = rows(about.getColumns(None, "gold", "rebalances", "%"))
    assert [c[3] for c in columns] == list(REBALANCES.column_names)
    assert {c[3]: c[11] for c in columns}["group_id"] == REBALANCES.column("group_id").meaning
    assert [d[0] for d in served.ask("DESCRIBE rebalances")] == list(REBALANCES.column_names)


def test_what_a_name_holds_comes_back_as_it_was_written(served: Served) -> None:
    assert served.ask(f"SELECT group_id FROM gold.rebalances WHERE group_id = {literal(HOSTILE)}") == [(HOSTILE,)]


def test_instants_are_told_in_utc(served: Served) -> None:
    ((told, zone),) = served.ask("SELECT CAST(started_at AS STRING), current_timezone() FROM gold.rebalances")
    assert (told, zone) == (f"{AT:%Y-%m-%d %H:%M:%S}", "UTC")


@pytest.mark.parametrize("statement", READS)
def test_what_reads_the_lake_is_answered(served: Served, statement: str) -> None:
    served.ask("USE gold")
    served.ask(statement)


@pytest.mark.parametrize("statement", REFUSED)
def test_what_would_do_anything_else_is_refused(served: Served, statement: str) -> None:
    before = sorted([*served.lake.rglob("*"), *served.outside.rglob("*")])
    with pytest.raises(Py4JJavaError) as refusal:
        served.ask(statement.format(lake=quoted(served.lake), outside=quoted(served.outside)))
    assert re.search(REFUSAL, str(refusal.value.java_exception))
    assert sorted([*served.lake.rglob("*"), *served.outside.rglob("*")]) == before


def test_statements_made_from_these_do_nothing_either(served: Served) -> None:
    result = ask_served(served, 18, range(250, 310))
    assert result.happened == [], "\n".join(lines("thrift", 18, result))
    assert result.outcomes.total() == 60
    assert result.outcomes["refused"] > 0


def quoted(place: Path) -> str:
    return str(place).replace("'", "\\'")


def test_what_is_allowed_is_there_in_spark_or_delta() -> None:
    classes = {
        Path(name).stem
        for folder in (spark_home() / "jars", jars())
        for jar in folder.glob("*.jar")
        if jar.name.startswith(("spark-", "delta-"))
        for name in ZipFile(jar).namelist()
        if name.endswith(".class")
    }
    assert sorted((thrift_rules.PARSED | thrift_rules.ANALYZED | thrift_rules.FILES) - classes) == []


def test_no_variable_of_the_environment_is_put_into_a_statement(served: Served) -> None:
    assert served.ask("SELECT '${env:HOME}', '${system:user.name}'") == [("${env:HOME}", "${system:user.name}")]


@pytest.mark.parametrize(
    "setting",
    [
        "?spark.sql.runSQLOnFiles=true",
        "?spark.sql.catalog.x=org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "?fs.s3a.endpoint=http://127.0.0.1:1",
        "?hive.metastore.uris=thrift://127.0.0.1:1",
        "#spark.sql.runSQLOnFiles=true",
    ],
)
def test_a_connection_brings_no_settings(served: Served, setting: str) -> None:
    with pytest.raises(Py4JJavaError, match=r"a connection with the settings .* is not allowed"):
        served.connect(served.url + setting)


@pytest.mark.parametrize("schema", ["delta", "no_such_schema"])
def test_a_connection_to_no_schema_of_the_lake_is_not_opened(served: Served, schema: str) -> None:
    with pytest.raises(Py4JJavaError):
        served.connect(served.url.removesuffix("gold") + schema)


@pytest.mark.parametrize("password", [None, "wrong", ""])
def test_without_the_password_nothing_is_answered(served: Served, password: str | None) -> None:
    with pytest.raises(Py4JJavaError, match="Error validating the login"):
        connect(served.jvm, served.url, password)


def test_the_password_is_drawn_once_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "password"
    drawn = thrift_server.password_of(file)
    assert len(drawn) >= 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert thrift_server.password_of(file) == drawn
    assert thrift_server.password_of(tmp_path / "another") != drawn


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("secret\n", 0o640, "has mode 0640.*chmod 600"),
        ("secret\n", 0o604, "has mode 0604"),
        (" \n", 0o600, "no password"),
    ],
)
def test_a_password_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, mode: int, why: str) -> None:
    file = tmp_path / "password"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(BadInput, match=why):
        thrift_server.password_of(file)


def test_a_password_file_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"No such file.*--password-file"):
        thrift_server.password_of(tmp_path / "no folder" / "password")


def test_what_an_audit_adds_is_seen_at_once(served: Served) -> None:
    count = "SELECT count(*) FROM quality.coverage"
    assert served.ask(count) == [("1",)]
    coverage = DeltaTable(str(served.lake / "quality" / "coverage"))
    write_deltalake(coverage, coverage.to_pyarrow_table(), mode="append")
    assert served.ask(count) == [("2",)]
    coverage.update_incremental()
    coverage.create_checkpoint()
    write_deltalake(coverage, coverage.to_pyarrow_table(), mode="append")
    assert served.ask(count) == [("4",)]


def test_gold_is_seen_as_it_was_published_and_changes_together(served: Served) -> None:
    named = ("gold.rebalances", "rebalances", "spark_catalog.gold.rebalances", "(SELECT * FROM gold.rebalances)")
    counts = [f"SELECT count(*) FROM {name}" for name in named]
    counts.append("WITH rebalances AS (SELECT * FROM gold.rebalances) SELECT count(*) FROM rebalances")
    served.ask("USE gold")

    def comes_to_hold(told: str) -> bool:
        """One name is asked until it is so; then it is so of each."""
        return until(lambda: count_of(counts[0]) == told) and {*map(count_of, counts)} == {told}

    def count_of(count: str) -> str | None:
        return served.ask(count)[0][0]

    table = DeltaTable(str(served.lake / "gold" / "rebalances"))
    list_versions(str(served.lake), {REBALANCES: 0})
    write_deltalake(table, table.to_pyarrow_table(), mode="append")
    assert comes_to_hold("1")
    assert served.ask("SELECT count(*) FROM gold.rebalances VERSION AS OF 1") == [("2",)]
    list_versions(str(served.lake), {REBALANCES: 1})
    assert comes_to_hold("2")
    list_versions(str(served.lake), {REBALANCES: 0})
    assert comes_to_hold("1")


def until(holds: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not (is_so := holds()) and time.monotonic() < end:
        time.sleep(0.5)
    return is_so


def test_beeline_asks_it_as_it_says_and_as_the_docs_say_and_runs_no_shell_command(served: Served) -> None:
    (command,) = re.findall(r"^Ask with: (.+)$", served.said, flags=re.MULTILINE)
    page = (HOME / "docs" / "sql.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    (beeline .+)$", page, flags=re.MULTILINE)
    question = shlex.split(shown)[-2:]
    proof = served.outside / "PROOF"
    script = f"select transform(a) using 'id > {proof}; id' as (o) from (select 1 a)"
    words = [*shlex.split(command), "--outputformat=csv2", *question, "-e", script]
    asked = subprocess.run(words, cwd=served.outside, capture_output=True, text=True)
    assert "ScriptTransformation is not allowed" in asked.stderr
    assert "uid=" not in asked.stdout + asked.stderr
    assert not proof.exists()
    assert f"cause,rebalances\n{REBALANCES.column('cause').codes[0]},1\n" in asked.stdout


def test_no_secret_of_its_settings_stands_in_a_command_line(served: Served) -> None:
    commands = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            commands.append(process.read_bytes())
    assert any(b"hindsight-thrift-" in command or b"pyspark-shell" in command for command in commands)
    assert not any(SECRET.encode() in command for command in commands)


def test_a_port_that_is_taken_is_told_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=rf"port {port} of 127.0.0.1: .*in use.*--port"):
            thrift_server.serve(str(tmp_path), "127.0.0.1", port, tmp_path / "password")
    assert not (tmp_path / "password").exists()


def test_where_there_is_no_lake_it_is_told_so(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold/lag_verdicts/_delta_log").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"There is no lake at .*`hindsight audit`"):
        thrift_server.register(spark, str(tmp_path))
    assert capsys.readouterr().err.startswith("No commit in gold.lag_verdicts: ")
