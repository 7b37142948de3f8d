"""What the judgement of partitions reads: the rows of a topic, a block of partitions at a time.

All that a verdict on a partition needs are the rows of the partition, and the few rows about its topic as a whole: its
settings and its deletions, which every block gets.
"""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.judgements.brokers.broker_settings import SETTING_KINDS
from kafka_hindsight.judgements.partitions.leaders.failovers import FAILOVER_KINDS
from kafka_hindsight.judgements.partitions.readings import STATE
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, SHRINK_CAUSE_KINDS
from kafka_hindsight.judgements.rebuild.scope import WindowFacts
from kafka_hindsight.knowledge.kinds import PARTITION_KINDS
from kafka_hindsight.shared.grouping import grouped

BLOCK = 25
"""So many partitions are judged together. Our choice: no topic has more lines than `__consumer_offsets`, which is two
blocks, and the later blocks of a cluster are a list that a plan can hold."""

LEADER_KINDS = frozenset(
    {*PARTITION_KINDS, *FAILOVER_KINDS, *ISR_KINDS, *SHRINK_CAUSE_KINDS, *SETTING_KINDS, "topic_deleted"}
)


def block_of() -> Column:
    """The block that a row's partition belongs to; null for a row about a whole topic."""
    return F.floor(F.col("partition") / BLOCK).cast("int")


def later_blocks() -> Column:
    """The blocks after the first that rows name, each with its topic: most topics have none."""
    return F.collect_set(F.when(block_of() > 0, F.struct("topic", block_of().alias("block")))).alias("later_blocks")


def about_partitions(events: DataFrame, settings: DataFrame, facts: WindowFacts) -> DataFrame:
    """The events about partitions, and the settings of their topics, each with its block; those about a topic as a
    whole in each of its blocks."""
    is_setting = F.col("kind").isin(*sorted(SETTING_KINDS))
    lines = events.where(~is_setting).unionByName(settings)
    about = lines.where(F.col("topic").isNotNull() & F.col("kind").isin(*sorted(LEADER_KINDS)))
    later = grouped(facts.later_blocks, lambda b: b.topic).items()
    of_topics = json.dumps({topic: sorted({0, *(b.block for b in own)}) for topic, own in later})
    of_topic = F.from_json(F.lit(of_topics), "map<string,array<int>>")[F.col("topic")]
    all_blocks = F.coalesce(of_topic, F.array(F.lit(0)))
    blocks = F.when(F.col("partition").isNotNull(), F.array(block_of())).otherwise(all_blocks)
    return about.select("*", F.explode(blocks).alias("block"))


def partition_states(partition_snapshots: DataFrame) -> DataFrame:
    """The states of partitions, each with the readings that show it, in order: internal.partition_states."""
    read = F.array_sort(
        F.collect_list(F.struct("snapshot_at", "snapshot_id", F.coalesce("end_offset", F.lit(-1)).alias("end_offset")))
    ).alias("read")
    states = partition_snapshots.groupBy(*STATE).agg(read)
    return states.select(
        *STATE,
        block_of().alias("block"),
        F.col("read.snapshot_at").alias("snapshot_ats"),
        F.col("read.snapshot_id").alias("snapshot_ids"),
        F.col("read.end_offset").alias("end_offsets"),
    )


def commits_beyond_end(offset_snapshots: DataFrame) -> DataFrame:
    """Committed offsets above the end of their log: the log was cut, or read before the commit."""
    beyond = offset_snapshots.where("committed_offset > coalesce(end_offset, -1)")
    return beyond.withColumn("block", block_of())
