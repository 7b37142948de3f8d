"""The judgements of what readings show."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.catalog import rows
from spark_jobs.transforms.groups.lag import judge_lag
from spark_jobs.transforms.groups.ownership import rebuild_ownership
from spark_jobs.transforms.judgement import Judgement, table
from spark_jobs.transforms.judgements.shared_sources import GROUP_RECORDS
from spark_jobs.transforms.leaders.balance import rebuild_balance
from spark_jobs.transforms.leaders.imbalance import rebuild_imbalance
from spark_jobs.transforms.replicas.in_sync import count_out_of_sync
from spark_jobs.transforms.scope import Scope


@dataclass(frozen=True)
class Readings:
    """What one reading shows of its brokers."""

    imbalance: list[rows.LeaderImbalance]
    balance: list[rows.LeaderBalance]
    out_of_sync: list[rows.OutOfSyncCount]


def judge_readings(
    partitions: list[rows.PartitionSnapshot], brokers: list[rows.BrokerSnapshot], groups: list[rows.GroupSnapshot]
) -> Readings:
    """Which leaders of one reading are not the preferred ones, and which replicas are not in sync."""
    return Readings(
        rebuild_imbalance(partitions, brokers),
        rebuild_balance(partitions, brokers, groups),
        count_out_of_sync(partitions),
    )


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


@dataclass(frozen=True)
class GroupReadings:
    """Who owned the partitions of a group, and which of its consumers fell behind."""

    ownership: list[rows.Ownership]
    lag: list[rows.LagVerdict]


def judge_group_readings(
    members: list[rows.MemberSnapshot],
    groups: list[rows.GroupSnapshot],
    offsets: list[rows.OffsetSnapshot],
    records: list[rows.GroupRecord],
    scope: Scope,
) -> GroupReadings:
    """Ownership by records and readings, lag by readings."""
    return GroupReadings(rebuild_ownership(members, groups, scope.window, records), judge_lag(offsets, scope.window))


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
