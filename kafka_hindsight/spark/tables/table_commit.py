"""Rows become files of a table and a commit, by Delta's own transaction.

A writer of Spark's plans the write a second time around Delta's. One that replaces rows also asks Delta for the files
that hold them, reads these, and writes again what stays: a session of its own, and up to six queries. Where whole files
go, none of it is needed.

Source: WriteIntoDelta, OptimisticTransaction of Delta Lake.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.lake.parts import File
from kafka_hindsight.spark.tables.table_creation import SCALA
from kafka_hindsight.spark.tables.table_state import DELTA, transaction

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
    jvm, begun = context._jvm, transaction(spark, path)
    if gone and begun.readVersion() != gone.version:
        raise RuntimeError(f"{path} had version {gone.version}, and another writer has changed it since.")
    action, removed = getattr(jvm, f"{DELTA}.actions.Action"), jvm.java.util.ArrayList()
    for file in gone.files if gone else ():
        removed.add(action.fromJson(_added(file)).remove())
    actions = begun.writeFiles(rows._jdf).appendedAll(getattr(jvm, SCALA).asScala(removed).toSeq())
    if not actions.isEmpty():
        begun.commit(actions, _operation(jvm, told, gone))


def _added(file: File) -> str:
    """The action that adds a file, as JSON."""
    add = {
        "path": quote(file.path),
        "partitionValues": {},
        "size": file.size,
        "modificationTime": time.time_ns() // 1_000_000,
        "dataChange": True,
        "stats": json.dumps(file.stats, ensure_ascii=False),
    }
    return json.dumps({"add": add})


def _operation(jvm: Any, told: str, gone: Gone | None) -> Any:
    """What the commit says that it is: as a writer of Spark's would say it."""
    option, mode = getattr(jvm, "scala.Option"), getattr(jvm, "org.apache.spark.sql.SaveMode")
    of_mode, predicate = (mode.Overwrite, gone.predicate) if gone else (mode.Append, None)
    left_out = [option.empty()] * _LEFT_OUT
    kind = getattr(jvm, f"{DELTA}.DeltaOperations$Write")
    return kind(of_mode, option.empty(), option.apply(predicate), option.apply(told or None), *left_out)
