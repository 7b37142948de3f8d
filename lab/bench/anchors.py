"""The alternatives of a user, on the same bytes: grep, a copy by Spark, the heads of lines cut by three engines.

Each engine that cuts heads writes the same columns of each physical line: text, file, happened_at, level, logger. None
of them joins the lines of a record, looks for patterns, gives ids or looks for what it has read before.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def grep(files: Sequence[Path]) -> int:
    """Count the lines that hold a word."""
    command = ["grep", "-hc", "-F", "GroupCoordinator", "--", *map(str, files)]
    process = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=True)
    return sum(map(int, process.stdout.split()))


def spark_copy(spark: SparkSession, files: Sequence[Path], target: Path) -> int:
    """Copy lines into Delta, which Spark cannot do faster. Returns how many."""
    return _write(spark, spark.read.text([str(f) for f in files]), target)


def spark_heads(spark: SparkSession, files: Sequence[Path], target: Path) -> int:
    """Cut heads into Delta. Returns the number of lines."""
    lines = spark.read.text([str(f) for f in files]).selectExpr(
        "value AS text",
        "_metadata.file_path AS file",
        "try_cast(replace(substring(value, 2, 23), ',', '.') AS TIMESTAMP) AS happened_at",
        "split_part(value, ' ', 3) AS level",
        "rtrim(')', substring_index(value, ' (', -1)) AS logger",
    )
    return _write(spark, lines, target)


def _write(spark: SparkSession, lines: DataFrame, target: Path) -> int:
    lines.write.format("delta").save(str(target))
    return int(spark.read.format("delta").load(str(target)).count())


def duckdb_heads(files: Sequence[Path], target: Path) -> int:
    """Cut heads into Parquet. Returns the number of lines."""
    import duckdb

    connection = duckdb.connect(config={"threads": len(os.sched_getaffinity(0))})
    lines = (
        "SELECT text, file, try_cast(replace(substr(text, 2, 23), ',', '.') AS TIMESTAMP) AS happened_at,"
        " split_part(text, ' ', 3) AS level, rtrim(split_part(text, ' (', -1), ')') AS logger"
        " FROM (SELECT column0 AS text, filename AS file FROM read_csv(?, columns = {'column0': 'VARCHAR'},"
        " auto_detect = false, header = false, delim = '\x1f', quote = '', escape = '', filename = true))"
    )
    parameters = [[str(f) for f in files]]
    connection.execute(f"COPY ({lines}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)", parameters)
    return _rows(target)


def polars_heads(files: Sequence[Path], target: Path) -> int:
    """Cut heads into Parquet. Returns the number of lines."""
    import polars

    text = polars.col("text")
    polars.scan_lines([str(f) for f in files], name="text", include_file_paths="file").with_columns(
        happened_at=text.str.slice(1, 23).str.to_datetime("%Y-%m-%d %H:%M:%S,%3f", strict=False),
        level=text.str.splitn(" ", 4).struct.field("field_2"),
        logger=text.str.extract(r" \(([\w$.]+)\)$"),
    ).sink_parquet(target, compression="zstd")
    return _rows(target)


def _rows(parquet: Path) -> int:
    from pyarrow.parquet import read_metadata

    return int(read_metadata(parquet).num_rows)


WITHOUT_SPARK: dict[str, Callable[[Sequence[Path], Path], int]] = {
    "grep": lambda files, _: grep(files),
    "duckdb": duckdb_heads,
    "polars": polars_heads,
}
"""Anchors that run in a process without a JVM, by name."""

WITH_SPARK: dict[str, Callable[[SparkSession, Sequence[Path], Path], int]] = {
    "spark copy": spark_copy,
    "spark heads": spark_heads,
}
"""Anchors that run in our own session, by name."""
