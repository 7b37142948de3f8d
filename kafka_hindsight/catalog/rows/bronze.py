"""Rows of the tables of catalog/bronze*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import GroupRecordType, MemberState, MetadataRecordType, Origin
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import (
    MissingPart,
    OwnedPartition,
    RecordCount,
    RecordedMember,
    TopicPartition,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord(Row):
    """One log record: a head that a layout recognises and everything up to the next head."""

    TABLE: ClassVar[str] = "bronze.log_records"
    CODES: ClassVar[Mapping[str, type[str]]] = {"origin": Origin}

    line_id: str
    cluster: str
    origin: Origin
    source: str
    happened_at: datetime | None = None
    layout: str | None = None
    order: int
    line_count: int
    text: str
    raw: bytes | None = None
    run_collected_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile(Row):
    """One log file as it was read to its end: a file that is known here is not read again."""

    TABLE: ClassVar[str] = "bronze.log_files"
    CODES: ClassVar[Mapping[str, type[str]]] = {"origin": Origin}

    cluster: str
    origin: Origin
    source: str
    file: str
    zone: str
    size_bytes: int
    modified_at: datetime
    fingerprint: str
    read_as: str
    line_count: int
    undated_count: int
    first_at: datetime | None = None
    last_at: datetime | None = None
    clock_set_back_ms: int
    is_kafka_log: bool
    damage: str | None = None
    cluster_ids: list[str]
    run_collected_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotReading(Row):
    """One reading of the cluster, answered or not."""

    TABLE: ClassVar[str] = "bronze.snapshot_readings"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"reasons": MissingPart}

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    cluster_id: str | None = None
    controller: int | None = None
    missing: list[str] | None = None
    reasons: list[MissingPart] | None = None
    error: str | None = None
    run_landed_as: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSnapshot(Row):
    """One broker in one reading of the cluster."""

    TABLE: ClassVar[str] = "bronze.broker_snapshots"

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    broker: int
    host: str | None = None
    port: int | None = None
    rack: str | None = None
    is_controller: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSnapshot(Row):
    """One partition in one reading of the cluster."""

    TABLE: ClassVar[str] = "bronze.partition_snapshots"

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    topic: str
    partition: int
    is_internal: bool
    leader: int | None = None
    leader_epoch: int | None = None
    replicas: list[int] | None = None
    isr: list[int] | None = None
    preferred_leader: int | None = None
    end_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSnapshot(Row):
    """One group in one reading of the cluster."""

    TABLE: ClassVar[str] = "bronze.group_snapshots"

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    group_id: str
    state: str | None = None
    type: str | None = None
    assignor: str | None = None
    coordinator: int | None = None
    member_count: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSnapshot(Row):
    """One member in one reading of the cluster."""

    TABLE: ClassVar[str] = "bronze.member_snapshots"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"assignment": TopicPartition}

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    group_id: str
    member_id: str
    client_id: str | None = None
    host: str | None = None
    instance_id: str | None = None
    assignment: list[TopicPartition] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSnapshot(Row):
    """One committed offset in one reading of the cluster."""

    TABLE: ClassVar[str] = "bronze.offset_snapshots"

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    group_id: str
    topic: str
    partition: int
    committed_offset: int | None = None
    end_offset: int | None = None
    lag: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSnapshot(Row):
    """One configuration value in one reading of the cluster."""

    TABLE: ClassVar[str] = "bronze.config_snapshots"

    cluster: str
    snapshot_id: str
    snapshot_at: datetime
    resource_type: str
    resource: str
    name: str
    value: str | None = None
    value_source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord(Row):
    """One record of __consumer_offsets about a group or its members."""

    TABLE: ClassVar[str] = "bronze.group_records"
    CODES: ClassVar[Mapping[str, type[str]]] = {"record_type": GroupRecordType, "member_state": MemberState}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {
        "members": RecordedMember,
        "assignment": OwnedPartition,
        "pending_revocation": OwnedPartition,
    }

    cluster: str
    offsets_partition: int
    record_offset: int
    written_at: datetime
    record_type: GroupRecordType
    group_id: str
    member_id: str | None = None
    is_tombstone: bool
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    state_at: datetime | None = None
    members: list[RecordedMember] | None = None
    metadata_hash: int | None = None
    member_epoch: int | None = None
    previous_member_epoch: int | None = None
    member_state: MemberState | None = None
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rack: str | None = None
    rebalance_timeout_ms: int | None = None
    session_timeout_ms: int | None = None
    subscription: list[str] | None = None
    subscription_pattern: str | None = None
    assignor: str | None = None
    assignment: list[OwnedPartition] | None = None
    pending_revocation: list[OwnedPartition] | None = None
    run_landed_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataRecord(Row):
    """One record of __cluster_metadata about brokers, topics, partitions or controllers."""

    TABLE: ClassVar[str] = "bronze.metadata_records"
    CODES: ClassVar[Mapping[str, type[str]]] = {"record_type": MetadataRecordType}

    cluster: str
    record_offset: int
    controller_epoch: int
    snapshot_place: int
    written_at: datetime
    record_type: MetadataRecordType
    topic_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    partition_epoch: int | None = None
    replicas: list[int] | None = None
    isr: list[int] | None = None
    removing: list[int] | None = None
    adding: list[int] | None = None
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None
    recovery_state: int | None = None
    directories: list[str] | None = None
    broker: int | None = None
    broker_epoch: int | None = None
    incarnation_id: str | None = None
    rack: str | None = None
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    resource_type: int | None = None
    resource: str | None = None
    name: str | None = None
    value: str | None = None
    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataFile(Row):
    """One file of __cluster_metadata as far as it had grown when it was read: the next reading goes on from there."""

    TABLE: ClassVar[str] = "bronze.metadata_files"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"skipped": RecordCount}

    cluster: str
    file: str
    is_snapshot: bool
    size_bytes: int
    read_bytes: int
    prefix_crc: int
    first_offset: int
    next_offset: int
    last_epoch: int
    is_kept: bool
    record_count: int
    skipped_count: int
    skipped: list[RecordCount] | None = None
    errors: list[str]
    run_collected_at: datetime
