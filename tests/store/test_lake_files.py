"""Small files in the lake: whoever reads one finds it whole."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.spark import lake_files

LIMIT = 64 * 1024


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """This process can write no larger file, as on a disk that is full."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def test_a_write_that_fails_leaves_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    place = f"{tmp_path}/lake_version.json"
    lake_files.write_json(spark, place, {"version": 1})
    with files_of_at_most(LIMIT), pytest.raises(OSError, match="File too large"):
        lake_files.write_json(spark, place, {"version": "2" * 2 * LIMIT})
    assert lake_files.read_json(spark, place) == {"version": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["lake_version.json"]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_file_that_hadoop_wrote_is_replaced(spark: SparkSession, tmp_path: Path, scheme: str) -> None:
    place = f"{scheme}{tmp_path}/a folder/run %1.json"
    jvm: Any = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(place)
    stream = path.getFileSystem(jvm.org.apache.hadoop.conf.Configuration()).create(path, True)
    stream.write(bytearray(b'{"version": 1}'))
    stream.close()
    assert lake_files.read_json(spark, place) == {"version": 1}
    lake_files.write_json(spark, place, {"version": 2})
    assert lake_files.read_json(spark, place) == {"version": 2}
