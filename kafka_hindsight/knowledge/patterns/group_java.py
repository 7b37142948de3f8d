"""Groups of the classic protocol and their members, by the Java coordinator (Kafka 3.7-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CLASSIC, INSTANCE, JAVA_HEAD, MEMBER

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_SHARD_LOGGERS = ("org.apache.kafka.coordinator.group.GroupCoordinatorShard",)
_GROUP_LOGGERS = (
    "org.apache.kafka.coordinator.group.classic.ClassicGroup",
    "org.apache.kafka.coordinator.group.generic.GenericGroup",
)
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
_SHARD_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupCoordinatorShard.java"
_GROUP_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/classic/ClassicGroup.java"
_line = partial(Pattern, loggers=_LOGGERS, head=JAVA_HEAD, versions="3.7-4.4", constants=CLASSIC)


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
        versions="3.8-4.4",
        source=f"{_SOURCE} onUnloaded",
    ),
    Pattern(
        pattern_id="java.groups_deleted",
        kind=Kind.GROUPS_DELETED,
        loggers=_SHARD_LOGGERS,
        regex=JAVA_HEAD + r"The following groups were deleted: (?P<detail>.+)\. A total of \d+ offsets were removed\.$",
        versions="3.7-4.4",
        source=f"{_SHARD_SOURCE} deleteGroups",
    ),
    _line(
        pattern_id="java.member_failed",
        kind=Kind.MEMBER_FAILED,
        regex=rf"Member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has failed, removing it from the group\.$",
        source=f"{_SOURCE} expireClassicGroupMemberHeartbeat",
    ),
    _line(
        pattern_id="java.member_left",
        kind=Kind.MEMBER_LEFT,
        regex=rf"\[Group (?P<group_id>.{{1,255}}?)\] Member (?P<member_id>{MEMBER}) "
        r"has left group through explicit `LeaveGroup` request; client reason: (?P<client_reason>.*)$",
        source=f"{_SOURCE} classicGroupLeaveToClassicGroup",
    ),
    _line(
        pattern_id="java.pending_member_left",
        kind=Kind.PENDING_MEMBER_LEFT,
        regex=rf"\[Group (?P<group_id>.{{1,255}}?)\] Pending member (?P<member_id>{MEMBER}) has left group through explicit "
        r"`LeaveGroup` request; client reason: (?P<client_reason>.*)$",
        source=f"{_SOURCE} classicGroupLeaveToClassicGroup",
    ),
    _line(
        pattern_id="java.member_id_assigned",
        kind=Kind.MEMBER_ID_ASSIGNED,
        regex=r"Dynamic member with unknown member id joins group (?P<group_id>.{1,255}) in (?P<state>\w+) state\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) and requesting the member to rejoin with this id\.$",
        source=f"{_SOURCE} classicGroupJoinNewDynamicMember",
    ),
    _line(
        pattern_id="java.member_added",
        kind=Kind.MEMBER_ADDED,
        regex=r"Dynamic member with unknown member id joins group (?P<group_id>.{1,255}) in state (?P<state>\w+)\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) and added the member to the group\.$",
        source=f"{_SOURCE} classicGroupJoinNewDynamicMember",
    ),
    _line(
        pattern_id="java.static_member_added",
        kind=Kind.MEMBER_ADDED,
        regex=rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Created a new member id (?P<member_id>{MEMBER}) for this member and added to the group\.$",
        source=f"{_SOURCE} classicGroupJoinNewStaticMember",
    ),
    _line(
        pattern_id="java.member_rejoined_pending",
        kind=Kind.MEMBER_REJOINED_PENDING,
        regex=rf"Pending dynamic member with id (?P<member_id>{MEMBER}) joins group (?P<group_id>.{{1,255}}) in (?P<state>\w+) state\. "
        r"Adding to the group now\.$",
        versions="4.0-4.4",
        source=f"{_SOURCE} classicGroupJoinExistingMember",
    ),
    _line(
        pattern_id="java.pending_member_removed",
        kind=Kind.PENDING_MEMBER_REMOVED,
        regex=rf"Pending member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has been removed after session timeout expiration\.$",
        source=f"{_SOURCE} expireClassicGroupMemberHeartbeat",
    ),
    _line(
        pattern_id="java.static_member_replaced",
        kind=Kind.STATIC_MEMBER_REPLACED,
        regex=rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Replacing previously mapped member (?P<old_member_id>{MEMBER}) with this groupInstanceId\.$",
        source=f"{_SOURCE} classicGroupJoinNewStaticMember",
    ),
    _line(
        pattern_id="java.static_rejoin_quiet",
        kind=Kind.STATIC_REJOIN_QUIET,
        regex=r"Static member which joins during (?P<state>\w+) stage and doesn't affect the selected protocol will not trigger a rebalance\.$",
        source=f"{_SOURCE} updateStaticMemberThenRebalanceOrCompleteJoin",
    ),
    _line(
        pattern_id="java.static_member_fenced",
        kind=Kind.STATIC_MEMBER_FENCED,
        loggers=_GROUP_LOGGERS,
        regex=rf"Request memberId=(?P<member_id>{MEMBER}) for static member with groupInstanceId=(?P<instance_id>{INSTANCE}) "
        rf"is fenced by existing memberId={MEMBER} during operation (?P<detail>[\w-]+)$",
        source=f"{_GROUP_SOURCE} validateMember",
    ),
    _line(
        pattern_id="java.members_not_rejoined",
        kind=Kind.MEMBERS_NOT_REJOINED,
        regex=r"Group (?P<group_id>.{1,255}) removed dynamic members who haven't joined: \[(?P<members>.+)\]\.?$",
        source=f"{_SOURCE} completeClassicGroupJoin",
    ),
)
