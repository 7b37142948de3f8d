"""The active controller of a ZooKeeper cluster, and the brokers that it sees (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern

_LOGGERS = ("kafka.controller.KafkaController",)
_HEAD = r"^\[Controller id=\d+\] "
_SOURCE = "core/src/main/scala/kafka/controller/KafkaController.scala"


PATTERNS = (
    Pattern(
        pattern_id="zookeeper.controller_elected",
        kind=Kind.CONTROLLER_ELECTED,
        loggers=_LOGGERS,
        contains="ncremented ",
        # Until 2.0 a line of its own follows the election.
        regex=_HEAD
        + r"(?:(?P<node>\d+) successfully elected as the controller\. )?(?:Epoch incremented|Incremented epoch) to (?P<controller_epoch>\d+)(?: and .*)?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} elect, incrementControllerEpoch",
    ),
    Pattern(
        pattern_id="zookeeper.controller_known",
        kind=Kind.CONTROLLER_KNOWN,
        loggers=_LOGGERS,
        contains=" elected as ",
        regex=_HEAD
        + r"Broker (?P<node>\d+) (?:has been elected as the controller, so stopping the election process\.|was elected as controller instead of broker \d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} elect",
    ),
    Pattern(
        pattern_id="zookeeper.controller_migrated",
        kind=Kind.CONTROLLER_ELECTED,
        loggers=("kafka.zk.KafkaZkClient",),
        contains="Successfully registered KRaft controller ",
        regex=r"^Successfully registered KRaft controller (?P<node>\d+) with ZK epoch (?P<controller_epoch>\d+)$",
        versions="3.4-3.9",
        source="core/src/main/scala/kafka/zk/KafkaZkClient.scala tryRegisterKRaftControllerAsActiveController",
    ),
    Pattern(
        pattern_id="zookeeper.controller_resigned",
        kind=Kind.CONTROLLER_RESIGNED,
        loggers=_LOGGERS,
        contains="] Resigned",
        regex=_HEAD + r"Resigned$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onControllerResignation",
    ),
    Pattern(
        pattern_id="zookeeper.brokers_listed",
        kind=Kind.BROKERS_LISTED,
        loggers=_LOGGERS,
        contains="Currently active brokers in the cluster: ",
        regex=_HEAD + r"Currently active brokers in the cluster: \w*Set\((?P<nodes>[\d, ]*)\)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} initializeControllerContext",
    ),
    Pattern(
        pattern_id="zookeeper.brokers_changed",
        kind=Kind.BROKERS_CHANGED,
        loggers=_LOGGERS,
        contains="Newly added brokers: ",
        regex=_HEAD
        + r"Newly added brokers: (?P<detail>[\d,]*, deleted brokers: [\d,]*,(?: bounced brokers: [\d,]*,)? all live brokers: [\d,]*)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} processBrokerChange",
    ),
    Pattern(
        pattern_id="zookeeper.broker_failed",
        kind=Kind.BROKER_FAILED,
        loggers=_LOGGERS,
        contains="Broker failure callback for ",
        regex=_HEAD + r"Broker failure callback for (?P<nodes>[\d,]+)$",
        versions="1.1-3.9",
        source=f"{_SOURCE} onBrokerFailure",
    ),
    Pattern(
        pattern_id="zookeeper.broker_came",
        kind=Kind.BROKER_CAME,
        loggers=_LOGGERS,
        contains="New broker startup callback for ",
        regex=_HEAD + r"New broker startup callback for (?P<nodes>[\d,]+)$",
        versions="1.1-3.9",
        source=f"{_SOURCE} onBrokerStartup",
    ),
    Pattern(
        pattern_id="zookeeper.broker_shutdown_requested",
        kind=Kind.BROKER_SHUTDOWN_REQUESTED,
        loggers=_LOGGERS,
        contains="Shutting down broker ",
        regex=_HEAD + r"Shutting down broker (?P<node>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} doControlledShutdown",
    ),
)
