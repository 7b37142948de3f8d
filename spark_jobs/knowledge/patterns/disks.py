"""Log directories that fail."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import made

_A_REPLICA_START = (
    "[2026-11-21 01:51:09,981] INFO [ReplicaManager broker=1] Shutting down (kafka.server.ReplicaManager)"
)
_A_LOG_STOP = "[2026-11-21 01:51:09,992] INFO Shutting down. (kafka.log.LogManager)"


PATTERNS = (
    Pattern(
        pattern_id="broker.log_dir_failed",
        kind="log_dir_failed",
        loggers=("kafka.server.ReplicaManager",),
        contains="Stopping serving replicas in dir ",
        regex=r"^\[ReplicaManager broker=\d+\] Stopping serving replicas in dir (?P<detail>.+?)"
        r"(?: with uuid \S+ because the log directory has failed\.)?$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,822] WARN [ReplicaManager broker=1] Stopping serving replicas in dir /var/lib/kafka/data-0 with uuid Some(7j2xSPjzT1-8o6vCHcUEyw) because the log directory has failed. (kafka.server.ReplicaManager)",
                detail="/var/lib/kafka/data-0",
            ),
        ),
        counter_samples=(_A_REPLICA_START,),
    ),
    Pattern(
        pattern_id="broker.log_dir_partitions_stopped",
        kind="log_dir_failed",
        loggers=("kafka.server.ReplicaManager",),
        contains=" because they are in the failed log directory ",
        regex=r"^\[ReplicaManager broker=\d+\] Broker \d+ stopped fetcher for partitions (?P<members>[\w.,-]*) "
        r"and stopped moving logs for partitions [\w.,-]* because they are in the failed log directory (?P<detail>.+)\.$",
        versions="2.5-4.2",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,959] WARN [ReplicaManager broker=1] Broker 1 stopped fetcher for partitions orders-3,orders-7 and stopped moving logs for partitions  because they are in the failed log directory /var/lib/kafka/data-0. (kafka.server.ReplicaManager)",
                members="orders-3,orders-7",
                detail="/var/lib/kafka/data-0",
            ),
        ),
        counter_samples=(_A_REPLICA_START,),
    ),
    Pattern(
        pattern_id="broker.all_log_dirs_failed",
        kind="log_dir_failed",
        loggers=("kafka.log.LogManager",),
        contains="Shutdown broker because all log dirs in ",
        regex=r"^Shutdown broker because all log dirs in (?P<detail>.+) have failed$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/log/LogManager.scala handleLogDirFailure",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:04,096] ERROR Shutdown broker because all log dirs in /var/lib/kafka/data-0 have failed (kafka.log.LogManager)",
                detail="/var/lib/kafka/data-0",
            ),
        ),
        counter_samples=(_A_LOG_STOP,),
    ),
    Pattern(
        pattern_id="kraft.log_dir_failed",
        kind="log_dir_failed",
        loggers=("org.apache.kafka.controller.ReplicationControlManager",),
        contains=" marked offline, remaining directories: ",
        regex=r"^\[QuorumController id=\d+\] Directories \[(?P<detail>.*)\] in broker (?P<node>\d+) marked offline, remaining directories: .*$",
        versions="3.7-4.2",
        source="metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java handleDirectoriesOffline",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,863] WARN [QuorumController id=3002] Directories [7j2xSPjzT1-8o6vCHcUEyw] in broker 3 marked offline, remaining directories: [x9s0kZrQQmy1pZ2w3o0QHg] (org.apache.kafka.controller.ReplicationControlManager)",
                detail="7j2xSPjzT1-8o6vCHcUEyw",
                node="3",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:52:17,849] INFO [QuorumController id=1] handleBrokerFenced: changing 72 partition(s) (org.apache.kafka.controller.ReplicationControlManager)",
        ),
    ),
    Pattern(
        pattern_id="zookeeper.log_dir_failed",
        kind="log_dir_failed",
        loggers=("kafka.controller.KafkaController",),
        contains="Handling log directory failure for brokers ",
        regex=r"^\[Controller id=\d+\] Handling log directory failure for brokers (?P<nodes>[\d,]+)$",
        versions="2.2-3.9",
        source="core/src/main/scala/kafka/controller/KafkaController.scala processLogDirEventNotification",
        samples=(
            made(
                "2.8",
                "[2025-03-12 10:00:01,904] INFO [Controller id=2] Handling log directory failure for brokers 3 (kafka.controller.KafkaController)",
                nodes="3",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:53:09,806] DEBUG [Controller id=1] Register BrokerModifications handler for Set(1, 3) (kafka.controller.KafkaController)",
        ),
    ),
)
