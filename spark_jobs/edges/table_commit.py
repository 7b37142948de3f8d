"""Rows become files of a table and a commit, by Delta's own transaction.

A writer of Spark's plans the write a second time around Delta's. One that replaces rows also asks Delta for the files
that hold them, reads these, and writes again what stays: a session of its own, and up to six queries. Where whole files
go, none of it is needed.

Source: WriteIntoDelta, OptimisticTransaction of Delta Lake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.edges.table_creation import SCALA
from spark_jobs.edges.table_state import File

_DELTA = "org.apache.spark.sql.delta"
_LEFT_OUT = 5
"""Fields of the operation that say of other ways to write than these."""


class Gone(NamedTuple):
    """Files that rows take the place of, the predicate that all of their rows meet, and the version that holds them."""

    files: Sequence[File]
    predicate: str
    version: int


def commit_rows(spark: SparkSession, path: str, rows: DataFrame, told: str, gone: Gone | None = None) -> None:
    """Adds rows to a table and takes files away, in one commit; in none where there is nothing to add or to take.

    Takes: `told`, what the commit says besides. Raises: RuntimeError where another writer has changed the table since:
        a retry sees what it wrote.
    """
    context: Any = spark.sparkContext
    jvm, session = context._jvm, rows._jdf.sparkSession()  # type: ignore[operator]
    getattr(jvm, "org.apache.spark.sql.classic.SparkSession").setActiveSession(session)
    transaction = getattr(jvm, f"{_DELTA}.DeltaLog").forTable(session, path).startTransaction()
    if gone and transaction.readVersion() != gone.version:
        raise RuntimeError(f"{path} had version {gone.version}, and another writer has changed it since.")
    actions = transaction.writeFiles(rows._jdf)
    if gone:
        action, removed = getattr(jvm, f"{_DELTA}.actions.Action"), jvm.java.util.ArrayList()
        for file in gone.files:
            removed.add(action.fromJson(file.action).remove())
        actions = actions.appendedAll(getattr(jvm, SCALA).asScala(removed))
    if not actions.isEmpty():
        transaction.commit(actions, _operation(jvm, told, gone))


def _operation(jvm: Any, told: str, gone: Gone | None) -> Any:
    """What the commit says that it is: as a writer of Spark's would say it."""
    option, mode = getattr(jvm, "scala.Option"), getattr(jvm, "org.apache.spark.sql.SaveMode")
    of_mode, predicate = (mode.Overwrite, gone.predicate) if gone else (mode.Append, None)
    left_out = [option.empty()] * _LEFT_OUT
    kind = getattr(jvm, f"{_DELTA}.DeltaOperations$Write")
    return kind(of_mode, option.empty(), option.apply(predicate), option.apply(told or None), *left_out)
