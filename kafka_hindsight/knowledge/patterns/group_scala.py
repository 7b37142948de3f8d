"""Groups of the classic protocol, by the Scala coordinator (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CLASSIC, MEMBER

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_MANAGER_LOGGERS = ("kafka.coordinator.group.GroupMetadataManager",)
_HEAD = r"^\[GroupCoordinator \d+\]: "
_MANAGER_HEAD = r"^\[GroupMetadataManager brokerId=\d+\] "
_OFFSETS = r" \(__consumer_offsets-(?P<offsets_partition>\d+)\)"
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_MANAGER_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadataManager.scala"


PATTERNS = (
    Pattern(
        pattern_id="scala.rebalance_started",
        kind=Kind.REBALANCE_STARTED,
        loggers=_LOGGERS,
        contains="Preparing to rebalance group ",
        # The shortest group that fits: what follows it is fixed text, while the reason at the end is free.
        regex=_HEAD
        + r"Preparing to rebalance group (?P<group_id>.{1,255}?)(?: in state \w+)? with old generation (?P<generation>-?\d+)"
        + _OFFSETS
        + r"(?: \(reason: (?P<reason>.*)\))?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} prepareRebalance",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.join_completed",
        kind=Kind.JOIN_COMPLETED,
        loggers=_LOGGERS,
        contains="Stabilized group ",
        regex=_HEAD
        + r"Stabilized group (?P<group_id>.{1,255}) generation (?P<generation>\d+)"
        + _OFFSETS
        + r"(?: with (?P<member_count>\d+) members)?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.assignment_received",
        kind=Kind.ASSIGNMENT_RECEIVED,
        loggers=_LOGGERS,
        contains="Assignment received from leader ",
        regex=_HEAD
        + rf"Assignment received from leader (?:(?P<leader_member_id>{MEMBER}) )?for group (?P<group_id>.{{1,255}}) "
        r"for generation (?P<generation>\d+)"
        r"(?:\. The group has (?P<member_count>\d+) members, (?P<static_count>\d+) of which are static\.)?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} doSyncGroup",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_emptied",
        kind=Kind.GROUP_EMPTIED,
        loggers=_LOGGERS,
        contains=" is now empty (__consumer_offsets-",
        regex=_HEAD + r"Group (?P<group_id>.{1,255}) with generation (?P<generation>\d+) is now empty" + _OFFSETS + "$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_loaded",
        kind=Kind.GROUP_LOADED,
        loggers=_LOGGERS,
        contains=": Loading group metadata for ",
        regex=_HEAD + r"Loading group metadata for (?P<group_id>.{1,255}) with generation (?P<generation>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onGroupLoaded",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_unloaded",
        kind=Kind.GROUP_UNLOADED,
        loggers=_LOGGERS,
        contains=": Unloading group metadata for ",
        regex=_HEAD + r"Unloading group metadata for (?P<group_id>.{1,255}) with generation (?P<generation>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onGroupUnloaded",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_dead",
        kind=Kind.GROUP_DEAD,
        loggers=_MANAGER_LOGGERS,
        contains=" transitioned to Dead in generation ",
        regex=_MANAGER_HEAD + r"Group (?P<group_id>.{1,255}) transitioned to Dead in generation (?P<generation>\d+)$",
        versions="1.0-3.9",
        source=f"{_MANAGER_SOURCE} cleanupGroupMetadata",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_dead_at_join",
        kind=Kind.GROUP_DEAD,
        loggers=_LOGGERS,
        contains=" is dead, skipping rebalance stage",
        regex=_HEAD + r"Group (?P<group_id>.{1,255}) is dead, skipping rebalance stage$",
        versions="2.3-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.groups_deleted",
        kind=Kind.GROUPS_DELETED,
        loggers=_LOGGERS,
        contains="The following groups were deleted: ",
        regex=_HEAD + r"The following groups were deleted: (?P<detail>.+)\. A total of \d+ offsets were removed\.$",
        versions="2.0-3.9",
        source=f"{_SOURCE} handleDeleteGroups",
    ),
)
