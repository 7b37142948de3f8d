"""Groups of the classic protocol, by the Scala coordinator (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from functools import partial

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
_line = partial(Pattern, loggers=_LOGGERS, head=_HEAD, versions="1.0-3.9", constants=CLASSIC)


PATTERNS = (
    _line(
        pattern_id="scala.rebalance_started",
        kind=Kind.REBALANCE_STARTED,
        # The shortest group that fits: what follows it is fixed text, while the reason at the end is free.
        regex=r"Preparing to rebalance group (?P<group_id>.{1,255}?)(?: in state \w+)? with old generation (?P<generation>-?\d+)"
        + _OFFSETS
        + r"(?: \(reason: (?P<reason>.*)\))?$",
        source=f"{_SOURCE} prepareRebalance",
    ),
    _line(
        pattern_id="scala.join_completed",
        kind=Kind.JOIN_COMPLETED,
        regex=r"Stabilized group (?P<group_id>.{1,255}) generation (?P<generation>\d+)"
        + _OFFSETS
        + r"(?: with (?P<member_count>\d+) members)?$",
        source=f"{_SOURCE} onCompleteJoin",
    ),
    _line(
        pattern_id="scala.assignment_received",
        kind=Kind.ASSIGNMENT_RECEIVED,
        regex=rf"Assignment received from leader (?:(?P<leader_member_id>{MEMBER}) )?for group (?P<group_id>.{{1,255}}) "
        r"for generation (?P<generation>\d+)"
        r"(?:\. The group has (?P<member_count>\d+) members, (?P<static_count>\d+) of which are static\.)?$",
        source=f"{_SOURCE} doSyncGroup",
    ),
    _line(
        pattern_id="scala.group_emptied",
        kind=Kind.GROUP_EMPTIED,
        regex=r"Group (?P<group_id>.{1,255}) with generation (?P<generation>\d+) is now empty" + _OFFSETS + "$",
        source=f"{_SOURCE} onCompleteJoin",
    ),
    _line(
        pattern_id="scala.group_loaded",
        kind=Kind.GROUP_LOADED,
        regex=r"Loading group metadata for (?P<group_id>.{1,255}) with generation (?P<generation>\d+)$",
        source=f"{_SOURCE} onGroupLoaded",
    ),
    _line(
        pattern_id="scala.group_unloaded",
        kind=Kind.GROUP_UNLOADED,
        regex=r"Unloading group metadata for (?P<group_id>.{1,255}) with generation (?P<generation>\d+)$",
        source=f"{_SOURCE} onGroupUnloaded",
    ),
    _line(
        pattern_id="scala.group_dead",
        kind=Kind.GROUP_DEAD,
        head=_MANAGER_HEAD,
        loggers=_MANAGER_LOGGERS,
        regex=r"Group (?P<group_id>.{1,255}) transitioned to Dead in generation (?P<generation>\d+)$",
        source=f"{_MANAGER_SOURCE} cleanupGroupMetadata",
    ),
    _line(
        pattern_id="scala.group_dead_at_join",
        kind=Kind.GROUP_DEAD,
        regex=r"Group (?P<group_id>.{1,255}) is dead, skipping rebalance stage$",
        versions="2.3-3.9",
        source=f"{_SOURCE} onCompleteJoin",
    ),
    _line(
        pattern_id="scala.groups_deleted",
        kind=Kind.GROUPS_DELETED,
        regex=r"The following groups were deleted: (?P<detail>.+)\. A total of \d+ offsets were removed\.$",
        versions="2.0-3.9",
        source=f"{_SOURCE} handleDeleteGroups",
        constants={},
    ),
)
