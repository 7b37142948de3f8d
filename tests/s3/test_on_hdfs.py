"""Logs on HDFS, in Hadoop's own cluster of one process.

A lake there is not tried: what is written beside tables goes through Arrow and libhdfs, a library that comes with
Hadoop's distribution alone.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from kafka_hindsight.catalog import bronze
from kafka_hindsight.cli.audit import SAMPLE
from kafka_hindsight.spark.tables.store import Store
from tests.support.hadoop import hdfs
from tests.support.logs import rows, run
from tests.support.sources import lines_of


def told(store: Store) -> list[tuple[str, str, str]]:
    return [(r["source"], str(r["happened_at"]), r["text"]) for r in rows(store, bronze.LOG_RECORDS)]


def test_logs_on_hdfs_give_the_records_of_the_folder(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "hdfs").mkdir()
    files = spark.sparkContext._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    with hdfs(tmp_path / "hdfs") as place:
        logs = files.Path(f"{place}/logs")
        system = logs.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        system.copyFromLocalFile(files.Path(str(SAMPLE / "logs")), logs)
        there, said = run(spark, tmp_path / "there", f"{place}/logs")
    here, _ = run(spark, tmp_path / "here", SAMPLE / "logs")
    assert told(there) == told(here)
    assert said["lines"]["lines_in"] == sum(len(lines) for lines in lines_of(SAMPLE / "logs").values())
