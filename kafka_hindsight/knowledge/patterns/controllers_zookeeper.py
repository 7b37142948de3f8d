"""The active controller of a ZooKeeper cluster, and the brokers that it sees (Kafka 0.10-3.9)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern

_LOGGERS = ("kafka.controller.KafkaController",)
# Until 0.11: [Controller 1]: Broker 1 ...
_HEAD = r"^\[Controller (?:id=)?\d+\]:? "
_SOURCE = "core/src/main/scala/kafka/controller/KafkaController.scala"
_CHANGED = (
    r"Newly added brokers: (?P<detail>[\d,]*, deleted brokers: [\d,]*,(?: bounced brokers: [\d,]*,)?"
    r" all live brokers: [\d,]*)$"
)
_line = partial(Pattern, loggers=_LOGGERS, head=_HEAD, versions="0.10-3.9")


PATTERNS = (
    _line(
        pattern_id="zookeeper.controller_elected",
        kind=Kind.CONTROLLER_ELECTED,
        # Until 2.0 a line of its own follows the election.
        regex=r"(?:(?P<node>\d+) successfully elected as the controller\. )?(?:Epoch incremented|(?:Controller \d+ i|I)ncremented epoch) to (?P<controller_epoch>\d+)(?: and .*)?$",
        source=f"{_SOURCE} elect, incrementControllerEpoch",
    ),
    _line(
        pattern_id="zookeeper.controller_won",
        kind=Kind.CONTROLLER_ELECTED,
        regex=r"(?P<node>\d+) successfully elected as the controller$",
        versions="1.0-2.0",
        source=f"{_SOURCE} elect: the line with the epoch follows",
    ),
    _line(
        pattern_id="zookeeper.controller_known",
        kind=Kind.CONTROLLER_KNOWN,
        regex=r"Broker (?P<node>\d+) (?:has been elected as the controller, so stopping the election process\.|was elected as controller instead of broker \d+)$",
        source=f"{_SOURCE} elect",
    ),
    Pattern(
        pattern_id="zookeeper.controller_migrated",
        kind=Kind.CONTROLLER_ELECTED,
        loggers=("kafka.zk.KafkaZkClient",),
        regex=r"^Successfully registered KRaft controller (?P<node>\d+) with ZK epoch (?P<controller_epoch>\d+)$",
        versions="3.4-3.9",
        source="core/src/main/scala/kafka/zk/KafkaZkClient.scala tryRegisterKRaftControllerAsActiveController",
    ),
    _line(
        pattern_id="zookeeper.controller_resigned",
        kind=Kind.CONTROLLER_RESIGNED,
        regex=r"(?:Broker \d+ r|R)esigned(?: as the controller)?$",
        source=f"{_SOURCE} onControllerResignation",
    ),
    _line(
        pattern_id="zookeeper.brokers_listed",
        kind=Kind.BROKERS_LISTED,
        regex=r"Currently active brokers in the cluster: \w*Set\((?P<nodes>[\d, ]*)\)$",
        source=f"{_SOURCE} initializeControllerContext",
    ),
    _line(
        pattern_id="zookeeper.brokers_changed",
        kind=Kind.BROKERS_CHANGED,
        regex=_CHANGED,
        source=f"{_SOURCE} processBrokerChange",
    ),
    _line(
        pattern_id="zookeeper.broker_listener_fired",
        kind=Kind.BROKERS_CHANGED,
        loggers=("kafka.controller.ReplicaStateMachine$BrokerChangeListener",),
        head=r"^\[BrokerChangeListener on Controller \d+\]: ",
        regex=_CHANGED,
        versions="0.10",
        source="core/src/main/scala/kafka/controller/ReplicaStateMachine.scala BrokerChangeListener",
    ),
    _line(
        pattern_id="zookeeper.broker_failed",
        kind=Kind.BROKER_FAILED,
        regex=r"Broker failure callback for (?P<nodes>[\d,]+)$",
        versions="1.1-3.9",
        source=f"{_SOURCE} onBrokerFailure",
    ),
    _line(
        pattern_id="zookeeper.broker_came",
        kind=Kind.BROKER_CAME,
        regex=r"New broker startup callback for (?P<nodes>[\d,]+)$",
        versions="1.1-3.9",
        source=f"{_SOURCE} onBrokerStartup",
    ),
    _line(
        pattern_id="zookeeper.broker_shutdown_requested",
        kind=Kind.BROKER_SHUTDOWN_REQUESTED,
        regex=r"Shutting down broker (?P<node>\d+)$",
        source=f"{_SOURCE} doControlledShutdown",
    ),
)
