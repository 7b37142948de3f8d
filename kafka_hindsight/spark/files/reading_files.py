"""Readings of the cluster: a file that the user gives, and what has landed in the lake; looked at before writing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import bronze
from kafka_hindsight.lake.landing import SNAPSHOTS, landed_of, landing_folder
from kafka_hindsight.lake.parts import Span
from kafka_hindsight.logs.files import escaped, instant
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.spark.files.log_files import is_read_failure
from kafka_hindsight.spark.frames import snapshot_rows as snapshots
from kafka_hindsight.spark.tables.store import Store


@dataclass(frozen=True)
class Readings:
    """The lines of files taken apart, and what they say as a whole; instants are null where there is no reading."""

    lines: DataFrame
    count: int
    broken: int
    errors: int
    first_at: datetime | None
    last_at: datetime | None
    cluster_ids: frozenset[str]
    breaks_off: bool

    @property
    def span(self) -> Span | None:
        """The first and the last instant; None where there is no reading."""
        return (self.first_at, self.last_at) if self.first_at and self.last_at else None

    def warnings(self) -> list[str]:
        """What a person should know about them, a sentence each."""
        said = (
            (self.broken, "Lines of SNAPSHOTS that are not a reading of a cluster: {}. quality.quarantine says why."),
            (self.errors, "Readings in SNAPSHOTS that failed as a whole: {}. Nothing is concluded from them."),
            (
                self.breaks_off,
                "A file of SNAPSHOTS cannot be unpacked to its end: what stands before the break is kept. "
                "Needed: the whole file. Copy it again from where it was written, then audit again.",
            ),
        )
        return [sentence.format(count) for count, sentence in said if count]


def read_readings(spark: SparkSession, place: str | None) -> Readings:
    """Reads a JSON-lines file, or all files of a folder; no place gives no readings.

    Raises: BadInput where nothing is there.
    Edge case: a compressed file that breaks off is read up to the break.
    """
    if place is None:
        nothing = snapshots.read_snapshots(_brought(spark.createDataFrame([], "value STRING")))
        return Readings(nothing, 0, 0, 0, None, None, frozenset(), breaks_off=False)
    try:
        return _looked_at(_brought(spark.read.text(escaped(place))))
    except AnalysisException as refusal:
        raise BadInput(
            f"SNAPSHOTS names {masked(place)}, and Spark cannot open it ({refusal.getCondition()}). "
            "Needed: a JSON-lines file, or a folder of them, with one reading of the cluster a line. Check the path."
        ) from refusal
    except (Py4JJavaError, PySparkException) as failure:
        if not is_read_failure(failure):
            raise
        before_the_break = spark.read.option("ignoreCorruptFiles", True).text(escaped(place))
        return _looked_at(_brought(before_the_break), breaks_off=True)


def read_landed(store: Store, cluster: str, names: Iterable[str]) -> Readings | None:
    """Reads what has landed for a cluster and was not taken yet; None where there is nothing.

    Takes: the names under which the cluster's readings land.
    Edge case: one that failed is read again, since a retry may have put a better one in its place.
    """
    landed = landed_of(store.lake, SNAPSHOTS, names)
    held = store.held(bronze.SNAPSHOT_READINGS, cluster) if landed else None
    if held is not None:
        held = held.where("run_landed_as IS NOT NULL AND error IS NULL")
        landed -= {row[0] for row in held.select("run_landed_as").collect()}
    if not landed:
        return None
    folder = landing_folder(store.lake, SNAPSHOTS)
    lines = store.spark.read.text([escaped(f"{folder}/{name}") for name in sorted(landed)])
    return _looked_at(lines.select("value", F.col("_metadata.file_name").alias("landed_as")))


def _brought(lines: DataFrame) -> DataFrame:
    return lines.select("value", F.lit(None).cast("string").alias("landed_as"))


def _looked_at(lines: DataFrame, breaks_off: bool = False) -> Readings:
    read = snapshots.read_snapshots(lines).persist()
    try:
        found = _counted(read, breaks_off)
        ours = _named_by_most(read) if len(found.cluster_ids) > 1 else None
        return _counted(snapshots.only_of(read, ours), breaks_off) if ours else found
    except BaseException:
        read.unpersist()
        raise


def _counted(read: DataFrame, breaks_off: bool) -> Readings:
    is_reading = F.col("snapshot_at").isNotNull()
    said = read.agg(
        F.count("snapshot_at").alias("count"),
        F.count_if(~is_reading).alias("broken"),
        F.count("error").alias("errors"),
        F.unix_micros(F.min("snapshot_at")).alias("first_at"),
        F.unix_micros(F.max("snapshot_at")).alias("last_at"),
        F.collect_set(F.when(is_reading, F.col("cluster_id"))).alias("cluster_ids"),
    ).first()
    assert said is not None
    return Readings(
        lines=read,
        count=said["count"],
        broken=said["broken"],
        errors=said["errors"],
        first_at=instant(said["first_at"]),
        last_at=instant(said["last_at"]),
        cluster_ids=frozenset(said["cluster_ids"]),
        breaks_off=breaks_off,
    )


def _named_by_most(read: DataFrame) -> str | None:
    """The cluster id that three quarters of the readings name, of those that name one; None where none does."""
    naming = read.where("snapshot_at IS NOT NULL AND cluster_id IS NOT NULL").groupBy("cluster_id").count()
    counts = {row["cluster_id"]: row["count"] for row in naming.collect()}
    return next((name for name, count in counts.items() if 4 * count >= 3 * sum(counts.values())), None)


def joined(parts: Sequence[Readings]) -> Readings:
    """Several sets of readings as one."""
    instants = [at for part in parts for at in (part.first_at, part.last_at) if at]
    return Readings(
        lines=reduce(DataFrame.unionByName, (part.lines for part in parts)),
        count=sum(part.count for part in parts),
        broken=sum(part.broken for part in parts),
        errors=sum(part.errors for part in parts),
        first_at=min(instants, default=None),
        last_at=max(instants, default=None),
        cluster_ids=frozenset[str]().union(*(part.cluster_ids for part in parts)),
        breaks_off=any(part.breaks_off for part in parts),
    )
