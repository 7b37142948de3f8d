"""Log directories that fail."""

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import QUORUM_HEAD

PATTERNS = (
    Pattern(
        pattern_id="broker.log_dir_failed",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("kafka.server.ReplicaManager",),
        regex=r"^\[ReplicaManager broker=\d+\] Stopping serving replicas in dir (?P<detail>.+?)"
        r"(?: with uuid \S+ because the log directory has failed\.)?$",
        versions="1.0-4.4",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="broker.log_dir_partitions_stopped",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("kafka.server.ReplicaManager",),
        regex=r"^\[ReplicaManager broker=\d+\] Broker \d+ stopped fetcher for partitions (?P<members>[\w.,-]*) "
        r"and stopped moving logs for partitions [\w.,-]* because they are in the failed log directory (?P<detail>.+)\.$",
        versions="2.5-4.4",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="broker.all_log_dirs_failed",
        kind=Kind.BROKER_HALTED,
        loggers=("kafka.log.LogManager",),
        regex=r"^Shutdown broker because (?:all log dirs in|none of the specified log dirs from) (?P<detail>.+) (?:have failed|can be created or validated)$",
        versions="1.0-4.4",
        source="core/src/main/scala/kafka/log/LogManager.scala handleLogDirFailure, createAndValidateLogDirs",
    ),
    Pattern(
        pattern_id="broker.metadata_log_dir_failed",
        kind=Kind.BROKER_HALTED,
        loggers=("kafka.server.ReplicaManager",),
        regex=r"^\[ReplicaManager broker=\d+\] (?:Shutdown broker because (?:the metadata log dir |some log directory has failed during migration mode: )"
        r"|Halting broker because dir )(?P<detail>.+?)(?: has failed| is offline)?$",
        versions="1.0-4.4",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="kraft.log_dir_not_told",
        kind=Kind.BROKER_HALTED,
        loggers=("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager"),
        regex=r"^\[BrokerLifecycleManager id=\d+\] Shutting down because couldn't communicate offline log dir (?P<detail>\S+) with controllers$",
        versions="3.8-4.4",
        source="core/src/main/scala/kafka/server/BrokerLifecycleManager.scala OfflineDirBrokerFailureEvent",
    ),
    Pattern(
        pattern_id="kraft.log_dir_failed",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("org.apache.kafka.controller.ReplicationControlManager",),
        regex=QUORUM_HEAD
        + r"Directories \[(?P<detail>.*)\] in broker (?P<node>\d+) marked offline, remaining directories: .*$",
        versions="3.7-4.4",
        source="metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java handleDirectoriesOffline",
    ),
    Pattern(
        pattern_id="zookeeper.log_dir_failed",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("kafka.controller.KafkaController",),
        regex=r"^\[Controller id=\d+\] Handling log directory failure for brokers (?P<nodes>[\d,]+)$",
        versions="2.2-3.9",
        source="core/src/main/scala/kafka/controller/KafkaController.scala processLogDirEventNotification",
    ),
)
