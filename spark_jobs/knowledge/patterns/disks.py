"""Log directories that fail."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured

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
            captured(
                "4.3",
                "[2026-11-21 11:57:10,428] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /var/lib/kafka/data-2b with uuid Some(rjcyr5vQOl6y9osSRgS_ZA) because the log directory has failed. (kafka.server.ReplicaManager)",
                detail="/var/lib/kafka/data-2b",
            ),
            captured(
                "3.9",
                "[2026-11-21 11:58:05,753] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /var/lib/kafka/data-2b with uuid None because the log directory has failed. (kafka.server.ReplicaManager)",
                detail="/var/lib/kafka/data-2b",
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
            captured(
                "4.3",
                "[2026-11-21 11:57:10,445] WARN [ReplicaManager broker=2] Broker 2 stopped fetcher for partitions disk-t-10,disk-single-3,disk-t-8,disk-t-9,disk-t-1,disk-single-1,disk-t-5 and stopped moving logs for partitions  because they are in the failed log directory /var/lib/kafka/data-2b. (kafka.server.ReplicaManager)",
                members="disk-t-10,disk-single-3,disk-t-8,disk-t-9,disk-t-1,disk-single-1,disk-t-5",
                detail="/var/lib/kafka/data-2b",
            ),
        ),
        counter_samples=(_A_REPLICA_START,),
    ),
    Pattern(
        pattern_id="broker.all_log_dirs_failed",
        kind="broker_halted",
        loggers=("kafka.log.LogManager",),
        contains="Shutdown broker because all log dirs in ",
        regex=r"^Shutdown broker because all log dirs in (?P<detail>.+) have failed$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/log/LogManager.scala handleLogDirFailure",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 11:58:30,606] ERROR Shutdown broker because all log dirs in /var/lib/kafka/data-3, /var/lib/kafka/data-3b have failed (kafka.log.LogManager)",
                detail="/var/lib/kafka/data-3, /var/lib/kafka/data-3b",
            ),
        ),
        counter_samples=(_A_LOG_STOP,),
    ),
    Pattern(
        pattern_id="broker.metadata_log_dir_failed",
        kind="broker_halted",
        loggers=("kafka.server.ReplicaManager",),
        contains="Shutdown broker because the metadata log dir ",
        regex=r"^\[ReplicaManager broker=\d+\] Shutdown broker because the metadata log dir (?P<detail>.+) has failed$",
        versions="3.7-4.3",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
        samples=(
            captured(
                "4.3",
                "[2026-11-21 11:57:35,972] ERROR [ReplicaManager broker=3] Shutdown broker because the metadata log dir /var/lib/kafka/data-3 has failed (kafka.server.ReplicaManager)",
                detail="/var/lib/kafka/data-3",
            ),
        ),
        counter_samples=(_A_REPLICA_START,),
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
            captured(
                "4.3",
                "[2026-11-21 11:57:10,458] WARN [QuorumController id=4] Directories [rjcyr5vQOl6y9osSRgS_ZA] in broker 2 marked offline, remaining directories: [ZYwEdc_KDuNI1-1JiVvj_g] (org.apache.kafka.controller.ReplicationControlManager)",
                detail="rjcyr5vQOl6y9osSRgS_ZA",
                node="2",
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
            captured(
                "3.9",
                "[2026-11-21 11:58:05,775] INFO [Controller id=2] Handling log directory failure for brokers 2 (kafka.controller.KafkaController)",
                nodes="2",
            ),
        ),
        counter_samples=(
            "[2026-11-21 11:58:05,791] INFO [Controller id=2] Handling log directory failure for brokers  (kafka.controller.KafkaController)",
            "[2026-11-21 01:53:09,806] DEBUG [Controller id=1] Register BrokerModifications handler for Set(1, 3) (kafka.controller.KafkaController)",
        ),
    ),
)
