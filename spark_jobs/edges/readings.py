"""The snapshots file: readings of the cluster, looked at once before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.config import masked
from spark_jobs.edges.log_files import escaped, instant
from spark_jobs.exits import BadInput
from spark_jobs.transforms import snapshots


@dataclass(frozen=True)
class Readings:
    """The lines of the file taken apart, and what they say as a whole; instants are null where there is no reading."""

    lines: DataFrame
    count: int
    broken: int
    errors: int
    first_at: datetime | None
    last_at: datetime | None
    cluster_ids: frozenset[str]

    def warnings(self) -> list[str]:
        """What a person should know about them, a sentence each."""
        said = (
            (self.broken, "Lines of SNAPSHOTS that are no reading of a cluster: {}. quality.quarantine says why."),
            (self.errors, "Readings in SNAPSHOTS that failed as a whole: {}. Nothing is concluded from them."),
        )
        return [sentence.format(count) for count, sentence in said if count]


def read_readings(spark: SparkSession, place: str | None) -> Readings:
    """Reads a JSON-lines file, or all files of a folder; no place gives no readings.

    Raises: BadInput where nothing is there.
    """
    lines = snapshots.read_snapshots(_lines(spark, place)).persist()
    said = lines.agg(
        F.count("snapshot_at").alias("count"),
        F.count_if(F.col("snapshot_at").isNull()).alias("broken"),
        F.count("error").alias("errors"),
        F.unix_micros(F.min("snapshot_at")).alias("first_at"),
        F.unix_micros(F.max("snapshot_at")).alias("last_at"),
        F.collect_set("cluster_id").alias("cluster_ids"),
    ).first()
    return Readings(
        lines=lines,
        count=said["count"],
        broken=said["broken"],
        errors=said["errors"],
        first_at=instant(said["first_at"]),
        last_at=instant(said["last_at"]),
        cluster_ids=frozenset(said["cluster_ids"]),
    )


def _lines(spark: SparkSession, place: str | None) -> DataFrame:
    if place is None:
        return spark.createDataFrame([], "value STRING")
    try:
        return spark.read.text(escaped(place))
    except AnalysisException as refusal:
        raise BadInput(
            f"SNAPSHOTS names {masked(place)}, and Spark cannot open it ({refusal.getCondition()}). "
            "Needed: a JSON-lines file, or a folder of them, with one reading of the cluster a line. Check the path."
        ) from refusal
