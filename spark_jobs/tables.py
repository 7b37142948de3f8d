"""Tables of a lake as frames, by delta-spark: cluster and time are pushed down to their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.start.launch import DELTA_JARS

TASKS = "spark.sql.shuffle.partitions"
"""The setting of the number of tasks after a shuffle."""

_FOR_FRAMES = {
    "spark.databricks.delta.v2.enableMode": "STRICT",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "16k",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}
"""Settings for rows of judgements.

Delta's kernel reads: its older reader computes the files of a table by jobs of Spark, which takes 12 processor seconds
for the first one instead of 5. A few kilobytes of rows stand for much work, so adaptive plans leave them in as many
tasks as there are cores. A batch is bounded by rows alone: to bound its bytes Spark asks for its size at every row, and
Arrow then goes through all lists below the structs."""


def unreadable(spark: SparkSession, store: Store) -> str | None:
    """Why a session cannot read the tables of a lake; None if it can."""
    consequence = "so this process judges, as it does without Spark."
    if "DeltaCatalog" not in str(spark.conf.get("spark.sql.catalog.spark_catalog", "")):
        return (
            f"Spark {spark.version} has no Delta, {consequence} Needed: Delta's jars for it, in the folder that"
            f" {DELTA_JARS} names, or Spark's own settings for Delta in HINDSIGHT_SPARK_CONF."
        )
    if is_uri(store.lake):
        try:
            with for_frames(spark):
                scan(spark, store, EVENTS, Part(None))
        except (PySparkException, Py4JError) as problem:
            reason = str(problem).partition("\n")[0]
            return f"Spark cannot open {masked(store.lake)} ({reason}), {consequence} Needed: Hadoop's jars for it."
    return None


def scan(spark: SparkSession, store: Store, table: Table, part: Part) -> DataFrame:
    """The rows of a part of a table, with its columns in their order."""
    folder = located(store.path(table)).replace("`", "``")
    rows = spark.table(f"delta.`{folder}`").select(*table.column_names)
    if part.cluster is not None:
        rows = rows.where(F.col("cluster") == part.cluster)
    return rows.where(_within_span(part)) if part.span else rows


def _within_span(part: Part) -> Column:
    """Whether a row lies in the span of a part that has one."""
    start, end = part.span or (None, None)
    return (F.col(part.time) >= F.lit(start)) & (F.col(part.time) < F.lit(end))


def size_of(store: Store, table: Table, part: Part) -> int:
    """The bytes of the files that may have rows of a part."""
    return sum(file.size for file in store.files(table, part))


def located(place: str) -> str:
    """A place by a URI, as Hadoop takes it: a cluster's default file system may be another than this machine's."""
    return place if is_uri(place) else f"file://{Path(place).absolute()}"


@contextmanager
def for_frames(spark: SparkSession) -> Iterator[None]:
    """Set Spark up for rows of judgements while the block runs."""
    tasks = max(int(str(spark.conf.get(TASKS))), 2 * spark.sparkContext.defaultParallelism)
    with _set(spark, {**_FOR_FRAMES, TASKS: str(tasks)}):
        yield


@contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
