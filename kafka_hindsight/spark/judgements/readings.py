"""The judgements of what readings show."""

from __future__ import annotations

from kafka_hindsight.judgements.rebuild.readings import judge_group_readings, judge_readings
from kafka_hindsight.spark.apply import Judgement, table
from kafka_hindsight.spark.judgements.shared_sources import GROUP_RECORDS

READINGS = Judgement(
    "readings",
    judge_readings,
    ("cluster", "snapshot_id"),
    {
        "partitions": table("bronze.partition_snapshots", span="window"),
        "brokers": table("bronze.broker_snapshots", span="window"),
        "groups": table("bronze.group_snapshots", span="window"),
    },
)


GROUP_READINGS = Judgement(
    "group_readings",
    judge_group_readings,
    ("cluster", "group_id"),
    {
        "members": table("bronze.member_snapshots"),
        "groups": table("bronze.group_snapshots"),
        "offsets": table("bronze.offset_snapshots", span="window"),
        "records": GROUP_RECORDS,
    },
)
