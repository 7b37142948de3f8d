"""The life of a broker under ZooKeeper, as it tells it itself (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured, made

_ZOOKEEPER_LOGGERS = ("kafka.server.KafkaServer",)
_ZOOKEEPER = r"^\[KafkaServer id=\d+\] "
_ZOOKEEPER_SOURCE = "core/src/main/scala/kafka/server/KafkaServer.scala"

_A_CONNECTION = "[2026-11-21 01:44:23,487] INFO Connecting to zookeeper on 127.0.0.1:20400 (kafka.server.KafkaServer)"
_A_ZOOKEEPER_STOP = "[2026-11-21 01:52:58,268] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)"
_A_ZNODE = "[2026-11-21 01:44:24,876] INFO Creating /brokers/ids/1 (is it secure? false) (kafka.zk.KafkaZkClient)"
_A_SESSION = (
    "[2026-11-21 01:44:23,540] INFO [ZooKeeperClient Kafka server] Connected. (kafka.zookeeper.ZooKeeperClient)"
)

PATTERNS = (
    Pattern(
        pattern_id="zookeeper.broker_starting",
        kind="broker_starting",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="starting",
        regex=r"^(?:\[KafkaServer id=\d+\] )?starting$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} startup",
        samples=(captured("2.8", "[2026-11-21 01:44:23,485] INFO starting (kafka.server.KafkaServer)"),),
        counter_samples=(_A_CONNECTION,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_started",
        kind="broker_started",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="] started",
        regex=_ZOOKEEPER + "started$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} startup",
        samples=(
            captured("2.8", "[2026-11-21 01:44:25,195] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"),
        ),
        counter_samples=(_A_CONNECTION,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_shutdown_started",
        kind="broker_shutdown_started",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="] shutting down",
        regex=_ZOOKEEPER + "shutting down$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} shutdown",
        samples=(
            captured(
                "2.8", "[2026-11-21 01:52:58,268] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)"
            ),
        ),
        counter_samples=(_A_CONNECTION,),
    ),
    Pattern(
        pattern_id="zookeeper.controlled_shutdown_started",
        kind="controlled_shutdown_started",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="Starting controlled shutdown",
        regex=_ZOOKEEPER + "Starting controlled shutdown$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} controlledShutdown",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:52:58,268] INFO [KafkaServer id=1] Starting controlled shutdown (kafka.server.KafkaServer)",
            ),
        ),
        counter_samples=(_A_ZOOKEEPER_STOP,),
    ),
    Pattern(
        pattern_id="zookeeper.controlled_shutdown_done",
        kind="controlled_shutdown_done",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="Controlled shutdown ",
        regex=_ZOOKEEPER + r"Controlled shutdown (?:succeeded|request returned successfully after (?P<took_ms>\d+)ms)$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} doControlledShutdown",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:52:58,360] INFO [KafkaServer id=1] Controlled shutdown succeeded (kafka.server.KafkaServer)",
            ),
            made(
                "3.9",
                "[2025-03-12 10:00:04,370] INFO [KafkaServer id=1] Controlled shutdown request returned successfully after 812ms (kafka.server.KafkaServer)",
                took_ms="812",
            ),
        ),
        counter_samples=(_A_ZOOKEEPER_STOP,),
    ),
    Pattern(
        pattern_id="zookeeper.controlled_shutdown_failed",
        kind="controlled_shutdown_failed",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="Proceeding to do an unclean shutdown ",
        regex=_ZOOKEEPER + "Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} controlledShutdown",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:04,507] WARN [KafkaServer id=1] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed (kafka.server.KafkaServer)",
            ),
        ),
        counter_samples=(_A_ZOOKEEPER_STOP,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_stopped",
        kind="broker_stopped",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="shut down completed",
        regex=_ZOOKEEPER + "shut down completed$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} shutdown",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:01,716] INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)",
            ),
        ),
        counter_samples=(_A_ZOOKEEPER_STOP,),
    ),
    Pattern(
        pattern_id="zookeeper.broker_registered",
        kind="broker_registered",
        loggers=("kafka.zk.KafkaZkClient",),
        contains="Registered broker ",
        regex=r"^Registered broker (?P<node>\d+) at path \S+ with addresses: .*, czxid \(broker epoch\): (?P<detail>\d+)$",
        versions="2.6-3.9",
        source="core/src/main/scala/kafka/zk/KafkaZkClient.scala registerBroker",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:24,895] INFO Registered broker 1 at path /brokers/ids/1 with addresses: PLAINTEXT://127.0.0.1:20401, czxid (broker epoch): 65 (kafka.zk.KafkaZkClient)",
                node="1",
                detail="65",
            ),
        ),
        counter_samples=(_A_ZNODE,),
    ),
    Pattern(
        pattern_id="zookeeper.session_expired",
        kind="zookeeper_session_expired",
        loggers=("kafka.zookeeper.ZooKeeperClient",),
        contains="Session expired.",
        regex=r"^\[ZooKeeperClient[^\]]*\] Session expired\.$",
        versions="2.0-3.9",
        source="core/src/main/scala/kafka/zookeeper/ZooKeeperClient.scala ZooKeeperClientWatcher",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:54:00,066] INFO [ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)",
            ),
        ),
        counter_samples=(_A_SESSION,),
    ),
)
