"""How a classic Java consumer joins its group, leaves it or is removed, by its own log (Kafka 1.0-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD, COORDINATOR_LOGGERS, MEMBER

_GENERATION = (
    r"Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='(?P<assignor>[^']*)'\}"
)
_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractCoordinator.java"
_CONSUMER_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerCoordinator.java"
_line = partial(Pattern, loggers=COORDINATOR_LOGGERS, head=CONSUMER_HEAD)


PATTERNS = (
    _line(
        pattern_id="client.joining",
        kind=Kind.CLIENT_JOINING,
        regex=r"\(Re-\)joining group$",
        versions="2.0-4.4",
        source=f"{_SOURCE} sendJoinGroupRequest",
    ),
    _line(
        pattern_id="client.join_requested",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"Request joining group due to: (?P<reason>.+)$",
        versions="3.0-4.4",
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
        versions="2.7-4.4",
        source=f"{_SOURCE} JoinGroupResponseHandler",
    ),
    _line(
        pattern_id="client.synced",
        kind=Kind.CLIENT_SYNCED,
        regex=rf"Successfully synced group in generation {_GENERATION}$",
        versions="2.7-4.4",
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
        versions="2.4-4.4",
        source=f"{_CONSUMER_SOURCE} onLeaderElected",
    ),
    _line(
        pattern_id="client.leaving",
        kind=Kind.CLIENT_LEAVING,
        regex=rf"(?:Member (?P<member_id>{MEMBER}) s|S)ending LeaveGroup request to coordinator \S+ \(id: \+?\d+ rack: [^)]*\)"
        r"(?: due to (?P<client_reason>(?!consumer poll timeout has expired\. This means ).*))?$",
        versions="2.4-4.4",
        source=f"{_SOURCE} maybeLeaveGroup",
    ),
    _line(
        pattern_id="client.leaving_late",
        kind=Kind.CLIENT_POLL_EXPIRED,
        regex=rf"Member (?P<member_id>{MEMBER}) sending LeaveGroup request to coordinator \S+ \(id: \+?\d+ rack: [^)]*\)"
        r" due to (?P<client_reason>consumer poll timeout has expired\. This means .*)$",
        versions="2.4-2.8",
        source=f"{_SOURCE} HeartbeatThread",
    ),
    _line(
        pattern_id="client.poll_expired",
        kind=Kind.CLIENT_POLL_EXPIRED,
        regex=r"(?:This member will leave the group because )?consumer poll timeout has expired\. This means the time between .*$",
        versions="2.1-4.4",
        source=f"{_SOURCE} handlePollTimeoutExpiry",
    ),
    _line(
        pattern_id="client.heartbeat_refused",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=rf"Attempt to heartbeat with (?:stale )?{_GENERATION} and group instance id \S+ failed due to (?P<error>\w+), (?P<detail>.*)$",
        versions="2.6-4.4",
        source=f"{_SOURCE} HeartbeatResponseHandler",
    ),
    _line(
        pattern_id="client.heartbeat_of_stranger",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=r"Attempt to heartbeat failed for since member id (?P<member_id>.+) is not valid\.$",
        versions="2.0-2.5",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        constants={"error": "UNKNOWN_MEMBER_ID"},
    ),
    _line(
        pattern_id="client.heartbeat_of_old_generation",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=r"Attempt to heartbeat failed since generation (?P<generation>\d+) is not current\.?$",
        versions="2.0-2.5",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        constants={"error": "ILLEGAL_GENERATION"},
    ),
    _line(
        pattern_id="client.heartbeat_misdirected",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=r"Attempt to heartbeat failed since coordinator \S+ \(id: \+?(?P<node>\d+) rack: [^)]*\) (?P<error>is either not started or not valid)\.?$",
        versions="2.0-4.4",
        source=f"{_SOURCE} HeartbeatResponseHandler",
    ),
    _line(
        pattern_id="client.generation_reset",
        kind=Kind.CLIENT_GENERATION_RESET,
        regex=r"Resetting generation (?:and member id )?due to: (?P<reason>.+)$",
        versions="3.0-4.4",
        source=f"{_SOURCE} resetStateAndGeneration",
    ),
    _line(
        pattern_id="client.instance_fenced",
        kind=Kind.CLIENT_INSTANCE_FENCED,
        regex=rf"\w+ failed: The group instance id \S+ has been fenced by another instance\. Sent generation was {_GENERATION}$",
        versions="2.7-4.4",
        source=f"{_SOURCE} JoinGroupResponseHandler, SyncGroupResponseHandler",
    ),
    _line(
        pattern_id="client.instance_fenced_meanwhile",
        kind=Kind.CLIENT_INSTANCE_FENCED,
        regex=r"(?:Caught fenced group\.instance\.id .* error in heartbeat thread|Received fatal exception: group\.instance\.id gets fenced"
        r"|(?:Attempt to join group|SyncGroup) with .* failed because the group instance id .* has been fenced by another instance"
        r"|OffsetCommit failed with .* due to group instance id .* fenced)$",
        versions="2.3-4.4",
        source=f"{_SOURCE} HeartbeatResponseHandler, JoinGroupResponseHandler; ConsumerCoordinator.java OffsetCommitResponseHandler",
    ),
)
