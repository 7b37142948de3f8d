"""What the judgement of brokers reads: few lines of each broker, however much the brokers wrote."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as F

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.controller_changes import WHY_CONTROLLERS_CHANGE
from kafka_hindsight.judgements.brokers.controllers import CONTROLLER_KINDS
from kafka_hindsight.judgements.brokers.liveness import (
    ACTIVE_KINDS,
    MEMBER_KINDS,
    PRESENCE_KINDS,
    SERVING_KINDS,
    SIGNAL_KINDS,
)
from kafka_hindsight.judgements.rebalances.topics import TOPIC_CHANGE_KINDS
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.windows import BROKER_ID

BROKER_KINDS = frozenset({*PRESENCE_KINDS, *CONTROLLER_KINDS, *WHY_CONTROLLERS_CHANGE, *TOPIC_CHANGE_KINDS})

_QUOTED = ("line_id", "cluster", "origin", "source", "happened_at", "order", "broker", "kind", "pattern_id", "text")
"""All that is read of a line that only shows a sign of life."""

_IN_ORDER = ("happened_at", "source", "order")

_SEGMENT = ("hour", "passed")

_SHOW_SERVICE = tuple(SERVING_KINDS)
"""The kinds of lines that prove a broker to serve: the one that writes it, or the leader that a follower names."""


def about_brokers(events: DataFrame) -> DataFrame:
    """The events about brokers, controllers and topics, and of all others those that a verdict can rest on."""
    is_about = F.col("kind").isin(*sorted(BROKER_KINDS))
    of_brokers = events.where("origin <> 'client'")
    about, others = of_brokers.where(is_about), events.where((F.col("origin") == "broker") & ~is_about)
    return about.unionByName(signs_of_life(others, about)).unionByName(namings(of_brokers))


def signs_of_life(lines: DataFrame, about: DataFrame) -> DataFrame:
    """Of the first lines of each second the first and the last between two signals about any broker, in each hour:
    those that show a broker at work apart.

    Takes: silver.events that brokers wrote; those of `about`, which hold the signals.
    Gives: rows as silver.events, with what is quoted of a line.
    Keeps: just before and just after each signal, each broker has the line that it has among those of all seconds.
    """
    line, is_active = F.struct(*_QUOTED), F.col("kind").isin(*sorted(ACTIVE_KINDS)).alias("is_active")
    seconds = lines.groupBy("broker", F.date_trunc("second", "happened_at").alias("second"), is_active)
    first = seconds.agg(F.min_by(line, F.struct(*_IN_ORDER)).alias("line")).select("line.*", "is_active")
    between = _between_signals(first, about).groupBy("broker", *_SEGMENT, "is_active")
    return _as_events(_ends(between, line))


def proofs_of_service(events: DataFrame) -> DataFrame:
    """The lines that prove a broker to serve: of each sort the first and the last between two signals, in each hour.

    Takes and gives: rows of silver.events, with what is quoted of a line, and the leader that a follower names.
    """
    proofs = events.where((F.col("origin") == "broker") & F.col("kind").isin(*sorted(_SHOW_SERVICE)))
    is_member = F.col("kind").isin(*sorted(MEMBER_KINDS)).alias("is_member")
    leader = F.when(F.col("kind") == str(Kind.FOLLOWER_STARTED), F.col("leader")).alias("leader")
    between = _between_signals(proofs.select(*_QUOTED, leader, is_member), events)
    sorts = between.groupBy("broker", *_SEGMENT, "is_member", "leader")
    return _as_events(_ends(sorts, F.struct(*_QUOTED, "leader")))


def files_seen(files: DataFrame, scope: Scope) -> DataFrame:
    """The files of brokers' logs that reach into what is seen."""
    reaches = (F.col("last_at") >= F.lit(scope.seen.start)) & (F.col("first_at") < F.lit(scope.seen.end))
    return files.where((F.col("origin") == "broker") & reaches)


def _between_signals(lines: DataFrame, about: DataFrame) -> DataFrame:
    """The lines, with the hour of each and how many signals about any broker had passed in it.

    Edge case: an hour may have a hundred signals, so a line is held against those of its minute.
    """
    at, hour, minute = F.col("happened_at"), F.date_trunc("hour", "happened_at"), F.date_trunc("minute", "happened_at")
    signals = about.where(F.col("kind").isin(*sorted(SIGNAL_KINDS))).groupBy(hour.alias("hour"))
    of_hours = signals.agg(F.collect_set("happened_at").alias("signals"))
    minutes = F.explode(F.transform(F.sequence(F.lit(0), F.lit(59)), lambda n: F.timestamp_add("MINUTE", n, "hour")))
    in_minute = F.filter("signals", lambda s: F.date_trunc("minute", s) == F.col("minute"))
    before = F.size(F.filter("signals", lambda s: s < F.col("minute")))
    known = of_hours.withColumn("minute", minutes).select("minute", before.alias("before"), in_minute.alias("near"))
    passed = (
        2 * F.col("before") + F.size(F.filter("near", lambda s: s < at)) + F.size(F.filter("near", lambda s: s <= at))
    )
    placed = lines.select("*", hour.alias("hour"), minute.alias("minute"))
    return placed.join(F.broadcast(known), "minute", "left").withColumn("passed", passed)


def namings(lines: DataFrame) -> DataFrame:
    """The first and the last line that names each broker as a leader or in an ISR, as rows of silver.events."""
    ids = F.coalesce(F.regexp_extract_all("isr", F.lit(BROKER_ID), 0), F.array().cast("array<string>"))
    named = F.array_union(ids.cast("array<int>"), F.array("leader"))
    naming = lines.where("isr IS NOT NULL OR leader IS NOT NULL")
    by_named = naming.select(*_QUOTED, "isr", "leader", F.explode(named).alias("named")).groupBy("named")
    return _as_events(_ends(by_named, F.struct(*_QUOTED, "isr", "leader")))


def _ends(groups: GroupedData, line: Column) -> DataFrame:
    """The first and the last line of each group."""
    ends = F.array(F.min_by(line, F.struct(*_IN_ORDER)), F.max_by(line, F.struct(*_IN_ORDER)))
    return groups.agg(F.array_distinct(ends).alias("ends")).select(F.inline("ends"))


def _as_events(lines: DataFrame) -> DataFrame:
    def column(name: str, kind: str) -> Column:
        return F.col(name) if name in lines.columns else F.lit(None).cast(kind).alias(name)

    return lines.select(*(column(c.name, c.type) for c in EVENTS.columns))
