"""What Spark prepares for judgements: which lines matter to one, and which of few rows keep their evidence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as SqlWindow
from pyspark.sql import functions as F

from kafka_hindsight.catalog.bronze import METADATA_RECORDS
from kafka_hindsight.catalog.model import ListOf, sql_type
from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.broker_settings import SETTING_KINDS, SETTING_READ
from kafka_hindsight.judgements.brokers.cluster_context import CONTEXT_KINDS
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS, TOPIC_SETTINGS
from kafka_hindsight.logs.metadata_states import MetadataStart
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.frames import group_record_rows as group_records
from kafka_hindsight.spark.frames.partition_blocks import later_blocks

_IS_SETTING = ("kind IN ({})").format(", ".join(f"'{k}'" for k in sorted(SETTING_KINDS)))


def last_state(states: DataFrame, scope: Scope) -> DataFrame:
    """The first part of the last state of the metadata log before what is seen."""
    first = states.where(F.col("snapshot_place") == 1).where(F.col("state_at") <= F.lit(scope.seen.start))
    last = F.max_by(F.struct(*states.columns), "state_at").alias("last")
    return first.groupBy("cluster").agg(last).select("last.*")


def records_by_day(records: DataFrame, last: DataFrame | None) -> DataFrame | None:
    """The records up to the offset of that state, counted by day: internal.metadata_days."""
    if last is None:
        return None
    until = last.select("cluster", F.col("record_offset").alias("until"))
    known = records.join(F.broadcast(until), "cluster").where("record_offset <= until")
    return known.groupBy("cluster", F.date_format("written_at", "yyyy-MM-dd").alias("day")).agg(
        F.count("*").alias("records")
    )


def records_to_replay(
    records: DataFrame, states: DataFrame | None, metadata_start: MetadataStart | None, scope: Scope
) -> DataFrame:
    """The records of the cluster's metadata up to the end of what is seen, from the state on that is read on from.

    Gives: rows of bronze.metadata_records; the parts of the state as those of a snapshot.
    """
    seen = records.where(F.col("written_at") < F.lit(scope.seen.end))
    if metadata_start is None or states is None:
        return seen
    parts = states.where(F.col("state_at") == F.lit(metadata_start.state_at)).withColumns(
        {"source": F.lit(""), "text": F.lit("")}
    )
    columns = (
        F.col(c.name) if c.name in parts.columns else F.lit(None).cast(c.type).alias(c.name)
        for c in METADATA_RECORDS.columns
    )
    return seen.where(F.col("record_offset") > metadata_start.record_offset).unionByName(parts.select(*columns))


def with_metadata(events: DataFrame, of_metadata: DataFrame | None) -> DataFrame:
    """The events of lines, and those of the metadata log where the lake holds one."""
    return events if of_metadata is None else events.unionByName(of_metadata)


def about_settings(events: DataFrame, config_snapshots: DataFrame) -> DataFrame:
    """How brokers and topics are set up, by lines and by readings."""
    return events.where(_IS_SETTING).unionByName(settings_in_readings(config_snapshots))


def settings_in_readings(config_snapshots: DataFrame) -> DataFrame:
    """Rows in the shape of silver.events, of kind SETTING_READ: the first and the last of the readings in a row that
    show one value.

    Takes: bronze.config_snapshots.
    """
    topic, broker = F.col("resource_type") == "topic", F.col("resource_type") == "broker"
    wanted = (topic & F.col("name").isin(*TOPIC_SETTINGS)) | (broker & F.col("name").isin(*BROKER_SETTINGS))
    of_one = SqlWindow.partitionBy("cluster", "resource_type", "resource", "name").orderBy("snapshot_at")
    near = (F.lag("value").over(of_one), F.lead("value").over(of_one))
    same = near[0].eqNullSafe(F.col("value")) & near[1].eqNullSafe(F.col("value"))
    edges = config_snapshots.where(wanted & F.col("value").isNotNull()).withColumn("same", same).where("NOT same")
    text = F.concat_ws("", "resource_type", F.lit(" "), "resource", F.lit(": "), "name", F.lit(" = "), "value")
    known = {
        "line_id": F.col("snapshot_id"),
        "cluster": F.col("cluster"),
        "origin": F.lit("snapshot"),
        "source": F.lit("snapshots"),
        "happened_at": F.col("snapshot_at"),
        "order": F.lit(0),
        "kind": F.lit(SETTING_READ),
        "pattern_id": F.lit(SETTING_READ),
        "text": text,
        "topic": F.when(topic, F.col("resource")),
        "node": F.when(broker, F.col("resource").try_cast("int")),
        "reason": F.col("name"),
        "detail": F.col("value"),
        "knowledge_version": F.lit(""),
    }
    absent: Column = F.lit(None)
    return edges.select(*(known.get(c.name, absent).cast(c.type).alias(c.name) for c in EVENTS.columns))


def newest_settings(settings: DataFrame, at: datetime) -> DataFrame:
    """The newest report of each kind on each broker, topic and setting by an instant."""
    by = ("cluster", "kind", "topic", "broker", "node", "reason")
    latest = F.max_by(F.struct(*settings.columns), F.struct("happened_at", "source", "order"))
    known = settings.where(F.col("kind").isin(*SETTING_KINDS) & (F.col("happened_at") <= F.lit(at)))
    # Each broker prints a topic's settings: one of them is enough.
    reporter = F.when(F.col("topic").isNull(), F.col("broker"))
    reported = known.withColumn("reporter", reporter).groupBy(*(c if c != "broker" else "reporter" for c in by))
    return reported.agg(latest.alias("e")).select("e.*")


def about_cluster(events: DataFrame, settings: DataFrame) -> DataFrame:
    """The few events that every judgement of a partition looks at."""
    return events.where(F.col("kind").isin(*sorted(CONTEXT_KINDS))).unionByName(settings.where("topic IS NULL"))


def members_seen(member_snapshots: DataFrame, scope: Scope) -> DataFrame:
    """The first and the last reading of the window that show each member: who it is, snapshot_id and snapshot_at."""
    named = F.struct("client_id", "instance_id", "snapshot_id", "snapshot_at")
    ends = F.array(F.min_by(named, "snapshot_at"), F.max_by(named, "snapshot_at"))
    read = member_snapshots.where(inside(scope.window, "snapshot_at"))
    seen = read.groupBy("cluster", "group_id", "member_id").agg(F.array_distinct(ends).alias("seen"))
    return seen.select("cluster", "group_id", "member_id", F.inline("seen"))


def group_agreements(group_snapshots: DataFrame, scope: Scope) -> DataFrame:
    """What the readings of the window show each group to agree on: type and assignor, with the last reading of each."""
    read = group_snapshots.where(inside(scope.window, "snapshot_at"))
    return read.groupBy("cluster", "group_id", "type", "assignor").agg(F.max("snapshot_at").alias("snapshot_at"))


def records_around(records: DataFrame, scope: Scope) -> DataFrame:
    """The records of `__consumer_offsets` in what is seen, and the state before it."""
    return group_records.around(records, scope.cluster, scope.seen)


def observed_span(events: DataFrame) -> DataFrame:
    """The instants of the first and the last event that a broker wrote, and the later blocks of partitions that events
    name: one row for a cluster, or none."""
    instant = F.when(F.col("origin") == "broker", F.col("happened_at"))
    first, last = F.min(instant).alias("first_at"), F.max(instant).alias("last_at")
    return events.groupBy("cluster").agg(first, last, later_blocks())


def reading_times(partition_snapshots: DataFrame) -> DataFrame:
    """The readings that show partitions, each with the highest partition of `__consumer_offsets` that it shows, and the
    later blocks of partitions."""
    last = F.max(F.when(F.col("topic") == OFFSETS_TOPIC, F.col("partition")))
    by_reading = partition_snapshots.groupBy("cluster", "snapshot_at")
    return by_reading.agg(last.alias("last_offsets_partition"), later_blocks())


def led_before_outages(partition_snapshots: DataFrame, facts: WindowFacts) -> DataFrame:
    """The last reading before each absence of a broker: it shows what the broker led."""
    last = {max((at for at in facts.read_at if at <= o.down_at), default=None) for o in facts.outages} - {None}
    return partition_snapshots.where(F.col("snapshot_at").isin(*last))


def last_reading(snapshots: DataFrame, facts: WindowFacts) -> DataFrame:
    """The rows of the last reading of the window that shows partitions."""
    return snapshots.where(F.col("snapshot_at") == F.lit(facts.last_read_at).cast("timestamp"))


def last_settings(settings: DataFrame, scope: Scope, facts: WindowFacts) -> DataFrame:
    """The settings as they were at that reading, else at the end of the window."""
    return newest_settings(settings, facts.last_read_at or scope.window.end - timedelta.resolution)


def rows_where(condition: str) -> Callable[[DataFrame], DataFrame]:
    """A function that keeps the rows of a frame for which a condition holds."""

    def keep(frame: DataFrame) -> DataFrame:
        return frame.where(condition)

    return keep


def evidence_where(condition: str) -> Callable[[DataFrame], DataFrame]:
    """A function that keeps evidence only in the rows for which a condition holds: those that a finding quotes."""

    def slim(frame: DataFrame) -> DataFrame:
        nothing = F.array().cast(sql_type(ListOf(Quote)))
        return frame.withColumn("evidence", F.when(F.expr(condition), F.col("evidence")).otherwise(nothing))

    return slim


def inside(window: Window, time: str) -> Column:
    """Whether an instant lies in a window."""
    return (F.col(time) >= F.lit(window.start)) & (F.col(time) < F.lit(window.end))


def with_incidents(rebalances: DataFrame, links: DataFrame) -> DataFrame:
    """Rebalances with the incident that each belongs to; those outside of the window belong to none and go."""
    of = links.select(F.col("part_id").alias("rebalance_id"), "incident_id")
    return rebalances.drop("incident_id").join(of, "rebalance_id")


def with_incident_or_none(failovers: DataFrame, links: DataFrame) -> DataFrame:
    """Failovers with the incident that each belongs to; one that nothing began belongs to none."""
    of = links.select(F.col("part_id").alias("failover_id"), "incident_id")
    return failovers.drop("incident_id").join(of, "failover_id", "left")


def with_incident_and_intent(unavailability: DataFrame, links: DataFrame) -> DataFrame:
    """What could not be used, with the incident that each interval belongs to, and with its intent."""
    of = links.withColumnRenamed("part_id", "unavailability_id")
    return unavailability.drop("incident_id", "intent").join(of, "unavailability_id")


def in_one(*frames: DataFrame) -> DataFrame:
    """The rows of several frames of one table."""
    return reduce(DataFrame.unionByName, frames)
