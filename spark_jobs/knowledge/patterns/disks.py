"""Log directories that fail."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from spark_jobs.knowledge.kinds import Kind
from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import QUORUM_HEAD

PATTERNS = (
    Pattern(
        pattern_id="broker.log_dir_failed",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("kafka.server.ReplicaManager",),
        contains="Stopping serving replicas in dir ",
        regex=r"^\[ReplicaManager broker=\d+\] Stopping serving replicas in dir (?P<detail>.+?)"
        r"(?: with uuid \S+ because the log directory has failed\.)?$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="broker.log_dir_partitions_stopped",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("kafka.server.ReplicaManager",),
        contains=" because they are in the failed log directory ",
        regex=r"^\[ReplicaManager broker=\d+\] Broker \d+ stopped fetcher for partitions (?P<members>[\w.,-]*) "
        r"and stopped moving logs for partitions [\w.,-]* because they are in the failed log directory (?P<detail>.+)\.$",
        versions="2.5-4.2",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="broker.all_log_dirs_failed",
        kind=Kind.BROKER_HALTED,
        loggers=("kafka.log.LogManager",),
        contains="Shutdown broker because all log dirs in ",
        regex=r"^Shutdown broker because all log dirs in (?P<detail>.+) have failed$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/log/LogManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="broker.metadata_log_dir_failed",
        kind=Kind.BROKER_HALTED,
        loggers=("kafka.server.ReplicaManager",),
        contains="Shutdown broker because the metadata log dir ",
        regex=r"^\[ReplicaManager broker=\d+\] Shutdown broker because the metadata log dir (?P<detail>.+) has failed$",
        versions="3.7-4.3",
        source="core/src/main/scala/kafka/server/ReplicaManager.scala handleLogDirFailure",
    ),
    Pattern(
        pattern_id="kraft.log_dir_failed",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("org.apache.kafka.controller.ReplicationControlManager",),
        contains=" marked offline, remaining directories: ",
        regex=QUORUM_HEAD
        + r"Directories \[(?P<detail>.*)\] in broker (?P<node>\d+) marked offline, remaining directories: .*$",
        versions="3.7-4.2",
        source="metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java handleDirectoriesOffline",
    ),
    Pattern(
        pattern_id="zookeeper.log_dir_failed",
        kind=Kind.LOG_DIR_FAILED,
        loggers=("kafka.controller.KafkaController",),
        contains="Handling log directory failure for brokers ",
        regex=r"^\[Controller id=\d+\] Handling log directory failure for brokers (?P<nodes>[\d,]+)$",
        versions="2.2-3.9",
        source="core/src/main/scala/kafka/controller/KafkaController.scala processLogDirEventNotification",
    ),
)
