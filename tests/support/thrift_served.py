"""A lake served by Spark's Thrift server as `hindsight thrift` starts it, and clients that ask by Hive's driver."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from kafka_hindsight.catalog import gold
from kafka_hindsight.spark.session import _FOR_FEW_ROWS
from tests.support.lake import write_lake
from tests.support.rows import AT, values

HOSTILE = 'it\'s "a"; DROP TABLE gold.rebalances; --\n<script>alert(1)</script>\t\\ `x` é'
SECRET = "a-key-that-no-other-user-may-see"
QUICK = {**_FOR_FEW_ROWS, "spark.sql.shuffle.partitions": "1", "spark.hadoop.fs.s3a.secret.key": SECRET}
REBALANCES = gold.REBALANCES


class Served(NamedTuple):
    """A lake that is served, and the connection of one client."""

    lake: Path
    outside: Path
    password_file: Path
    said: str
    jvm: Any
    connection: Any

    @property
    def url(self) -> str:
        (url,) = set(re.findall(r"jdbc:hive2://\S+/gold", self.said))
        return str(url)

    def connect(self, url: str, password: str | None = None) -> Any:
        return connect(self.jvm, url, password or self.password_file.read_text().strip())

    def ask(self, query: str) -> list[tuple[str | None, ...]]:
        statement = self.connection.createStatement()
        try:
            return rows(statement.executeQuery(query))
        finally:
            statement.close()


def connect(jvm: Any, url: str, password: str | None) -> Any:
    who = jvm.java.util.Properties()
    who.setProperty("user", "x")
    if password is not None:
        who.setProperty("password", password)
    return jvm.org.apache.hive.jdbc.HiveDriver().connect(url, who)


def rows(answer: Any) -> list[tuple[str | None, ...]]:
    columns = range(1, answer.getMetaData().getColumnCount() + 1)
    found = []
    while answer.next():
        found.append(tuple(answer.getString(i) for i in columns))
    return found


@contextmanager
def serving(spark: SparkSession, folder: Path) -> Iterator[Served]:
    """A small lake, served until the block ends; the session's Java asks it."""
    lake = folder / "it's a lake"
    write_lake(
        lake,
        {
            "bronze.log_records": [],
            "silver.events": [],
            "gold.rebalances": [values(REBALANCES, group_id=HOSTILE, started_at=AT)],
            "quality.coverage": [{"source": "b"}],
        },
    )
    started_in, outside, password_file = folder / "started here", folder / "outside", folder / "it's a password"
    started_in.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("not in the lake\n")
    words = [sys.executable, "-m", "kafka_hindsight.cli.main", "thrift", "--lake", str(lake), "--port", "0"]
    words += ["--password-file", str(password_file)]
    quick = os.environ | {"HINDSIGHT_SPARK_CONF": ";".join(f"{key}={value}" for key, value in QUICK.items())}
    with (
        (folder / "errors").open("w+") as errors,
        subprocess.Popen(words, cwd=started_in, env=quick, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        assert server.stdout is not None
        try:
            said = server.stdout.readline() + server.stdout.readline()
            assert "jdbc:hive2" in said, (folder / "errors").read_text()
            context: Any = spark.sparkContext
            unconnected = Served(lake, outside, password_file, said, context._jvm, None)
            connection = unconnected.connect(unconnected.url)
            yield unconnected._replace(connection=connection)
            connection.close()
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 130
    assert (folder / "errors").read_text().splitlines()[-1] == "Stopped."
    assert list(started_in.iterdir()) == []
