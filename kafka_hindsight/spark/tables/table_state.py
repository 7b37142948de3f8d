"""Which files a table has now. Spark takes two queries to find that; where they are few, a checksum names them.

Delta writes a checksum beside each commit. It names all files of a table that has at most fifty.

Source: PROTOCOL.md of Delta Lake, Version Checksum File and Per-file Statistics.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from kafka_hindsight.lake import delta_log, landing
from kafka_hindsight.lake.ddl import instant_literal, literal, quoted
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.logs.files import escaped

DELTA = "org.apache.spark.sql.delta"

_PLAIN = 1
"""The version of Delta's protocol whose tables Parquet alone shows: each row of a file that is named is a row."""

_MOST = 16
"""Files that are opened without Delta. Spark asks for each of them by itself, and a store takes a moment to answer."""


@dataclass(frozen=True)
class State:
    """The files of a table in one version, and its columns as Spark names them in JSON."""

    version: int
    columns: Mapping[str, Any]
    files: tuple[File, ...]

    def has_columns(self, names: Iterable[str]) -> bool:
        """Whether the table has these columns and no others, in whatever order."""
        return {field["name"] for field in self.columns["fields"]} == set(names)

    def near(self, part: Part | None) -> tuple[File, ...]:
        """The files that may hold some of these rows; all files where no part is given."""
        return tuple(f for f in self.files if part is None or part.may_be_in(f))


def predicate_of(part: Part) -> str:
    """The rows of a part, in SQL."""
    of_cluster = "true" if part.cluster is None else f"cluster = {literal(part.cluster)}"
    time = quoted(part.time)
    kinds = [f"{of_cluster} AND {time} IS NULL"] if part.timeless else []
    if part.span:
        start, end = map(instant_literal, part.span)
        kinds.append(f"{of_cluster} AND {time} >= {start} AND {time} < {end}")
    return " OR ".join(f"({kind})" for kind in kinds) if kinds else of_cluster


def newest_state(folder: str, version: int) -> State | None:
    """The state of a table in its newest version; None where its checksum does not name all files.

    Takes: the folder of its log. Edge case: a commit that was put aside may leave its checksum behind. Each names the
        transaction that wrote it.
    """
    try:
        said = json.loads(landing.read_text(f"{folder}/{version:020d}.crc"))
        if not _is_plain(said):
            return None
        commit = landing.read_text(f"{folder}/{delta_log.commit_name(version)}")
        if delta_log.info(commit).get("txnId") != said.get("txnId"):
            return None
        return State(version, json.loads(said["metadata"]["schemaString"]), tuple(map(_file, said["allFiles"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def transaction(spark: SparkSession, path: str) -> Any:
    """A transaction of Delta's on a table, with the newest version that it has."""
    context: Any = spark.sparkContext
    jvm, session = context._jvm, spark._jsparkSession  # type: ignore[attr-defined]
    getattr(jvm, "org.apache.spark.sql.classic.SparkSession").setActiveSession(session)
    return getattr(jvm, f"{DELTA}.DeltaLog").forTable(session, path).startTransaction()


def open_files(spark: SparkSession, path: str, state: State, files: Sequence[File]) -> DataFrame | None:
    """The rows of some files of a table; None where they are too many to be opened one by one."""
    if len(files) > _MOST:
        return None
    columns = StructType.fromJson({**state.columns})
    if not files:
        return _no_rows(spark, columns)
    return spark.read.schema(columns).parquet(*(escaped(f"{path}/{file.path}") for file in files))


def _file(add: Mapping[str, Any]) -> File:
    return File(unquote(add["path"]), add["size"], json.loads(add.get("stats") or "{}"))


def _is_plain(said: Mapping[str, Any]) -> bool:
    return (
        "allFiles" in said
        and said["protocol"]["minReaderVersion"] == _PLAIN
        and not said["metadata"]["partitionColumns"]
    )


def _no_rows(spark: SparkSession, columns: StructType) -> DataFrame:
    """Edge case: PySpark's own frame without rows is a job, of which Spark does not know that it has none."""
    context: Any = spark.sparkContext
    session: Any = spark._jsparkSession
    of_java = session.parseDataType(columns.json())
    return DataFrame(session.createDataFrame(context._jvm.java.util.ArrayList(), of_java), spark)
