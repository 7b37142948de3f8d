"""The judgement of partitions, a block of one topic at a time."""

from __future__ import annotations

from kafka_hindsight.judgements.rebuild.partitions import judge_partitions
from kafka_hindsight.spark.apply import Judgement, made, table
from kafka_hindsight.spark.frames import partition_blocks as blocks
from kafka_hindsight.spark.judgements.brokers import FACTS
from kafka_hindsight.spark.judgements.shared_sources import EVENTS, SETTINGS

PARTITIONS = Judgement(
    "partitions",
    judge_partitions,
    ("cluster", "topic", "block"),
    {
        "events": made(blocks.about_partitions, EVENTS, SETTINGS),
        "states": made(blocks.partition_states, table("bronze.partition_snapshots")),
        "commits": made(blocks.commits_beyond_end, table("bronze.offset_snapshots")),
    },
    needs=(FACTS,),
)
