"""Readings of the cluster become snapshot rows: JSON lines, one reading each, as a cron job or a drill writes them."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.model import Table, sql_type
from kafka_hindsight.catalog.readings import Reading
from kafka_hindsight.logs.reading import QUOTED
from kafka_hindsight.spark.frames.ranked_records import row_id

_PARTS = ("cluster_id", "controller", "brokers", "topics", "end_offsets", "groups")
_OF_READING = ("cluster", "snapshot_id", "snapshot_at")


def read_snapshots(lines: DataFrame) -> DataFrame:
    """Lines of a snapshots file taken apart.

    Takes: value, a line's text; landed_as, the file it landed in.
    Gives: both, and the reading's fields; snapshot_at is null where it is not a reading.
    """
    reading = F.from_json("value", sql_type(Reading))
    said = lines.where(F.trim("value") != "").select("value", "landed_as", reading.alias("said"))
    is_json = F.try_parse_json("value").isNotNull()
    at = F.when(is_json, F.col("said.at").try_cast("timestamp"))
    return said.select("value", "landed_as", at.alias("snapshot_at"), "said.*")


def only_of(read: DataFrame, cluster_id: str) -> DataFrame:
    """The same lines, of which those that name another cluster are not readings of this one."""
    is_ours = F.coalesce(F.col("cluster_id") == cluster_id, F.lit(True))
    return read.withColumn("snapshot_at", F.when(is_ours, F.col("snapshot_at")))


def quarantined(read: DataFrame, cluster: str, source: str) -> DataFrame:
    """The lines that are not a reading: quality.quarantine."""
    sentence = F.when(
        F.try_parse_json("value").isNull(), "It is not JSON: perhaps its writer died while it wrote."
    ).when(
        F.col("at").try_cast("timestamp").isNotNull(),
        F.concat(F.lit("It is of cluster "), "cluster_id", F.lit(", and most readings are of another.")),
    )
    lacking = F.lit("It lacks `at`, the instant of the reading, as ISO 8601 writes it.")
    return refused(read.where("snapshot_at IS NULL"), cluster, source, F.coalesce(sentence, lacking))


def refused(lines: DataFrame, cluster: str, source: str, sentence: Column) -> DataFrame:
    """Landed lines that are not what they should be, each once: quality.quarantine.

    Edge case: without an instant, so that no later run over the same window takes them away.
    """
    rows = lines.select(
        row_id(F.lit(cluster), F.lit(source), F.col("value")).alias("quarantine_id"),
        F.lit(cluster).alias("cluster"),
        F.lit(source).alias("source"),
        F.lit(None).alias("happened_at"),
        F.lit(1).alias("line_count"),
        F.substring("value", 1, QUOTED).alias("row"),
        F.array(sentence).alias("sentences"),
    )
    return rows.dropDuplicates(["quarantine_id"])


def readings(read: DataFrame, cluster: str) -> DataFrame:
    """The readings of a cluster, one for each instant; of two the one that holds more."""
    fullest = Window.partitionBy("snapshot_at").orderBy(F.length("value").desc(), "value")
    return (
        read.where("snapshot_at IS NOT NULL")
        .withColumn("turn", F.row_number().over(fullest))
        .where("turn = 1")
        .withColumn("cluster", F.lit(cluster))
        .withColumn("snapshot_id", row_id(F.lit(cluster), _iso(F.col("snapshot_at"))))
        .drop("turn", "value")
    )


def _snapshot_readings(readings: DataFrame) -> DataFrame:
    absent = F.array_compact(F.array(*(F.when(F.col(p).isNull(), F.lit(p)) for p in _PARTS)))
    told = F.coalesce(F.col("missing.part"), F.array().cast("array<string>"))
    missing = F.array_compact(F.array_union(absent, told))
    return readings.select(
        *_OF_READING,
        "cluster_id",
        "controller",
        F.nullif(missing, F.array().cast("array<string>")).alias("missing"),
        F.col("missing").alias("reasons"),
        "error",
        F.col("landed_as").alias("run_landed_as"),
    )


def _brokers(readings: DataFrame) -> DataFrame:
    rows = readings.select(*_OF_READING, "controller", F.inline("brokers")).withColumnRenamed("id", "broker")
    is_controller = F.col("broker") == F.nullif("controller", F.lit(-1))
    return rows.withColumn("is_controller", is_controller).drop("controller")


def _partitions(readings: DataFrame) -> DataFrame:
    topics = readings.select(*_OF_READING, F.inline("topics"))
    rows = topics.select(
        *_OF_READING, "topic", F.coalesce("internal", F.lit(False)).alias("is_internal"), F.inline("partitions")
    )
    return (
        rows.join(_end_offsets(readings), ["snapshot_id", "topic", "partition"], "left")
        .withColumn("leader", _known(F.col("leader")))
        .withColumn("preferred_leader", F.get("replicas", F.lit(0)))
    )


def _end_offsets(readings: DataFrame) -> DataFrame:
    """topic, partition, end_offset and leader_epoch of each reading; null what is not known."""
    offset = F.col("o")
    return (
        readings.select("snapshot_id", F.explode("end_offsets").alias("o"))
        .select(
            "snapshot_id",
            F.get(offset, F.lit(0)).alias("topic"),
            F.get(offset, F.lit(1)).try_cast("int").alias("partition"),
            _known(F.get(offset, F.lit(2)).try_cast("bigint")).alias("end_offset"),
            _known(F.get(offset, F.lit(3)).try_cast("int")).alias("leader_epoch"),
        )
        .dropDuplicates(["snapshot_id", "topic", "partition"])
    )


def _groups(readings: DataFrame) -> DataFrame:
    return readings.select(*_OF_READING, F.inline("groups")).select(
        *_OF_READING,
        F.col("group").alias("group_id"),
        _word("state"),
        _word("type"),
        F.nullif("assignor", F.lit("")).alias("assignor"),
        _known(F.col("coordinator")).alias("coordinator"),
        F.when(F.col("error").isNull() & F.col("members").isNotNull(), F.size("members")).alias("member_count"),
        "error",
    )


def _members(readings: DataFrame) -> DataFrame:
    groups = readings.select(*_OF_READING, F.inline("groups"))
    owned = F.transform(
        "assignment",
        lambda p: F.struct(F.get(p, F.lit(0)).alias("topic"), F.get(p, F.lit(1)).try_cast("int").alias("partition")),
    )
    rows = groups.select(*_OF_READING, F.col("group").alias("group_id"), F.inline("members"))
    return rows.withColumn("assignment", owned).withColumn("instance_id", F.nullif("instance_id", F.lit("")))


def _offsets(readings: DataFrame) -> DataFrame:
    offset = F.col("o")
    committed = (
        readings.select(*_OF_READING, F.inline("groups"))
        .select(*_OF_READING, F.col("group").alias("group_id"), F.explode("committed").alias("o"))
        .select(
            *_OF_READING,
            "group_id",
            F.get(offset, F.lit(0)).alias("topic"),
            F.get(offset, F.lit(1)).try_cast("int").alias("partition"),
            _known(F.get(offset, F.lit(2)).try_cast("bigint")).alias("committed_offset"),
        )
    )
    ends = _end_offsets(readings).drop("leader_epoch")
    lag = F.greatest(F.col("end_offset") - F.col("committed_offset"), F.lit(0))
    both = F.col("end_offset").isNotNull() & F.col("committed_offset").isNotNull()
    return committed.join(ends, ["snapshot_id", "topic", "partition"], "left").withColumn("lag", F.when(both, lag))


def _configs(readings: DataFrame) -> DataFrame:
    rows = readings.select(*_OF_READING, F.inline("configs")).withColumnRenamed("source", "value_source")
    return rows.withColumn("resource_type", F.lower("resource_type"))


def _iso(at: Column) -> Column:
    """An instant as Python's isoformat writes it, so that ids made on either side are the same."""
    fraction = F.when(F.unix_micros(at) % 1_000_000 == 0, "").otherwise(F.date_format(at, ".SSSSSS"))
    return F.concat(F.date_format(at, "yyyy-MM-dd'T'HH:mm:ss"), fraction, F.lit("+00:00"))


def _word(name: str) -> Column:
    return F.lower(F.nullif(name, F.lit(""))).alias(name)


def _known(number: Column) -> Column:
    return F.when(number >= 0, number)


TABLES: dict[Table, Callable[[DataFrame], DataFrame]] = {
    bronze.SNAPSHOT_READINGS: _snapshot_readings,
    bronze.BROKER_SNAPSHOTS: _brokers,
    bronze.PARTITION_SNAPSHOTS: _partitions,
    bronze.GROUP_SNAPSHOTS: _groups,
    bronze.MEMBER_SNAPSHOTS: _members,
    bronze.OFFSET_SNAPSHOTS: _offsets,
    bronze.CONFIG_SNAPSHOTS: _configs,
}
"""What `readings` becomes, by table. The first one says which readings were taken, so it is written last."""


def rows_of(table: Table, readings: DataFrame) -> DataFrame:
    """The rows of one snapshot table, each once; what has no key is left out.

    Takes: what `readings` gives.
    """
    rows = TABLES[table](readings)
    own_key = [k for k in table.key if k not in _OF_READING]
    present = rows.dropna(subset=own_key) if own_key else rows
    return present.dropDuplicates(["snapshot_id", *own_key])
