"""The life of a broker under ZooKeeper, by its own lines (Kafka 0.10-3.9)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern

_ZOOKEEPER_LOGGERS = ("kafka.server.KafkaServer",)
# Until 0.11: [Kafka Server 1], started
_ZOOKEEPER = r"^\[Kafka ?Server (?:id=)?\d+\],? "
# A broker that fails before it knows its id writes no head.
_ZOOKEEPER_START = r"^(?:\[Kafka ?Server (?:id=)?\d+\],? )?"
_ZOOKEEPER_SOURCE = "core/src/main/scala/kafka/server/KafkaServer.scala"
_line = partial(Pattern, loggers=_ZOOKEEPER_LOGGERS, head=_ZOOKEEPER, versions="0.10-3.9")
_line_of_start = partial(Pattern, loggers=_ZOOKEEPER_LOGGERS, head=_ZOOKEEPER_START, versions="0.10-3.9")


PATTERNS = (
    _line_of_start(
        pattern_id="zookeeper.broker_starting",
        kind=Kind.BROKER_STARTING,
        regex="starting$",
        source=f"{_ZOOKEEPER_SOURCE} startup",
    ),
    _line(
        pattern_id="zookeeper.broker_started",
        kind=Kind.BROKER_STARTED,
        regex="started$",
        source=f"{_ZOOKEEPER_SOURCE} startup",
    ),
    _line_of_start(
        pattern_id="zookeeper.broker_shutdown_started",
        kind=Kind.BROKER_SHUTDOWN_STARTED,
        regex="shutting down$",
        source=f"{_ZOOKEEPER_SOURCE} shutdown",
    ),
    _line(
        pattern_id="zookeeper.controlled_shutdown_started",
        kind=Kind.CONTROLLED_SHUTDOWN_STARTED,
        regex="Starting controlled shutdown$",
        source=f"{_ZOOKEEPER_SOURCE} controlledShutdown",
    ),
    _line(
        pattern_id="zookeeper.controlled_shutdown_done",
        kind=Kind.CONTROLLED_SHUTDOWN_DONE,
        regex=r"Controlled shutdown (?:succeeded|request returned successfully after (?P<took_ms>\d+)ms)$",
        source=f"{_ZOOKEEPER_SOURCE} doControlledShutdown",
    ),
    _line(
        pattern_id="zookeeper.controlled_shutdown_failed",
        kind=Kind.CONTROLLED_SHUTDOWN_FAILED,
        regex="Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed$",
        source=f"{_ZOOKEEPER_SOURCE} controlledShutdown",
    ),
    _line_of_start(
        pattern_id="zookeeper.broker_stopped",
        kind=Kind.BROKER_STOPPED,
        regex="shut down completed$",
        source=f"{_ZOOKEEPER_SOURCE} shutdown",
    ),
    Pattern(
        pattern_id="zookeeper.broker_registered",
        kind=Kind.BROKER_REGISTERED,
        loggers=("kafka.zk.KafkaZkClient", "kafka.utils.ZkUtils"),
        regex=r"^Registered broker (?P<node>\d+) at path \S+ with addresses: .*?(?:, czxid \(broker epoch\): (?P<detail>\d+))?$",
        versions="0.10-3.9",
        source="core/src/main/scala/kafka/zk/KafkaZkClient.scala registerBroker; kafka/utils/ZkUtils.scala until 1.0",
    ),
    Pattern(
        pattern_id="zookeeper.controller_thread_started",
        kind=Kind.CONTROLLER_THREAD_STARTED,
        loggers=("kafka.controller.ControllerEventManager$ControllerEventThread",),
        regex=r"^\[ControllerEventThread controllerId=(?P<node>\d+)\] Starting$",
        versions="1.1-3.9",
        source="core/src/main/scala/kafka/controller/KafkaController.scala startup: once, after the broker registered",
    ),
    Pattern(
        pattern_id="zookeeper.client_spoke",
        kind=Kind.ZOOKEEPER_CLIENT_SPOKE,
        loggers=("org.apache.zookeeper.ClientCnxn",),
        regex=r"^(?!An exception was thrown while closing|EventThread shut down|Session establishment complete|Got |Reading reply |Disconnecting client |Closing client )(?:Client session timed out, have not heard from server in (?P<took_ms>\d+)ms )?.*?\b[Ss]ession(?: ?id)?:? 0x(?!0\b)[0-9a-f]+\b.*$",
        versions="1.0-3.9",
        source="zookeeper-server/src/main/java/org/apache/zookeeper/ClientCnxn.java: what it writes of a session that it"
        " had, at INFO and above; `session id` since ZooKeeper 3.6, `sessionid` before; a process that only checks ZooKeeper before the broker starts has none to lose",
    ),
    Pattern(
        pattern_id="zookeeper.session_expired",
        kind=Kind.ZOOKEEPER_SESSION_EXPIRED,
        loggers=("kafka.zookeeper.ZooKeeperClient",),
        regex=r"^\[ZooKeeperClient[^\]]*\] Session expired\.$",
        versions="2.0-3.9",
        source="core/src/main/scala/kafka/zookeeper/ZooKeeperClient.scala ZooKeeperClientWatcher",
    ),
    _line_of_start(
        pattern_id="zookeeper.cluster_named",
        kind=Kind.CLUSTER_NAMED,
        regex=r"Cluster ID = (?P<detail>[\w-]+)$",
        source=f"{_ZOOKEEPER_SOURCE} startup",
    ),
)
