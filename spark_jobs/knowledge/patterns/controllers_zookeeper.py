"""Who controls a ZooKeeper cluster, and which brokers it sees (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured, made

_LOGGERS = ("kafka.controller.KafkaController",)
_HEAD = r"^\[Controller id=\d+\] "
_SOURCE = "core/src/main/scala/kafka/controller/KafkaController.scala"

_A_START = "[2026-11-21 01:53:09,951] INFO [Controller id=1] Starting the controller scheduler (kafka.controller.KafkaController)"
_A_RESIGNING = "[2026-11-21 01:52:59,440] DEBUG [Controller id=1] Resigning (kafka.controller.KafkaController)"
_AN_EPOCH_CACHE = "[2026-11-21 01:53:15,970] INFO [Controller id=1] Updated broker epochs cache: HashMap(1 -> 518, 2 -> 694, 3 -> 66) (kafka.controller.KafkaController)"
_A_REMOVAL = "[2026-11-21 01:53:19,554] INFO [Controller id=1] Removed 3 from list of shutting down brokers. (kafka.controller.KafkaController)"
_A_CREATION = "[2026-11-21 01:54:07,016] INFO [Controller id=1] New partition creation callback for ads-risky-18-0,ads-risky-18-1 (kafka.controller.KafkaController)"

PATTERNS = (
    Pattern(
        pattern_id="zookeeper.controller_elected",
        kind="controller_elected",
        loggers=_LOGGERS,
        contains=" successfully elected as the controller.",
        regex=_HEAD
        + r"(?P<node>\d+) successfully elected as the controller\. Epoch incremented to (?P<controller_epoch>\d+) and .*$",
        versions="2.1-3.9",
        source=f"{_SOURCE} elect",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:09,771] INFO [Controller id=1] 1 successfully elected as the controller. Epoch incremented to 2 and epoch zk version is now 2 (kafka.controller.KafkaController)",
                node="1",
                controller_epoch="2",
            ),
        ),
        counter_samples=(_A_START,),
    ),
    Pattern(
        pattern_id="zookeeper.controller_known",
        kind="controller_known",
        loggers=_LOGGERS,
        contains=" elected as ",
        regex=_HEAD
        + r"Broker (?P<node>\d+) (?:has been elected as the controller, so stopping the election process\.|was elected as controller instead of broker \d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} elect",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:25,019] DEBUG [Controller id=1] Broker 2 has been elected as the controller, so stopping the election process. (kafka.controller.KafkaController)",
                node="2",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:54:31,783] DEBUG [Controller id=2] Broker 3 was elected as controller instead of broker 2 (kafka.controller.KafkaController)\norg.apache.kafka.common.errors.ControllerMovedException: Controller moved to another broker. Aborting controller startup procedure",
                node="3",
            ),
        ),
        counter_samples=(_A_START,),
    ),
    Pattern(
        pattern_id="zookeeper.controller_resigned",
        kind="controller_resigned",
        loggers=_LOGGERS,
        contains="] Resigned",
        regex=_HEAD + r"Resigned$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onControllerResignation",
        samples=(
            captured(
                "2.8", "[2026-11-21 01:52:59,442] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)"
            ),
        ),
        counter_samples=(_A_RESIGNING,),
    ),
    Pattern(
        pattern_id="zookeeper.brokers_listed",
        kind="brokers_listed",
        loggers=_LOGGERS,
        contains="Currently active brokers in the cluster: ",
        regex=_HEAD + r"Currently active brokers in the cluster: \w*Set\((?P<nodes>[\d, ]*)\)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} initializeControllerContext",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 12:28:10,216] INFO [Controller id=3] Currently active brokers in the cluster: Set(2, 3) (kafka.controller.KafkaController)",
                nodes="2, 3",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:53:09,848] INFO [Controller id=1] Currently shutting brokers in the cluster: HashSet() (kafka.controller.KafkaController)",
        ),
    ),
    Pattern(
        pattern_id="zookeeper.brokers_changed",
        kind="brokers_changed",
        loggers=_LOGGERS,
        contains="Newly added brokers: ",
        regex=_HEAD
        + r"Newly added brokers: (?P<detail>[\d,]*, deleted brokers: [\d,]*, bounced brokers: [\d,]*, all live brokers: [\d,]*)$",
        versions="2.2-3.9",
        source=f"{_SOURCE} processBrokerChange",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:15,955] INFO [Controller id=1] Newly added brokers: 2, deleted brokers: , bounced brokers: , all live brokers: 1,2,3 (kafka.controller.KafkaController)",
                detail="2, deleted brokers: , bounced brokers: , all live brokers: 1,2,3",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:53:19,552] INFO [Controller id=1] Newly added brokers: , deleted brokers: 3, bounced brokers: , all live brokers: 1,2 (kafka.controller.KafkaController)",
                detail=", deleted brokers: 3, bounced brokers: , all live brokers: 1,2",
            ),
            made(
                "2.8",
                "[2025-03-12 10:00:00,534] INFO [Controller id=2] Newly added brokers: , deleted brokers: 3, bounced brokers: , all live brokers: 1,2 (kafka.controller.KafkaController)",
                detail=", deleted brokers: 3, bounced brokers: , all live brokers: 1,2",
            ),
        ),
        counter_samples=(_AN_EPOCH_CACHE,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_failed",
        kind="broker_failed",
        loggers=_LOGGERS,
        contains="Broker failure callback for ",
        regex=_HEAD + r"Broker failure callback for (?P<nodes>[\d,]+)$",
        versions="1.1-3.9",
        source=f"{_SOURCE} onBrokerFailure",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:19,554] INFO [Controller id=1] Broker failure callback for 3 (kafka.controller.KafkaController)",
                nodes="3",
            ),
        ),
        counter_samples=(_A_REMOVAL,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_came",
        kind="broker_came",
        loggers=_LOGGERS,
        contains="New broker startup callback for ",
        regex=_HEAD + r"New broker startup callback for (?P<nodes>[\d,]+)$",
        versions="1.1-3.9",
        source=f"{_SOURCE} onBrokerStartup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:15,956] INFO [Controller id=1] New broker startup callback for 2 (kafka.controller.KafkaController)",
                nodes="2",
            ),
        ),
        counter_samples=(_A_CREATION,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_shutdown_requested",
        kind="broker_shutdown_requested",
        loggers=_LOGGERS,
        contains="Shutting down broker ",
        regex=_HEAD + r"Shutting down broker (?P<node>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} doControlledShutdown",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:18,676] INFO [Controller id=1] Shutting down broker 3 (kafka.controller.KafkaController)",
                node="3",
            ),
        ),
        counter_samples=(_A_REMOVAL,),
    ),
)
