"""The judgement of one consumer group."""

from __future__ import annotations

from kafka_hindsight.judgements.rebuild.groups import judge_group
from kafka_hindsight.spark.apply import Judgement, made, table
from kafka_hindsight.spark.frames import inputs as prepare
from kafka_hindsight.spark.frames.group_events import events_of_groups
from kafka_hindsight.spark.judgements.brokers import FACTS
from kafka_hindsight.spark.judgements.shared_sources import EVENTS, GROUP_RECORDS

GROUPS = Judgement(
    "groups",
    judge_group,
    ("cluster", "group_id"),
    {
        "events": made(events_of_groups, EVENTS, table("bronze.member_snapshots")),
        "records": GROUP_RECORDS,
        "readings": table("bronze.group_snapshots"),
        "members": table("bronze.member_snapshots"),
        "sightings": made(prepare.members_seen, table("bronze.member_snapshots")),
        "agreements": made(prepare.group_agreements, table("bronze.group_snapshots")),
    },
    needs=(FACTS,),
)
