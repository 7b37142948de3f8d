"""Assigned and revoked partitions, and KIP-848 membership, by a Java consumer's own log (Kafka 2.4-4.2)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD

_PARTITION_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker",
    "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
    "org.apache.kafka.clients.consumer.internals.MembershipManagerImpl",
)
_MEMBERSHIP_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
    "org.apache.kafka.clients.consumer.internals.MembershipManagerImpl",
)
_HEARTBEAT_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager",
    "org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager",
)
_PACKAGE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals"
_INVOKER_SOURCE = f"{_PACKAGE}/ConsumerRebalanceListenerInvoker.java"
_MEMBERSHIP_SOURCE = f"{_PACKAGE}/AbstractMembershipManager.java"
_HEARTBEAT_SOURCE = f"{_PACKAGE}/AbstractHeartbeatRequestManager.java"


PATTERNS = (
    Pattern(
        pattern_id="client.assigned",
        kind=Kind.CLIENT_ASSIGNED,
        loggers=_PARTITION_LOGGERS,
        contains=" newly assigned partitions",
        regex=CONSUMER_HEAD + r"(?:Adding|Setting) newly assigned partitions:? \[?(?P<detail>.*?)\]?$",
        versions="1.0-4.2",
        source=f"{_INVOKER_SOURCE} invokePartitionsAssigned",
    ),
    Pattern(
        pattern_id="client.revoked",
        kind=Kind.CLIENT_REVOKED,
        loggers=_PARTITION_LOGGERS,
        contains=" previously assigned partitions ",
        regex=CONSUMER_HEAD + r"Revok(?:e|ing) previously assigned partitions \[?(?P<detail>.*?)\]?$",
        versions="1.0-4.2",
        source=f"{_INVOKER_SOURCE} invokePartitionsRevoked",
    ),
    Pattern(
        pattern_id="client.lost",
        kind=Kind.CLIENT_LOST,
        loggers=_PARTITION_LOGGERS,
        contains="Lost previously assigned partitions ",
        regex=CONSUMER_HEAD + r"Lost previously assigned partitions \[?(?P<detail>.*?)\]?$",
        versions="2.4-4.2",
        source=f"{_INVOKER_SOURCE} invokePartitionsLost",
    ),
    Pattern(
        pattern_id="client.state_changed",
        kind=Kind.CLIENT_STATE_CHANGED,
        loggers=_MEMBERSHIP_LOGGERS,
        contains=" transitioned from ",
        regex=CONSUMER_HEAD
        + r"Member (?P<member_id>\S+) with epoch (?P<generation>-?\d+) transitioned from (?P<previous_state>\w+) to (?P<state>\w+)\.$",
        versions="3.7-4.2",
        source=f"{_MEMBERSHIP_SOURCE} transitionTo",
    ),
    Pattern(
        pattern_id="client.releasing",
        kind=Kind.CLIENT_RELEASING,
        loggers=_MEMBERSHIP_LOGGERS,
        contains=" is triggering callbacks to release assignment ",
        regex=CONSUMER_HEAD
        + r"Member (?P<member_id>\S+) is triggering callbacks to release assignment \[?(?P<detail>.*?)\]? and leave group$",
        versions="3.9-4.2",
        source=f"{_PACKAGE}/ConsumerMembershipManager.java signalMemberLeavingGroup",
    ),
    Pattern(
        pattern_id="client.kip848_poll_expired",
        kind=Kind.CLIENT_POLL_EXPIRED,
        loggers=_HEARTBEAT_LOGGERS,
        contains="onsumer poll timeout has expired. This means ",
        regex=CONSUMER_HEAD + r"[cC]onsumer poll timeout has expired\. This means the time between .*$",
        versions="3.7-4.2",
        source=f"{_HEARTBEAT_SOURCE} poll",
    ),
    Pattern(
        pattern_id="client.poll_exceeded",
        kind=Kind.CLIENT_POLL_EXCEEDED,
        loggers=_HEARTBEAT_LOGGERS,
        contains=" exceeded approximately by ",
        regex=CONSUMER_HEAD
        + r"Time between subsequent calls to poll\(\) was longer than the configured max\.poll\.interval\.ms, "
        r"exceeded approximately by (?P<took_ms>\d+) ms\. Member (?P<member_id>\S+) will rejoin the group now\.$",
        versions="3.8-4.2",
        source=f"{_HEARTBEAT_SOURCE} resetPollTimer",
    ),
    Pattern(
        pattern_id="client.kip848_instance_fenced",
        kind=Kind.CLIENT_INSTANCE_FENCED,
        loggers=_HEARTBEAT_LOGGERS,
        contains=" instance id ",
        regex=CONSUMER_HEAD
        + r"\w+ failed due to (?:(?:unreleased|fenced) instance id .+?|the instance id .+? was not released): (?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_PACKAGE}/ConsumerHeartbeatRequestManager.java handleSpecificExceptionAndErrorInResponse",
    ),
    Pattern(
        pattern_id="client.heartbeat_error",
        kind=Kind.CLIENT_HEARTBEAT_ERROR,
        loggers=_HEARTBEAT_LOGGERS,
        contains="Heartbeat",
        regex=CONSUMER_HEAD + r"\w*Heartbeat(?:Request)? failed (?:for member (?P<member_id>\S+) (?:with state \S+ )?)?"
        r"(?:because|due to)(?! (?:the|fenced|unreleased) instance id )(?: of)? (?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_HEARTBEAT_SOURCE} onErrorResponse",
    ),
)
