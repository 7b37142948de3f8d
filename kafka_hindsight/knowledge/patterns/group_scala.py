"""Groups of the classic protocol and their members, by the Scala coordinator (Kafka 1.0-3.9)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CLASSIC, INSTANCE, MEMBER, MEMBER_METADATA

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_MANAGER_LOGGERS = ("kafka.coordinator.group.GroupMetadataManager",)
_METADATA_LOGGERS = ("kafka.coordinator.group.GroupMetadata", "kafka.coordinator.group.GroupMetadata$")
_HEAD = r"^\[GroupCoordinator \d+\]: "
_MANAGER_HEAD = r"^\[GroupMetadataManager brokerId=\d+\] "
_OFFSETS = r" \(__consumer_offsets-(?P<offsets_partition>\d+)\)"
_INSTANCE = rf"(?:None|Some\((?:null|(?P<instance_id>{INSTANCE}))\))"
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_MANAGER_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadataManager.scala"
_METADATA_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadata.scala"
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
    _line(
        pattern_id="scala.member_failed",
        kind=Kind.MEMBER_FAILED,
        regex=rf"Member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has failed, removing it from the group$",
        source=f"{_SOURCE} onExpireHeartbeat",
    ),
    _line(
        pattern_id="scala.member_left",
        kind=Kind.MEMBER_LEFT,
        regex=rf"Member {MEMBER_METADATA}(?:List\((?P<detail>[^()]*)\)|.*?)\) has left group (?P<group_id>.{{1,255}}?)"
        r" through explicit `LeaveGroup`"
        r"(?:; client reason: (?P<client_reason>.*)| request)$",
        versions="3.0-3.9",
        source=f"{_SOURCE} handleLeaveGroup",
    ),
    _line(
        pattern_id="scala.member_left_by_id",
        kind=Kind.MEMBER_LEFT,
        regex=rf"Member(?:\[group\.instance\.id {_INSTANCE}, member\.id | )(?P<member_id>{MEMBER})\]? "
        r"in group (?P<group_id>.{1,255}) has left, removing it from the group$",
        versions="2.2-2.8",
        source=f"{_SOURCE} handleLeaveGroup",
    ),
    _line(
        pattern_id="scala.member_id_assigned",
        kind=Kind.MEMBER_ID_ASSIGNED,
        regex=r"Dynamic member with unknown member id joins group (?P<group_id>.{1,255}) in (?P<state>\w+) state\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) and request the member to rejoin with this id\.$",
        versions="3.0-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
    ),
    _line(
        pattern_id="scala.member_added",
        kind=Kind.MEMBER_ADDED,
        regex=rf"(?:(?:Static|Dynamic) Member|Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and|Dynamic member)"
        r"(?: with)? unknown member id joins group (?P<group_id>.{1,255}) in (?P<state>\w+) state\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) for this member and add to the group\.$",
        versions="2.5-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
    ),
    Pattern(
        pattern_id="scala.member_loaded",
        kind=Kind.MEMBER_LOADED,
        loggers=_METADATA_LOGGERS,
        regex=rf"^Loaded member {MEMBER_METADATA}List\((?P<assignor>.*?)\)(?:, )?\) in group (?P<group_id>.{{1,255}}) "
        r"with generation (?P<generation>\d+)\.$",
        versions="2.8-3.9",
        source=f"{_METADATA_SOURCE} loadGroup",
        constants=CLASSIC,
    ),
    _line(
        pattern_id="scala.member_rejoined_pending",
        kind=Kind.MEMBER_REJOINED_PENDING,
        regex=rf"Pending dynamic member with id (?P<member_id>{MEMBER}) joins group (?P<group_id>.{{1,255}}) in (?P<state>\w+) state\. "
        r"Adding to the group now\.$",
        versions="3.0-4.0",
        source=f"{_SOURCE} doCurrentMemberJoinGroup",
    ),
    _line(
        pattern_id="scala.pending_member_removed",
        kind=Kind.PENDING_MEMBER_REMOVED,
        regex=rf"Pending member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has been removed after session timeout expiration\.$",
        versions="2.2-3.9",
        source=f"{_SOURCE} onExpireHeartbeat",
    ),
    _line(
        pattern_id="scala.pending_member_left",
        kind=Kind.PENDING_MEMBER_LEFT,
        regex=rf"Pending member (?:with memberId=)?(?P<member_id>{MEMBER}) (?:is leaving|has left) group (?P<group_id>.{{1,255}}?)(?:\.| through explicit `LeaveGroup` request)$",
        versions="2.2-3.9",
        source=f"{_SOURCE} handleLeaveGroup",
    ),
    _line(
        pattern_id="scala.members_not_rejoined",
        kind=Kind.MEMBERS_NOT_REJOINED,
        regex=r"Group (?P<group_id>.{1,255}) removed? dynamic members who haven't joined: \w+\((?P<members>.+)\)$",
        versions="2.7-3.9",
        source=f"{_SOURCE} onCompleteJoin",
    ),
    _line(
        pattern_id="scala.static_member_added",
        kind=Kind.MEMBER_ADDED,
        regex=rf"Adding new static member Some\((?P<instance_id>{INSTANCE})\) to group (?P<group_id>.{{1,255}}) with member id (?P<member_id>{MEMBER})\.$",
        versions="2.3-2.8",
        source=f"{_SOURCE} addMemberAndRebalance",
    ),
    _line(
        pattern_id="scala.static_member_replaced",
        kind=Kind.STATIC_MEMBER_REPLACED,
        regex=rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Replacing previously mapped member (?P<old_member_id>{MEMBER}) with this groupInstanceId\.$",
        versions="3.0-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
    ),
    _line(
        pattern_id="scala.static_member_reassigned",
        kind=Kind.STATIC_MEMBER_REPLACED,
        regex=rf"Static member Some\((?P<instance_id>{INSTANCE})\)(?: of group (?P<group_id>.{{1,255}}))? with unknown member id rejoins, "
        rf"assigning new member id (?P<member_id>{MEMBER}), while old member(?: id)? (?P<old_member_id>{MEMBER}) will be removed\.$",
        versions="2.3-2.8",
        source=f"{_SOURCE} updateStaticMemberAndRebalance",
    ),
    _line(
        pattern_id="scala.static_rejoin_quiet",
        kind=Kind.STATIC_REJOIN_QUIET,
        regex=r"Static member (?:which )?joins during (?P<state>\w+) stage (?:and doesn't affect selectProtocol )?will not trigger rebalance\.$",
        versions="2.3-3.9",
        source=f"{_SOURCE} updateStaticMemberAndRebalance",
    ),
    _line(
        pattern_id="scala.static_member_fenced",
        kind=Kind.STATIC_MEMBER_FENCED,
        regex=rf"Request memberId=(?P<member_id>{MEMBER}) for static member with groupInstanceId=(?P<instance_id>{INSTANCE}) "
        rf"is fenced by current memberId={MEMBER} during operation (?P<detail>[\w-]+)$",
        versions="3.0-3.9",
        source=f"{_SOURCE} validateCurrentMember",
    ),
    Pattern(
        pattern_id="scala.static_member_fenced_by_error",
        kind=Kind.STATIC_MEMBER_FENCED,
        loggers=_METADATA_LOGGERS,
        regex=rf"^given member\.id (?P<member_id>{MEMBER}) is identified as a known static member (?P<instance_id>{INSTANCE}), ?"
        rf"but not matching the expected member\.id {MEMBER}(?: during (?P<detail>[\w-]+), will respond with instance fenced error)?$",
        versions="2.3-2.8",
        source=f"{_METADATA_SOURCE} isStaticMemberFenced",
        constants=CLASSIC,
    ),
)
