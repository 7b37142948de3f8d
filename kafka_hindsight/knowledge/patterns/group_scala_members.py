"""Members of classic groups, by the Scala coordinator (Kafka 2.2-3.9)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from functools import partial

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CLASSIC, INSTANCE, MEMBER, MEMBER_METADATA

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_METADATA_LOGGERS = ("kafka.coordinator.group.GroupMetadata", "kafka.coordinator.group.GroupMetadata$")
_HEAD = r"^\[GroupCoordinator \d+\]: "
_INSTANCE = rf"(?:None|Some\((?:null|(?P<instance_id>{INSTANCE}))\))"
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_METADATA_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadata.scala"
_line = partial(Pattern, loggers=_LOGGERS, head=_HEAD, versions="1.0-3.9", constants=CLASSIC)


PATTERNS = (
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
)
