"""Groups of Kafka Streams (KIP-1071) and share groups (KIP-932), by the Java coordinator (Kafka 4.1-4.4).

Their target assignments, and the epochs and fencings of share groups, have the words of KIP-848's groups.
"""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import INSTANCE, JAVA_HEAD

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_GROUP = JAVA_HEAD + r"\[GroupId (?P<group_id>.{1,255}?)\] "
_GROUP_AND_MEMBER = JAVA_HEAD + r"\[GroupId (?P<group_id>.{1,255}?)\]\[MemberId (?P<member_id>\S+)\] "
_INSTANCE = rf"(?P<instance_id>{INSTANCE})"
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
STREAMS = {"protocol": "streams"}
SHARE = {"protocol": "share"}
_line_of_streams = partial(Pattern, loggers=_LOGGERS, head=_GROUP_AND_MEMBER, versions="4.1-4.4", constants=STREAMS)
_line_of_share = partial(Pattern, loggers=_LOGGERS, head=_GROUP, versions="4.1-4.4", constants=SHARE)


PATTERNS = (
    _line_of_streams(
        pattern_id="streams.member_joined",
        kind=Kind.MEMBER_JOINED,
        regex=rf"(?:Static member \S+ with instance id {_INSTANCE}|Member) joins the streams group\.$",
        source=f"{_SOURCE} getOrMaybeCreateDynamicStreamsMember, getOrMaybeCreateStaticStreamsGroupMember",
    ),
    _line_of_streams(
        pattern_id="streams.static_member_returned",
        kind=Kind.STATIC_MEMBER_RETURNED,
        regex=rf"Static member with instance id {_INSTANCE} re-joins the streams group using the streams protocol\. "
        r"Created a new member \S+ to replace the existing member (?P<old_member_id>\S+)\.$",
        versions="4.4",
        source=f"{_SOURCE} getOrMaybeCreateStaticStreamsGroupMember",
    ),
    _line_of_streams(
        pattern_id="streams.member_described",
        kind=Kind.MEMBER_DESCRIBED,
        regex=r"Member updated its member metadata to StreamsGroupMember\[memberId=\S+, memberEpoch=-?\d+, previousMemberEpoch=-?\d+, state=\w+, "
        r"instanceId=(?:Optional\.empty|Optional\[(?P<instance_id>[\w.-]+)\]), rackId=.{0,255}?, clientId=(?P<client_id>.{0,255}?), "
        r"clientHost=(?P<host>\S*), rebalanceTimeoutMs=(?P<rebalance_timeout_ms>\d+), topologyEpoch=.*$",
        source=f"{_SOURCE} streamsGroupHeartbeat",
    ),
    _line_of_streams(
        pattern_id="streams.member_left",
        kind=Kind.MEMBER_LEFT,
        regex=rf"(?:Static m|M)ember \S+(?: with instance id {_INSTANCE})?(?<! temporarily) left the streams group\.$",
        source=f"{_SOURCE} streamsGroupLeave",
    ),
    _line_of_streams(
        pattern_id="streams.static_member_closed",
        kind=Kind.STATIC_MEMBER_CLOSED,
        regex=rf"Static member \S+ with instance id {_INSTANCE} temporarily left the streams group\.$",
        versions="4.4",
        source=f"{_SOURCE} streamsGroupLeave",
    ),
    _line_of_streams(
        pattern_id="streams.member_fenced",
        kind=Kind.MEMBER_FENCED,
        head=_GROUP,
        regex=r"Streams member (?P<member_id>\S+) fenced from the group because (?P<reason>.+?)\.{1,2}$",
        source=f"{_SOURCE} scheduleStreamsGroupSessionTimeout",
    ),
    _line_of_streams(
        pattern_id="streams.epoch_bumped",
        kind=Kind.EPOCH_BUMPED,
        regex=r"Bumped streams group epoch to (?P<generation>\d+) with metadata hash (?P<detail>-?\d+)(?: and validated topic epoch -?\d+)?\.$",
        source=f"{_SOURCE} streamsGroupHeartbeat",
    ),
    _line_of_share(
        pattern_id="share.member_joined",
        kind=Kind.MEMBER_JOINED,
        regex=r"Member (?P<member_id>\S+) joins the share group using the share protocol\.$",
        source=f"{_SOURCE} getOrMaybeSubscribeShareMember",
    ),
    _line_of_share(
        pattern_id="share.member_left",
        kind=Kind.MEMBER_LEFT,
        regex=r"Member (?P<member_id>\S+) left the share group\.$",
        source=f"{_SOURCE} shareGroupLeave",
    ),
    _line_of_streams(
        pattern_id="streams.member_assignment_state",
        kind=Kind.MEMBER_ASSIGNMENT_STATE,
        regex=r"Member's new assignment state: epoch=(?P<generation>-?\d+), previousEpoch=-?\d+, state=(?P<state>\w+), "
        r"assignedTasks=(?P<detail>\(active=.*)\.$",
        source=f"{_SOURCE} maybeReconcile",
    ),
    _line_of_share(
        pattern_id="share.member_assignment_state",
        kind=Kind.MEMBER_ASSIGNMENT_STATE,
        regex=r"Member (?P<member_id>\S+) new assignment state: epoch=(?P<generation>-?\d+), previousEpoch=-?\d+, "
        r"state=(?P<state>\w+), assignedPartitions=(?P<detail>\[[^\]]*\])\.$",
        source=f"{_SOURCE} maybeReconcile",
    ),
)
