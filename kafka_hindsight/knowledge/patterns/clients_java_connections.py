"""Coordinator, commits and connections of a Java consumer, by its own log (Kafka 2.0-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import (
    CLIENT_HEAD,
    CONSUMER_HEAD,
    COORDINATOR_LOGGERS,
    TOPIC_PARTITION,
    UNKNOWN_HOST,
)

_REQUEST_LOGGERS = ("org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager",)
_COMMIT_LOGGERS = ("org.apache.kafka.clients.consumer.internals.CommitRequestManager",)
_NETWORK_LOGGERS = ("org.apache.kafka.clients.NetworkClient",)
_FETCH_LOGGERS = tuple(
    f"org.apache.kafka.clients.consumer.internals.{name}" for name in ("FetchCollector", "AbstractFetch", "Fetcher")
)
_CLIENTS = "clients/src/main/java/org/apache/kafka/clients"
_SOURCE = f"{_CLIENTS}/consumer/internals/AbstractCoordinator.java"
_line = partial(Pattern, loggers=COORDINATOR_LOGGERS, head=CONSUMER_HEAD, versions="2.0-4.4")
_line_of_commits = partial(Pattern, loggers=_COMMIT_LOGGERS, head=CONSUMER_HEAD, versions="3.7-4.4")
_line_of_network = partial(Pattern, loggers=_NETWORK_LOGGERS, head=CONSUMER_HEAD, versions="2.0-4.4")
_line_of_any = partial(Pattern, loggers=_NETWORK_LOGGERS, head=CLIENT_HEAD, versions="2.0-4.4")


PATTERNS = (
    _line(
        pattern_id="client.coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        regex=r"Discovered group coordinator \S+ \(id: \+?(?P<node>\d+) rack: .*\)$",
        source=f"{_SOURCE} FindCoordinatorResponseHandler",
    ),
    _line_of_commits(
        pattern_id="client.kip848_coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        loggers=_REQUEST_LOGGERS,
        regex=r"Discovered group coordinator Coordinator\(key='.{0,255}?', nodeId=(?P<node>\d+), host=.*\)$",
        source=f"{_CLIENTS}/consumer/internals/CoordinatorRequestManager.java onSuccessfulResponse",
    ),
    _line(
        pattern_id="client.coordinator_lost",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        loggers=(*COORDINATOR_LOGGERS, *_REQUEST_LOGGERS),
        regex=r"Group coordinator \S+ \(id: \+?(?P<node>\d+) rack: [^)]*\) is unavailable or invalid"
        r"(?: due to cause: (?P<reason>.*?)\.(?: ?isDisconnected: (?P<detail>true|false)\.)? Rediscovery will be attempted\.|, will attempt rediscovery)$",
        source=f"{_SOURCE} markCoordinatorUnknown; {_CLIENTS}/consumer/internals/CoordinatorRequestManager.java markCoordinatorUnknown",
    ),
    Pattern(
        pattern_id="client.coordinator_long_gone",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        loggers=(*COORDINATOR_LOGGERS, *_REQUEST_LOGGERS),
        regex=CONSUMER_HEAD
        + r"Consumer has been (?P<reason>disconnected from the group coordinator) for (?P<took_ms>\d+)ms$",
        versions="2.8-4.4",
        source=f"{_SOURCE} timeSinceLastHeartbeat",
    ),
    _line(
        pattern_id="client.commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=r"OffsetCommit failed with Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='[^']*'\}: (?P<error>.+)$",
        versions="2.6-4.4",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java OffsetCommitResponseHandler",
    ),
    _line(
        pattern_id="client.commit_refused",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=r"Failing OffsetCommit request since (?P<error>the consumer is not part of an active group)$",
        versions="2.3-4.4",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java sendOffsetCommitRequest",
    ),
    _line(
        pattern_id="client.partition_commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=(*COORDINATOR_LOGGERS, *_COMMIT_LOGGERS),
        regex=rf"Offset ?[cC]ommit failed on partition (?P<detail>{TOPIC_PARTITION} (?:at|for) offset (?P<log_offset>\d+)): (?P<error>.+)$",
        plain={"detail": {" (?:at|for) offset ": "="}},
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java OffsetCommitResponseHandler",
    ),
    _line_of_commits(
        pattern_id="client.kip848_commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=r"OffsetCommit (?:failed (?:for member (?P<member_id>\S+) )?(?:with|due to) |(?=timeout expired ))(?P<error>.+)$",
        source=f"{_CLIENTS}/consumer/internals/CommitRequestManager.java OffsetCommitRequestState",
    ),
    _line_of_network(
        pattern_id="client.disconnected",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=r"Node \+?(?P<node>-?\d+) disconnected\.$",
        versions="3.1-4.4",
        source=f"{_CLIENTS}/NetworkClient.java handleDisconnections",
    ),
    _line_of_network(
        pattern_id="client.connection_refused",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=r"Connection to node \+?(?P<node>-?\d+)(?: \([^)]*\))? "
        r"(?P<detail>could not be established|terminated during authentication)\. .*$",
        source=f"{_CLIENTS}/NetworkClient.java processDisconnection",
    ),
    _line_of_network(
        pattern_id="client.request_cancelled",
        kind=Kind.CLIENT_REQUEST_CANCELLED,
        regex=r"Cancelled in-flight (?P<detail>[A-Z_]+) request with correlation id \d+ due to node \+?(?P<node>-?\d+) being"
        r" disconnected \(elapsed time since creation: \d+ms, elapsed time since send: (?P<took_ms>\d+)ms,"
        r"(?: throttle time: \d+ms,)? (?P<reason>request timeout: \d+ms)\)$",
        versions="3.1-4.4",
        source=f"{_CLIENTS}/NetworkClient.java cancelInFlightRequests",
    ),
    _line_of_any(
        pattern_id="client.not_authenticated",
        kind=Kind.CLIENT_NOT_AUTHENTICATED,
        regex=r"Connection to node \+?(?P<node>-?\d+) (?:\([^)]*\) )?failed authentication due to: (?P<error>.*)$",
        source=f"{_CLIENTS}/NetworkClient.java processDisconnection",
    ),
    _line_of_any(
        pattern_id="client.throttled",
        kind=Kind.CLIENT_THROTTLED,
        regex=r"Connection to node \+?(?P<node>-?\d+) is throttled for (?P<took_ms>\d+) ms until timestamp \d+$",
        versions="2.0-4.3 at TRACE, 4.4 at WARN",
        source=f"{_CLIENTS}/NetworkClient.java maybeThrottle",
    ),
    _line_of_any(
        pattern_id="client.connect_failed",
        kind=Kind.CLIENT_CONNECT_FAILED,
        regex=r"Error connecting to node (?P<host>[^\s:]+):\d+ \(id: \+?(?P<node>-?\d+) rack: [^)]*\)"
        r"(?:\n(?P<error>[^\s:]+).*)?$",
        reads_trace=True,
        source=f"{_CLIENTS}/NetworkClient.java initiateConnect",
    ),
    Pattern(
        pattern_id="client.bootstrap_unknown",
        kind=Kind.CLIENT_CONNECT_FAILED,
        constants={"error": UNKNOWN_HOST},
        loggers=("org.apache.kafka.clients.ClientUtils",),
        regex=r"^Couldn't resolve server \S+ from bootstrap\.servers as DNS resolution (?:of the canonical hostname \S+ )?"
        r"failed for (?P<host>\S+)$",
        versions="2.1-4.3",
        source=f"{_CLIENTS}/ClientUtils.java parseAndValidateAddresses",
    ),
    _line_of_any(
        pattern_id="client.topic_denied",
        kind=Kind.CLIENT_ACCESS_DENIED,
        loggers=("org.apache.kafka.clients.Metadata",),
        regex=r"(?P<error>Topic authorization failed for topics \[.*\])$",
        source=f"{_CLIENTS}/Metadata.java checkUnauthorizedTopics",
    ),
    _line_of_any(
        pattern_id="client.fetch_denied",
        kind=Kind.CLIENT_ACCESS_DENIED,
        loggers=_FETCH_LOGGERS,
        regex=r"(?P<error>Not authorized to read from partition \S{1,249}-\d+)\.$",
        source=f"{_CLIENTS}/consumer/internals/FetchCollector.java handleInitializeErrors; 3.5-3.6 AbstractFetch.java, until 3.4 Fetcher.java",
    ),
    _line_of_network(
        pattern_id="client.request_timed_out",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=r"Disconnecting from node \+?(?P<node>-?\d+) due to "
        r"(?P<detail>\w*\s?request timeout|socket connection setup timeout)\.(?: The timeout value is \d+ ms\.)?$",
        versions="2.4-4.4",
        source=f"{_CLIENTS}/NetworkClient.java handleTimedOutRequests",
    ),
)
