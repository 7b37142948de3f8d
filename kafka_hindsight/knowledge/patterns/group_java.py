"""Groups of the classic protocol, by the Java coordinator (Kafka 3.7-4.2)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from functools import partial

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CLASSIC, JAVA_HEAD, MEMBER

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_SHARD_LOGGERS = ("org.apache.kafka.coordinator.group.GroupCoordinatorShard",)
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
_SHARD_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupCoordinatorShard.java"
_line = partial(Pattern, loggers=_LOGGERS, head=JAVA_HEAD, versions="3.7-4.2", constants=CLASSIC)


PATTERNS = (
    _line(
        pattern_id="java.rebalance_started",
        kind=Kind.REBALANCE_STARTED,
        # The shortest group that fits: what follows it is fixed text, while the reason at the end is free.
        regex=r"Preparing to rebalance group (?P<group_id>.{1,255}?) in state \w+ with old generation (?P<generation>-?\d+) "
        r"\(reason: (?P<reason>.*)\)\.$",
        source=f"{_SOURCE} prepareRebalance",
    ),
    _line(
        pattern_id="java.join_completed",
        kind=Kind.JOIN_COMPLETED,
        regex=r"Stabilized group (?P<group_id>.{1,255}) generation (?P<generation>\d+) with (?P<member_count>\d+) members\.$",
        source=f"{_SOURCE} completeClassicGroupJoin",
    ),
    _line(
        pattern_id="java.assignment_received",
        kind=Kind.ASSIGNMENT_RECEIVED,
        regex=rf"Assignment received from leader (?P<leader_member_id>{MEMBER}) for group (?P<group_id>.{{1,255}}) "
        r"for generation (?P<generation>\d+)\. "
        r"The group has (?P<member_count>\d+) members, (?P<static_count>\d+) of which are static\.$",
        source=f"{_SOURCE} classicGroupSync",
    ),
    _line(
        pattern_id="java.group_emptied",
        kind=Kind.GROUP_EMPTIED,
        regex=r"Group (?P<group_id>.{1,255}) with generation (?P<generation>\d+) is now empty\.$",
        source=f"{_SOURCE} completeClassicGroupJoin",
    ),
    _line(
        pattern_id="java.group_loaded",
        kind=Kind.GROUP_LOADED,
        regex=r"Loaded classic group (?P<group_id>.{1,255}) with (?P<member_count>\d+) members\.$",
        source=f"{_SOURCE} onLoaded",
    ),
    _line(
        pattern_id="java.group_unloaded",
        kind=Kind.GROUP_UNLOADED,
        regex=r"\[GroupId=(?P<group_id>.{1,255})\] Unloading group metadata for generation (?P<generation>\d+)\.$",
        versions="3.8-4.2",
        source=f"{_SOURCE} onUnloaded",
    ),
    Pattern(
        pattern_id="java.groups_deleted",
        kind=Kind.GROUPS_DELETED,
        loggers=_SHARD_LOGGERS,
        regex=JAVA_HEAD + r"The following groups were deleted: (?P<detail>.+)\. A total of \d+ offsets were removed\.$",
        versions="3.7-4.2",
        source=f"{_SHARD_SOURCE} deleteGroups",
    ),
)
