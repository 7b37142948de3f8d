"""The events of each group, with the lines of its clients and the sightings of its members in snapshots."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.rebalances.members import SEEN
from kafka_hindsight.knowledge.kinds import CLIENT_KINDS, GROUP_KINDS
from kafka_hindsight.knowledge.reasons import UUID


def events_of_groups(events: DataFrame, member_snapshots: DataFrame) -> DataFrame:
    """What a group's history is rebuilt from.

    Takes: silver.events, bronze.member_snapshots. Gives: silver.events rows, each with a group_id; client lines that
    name no group (librdkafka's) are given the one group that their client id belongs to, and left out where it
    belongs to several; one row of kind member_seen for each member that a reading shows.
    Edge case: a client's line that names no client is that of the one client which its log names.
    """
    named = _with_clients(events.where(F.col("kind").isin(*GROUP_KINDS, *CLIENT_KINDS)))
    seen = _sightings(member_snapshots)
    grouped = named.where(F.col("group_id").isNotNull()).unionByName(seen)
    orphans = named.where(F.col("group_id").isNull() & F.col("client_id").isNotNull()).drop("group_id")
    adopted = orphans.join(F.broadcast(_homes(grouped)), "client_id").select(*grouped.columns)
    return grouped.unionByName(adopted)


def _client() -> Column:
    """The client that a line names. A dynamic member's id begins with its client id."""
    in_member_id = F.regexp_extract("member_id", f"(?s)^(.*)-{UUID}$", 1)
    return F.coalesce("client_id", F.when(F.col("instance_id").isNull(), F.nullif(in_member_id, F.lit(""))))


def _with_clients(events: DataFrame) -> DataFrame:
    """The same events, those of clients with the client whose they are."""
    of_clients = events.where(F.col("origin") == Origin.CLIENT)
    alone = of_clients.groupBy("source").agg(
        F.count_distinct(_client()).alias("clients"), F.max(_client()).alias("only_client")
    )
    named = events.join(F.broadcast(alone.where("clients = 1")), "source", "left")
    client = F.when(F.col("origin") == Origin.CLIENT, F.coalesce(_client(), "only_client"))
    return named.withColumn("client_id", F.coalesce(client, "client_id")).select(*events.columns)


def _homes(grouped: DataFrame) -> DataFrame:
    """The one group of each client id."""
    return (
        grouped.select(_client().alias("client_id"), "group_id")
        .where(F.col("client_id").isNotNull())
        .groupBy("client_id")
        .agg(F.count_distinct("group_id").alias("groups"), F.first("group_id").alias("group_id"))
        .where("groups = 1")
        .drop("groups")
    )


def _sightings(member_snapshots: DataFrame) -> DataFrame:
    """The first reading that shows each member: who it is; and the topics that any reading shows it to own."""
    topics = F.array_join(F.array_sort(F.array_distinct(F.flatten(F.collect_list("assignment.topic")))), " ")
    first = member_snapshots.groupBy("cluster", "group_id", "member_id").agg(
        F.min_by(F.struct("snapshot_id", "snapshot_at", "client_id", "host", "instance_id"), "snapshot_at").alias("s"),
        topics.alias("topics"),
    )
    known = {
        "line_id": F.col("s.snapshot_id"),
        "cluster": F.col("cluster"),
        "origin": F.lit("snapshot"),
        "source": F.lit("snapshots"),
        "happened_at": F.col("s.snapshot_at"),
        "order": F.lit(0),
        "kind": F.lit(SEEN),
        "pattern_id": F.lit(SEEN),
        "text": F.concat(F.lit("member "), F.col("member_id"), F.lit(" of group "), F.col("group_id")),
        "group_id": F.col("group_id"),
        "member_id": F.col("member_id"),
        "client_id": F.col("s.client_id"),
        "host": F.col("s.host"),
        "instance_id": F.col("s.instance_id"),
        "detail": F.col("topics"),
        "knowledge_version": F.lit(""),
    }
    absent = F.lit(None)
    return first.select(*(known.get(c.name, absent).cast(c.type).alias(c.name) for c in EVENTS.columns))
