"""Settings as readings show them, in the shape of events, beside those that brokers print."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.broker_settings import SETTING_KINDS, SETTING_READ
from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS, TOPIC_SETTINGS


def settings_in_readings(config_snapshots: DataFrame) -> DataFrame:
    """Rows in the shape of silver.events, of kind SETTING_READ: the first and the last of the readings in a row that
    show one value.

    Takes: bronze.config_snapshots.
    """
    topic, broker = F.col("resource_type") == "topic", F.col("resource_type") == "broker"
    wanted = (topic & F.col("name").isin(*TOPIC_SETTINGS)) | (broker & F.col("name").isin(*BROKER_SETTINGS))
    of_one = Window.partitionBy("cluster", "resource_type", "resource", "name").orderBy("snapshot_at")
    same = F.lag("value").over(of_one).eqNullSafe(F.col("value")) & F.lead("value").over(of_one).eqNullSafe(
        F.col("value")
    )
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
    return (
        known.withColumn("reporter", reporter)
        .groupBy(*(c if c != "broker" else "reporter" for c in by))
        .agg(latest.alias("e"))
        .select("e.*")
    )
