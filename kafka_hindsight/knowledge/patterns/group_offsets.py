"""Committed offsets that expire, that an administrator deletes, or that a client without membership commits (Kafka 0.11-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import JAVA_HEAD

_MANAGER_LOGGERS = ("kafka.coordinator.group.GroupMetadataManager",)
_SCALA_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_SHARD_LOGGERS = ("org.apache.kafka.coordinator.group.GroupCoordinatorShard",)
_OFFSET_LOGGERS = ("org.apache.kafka.coordinator.group.OffsetMetadataManager",)
_SCALA_HEAD = r"^\[GroupCoordinator \d+\]: "
_SCALA = "core/src/main/scala/kafka/coordinator/group"
_JAVA = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group"
_line_of_scala = partial(Pattern, loggers=_SCALA_LOGGERS, head=_SCALA_HEAD)
_line_of_java = partial(Pattern, head=JAVA_HEAD)


PATTERNS = (
    Pattern(
        pattern_id="scala.offsets_expired",
        kind=Kind.OFFSETS_EXPIRED,
        loggers=_MANAGER_LOGGERS,
        # Before 2.7 a line comes every ten minutes, also where none expired.
        regex=r"^\[(?:GroupMetadataManager brokerId=\d+\] |Group Metadata Manager on Broker \d+\]: )"
        r"Removed (?P<event_count>[1-9]\d*) expired offsets in \d+ milliseconds\.$",
        versions="0.11-3.9",
        source=f"{_SCALA}/GroupMetadataManager.scala cleanupGroupMetadata",
    ),
    _line_of_java(
        pattern_id="java.offsets_expired",
        kind=Kind.OFFSETS_EXPIRED,
        loggers=_SHARD_LOGGERS,
        regex=r"Generated (?P<event_count>[1-9]\d*) tombstone records while cleaning up group metadata in \d+ milliseconds\.$",
        versions="3.7-4.4",
        source=f"{_JAVA}/GroupCoordinatorShard.java cleanupGroupMetadata",
    ),
    _line_of_scala(
        pattern_id="scala.offsets_deleted",
        kind=Kind.OFFSETS_DELETED,
        regex=r"The following offsets of the group (?P<group_id>.{1,255}?) were deleted: (?P<members>.*)\. "
        r"A total of (?P<event_count>\d+) offsets were removed\.$",
        versions="2.4-3.9; the coordinator in Java writes no such line",
        source=f"{_SCALA}/GroupCoordinator.scala handleDeleteOffsets",
    ),
    _line_of_scala(
        pattern_id="scala.simple_commits_began",
        kind=Kind.SIMPLE_COMMITS_BEGAN,
        regex=r"Creating simple consumer group (?P<group_id>.{1,255}) via manual offset commit\.$",
        versions="3.9",
        source=f"{_SCALA}/GroupCoordinator.scala handleCommitOffsets",
    ),
    _line_of_java(
        pattern_id="java.simple_commits_began",
        kind=Kind.SIMPLE_COMMITS_BEGAN,
        loggers=_OFFSET_LOGGERS,
        regex=r"\[GroupId (?P<group_id>.{1,255})\] Creating a simple consumer group via manual offset commit\.$",
        versions="4.0-4.4",
        source=f"{_JAVA}/OffsetMetadataManager.java validateOffsetCommit",
    ),
)
