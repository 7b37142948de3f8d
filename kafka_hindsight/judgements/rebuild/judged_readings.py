"""The judgements of what readings show."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.groups.lag_rulings import judge_lag
from kafka_hindsight.judgements.groups.ownership import rebuild_ownership
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import count_out_of_sync
from kafka_hindsight.judgements.rebuild.group_lines import GROUP_RECORDS
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, table


@dataclass(frozen=True)
class Readings:
    """The imbalance of leaders and the replicas out of sync in one reading."""

    imbalance: list[rows.LeaderImbalance]
    out_of_sync: list[rows.OutOfSyncCount]


def judge_readings(partitions: list[rows.PartitionSnapshot], brokers: list[rows.BrokerSnapshot]) -> Readings:
    """Judge which leaders of one reading are not the preferred ones, and which replicas are not in sync."""
    return Readings(rebuild_imbalance(partitions, brokers), count_out_of_sync(partitions))


@dataclass(frozen=True)
class GroupReadings:
    """The owners of a group's partitions, and the verdicts on their lag."""

    ownership: list[rows.Ownership]
    lag: list[rows.LagVerdict]


def judge_group_readings(
    members: list[rows.MemberSnapshot],
    groups: list[rows.GroupSnapshot],
    offsets: list[rows.OffsetSnapshot],
    records: list[rows.GroupRecord],
    scope: Scope,
) -> GroupReadings:
    """Judge ownership by records and readings, and lag by readings."""
    return GroupReadings(rebuild_ownership(members, groups, scope.window, records), judge_lag(offsets, scope.window))


READINGS = Judgement(
    "readings",
    judge_readings,
    ("cluster", "snapshot_id"),
    {
        "partitions": table("bronze.partition_snapshots", span="window"),
        "brokers": table("bronze.broker_snapshots", span="window"),
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
