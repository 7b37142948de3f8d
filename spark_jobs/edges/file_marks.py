"""By what a file is known again under another name, and by what it shows that it changed while it was read."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.catalog.ids import row_id
from spark_jobs.edges.log_files import LogFile

_ENDS = 4096
_AT_ONCE = 4


def fingerprints(spark: SparkSession, files: Iterable[LogFile]) -> dict[LogFile, str]:
    """A hash of the size that a file was listed with, and of the first and last bytes of as much of it.

    A log is only ever written at its end: while the hash stays, what was listed is there, whatever came after it.
    Edge case: a file that vanished, shrank or cannot be opened has none.
    """
    wanted = list(files)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        marks = pool.map(lambda file: _fingerprint(spark, file), wanted)
        return {file: mark for file, mark in zip(wanted, marks, strict=True) if mark is not None}


def _fingerprint(spark: SparkSession, file: LogFile) -> str | None:
    context: Any = spark.sparkContext
    take = context._jvm.org.apache.commons.io.IOUtils.toByteArray
    few = min(file.size, _ENDS)
    stream = None
    try:
        system, path = _opened(spark, file)
        stream = system.open(path)
        head = bytes(take(stream, few))
        stream.seek(file.size - few)
        return row_id(file.size, head.hex(), bytes(take(stream, few)).hex())
    except Py4JJavaError as refusal:
        if not _is_io(spark, refusal):
            raise
        return None
    finally:
        if stream is not None:
            stream.close()


def _opened(spark: SparkSession, file: LogFile) -> tuple[Any, Any]:
    """The file system of a file, and its path there."""
    context: Any = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(context._jvm.java.net.URI(file.uri))
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path


def _is_io(spark: SparkSession, refusal: Py4JJavaError) -> bool:
    gateway: Any = spark.sparkContext._gateway
    return bool(is_instance_of(gateway, refusal.java_exception, "java.io.IOException"))
