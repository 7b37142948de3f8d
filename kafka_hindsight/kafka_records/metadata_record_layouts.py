"""The record types of `__cluster_metadata`, and the layouts of those about brokers, topics and partitions.

Source: metadata/src/main/resources/common/metadata/*.json of Kafka 3.0 to 4.3, and for control records
clients/src/main/resources/common/message/{LeaderChangeMessage,SnapshotHeaderRecord}.json, ControlRecordType.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_hindsight.kafka_records.wire import Field, Struct, VersionedStruct


@dataclass(frozen=True)
class MetadataRecordLayout:
    """One type of record, by Kafka's name for it. `shape`: None where we read no such record.

    `newest` is the newest version that we know; a newer one is read as it, and must leave nothing over but tags.
    """

    number: int
    name: str
    newest: int = 0
    shape: Struct | None = None


_TOPIC_ID = Field("topic_id", "uuid")
_PARTITION = Field("partition", "int32")
_BROKER = Field("broker", "int32")
_EPOCH = Field("broker_epoch", "int64")


def _ids(name: str) -> Field:
    return Field(name, "int32", many=True)


def _change(name: str, tag: int, kind: str = "int32") -> Field:
    return Field(name, kind, many=True, nullable=True, tag=tag)


_PARTITION_RECORD = Struct(
    (
        _PARTITION,
        _TOPIC_ID,
        _ids("replicas"),
        _ids("isr"),
        _ids("removing"),
        _ids("adding"),
        Field("leader", "int32"),
        Field("recovery_state", "int8", tag=0, default=0),
        Field("leader_epoch", "int32"),
        Field("partition_epoch", "int32"),
        Field("directories", "uuid", many=True, since=1),
        _change("elr", 1),
        _change("last_known_elr", 2),
    )
)
UNCHANGED = {"leader": -2, "recovery_state": -1}
"""The value with which a change of a partition leaves a field unchanged; lists are null then."""

_PARTITION_CHANGE = Struct(
    (
        _PARTITION,
        _TOPIC_ID,
        _change("isr", 0),
        Field("leader", "int32", tag=1, default=UNCHANGED["leader"]),
        _change("replicas", 2),
        _change("removing", 3),
        _change("adding", 4),
        Field("recovery_state", "int8", tag=5, default=UNCHANGED["recovery_state"]),
        _change("elr", 6),
        _change("last_known_elr", 7),
        _change("directories", 8, "uuid"),
    )
)
_END_POINT = Struct(
    (Field("name", "string"), Field("host", "string"), Field("port", "uint16"), Field("security_protocol", "int16"))
)
_FEATURE = Struct((Field("name", "string"), Field("least", "int16"), Field("most", "int16")))
_REGISTER_BROKER = Struct(
    (
        _BROKER,
        Field("is_migrating", "bool", since=2, default=False),
        Field("incarnation_id", "uuid"),
        _EPOCH,
        Field("end_points", _END_POINT, many=True),
        Field("features", _FEATURE, many=True),
        Field("rack", "string", nullable=True),
        Field("fenced", "bool"),
        Field("in_controlled_shutdown", "bool", since=1, default=False),
        Field("log_dirs", "uuid", many=True, tag=0, default=[]),
    )
)
_REGISTRATION_CHANGE = Struct(
    (
        _BROKER,
        _EPOCH,
        Field("fenced", "int8", tag=0, default=0),
        Field("in_controlled_shutdown", "int8", tag=1, default=0),
        _change("log_dirs", 2, "uuid"),
    )
)
_OF_BROKER = Struct((_BROKER, _EPOCH))
_CONFIG = Struct(
    (
        Field("resource_type", "int8"),
        Field("resource", "string"),
        Field("name", "string"),
        Field("value", "string", nullable=True),
    )
)

TYPES: tuple[MetadataRecordLayout, ...] = (
    MetadataRecordLayout(0, "register_broker", 4, _REGISTER_BROKER),
    MetadataRecordLayout(1, "unregister_broker", 0, _OF_BROKER),
    MetadataRecordLayout(2, "topic", 0, Struct((Field("topic", "string"), _TOPIC_ID))),
    MetadataRecordLayout(3, "partition", 2, _PARTITION_RECORD),
    MetadataRecordLayout(4, "config", 0, _CONFIG),
    MetadataRecordLayout(5, "partition_change", 2, _PARTITION_CHANGE),
    MetadataRecordLayout(7, "fence_broker", 0, _OF_BROKER),
    MetadataRecordLayout(8, "unfence_broker", 0, _OF_BROKER),
    MetadataRecordLayout(9, "remove_topic", 0, Struct((_TOPIC_ID,))),
    MetadataRecordLayout(10, "delegation_token"),
    MetadataRecordLayout(11, "user_scram_credential"),
    MetadataRecordLayout(12, "feature_level", 0, Struct((Field("name", "string"), Field("level", "int16")))),
    MetadataRecordLayout(14, "client_quota"),
    MetadataRecordLayout(15, "producer_ids"),
    MetadataRecordLayout(17, "broker_registration_change", 3, _REGISTRATION_CHANGE),
    MetadataRecordLayout(18, "access_control_entry"),
    MetadataRecordLayout(19, "remove_access_control_entry"),
    MetadataRecordLayout(20, "no_op"),
    MetadataRecordLayout(21, "zk_migration_state"),
    MetadataRecordLayout(22, "remove_user_scram_credential"),
    MetadataRecordLayout(23, "begin_transaction", 0, Struct(())),
    MetadataRecordLayout(24, "end_transaction", 0, Struct(())),
    MetadataRecordLayout(25, "abort_transaction", 0, Struct(())),
    MetadataRecordLayout(26, "remove_delegation_token"),
    MetadataRecordLayout(27, "register_controller"),
    MetadataRecordLayout(28, "clear_elr", 0, Struct((Field("topic", "string"),))),
)
TYPE_OF: Mapping[int, MetadataRecordLayout] = {t.number: t for t in TYPES}

LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER = 2, 3, 4
CONTROL_TYPES: Mapping[int, str] = {
    LEADER_CHANGE: "leader_change",
    SNAPSHOT_HEADER: "snapshot_header",
    SNAPSHOT_FOOTER: "snapshot_footer",
    5: "kraft_version",
    6: "kraft_voters",
}
_VOTER = Struct((Field("voter", "int32"), Field("directory_id", "uuid", since=1)))
LEADER_CHANGE_VALUE = VersionedStruct(
    "LeaderChangeMessage",
    newest=1,
    flexible_from=0,
    struct=Struct((Field("leader", "int32"), Field("voters", _VOTER, many=True), Field("granted", _VOTER, many=True))),
)
SNAPSHOT_HEADER_VALUE = VersionedStruct(
    "SnapshotHeaderRecord", newest=0, flexible_from=0, struct=Struct((Field("at", "int64"),))
)
