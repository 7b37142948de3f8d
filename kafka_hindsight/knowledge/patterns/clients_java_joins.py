"""How a classic Java consumer joins its group, by its own log (Kafka 2.0-4.2)."""

from functools import partial

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD

_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
    "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator",
)
_GENERATION = (
    r"Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='(?P<assignor>[^']*)'\}"
)
_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractCoordinator.java"
_CONSUMER_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerCoordinator.java"
_line = partial(Pattern, loggers=_LOGGERS, head=CONSUMER_HEAD)


PATTERNS = (
    _line(
        pattern_id="client.joining",
        kind=Kind.CLIENT_JOINING,
        regex=r"\(Re-\)joining group$",
        versions="2.0-4.2",
        source=f"{_SOURCE} sendJoinGroupRequest",
    ),
    _line(
        pattern_id="client.join_requested",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"Request joining group due to: (?P<reason>.+)$",
        versions="3.0-4.2",
        source=f"{_SOURCE} requestRejoin",
    ),
    _line(
        pattern_id="client.join_requested_over_metadata",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"(?P<reason>Requesting to re-join the group and trigger rebalance since .+)$",
        versions="2.7-2.8",
        source=f"{_CONSUMER_SOURCE} rejoinNeededOrPending",
    ),
    _line(
        pattern_id="client.join_requested_to_revoke",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"(?P<reason>Need to revoke partitions \[.*\] and re-join the group)$",
        versions="2.4-2.8",
        source=f"{_CONSUMER_SOURCE} onJoinComplete",
    ),
    _line(
        pattern_id="client.join_requested_by_heartbeat",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"Attempt to heartbeat failed since group is rebalancing$",
        versions="2.0-2.8",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        # In the words of 3.0 and later for the same thing.
        constants={"reason": "group is already rebalancing"},
    ),
    _line(
        pattern_id="client.joined",
        kind=Kind.CLIENT_JOINED,
        regex=rf"Successfully joined group with generation {_GENERATION}$",
        versions="2.7-4.2",
        source=f"{_SOURCE} JoinGroupResponseHandler",
    ),
    _line(
        pattern_id="client.synced",
        kind=Kind.CLIENT_SYNCED,
        regex=rf"Successfully synced group in generation {_GENERATION}$",
        versions="2.7-4.2",
        source=f"{_SOURCE} SyncGroupResponseHandler",
    ),
    _line(
        # Until 2.5 this line follows the response to SyncGroup, not to JoinGroup.
        pattern_id="client.joined_and_synced",
        kind=Kind.CLIENT_SYNCED,
        regex=r"Successfully joined group with generation (?P<generation>\d+)$",
        versions="1.0-2.5",
        source=f"{_SOURCE} joinGroupIfNeeded",
    ),
    _line(
        pattern_id="client.assignment_finished",
        kind=Kind.CLIENT_ASSIGNMENT_FINISHED,
        regex=r"Finished assignment for group at generation (?P<generation>\d+): (?P<detail>.*)$",
        versions="2.4-4.2",
        source=f"{_CONSUMER_SOURCE} onLeaderElected",
    ),
)
