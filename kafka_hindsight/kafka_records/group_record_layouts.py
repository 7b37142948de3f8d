"""The record types of `__consumer_offsets`, and the layouts of those about groups and members.

Source: group-coordinator/src/main/resources/common/message/*.json of Kafka 3.7 to 4.3,
core/src/main/resources/common/message before; ConsumerProtocolSubscription.json, ConsumerProtocolAssignment.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_hindsight.kafka_records.wire import Field, Struct, VersionedStruct


@dataclass(frozen=True)
class GroupRecordLayout:
    """One type of record about a group or its members."""

    number: int
    name: str
    key: Struct
    value: VersionedStruct


_GROUP = Struct((Field("group_id", "string"),))
_MEMBER = Struct((Field("group_id", "string"), Field("member_id", "string")))
_PATTERN = Struct((Field("group_id", "string"), Field("subscription_pattern", "string")))

_PARTITIONS = Field("partitions", "int32", many=True)
_BY_NAME = Struct((Field("topic", "string"), _PARTITIONS))
_BY_ID = Struct((Field("topic_id", "uuid"), _PARTITIONS))

SUBSCRIPTION = VersionedStruct(
    "ConsumerProtocolSubscription",
    newest=3,
    is_open=True,
    struct=Struct(
        (
            Field("topics", "string", many=True),
            Field("user_data", "bytes", nullable=True),
            Field("owned_partitions", _BY_NAME, many=True, since=1, default=[]),
            Field("generation", "int32", since=2, default=-1),
            Field("rack", "string", nullable=True, since=3),
        )
    ),
)
"""The subscription of a member of a classic group. Source: KIP-429 (1), KIP-792 (2), KIP-881 (3)."""

ASSIGNMENT = VersionedStruct(
    "ConsumerProtocolAssignment",
    newest=3,
    is_open=True,
    struct=Struct((Field("assigned", _BY_NAME, many=True), Field("user_data", "bytes", nullable=True))),
)
"""The assignment that the leader of a classic group gives to a member."""

GROUP_METADATA = VersionedStruct(
    "GroupMetadataValue",
    newest=4,
    flexible_from=4,
    struct=Struct(
        (
            Field("protocol_type", "string"),
            Field("generation", "int32"),
            Field("protocol", "string", nullable=True),
            Field("leader", "string", nullable=True),
            Field("state_at", "int64", since=2, default=-1),
            Field(
                "members",
                Struct(
                    (
                        Field("member_id", "string"),
                        Field("instance_id", "string", nullable=True, since=3),
                        Field("client_id", "string"),
                        Field("host", "string"),
                        Field("rebalance_timeout_ms", "int32", since=1),
                        Field("session_timeout_ms", "int32"),
                        Field("subscription", "bytes"),
                        Field("assignment", "bytes"),
                    )
                ),
                many=True,
            ),
        )
    ),
)


def _flexible(name: str, *fields: Field) -> VersionedStruct:
    return VersionedStruct(name, newest=0, flexible_from=0, struct=Struct(fields))


CONSUMER_GROUP_METADATA = _flexible(
    "ConsumerGroupMetadataValue", Field("generation", "int32"), Field("metadata_hash", "int64", tag=0)
)
PARTITION_METADATA = _flexible(
    "ConsumerGroupPartitionMetadataValue",
    Field(
        "topics",
        Struct(
            (
                Field("topic_id", "uuid"),
                Field("topic", "string"),
                Field("partition_count", "int32"),
                Field(
                    "partitions",
                    Struct((Field("partition", "int32"), Field("racks", "string", many=True))),
                    many=True,
                ),
            )
        ),
        many=True,
    ),
)
MEMBER_METADATA = _flexible(
    "ConsumerGroupMemberMetadataValue",
    Field("instance_id", "string", nullable=True),
    Field("rack", "string", nullable=True),
    Field("client_id", "string"),
    Field("host", "string"),
    Field("subscription", "string", many=True),
    Field("subscription_pattern", "string", nullable=True),
    Field("rebalance_timeout_ms", "int32"),
    Field("assignor", "string", nullable=True),
    Field(
        "classic",
        Struct(
            (
                Field("session_timeout_ms", "int32"),
                Field("protocols", Struct((Field("name", "string"), Field("metadata", "bytes"))), many=True),
            )
        ),
        nullable=True,
        tag=0,
    ),
)
TARGET_METADATA = _flexible("ConsumerGroupTargetAssignmentMetadataValue", Field("generation", "int32"))
TARGET_MEMBER = _flexible("ConsumerGroupTargetAssignmentMemberValue", Field("assignment", _BY_ID, many=True))
CURRENT_MEMBER = _flexible(
    "ConsumerGroupCurrentMemberAssignmentValue",
    Field("member_epoch", "int32"),
    Field("previous_member_epoch", "int32"),
    Field("member_state", "int8"),
    Field("assignment", _BY_ID, many=True),
    Field("pending_revocation", _BY_ID, many=True),
)
REGULAR_EXPRESSION = _flexible(
    "ConsumerGroupRegularExpressionValue",
    Field("subscription", "string", many=True),
    Field("version", "int64"),
    Field("resolved_at", "int64"),
)

MEMBER_STATES: Mapping[int, str] = {0: "stable", 1: "unrevoked_partitions", 2: "unreleased_partitions"}
"""The states of a member. Source: MemberState.java, which also reads any other number as unknown."""

TYPES: tuple[GroupRecordLayout, ...] = (
    GroupRecordLayout(2, "group_metadata", _GROUP, GROUP_METADATA),
    GroupRecordLayout(3, "consumer_group_metadata", _GROUP, CONSUMER_GROUP_METADATA),
    GroupRecordLayout(4, "consumer_group_partition_metadata", _GROUP, PARTITION_METADATA),
    GroupRecordLayout(5, "consumer_group_member_metadata", _MEMBER, MEMBER_METADATA),
    GroupRecordLayout(6, "consumer_group_target_assignment_metadata", _GROUP, TARGET_METADATA),
    GroupRecordLayout(7, "consumer_group_target_assignment_member", _MEMBER, TARGET_MEMBER),
    GroupRecordLayout(8, "consumer_group_current_member_assignment", _MEMBER, CURRENT_MEMBER),
    GroupRecordLayout(16, "consumer_group_regular_expression", _PATTERN, REGULAR_EXPRESSION),
)
TYPE_OF: Mapping[int, GroupRecordLayout] = {t.number: t for t in TYPES}
