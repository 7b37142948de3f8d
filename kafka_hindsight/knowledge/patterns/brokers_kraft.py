"""The life of a KRaft broker, by its own lines (Kafka 2.8-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import LIFECYCLE_HEAD

_KRAFT_LOGGERS = ("kafka.server.BrokerServer",)
_LIFECYCLE_LOGGERS = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")
_KRAFT = r"^\[BrokerServer id=\d+\] "
_KRAFT_SOURCE = "core/src/main/scala/kafka/server/BrokerServer.scala"
_LIFECYCLE_SOURCE = "core/src/main/scala/kafka/server/BrokerLifecycleManager.scala"
_line_of_kraft = partial(Pattern, loggers=_KRAFT_LOGGERS, head=_KRAFT, versions="2.8-4.4")
_line_of_lifecycle = partial(Pattern, loggers=_LIFECYCLE_LOGGERS, head=LIFECYCLE_HEAD, versions="2.8-4.4")


PATTERNS = (
    _line_of_kraft(
        pattern_id="kraft.broker_starting",
        kind=Kind.BROKER_STARTING,
        regex="Transition from SHUTDOWN to STARTING$",
        source=f"{_KRAFT_SOURCE} startup",
    ),
    _line_of_kraft(
        pattern_id="kraft.broker_started",
        kind=Kind.BROKER_STARTED,
        regex="Transition from STARTING to STARTED$",
        source=f"{_KRAFT_SOURCE} startup",
    ),
    _line_of_kraft(
        pattern_id="kraft.broker_leaves",
        kind=Kind.BROKER_SHUTDOWN_STARTED,
        regex="Transition from STARTED to SHUTTING_DOWN$",
        source=f"{_KRAFT_SOURCE} maybeChangeStatus: the first line of a shutdown",
    ),
    _line_of_kraft(
        pattern_id="kraft.broker_shutdown_started",
        kind=Kind.BROKER_SHUTDOWN_STARTED,
        regex="shutting down$",
        source=f"{_KRAFT_SOURCE} shutdown",
    ),
    _line_of_kraft(
        pattern_id="kraft.broker_stopped",
        kind=Kind.BROKER_STOPPED,
        regex="shut down completed$",
        source=f"{_KRAFT_SOURCE} shutdown",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.controlled_shutdown_started",
        kind=Kind.CONTROLLED_SHUTDOWN_STARTED,
        regex=r"Beginning controlled shutdown\.$",
        source=f"{_LIFECYCLE_SOURCE} BeginControlledShutdownEvent",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.controlled_shutdown_done",
        kind=Kind.CONTROLLED_SHUTDOWN_DONE,
        regex=r"The control(?:ler|led) has asked us to exit controlled shutdown\.$",
        source=f"{_LIFECYCLE_SOURCE} BrokerHeartbeatResponseEvent",
    ),
    Pattern(
        pattern_id="kraft.controlled_shutdown_failed",
        kind=Kind.CONTROLLED_SHUTDOWN_FAILED,
        loggers=(*_KRAFT_LOGGERS, "kafka.server.KafkaServer"),
        regex=r"^\[\w+ id=\d+\] (?:Timed out waiting for the controller to approve controlled shutdown"
        r"|Got unexpected exception waiting for controlled shutdown future)$",
        versions="2.8-4.4",
        source=f"{_KRAFT_SOURCE} shutdown",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.broker_registered",
        kind=Kind.BROKER_REGISTERED,
        regex=r"Successfully registered broker (?P<node>\d+) with broker epoch (?P<detail>\d+)$",
        source=f"{_LIFECYCLE_SOURCE} BrokerRegistrationResponseEvent",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.registration_refused",
        kind=Kind.BROKER_REGISTRATION_REFUSED,
        regex=r"Unable to register broker (?P<node>\d+) because (?:the controller returned error |of an )"
        r"(?P<error>\w+|authentication exception)\.?$",
        source=f"{_LIFECYCLE_SOURCE} BrokerRegistrationResponseEvent",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.broker_unfenced_self",
        kind=Kind.BROKER_UNFENCED_SELF,
        regex=r"The broker has been unfenced\. Transitioning from RECOVERY to RUNNING\.$",
        source=f"{_LIFECYCLE_SOURCE} BrokerHeartbeatResponseEvent",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.broker_heartbeat_failed",
        kind=Kind.BROKER_HEARTBEAT_FAILED,
        regex=r"(?:Unable to send (?:a|broker) heartbeat .*|Broker \d+ sent a heartbeat request but received error (?P<error>\w+)\.)$",
        source=f"{_LIFECYCLE_SOURCE} BrokerHeartbeatTimeoutEvent, BrokerHeartbeatResponseEvent",
    ),
    _line_of_lifecycle(
        pattern_id="kraft.cluster_named_by_broker",
        kind=Kind.CLUSTER_NAMED,
        # 3.7 prints the optional id as it is.
        regex=r"Incarnation \S+ of broker \d+ in cluster (?:Some\()?(?P<detail>[\w-]+)\)? is now STARTING\.$",
        source=f"{_LIFECYCLE_SOURCE} StartupEvent",
    ),
)
