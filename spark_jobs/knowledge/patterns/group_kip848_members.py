"""Members of KIP-848 groups as the Java coordinator tells them (Kafka 3.7-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER, INSTANCE, JAVA_HEAD, MEMBER, captured, made

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_GROUP = JAVA_HEAD + r"\[GroupId (?P<group_id>.{1,255}?)\] "
# A client chooses its id (base64 of a uuid in all clients seen); a classic client inside the group has a classic one.
_MEMBER = rf"(?P<member_id>\S+|{MEMBER})"
_INSTANCE = rf"(?P<instance_id>{INSTANCE})"
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"

_A_JOIN = "[2026-11-21 01:46:05,171] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member IF9u91ErTnivIe8vNKWFHQ joins the consumer group using the consumer protocol. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_LEAVE = "[2026-11-21 01:46:15,379] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member XpVYuptgSeSDqwjPGx41Ew left the consumer group. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_CLASSIC_LEAVE = "[2026-11-21 01:42:57,367] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] [Group geo-py-5] Member geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee has left group through explicit `LeaveGroup` request; client reason: not provided (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_FENCE = "[2026-11-21 01:47:08,865] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member zzjkQj_MRce186K6U2x0Aw fenced from the group because the member session expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_TARGET = "[2026-11-21 01:46:05,190] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Computed a new target assignment for epoch 1 with 'uniform' assignor in 6ms. (org.apache.kafka.coordinator.group.GroupMetadataManager)"

PATTERNS = (
    Pattern(
        pattern_id="kip848.member_joined",
        kind="member_joined",
        loggers=_LOGGERS,
        contains=" joins the consumer group",
        regex=_GROUP + rf"(?:Static m|M)ember {_MEMBER}(?: with instance id {_INSTANCE})? joins the consumer group"
        r"(?: using the (?P<protocol>\w+) protocol)?\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} getOrMaybeSubscribeDynamicConsumerMember, getOrMaybeSubscribeStaticConsumerMember",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:05,171] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member IF9u91ErTnivIe8vNKWFHQ joins the consumer group using the consumer protocol. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                member_id="IF9u91ErTnivIe8vNKWFHQ",
                protocol="consumer",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:01,219] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Static member Yk1pQmFyUzGqH3vE0cXw2A with instance id orders-svc-0 joins the consumer group using the consumer protocol. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                instance_id="orders-svc-0",
                protocol="consumer",
            ),
            made(
                "4.1",
                "[2026-11-21 01:46:05,171] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId a] Member b joins] Member IF9u91ErTnivIe8vNKWFHQ joins the consumer group using the consumer protocol. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="a] Member b joins",
                member_id="IF9u91ErTnivIe8vNKWFHQ",
                protocol="consumer",
            ),
        ),
        counter_samples=(_A_LEAVE, _A_FENCE),
    ),
    Pattern(
        pattern_id="kip848.static_member_returned",
        kind="static_member_returned",
        loggers=_LOGGERS,
        contains=" re-joins the consumer group",
        regex=_GROUP
        + rf"Static member with instance id {_INSTANCE} re-joins the consumer group(?: using the (?P<protocol>\w+) protocol)?\. "
        r"Created a new member (?P<member_id>\S+) to replace the existing member (?P<old_member_id>\S+)\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} getOrMaybeSubscribeStaticConsumerMember",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:01,356] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Static member with instance id orders-svc-0 re-joins the consumer group using the consumer protocol. Created a new member b7Vh0r3kTfC0mT9d2o5QxQ to replace the existing member Yk1pQmFyUzGqH3vE0cXw2A. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                instance_id="orders-svc-0",
                protocol="consumer",
                member_id="b7Vh0r3kTfC0mT9d2o5QxQ",
                old_member_id="Yk1pQmFyUzGqH3vE0cXw2A",
            ),
        ),
        counter_samples=(_A_JOIN,),
    ),
    Pattern(
        pattern_id="kip848.static_member_refused",
        kind="static_member_fenced",
        loggers=_LOGGERS,
        contains=" cannot join the group because the instance id is ",
        regex=_GROUP
        + rf"Static member {_MEMBER} with instance id {_INSTANCE} cannot join the group because the instance id is "
        r"(?:is )?owned by member \S+\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} throwIfInstanceIdIsUnreleased",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:01,493] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Static member b7Vh0r3kTfC0mT9d2o5QxQ with instance id orders-svc-0 cannot join the group because the instance id is owned by member Yk1pQmFyUzGqH3vE0cXw2A. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="b7Vh0r3kTfC0mT9d2o5QxQ",
                instance_id="orders-svc-0",
            ),
        ),
        counter_samples=(_A_JOIN,),
        constants={**CONSUMER, "detail": "join"},
    ),
    Pattern(
        pattern_id="kip848.static_member_fenced",
        kind="static_member_fenced",
        loggers=_LOGGERS,
        contains=" is fenced by existing member ",
        regex=_GROUP + rf"Static member {_MEMBER} with instance id {_INSTANCE} is fenced by existing member \S+\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} throwIfInstanceIdIsFenced",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:01,630] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Static member Yk1pQmFyUzGqH3vE0cXw2A with instance id orders-svc-0 is fenced by existing member b7Vh0r3kTfC0mT9d2o5QxQ. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                instance_id="orders-svc-0",
            ),
        ),
        counter_samples=(_A_FENCE,),
        constants={**CONSUMER, "detail": "heartbeat"},
    ),
    Pattern(
        pattern_id="kip848.member_left",
        kind="member_left",
        loggers=_LOGGERS,
        contains=" left the consumer group.",
        regex=_GROUP
        + rf"(?:Static [mM]|M)ember {_MEMBER}(?: with instance id {_INSTANCE})?(?<! temporarily) left the consumer group\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} consumerGroupLeave",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:15,379] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member XpVYuptgSeSDqwjPGx41Ew left the consumer group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                member_id="XpVYuptgSeSDqwjPGx41Ew",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:02,041] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Static member Yk1pQmFyUzGqH3vE0cXw2A with instance id orders-svc-0 left the consumer group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                instance_id="orders-svc-0",
            ),
        ),
        counter_samples=(_A_JOIN, _A_CLASSIC_LEAVE),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.static_member_paused",
        kind="static_member_paused",
        loggers=_LOGGERS,
        contains=" temporarily left the consumer group.",
        regex=_GROUP
        + rf"Static [mM]ember {_MEMBER} with instance id {_INSTANCE} temporarily left the consumer group\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} consumerGroupStaticMemberGroupLeave",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:01,904] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Static member Yk1pQmFyUzGqH3vE0cXw2A with instance id orders-svc-0 temporarily left the consumer group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                instance_id="orders-svc-0",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.classic_member_left",
        kind="member_left",
        loggers=_LOGGERS,
        contains=" has left group through explicit `LeaveGroup` request; client reason: ",
        regex=JAVA_HEAD
        + rf"\[Group(?:Id)? (?P<group_id>.{{1,255}}?)\] (?:Dynamic|Static) [mM]ember (?P<member_id>{MEMBER})(?: with instance id {_INSTANCE})? "
        r"has left group through explicit `LeaveGroup` request; client reason: (?P<client_reason>.*)$",
        versions="3.8-4.2",
        source=f"{_SOURCE} classicGroupLeaveToConsumerGroup",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,685] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Dynamic member consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                client_reason="the consumer is being closed",
            ),
        ),
        counter_samples=(_A_CLASSIC_LEAVE,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.member_fenced",
        kind="member_fenced",
        loggers=_LOGGERS,
        contains=" fenced from the group because ",
        regex=_GROUP
        + rf"Member {_MEMBER} fenced from the group because (?P<reason>.+?(?: within (?P<took_ms>\d+)ms)?)\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} scheduleConsumerGroupSessionTimeout, scheduleConsumerGroupRebalanceTimeout",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:47:08,865] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member zzjkQj_MRce186K6U2x0Aw fenced from the group because the member session expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                member_id="zzjkQj_MRce186K6U2x0Aw",
                reason="the member session expired",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:02,315] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Member Yk1pQmFyUzGqH3vE0cXw2A fenced from the group because it failed to transition from epoch 7 within 300000ms. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                reason="it failed to transition from epoch 7 within 300000ms",
                took_ms="300000",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.member_assignment_state",
        kind="member_assignment_state",
        loggers=_LOGGERS,
        contains=" new assignment state: epoch=",
        regex=_GROUP + rf"Member {_MEMBER} new assignment state: epoch=(?P<generation>-?\d+), previousEpoch=-?\d+, "
        r"state=(?P<state>\w+), assignedPartitions=(?P<detail>\[[^\]]*\] and revokedPartitions=\[[^\]]*\])\.$",
        versions="3.8-3.9",
        source=f"{_SOURCE} maybeReconcile",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:02,863] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Member Yk1pQmFyUzGqH3vE0cXw2A new assignment state: epoch=8, previousEpoch=7, state=STABLE, assignedPartitions=[4HkDZxRhQ9unLOl0w9cqWg-0, 4HkDZxRhQ9unLOl0w9cqWg-1] and revokedPartitions=[]. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                generation="8",
                state="STABLE",
                detail="[4HkDZxRhQ9unLOl0w9cqWg-0, 4HkDZxRhQ9unLOl0w9cqWg-1] and revokedPartitions=[]",
            ),
        ),
        counter_samples=(_A_TARGET,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.member_subscribed",
        kind="member_subscribed",
        loggers=_LOGGERS,
        contains=" updated its subscribed topics to: ",
        regex=_GROUP + rf"Member {_MEMBER} updated its subscribed topics to: \[?(?P<detail>.*?)\]?\.$",
        versions="3.7-3.9",
        source=f"{_SOURCE} hasMemberSubscriptionChanged",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:03,000] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Member Yk1pQmFyUzGqH3vE0cXw2A updated its subscribed topics to: [orders, payments]. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                detail="orders, payments",
            ),
        ),
        counter_samples=(_A_JOIN,),
        constants=CONSUMER,
    ),
)
