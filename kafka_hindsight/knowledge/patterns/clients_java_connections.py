"""Coordinator, commits and connections of a Java consumer, by its own log (Kafka 2.0-4.2)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD, TOPIC_PARTITION

_COORDINATOR_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
    "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator",
)
_REQUEST_LOGGERS = ("org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager",)
_COMMIT_LOGGERS = ("org.apache.kafka.clients.consumer.internals.CommitRequestManager",)
_NETWORK_LOGGERS = ("org.apache.kafka.clients.NetworkClient",)
_CLIENTS = "clients/src/main/java/org/apache/kafka/clients"
_SOURCE = f"{_CLIENTS}/consumer/internals/AbstractCoordinator.java"


PATTERNS = (
    Pattern(
        pattern_id="client.coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        loggers=_COORDINATOR_LOGGERS,
        contains="Discovered group coordinator ",
        regex=CONSUMER_HEAD + r"Discovered group coordinator \S+ \(id: (?P<node>\d+) rack: .*\)$",
        versions="2.0-4.2",
        source=f"{_SOURCE} FindCoordinatorResponseHandler",
    ),
    Pattern(
        pattern_id="client.kip848_coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        loggers=_REQUEST_LOGGERS,
        contains="Discovered group coordinator ",
        regex=CONSUMER_HEAD
        + r"Discovered group coordinator Coordinator\(key='.{0,255}?', nodeId=(?P<node>\d+), host=.*\)$",
        versions="3.7-4.2",
        source=f"{_CLIENTS}/consumer/internals/CoordinatorRequestManager.java onSuccessfulResponse",
    ),
    Pattern(
        pattern_id="client.coordinator_lost",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        loggers=(*_COORDINATOR_LOGGERS, *_REQUEST_LOGGERS),
        contains=" is unavailable or invalid",
        regex=CONSUMER_HEAD + r"Group coordinator \S+ \(id: (?P<node>\d+) rack: [^)]*\) is unavailable or invalid"
        r"(?: due to cause: (?P<reason>.*?)\.(?: ?isDisconnected: (?P<detail>true|false)\.)? Rediscovery will be attempted\.|, will attempt rediscovery)$",
        versions="2.0-4.2",
        source=f"{_SOURCE} markCoordinatorUnknown; {_CLIENTS}/consumer/internals/CoordinatorRequestManager.java markCoordinatorUnknown",
    ),
    Pattern(
        pattern_id="client.coordinator_long_gone",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        loggers=(*_COORDINATOR_LOGGERS, *_REQUEST_LOGGERS),
        contains="Consumer has been disconnected from the group coordinator for ",
        regex=CONSUMER_HEAD
        + r"Consumer has been (?P<reason>disconnected from the group coordinator) for (?P<took_ms>\d+)ms$",
        versions="2.8-4.2",
        source=f"{_SOURCE} timeSinceLastHeartbeat",
    ),
    Pattern(
        pattern_id="client.commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=_COORDINATOR_LOGGERS,
        contains="OffsetCommit failed with ",
        regex=CONSUMER_HEAD
        + r"OffsetCommit failed with Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='[^']*'\}: (?P<error>.+)$",
        versions="2.6-4.2",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java OffsetCommitResponseHandler",
    ),
    Pattern(
        pattern_id="client.commit_refused",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=_COORDINATOR_LOGGERS,
        contains="Failing OffsetCommit request since ",
        regex=CONSUMER_HEAD
        + r"Failing OffsetCommit request since (?P<error>the consumer is not part of an active group)$",
        versions="2.3-4.2",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java sendOffsetCommitRequest",
    ),
    Pattern(
        pattern_id="client.partition_commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=(*_COORDINATOR_LOGGERS, *_COMMIT_LOGGERS),
        contains="Offset commit failed on partition ",
        regex=CONSUMER_HEAD
        + rf"Offset commit failed on partition {TOPIC_PARTITION} at offset (?P<log_offset>\d+): (?P<error>.+)$",
        versions="2.0-4.2",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java OffsetCommitResponseHandler",
    ),
    Pattern(
        pattern_id="client.kip848_commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=_COMMIT_LOGGERS,
        contains="OffsetCommit ",
        regex=CONSUMER_HEAD
        + r"OffsetCommit (?:failed (?:for member (?P<member_id>\S+) )?(?:with|due to) |(?=timeout expired ))(?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_CLIENTS}/consumer/internals/CommitRequestManager.java OffsetCommitRequestState",
    ),
    Pattern(
        pattern_id="client.disconnected",
        kind=Kind.CLIENT_DISCONNECTED,
        loggers=_NETWORK_LOGGERS,
        contains=" disconnected.",
        regex=CONSUMER_HEAD + r"Node (?P<node>-?\d+) disconnected\.$",
        versions="3.1-4.2",
        source=f"{_CLIENTS}/NetworkClient.java handleDisconnections",
    ),
    Pattern(
        pattern_id="client.connection_refused",
        kind=Kind.CLIENT_DISCONNECTED,
        loggers=_NETWORK_LOGGERS,
        contains="Connection to node ",
        regex=CONSUMER_HEAD + r"Connection to node (?P<node>-?\d+)(?: \([^)]*\))? "
        r"(?P<detail>could not be established|terminated during authentication|failed authentication)(?:\. .*| due to: .*)$",
        versions="2.0-4.2",
        source=f"{_CLIENTS}/NetworkClient.java processDisconnection",
    ),
    Pattern(
        pattern_id="client.request_timed_out",
        kind=Kind.CLIENT_DISCONNECTED,
        loggers=_NETWORK_LOGGERS,
        contains="Disconnecting from node ",
        regex=CONSUMER_HEAD + r"Disconnecting from node (?P<node>-?\d+) due to "
        r"(?P<detail>\w*\s?request timeout|socket connection setup timeout)\.(?: The timeout value is \d+ ms\.)?$",
        versions="2.4-4.2",
        source=f"{_CLIENTS}/NetworkClient.java handleTimedOutRequests",
    ),
)
