"""Small files in the lake, wherever the lake lies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from kafka_hindsight.lake.landing import write_atomically

PATH = "org.apache.hadoop.fs.Path"
"""Asked for by its whole name: of `org`, `apache` and the rest Java would look for a class in each jar."""


def write_json(spark: SparkSession, path: str, value: Any) -> None:
    """Writes a value as JSON through Spark's file system for that path; what was there is replaced."""
    write_text(spark, path, json.dumps(value, indent=1, default=str))


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """Writes a text in UTF-8 through Spark's file system for that path; what was there is replaced.

    Keeps: on this machine's own disk, a kill or a full disk leaves what was there.
    """
    system, place = _file_system(spark, path)
    if system.getScheme() == "file":
        _replace_local(Path(place.toUri().getPath()), text)
        return
    stream = system.create(place, True)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _replace_local(file: Path, text: str) -> None:
    """Edge case: a checksum that Hadoop has kept beside the file would no longer be that of its content."""
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    write_atomically(str(file), text)


def read_json(spark: SparkSession, path: str) -> Any:
    """The JSON value at that path; None where there is no such file."""
    system, place = _file_system(spark, path)
    return json.loads(read_text(spark, path)) if system.exists(place) else None


def read_text(spark: SparkSession, path: str) -> str:
    """The text in UTF-8 at that path."""
    system, place = _file_system(spark, path)
    stream = system.open(place)
    try:
        return bytes(stream.readAllBytes()).decode()
    finally:
        stream.close()


def is_there(spark: SparkSession, path: str) -> bool:
    """Whether a file or a folder lies at that path."""
    system, place = _file_system(spark, path)
    return bool(system.exists(place))


def names_in(spark: SparkSession, folder: str) -> list[str]:
    """The names of what lies in a folder; none where there is no such folder."""
    system, place = _file_system(spark, folder)
    return [entry.getPath().getName() for entry in system.listStatus(place)] if system.exists(place) else []


def uri_of(spark: SparkSession, path: str) -> str:
    """The path as a URI that means the same in every process."""
    system, place = _file_system(spark, path)
    return str(system.makeQualified(place).toUri())


def names_below(spark: SparkSession, folder: str) -> Iterator[str]:
    """The names of the files in a folder and in the folders below it."""
    system, place = _file_system(spark, folder)
    files = system.listFiles(place, True)
    while files.hasNext():
        yield files.next().getPath().getName()


def size_below(spark: SparkSession, folder: str) -> int:
    """How many bytes the files in a folder and in the folders below it have."""
    system, place = _file_system(spark, folder)
    return int(system.getContentSummary(place).getLength())


def make_folder(spark: SparkSession, path: str) -> None:
    """Makes a folder, with those above it that are missing."""
    system, place = _file_system(spark, path)
    system.mkdirs(place)


def remove(spark: SparkSession, path: str) -> None:
    """Removes a file, or a folder with all that it holds; nothing where there is none."""
    system, place = _file_system(spark, path)
    system.delete(place, True)


def _file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    context: Any = spark.sparkContext
    place = getattr(context._jvm, PATH)(path)
    return place.getFileSystem(context._jsc.hadoopConfiguration()), place
