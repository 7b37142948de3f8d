"""KIP-848 groups and their members, by the Java coordinator (Kafka 3.7-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER, INSTANCE, JAVA_HEAD, MEMBER

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_GROUP = JAVA_HEAD + r"\[GroupId (?P<group_id>.{1,255}?)\] "
# A client chooses its id (base64 of a uuid in all clients seen); a classic client inside the group has a classic one.
_MEMBER = rf"(?P<member_id>\S+|{MEMBER})"
_INSTANCE = rf"(?P<instance_id>{INSTANCE})"
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
_line = partial(Pattern, loggers=_LOGGERS, head=_GROUP, versions="3.7-4.4", constants=CONSUMER)


PATTERNS = (
    _line(
        pattern_id="kip848.epoch_bumped",
        kind=Kind.EPOCH_BUMPED,
        regex=r"Bumped group epoch to (?P<generation>\d+)(?: with metadata hash (?P<detail>-?\d+))?\.$",
        source=f"{_SOURCE} consumerGroupHeartbeat",
    ),
    _line(
        pattern_id="kip848.target_computed",
        kind=Kind.TARGET_COMPUTED,
        regex=r"Computed a new target assignment for epoch (?P<generation>\d+) with '(?P<assignor>[^']+)' assignor"
        r"(?: in (?P<took_ms>\d+)ms)?(?:: .*)?\.$",
        source=f"{_SOURCE} updateTargetAssignment",
    ),
    _line(
        pattern_id="kip848.group_loaded",
        kind=Kind.GROUP_LOADED,
        head=JAVA_HEAD,
        regex=r"Loaded consumer group (?P<group_id>.{1,255}) with (?P<member_count>\d+) members\.$",
        source=f"{_SOURCE} onLoaded",
    ),
    Pattern(
        pattern_id="kip848.group_unloaded",
        kind=Kind.GROUP_UNLOADED,
        loggers=_LOGGERS,
        regex=JAVA_HEAD
        + r"\[GroupId=(?P<group_id>.{1,255})\] Unloaded group metadata for group epoch (?P<generation>\d+)\.$",
        versions="3.8-4.4",
        source=f"{_SOURCE} onUnloaded",
    ),
    _line(
        pattern_id="kip848.member_joined",
        kind=Kind.MEMBER_JOINED,
        regex=rf"(?:Static m|M)ember {_MEMBER}(?: with instance id {_INSTANCE})? joins the consumer group"
        r"(?: using the (?P<protocol>\w+) protocol)?\.$",
        source=f"{_SOURCE} getOrMaybeSubscribeDynamicConsumerMember, getOrMaybeSubscribeStaticConsumerMember",
        constants={},
    ),
    _line(
        pattern_id="kip848.static_member_returned",
        kind=Kind.STATIC_MEMBER_RETURNED,
        regex=rf"Static member with (?:unknown member id and )?instance id {_INSTANCE} re-joins the consumer group(?: using the (?P<protocol>\w+) protocol)?\. "
        r"Created a new member (?P<member_id>\S+) to replace the existing member (?P<old_member_id>\S+)\.$",
        source=f"{_SOURCE} getOrMaybeSubscribeStaticConsumerMember",
        constants={},
    ),
    _line(
        pattern_id="kip848.classic_member_id_assigned",
        kind=Kind.MEMBER_ID_ASSIGNED,
        regex=r"Dynamic member with unknown member id joins the consumer group\. "
        r"Created a new member id (?P<member_id>\S+) and requesting the member to rejoin with this id\.$",
        versions="3.8-4.4",
        source=f"{_SOURCE} classicGroupJoinToConsumerGroup",
    ),
    _line(
        pattern_id="kip848.static_member_refused",
        kind=Kind.STATIC_MEMBER_FENCED,
        regex=rf"Static member {_MEMBER} with instance id {_INSTANCE} cannot join the group because the instance id is "
        r"(?:is )?owned by member \S+\.$",
        source=f"{_SOURCE} throwIfInstanceIdIsUnreleased",
        constants={**CONSUMER, "detail": "join"},
    ),
    _line(
        pattern_id="kip848.static_member_fenced",
        kind=Kind.STATIC_MEMBER_FENCED,
        regex=rf"Static member {_MEMBER} with instance id {_INSTANCE} is fenced by existing member \S+\.$",
        source=f"{_SOURCE} throwIfInstanceIdIsFenced",
        constants={**CONSUMER, "detail": "heartbeat"},
    ),
    _line(
        pattern_id="kip848.member_left",
        kind=Kind.MEMBER_LEFT,
        regex=rf"(?:Static [mM]|M)ember {_MEMBER}(?: with instance id {_INSTANCE})?(?<! temporarily) left the consumer group\.$",
        source=f"{_SOURCE} consumerGroupLeave",
    ),
    _line(
        pattern_id="kip848.static_member_closed",
        kind=Kind.STATIC_MEMBER_CLOSED,
        regex=rf"Static [mM]ember {_MEMBER} with instance id {_INSTANCE} temporarily left the consumer group\.$",
        source=f"{_SOURCE} consumerGroupLeave",
    ),
    _line(
        pattern_id="kip848.classic_member_left",
        kind=Kind.MEMBER_LEFT,
        head=JAVA_HEAD,
        regex=rf"\[Group(?:Id)? (?P<group_id>.{{1,255}}?)\] (?:Dynamic|Static) [mM]ember (?P<member_id>{MEMBER})(?: with instance id {_INSTANCE})? "
        r"has left group through explicit `LeaveGroup` request; client reason: (?P<client_reason>.*)$",
        versions="3.8-4.4",
        source=f"{_SOURCE} classicGroupLeaveToConsumerGroup",
    ),
    _line(
        pattern_id="kip848.member_assignment_state",
        kind=Kind.MEMBER_ASSIGNMENT_STATE,
        regex=rf"Member {_MEMBER} new assignment state: epoch=(?P<generation>-?\d+), previousEpoch=-?\d+, state=(?P<state>\w+), "
        r"assignedPartitions=(?P<detail>\[[^\]]*\]) and revokedPartitions=\[[^\]]*\]\.$",
        versions="3.8-3.9 at INFO, 4.0-4.4 at DEBUG",
        source=f"{_SOURCE} maybeReconcile",
    ),
    _line(
        pattern_id="kip848.member_fenced",
        kind=Kind.MEMBER_FENCED,
        regex=rf"Member {_MEMBER} fenced from the group because (?P<reason>.+?(?: within (?P<took_ms>\d+)ms)?)\.$",
        source=f"{_SOURCE} scheduleConsumerGroupSessionTimeout, scheduleConsumerGroupRebalanceTimeout",
    ),
)
