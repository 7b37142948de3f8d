"""The lake over JDBC: Spark's Thrift server as `hindsight thrift` starts it, asked through Hive's own driver."""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from deltalake import DeltaTable, write_deltalake
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.catalog import gold
from spark_jobs.edges import thrift_server
from spark_jobs.shared.conform import literal
from spark_jobs.shared.exits import BadInput
from spark_jobs.shared.launch import HOME
from tests.support.lake import write_lake
from tests.support.rows import AT, row

HOSTILE = 'it\'s "a"; DROP TABLE gold.rebalances; --\n<script>alert(1)</script>\t\\ `x` é'
REBALANCES = gold.REBALANCES


class Served(NamedTuple):
    """A lake that is served, and the connection of one client."""

    lake: Path
    said: str
    connection: Any

    def ask(self, query: str) -> list[tuple[str | None, ...]]:
        statement = self.connection.createStatement()
        try:
            return rows(statement.executeQuery(query))
        finally:
            statement.close()


def rows(answer: Any) -> list[tuple[str | None, ...]]:
    columns = range(1, answer.getMetaData().getColumnCount() + 1)
    found = []
    while answer.next():
        found.append(tuple(answer.getString(i) for i in columns))
    return found


@pytest.fixture(scope="module")
def served(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    lake = folder / "it's a lake"
    write_lake(
        lake,
        {
            "bronze.log_records": [],
            "silver.events": [],
            "gold.rebalances": [row(REBALANCES, group_id=HOSTILE, started_at=AT)],
            "quality.coverage": [{"source": "b"}],
        },
    )
    started_in = folder / "started here"
    started_in.mkdir()
    words = [sys.executable, "-m", "spark_jobs.commands.cli", "thrift", "--lake", str(lake), "--port", "0"]
    with (
        (folder / "errors").open("w+") as errors,
        subprocess.Popen(words, cwd=started_in, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        assert server.stdout is not None
        try:
            said = server.stdout.readline() + server.stdout.readline()
            assert "jdbc:hive2" in said, (folder / "errors").read_text()
            (url,) = set(re.findall(r"jdbc:hive2://\S+/gold", said))
            context: Any = spark.sparkContext
            connection = context._jvm.org.apache.hive.jdbc.HiveDriver().connect(
                url, context._jvm.java.util.Properties()
            )
            yield Served(lake, said, connection)
            connection.close()
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 130
    assert (folder / "errors").read_text().splitlines()[-1] == "Stopped."
    assert list(started_in.iterdir()) == []


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


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO gold.rebalances SELECT * FROM gold.rebalances",
        "INSERT OVERWRITE gold.rebalances SELECT * FROM gold.rebalances WHERE false",
        "FROM gold.rebalances INSERT INTO gold.rebalances SELECT * INSERT INTO gold.rebalances SELECT *",
        "DELETE FROM gold.rebalances",
        "UPDATE gold.rebalances SET group_id = 'x'",
        "MERGE INTO gold.rebalances a USING gold.rebalances b ON a.cause = b.cause WHEN MATCHED THEN DELETE",
        "DELETE FROM delta.`{lake}/gold/rebalances`",
        "ALTER TABLE gold.rebalances SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE gold.rebalances ADD COLUMNS (x INT)",
        "COMMENT ON TABLE gold.rebalances IS 'x'",
        "OPTIMIZE gold.rebalances",
        "VACUUM gold.rebalances",
        "TRUNCATE TABLE gold.rebalances",
        "CREATE TABLE gold.x SHALLOW CLONE gold.rebalances",
        "DROP TABLE gold.rebalances",
        "DROP SCHEMA gold CASCADE",
        "CREATE TABLE gold.x USING delta LOCATION '{lake}/gold/x' AS SELECT 1 AS a",
        "CREATE TEMPORARY VIEW x USING text OPTIONS (path '/etc/hostname')",
        "INSERT OVERWRITE DIRECTORY '{lake}/gold/x' USING parquet SELECT 1",
        "BEGIN DELETE FROM gold.rebalances; END",
        "EXECUTE IMMEDIATE 'DELETE FROM gold.rebalances'",
        "ADD JAR '/tmp/x.jar'",
        "SELECT * FROM text.`/etc/hostname`",
        "SELECT java_method('java.lang.System', 'getenv', 'HOME')",
        "SELECT try_reflect('java.lang.System', 'getenv', 'HOME')",
    ],
)
def test_what_would_write_or_look_elsewhere_is_refused(served: Served, statement: str) -> None:
    before = sorted(served.lake.rglob("*"))
    with pytest.raises(Py4JJavaError) as refusal:
        served.ask(statement.format(lake=str(served.lake).replace("'", "\\'")))
    assert re.search(
        r"The lake is only read here|TABLE_OR_VIEW_NOT_FOUND|UNRESOLVED_ROUTINE", str(refusal.value.java_exception)
    )
    assert sorted(served.lake.rglob("*")) == before


def test_files_are_no_tables_either_where_a_client_asks_for_it(served: Served) -> None:
    with pytest.raises(Py4JJavaError):
        served.ask("SET spark.sql.runSQLOnFiles = true")
    with pytest.raises(Py4JJavaError, match="Tables are read here by their names"):
        served.ask("SELECT * FROM text.`/etc/hostname`")
    served.ask("SET spark.sql.runSQLOnFiles = false")
    assert served.ask("SELECT count(*) FROM gold.rebalances") == [("1",)]


def test_what_an_audit_adds_is_seen_at_once(served: Served) -> None:
    count = "SELECT count(*) FROM quality.coverage"
    assert served.ask(count) == [("1",)]
    coverage = DeltaTable(str(served.lake / "quality" / "coverage"))
    write_deltalake(coverage, coverage.to_pyarrow_table(), mode="append")
    assert served.ask(count) == [("2",)]


def test_beeline_asks_it_as_it_says_and_as_the_docs_say(served: Served) -> None:
    (command,) = re.findall(r"^Ask with: (.+)$", served.said, flags=re.MULTILINE)
    page = (HOME / "docs" / "sql.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    (beeline .+)$", page, flags=re.MULTILINE)
    question = shlex.split(shown)[3:]
    asked = subprocess.run(
        [*command.split(), "--outputformat=csv2", *question], capture_output=True, text=True, check=True
    )
    assert asked.stdout.split()[-2:] == ["cause,rebalances", f"{REBALANCES.column('cause').codes[0]},1"]


def test_a_port_that_is_taken_is_told_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=rf"port {port} of 127.0.0.1: .*in use.*--port"):
            thrift_server.serve(str(tmp_path), "127.0.0.1", port)


def test_where_there_is_no_lake_it_is_told_so(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no lake at .*make audit"):
        thrift_server.register(spark, str(tmp_path))
