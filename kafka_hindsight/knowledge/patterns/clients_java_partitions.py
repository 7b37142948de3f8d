"""Assigned and revoked partitions, and KIP-848 membership, by a Java consumer's own log (Kafka 2.4-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD

_MEMBERSHIP_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
    "org.apache.kafka.clients.consumer.internals.MembershipManagerImpl",
)
_PARTITION_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker",
    *_MEMBERSHIP_LOGGERS,
)
_HEARTBEAT_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager",
    "org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager",
)
_PACKAGE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals"
_INVOKER_SOURCE = f"{_PACKAGE}/ConsumerRebalanceListenerInvoker.java"
_MEMBERSHIP_SOURCE = f"{_PACKAGE}/AbstractMembershipManager.java"
_HEARTBEAT_SOURCE = f"{_PACKAGE}/AbstractHeartbeatRequestManager.java"
_line_of_partitions = partial(Pattern, loggers=_PARTITION_LOGGERS, head=CONSUMER_HEAD, versions="1.0-4.4")
_line_of_membership = partial(Pattern, loggers=_MEMBERSHIP_LOGGERS, head=CONSUMER_HEAD, versions="3.7-4.4")
_line_of_heartbeat = partial(Pattern, loggers=_HEARTBEAT_LOGGERS, head=CONSUMER_HEAD, versions="3.7-4.4")


PATTERNS = (
    _line_of_partitions(
        pattern_id="client.assigned",
        kind=Kind.CLIENT_ASSIGNED,
        regex=r"(?:Adding|Setting) newly assigned partitions:? \[?(?P<detail>.*?)\]?$",
        source=f"{_INVOKER_SOURCE} invokePartitionsAssigned",
    ),
    _line_of_partitions(
        pattern_id="client.revoked",
        kind=Kind.CLIENT_REVOKED,
        regex=r"Revok(?:e|ing) previously assigned partitions \[?(?P<detail>.*?)\]?$",
        source=f"{_INVOKER_SOURCE} invokePartitionsRevoked",
    ),
    _line_of_partitions(
        pattern_id="client.lost",
        kind=Kind.CLIENT_LOST,
        regex=r"Lost previously assigned partitions \[?(?P<detail>.*?)\]?$",
        versions="2.4-4.4",
        source=f"{_INVOKER_SOURCE} invokePartitionsLost",
    ),
    _line_of_membership(
        pattern_id="client.state_changed",
        kind=Kind.CLIENT_STATE_CHANGED,
        regex=r"Member (?P<member_id>\S+) with epoch (?P<generation>-?\d+) transitioned from (?P<previous_state>\w+) to (?P<state>\w+)\.$",
        source=f"{_MEMBERSHIP_SOURCE} transitionTo",
    ),
    _line_of_membership(
        pattern_id="client.releasing",
        kind=Kind.CLIENT_RELEASING,
        regex=r"Member (?P<member_id>\S+) is triggering callbacks to release assignment \[?(?P<detail>.*?)\]? and leave group$",
        versions="3.9-4.4",
        source=f"{_PACKAGE}/ConsumerMembershipManager.java signalMemberLeavingGroup",
    ),
    _line_of_heartbeat(
        pattern_id="client.kip848_poll_expired",
        kind=Kind.CLIENT_POLL_EXPIRED,
        regex=r"[cC]onsumer poll timeout has expired\. This means the time between .*$",
        source=f"{_HEARTBEAT_SOURCE} poll",
    ),
    _line_of_heartbeat(
        pattern_id="client.poll_exceeded",
        kind=Kind.CLIENT_POLL_EXCEEDED,
        regex=r"Time between subsequent calls to poll\(\) was longer than the configured max\.poll\.interval\.ms, "
        r"exceeded approximately by (?P<took_ms>\d+) ms\. Member (?P<member_id>\S+) will rejoin the group now\.$",
        versions="3.8-4.4",
        source=f"{_HEARTBEAT_SOURCE} resetPollTimer",
    ),
    _line_of_heartbeat(
        pattern_id="client.kip848_instance_fenced",
        kind=Kind.CLIENT_INSTANCE_FENCED,
        regex=r"\w+ failed due to (?:(?:unreleased|fenced) instance id .+?|the instance id .+? was not released): (?P<error>.+)$",
        source=f"{_PACKAGE}/ConsumerHeartbeatRequestManager.java handleSpecificExceptionAndErrorInResponse",
    ),
    _line_of_heartbeat(
        pattern_id="client.heartbeat_error",
        kind=Kind.CLIENT_HEARTBEAT_ERROR,
        regex=r"\w*Heartbeat(?:Request)? failed (?:for member (?P<member_id>\S+) (?:with state \S+ )?)?"
        r"(?:because|due to)(?! (?:the|fenced|unreleased) instance id )(?: of)? (?P<error>.+)$",
        source=f"{_HEARTBEAT_SOURCE} onErrorResponse",
    ),
)
