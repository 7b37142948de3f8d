"""Settings of brokers and topics, also those that change; topics that are created, extended and deleted."""

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.broker_settings import AUTO_REBALANCE, BROKER_SETTINGS
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import QUORUM_HEAD, TOPIC_PARTITION

_VALUES_LOGGERS = ("kafka.server.KafkaConfig", "org.apache.kafka.common.config.AbstractConfig")
_LOG_LOGGERS = ("kafka.log.LogManager",)
_PUBLISHER_LOGGERS = ("kafka.server.metadata.DynamicConfigPublisher",)
_ZOOKEEPER_LOGGERS = ("kafka.server.DynamicConfigManager", "kafka.server.ZkConfigManager")
_ADMIN_LOGGERS = ("kafka.zk.AdminZkClient",)
_DELETION_LOGGERS = ("kafka.controller.TopicDeletionManager",)
_REPLICATION_LOGGERS = ("org.apache.kafka.controller.ReplicationControlManager",)
_CONFIG_LOGGERS = ("org.apache.kafka.controller.ConfigurationControlManager",)
_SCALA_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_SHARD_LOGGERS = ("org.apache.kafka.coordinator.group.GroupCoordinatorShard",)
_ADMIN_SOURCE = "core/src/main/scala/kafka/zk/AdminZkClient.scala"
_PACKAGE = "metadata/src/main/java/org/apache/kafka/controller"
_TOPIC = r"(?P<topic>[\w.-]+)"

_WANTED = "".join(
    rf"(?:.*?\n\t(?P<detail_{i}>{name.replace('.', '[.]')} = [^\r\n]*))?"
    + (r"(?:.*?\n\tbroker[.]id = (?P<node>\d+))?" if name == AUTO_REBALANCE else "")
    for i, name in enumerate(BROKER_SETTINGS, 1)
)
"""One setting a line, in alphabetical order; a version that lacks one leaves its line empty."""


PATTERNS = (
    Pattern(
        pattern_id="broker.configured",
        kind=Kind.BROKER_CONFIGURED,
        loggers=_VALUES_LOGGERS,
        regex=rf"^KafkaConfig values: ?{_WANTED}.*$",
        versions="0.10-4.4",
        source="core/src/main/scala/kafka/server/KafkaConfig.scala; clients/src/main/java/org/apache/kafka/common/config/AbstractConfig.java logAll",
    ),
    Pattern(
        pattern_id="broker.log_created",
        kind=Kind.TOPIC_CONFIGURED,
        loggers=_LOG_LOGGERS,
        regex=rf"^Created log for partition {TOPIC_PARTITION} in .* with properties \{{(?P<detail>[^{{}}]*)\}}\.?$",
        versions="2.8-4.4",
        source="core/src/main/scala/kafka/log/LogManager.scala getOrCreateLog; LogConfig overriddenConfigsAsLoggableString",
    ),
    Pattern(
        pattern_id="kraft.topic_configured",
        kind=Kind.TOPIC_CONFIGURED,
        loggers=_PUBLISHER_LOGGERS,
        regex=rf"^\[DynamicConfigPublisher \w+ id=\d+\] Updating topic {_TOPIC} with new configuration : ?(?P<detail>.*)$",
        versions="3.4-4.4",
        source="core/src/main/scala/kafka/server/metadata/DynamicConfigPublisher.scala onMetadataUpdate",
    ),
    Pattern(
        pattern_id="zookeeper.topic_configured",
        kind=Kind.TOPIC_CONFIGURED,
        loggers=_ZOOKEEPER_LOGGERS,
        regex=rf"^Processing override for entityPath: topics/{_TOPIC} with config: (?:Hash)?Map\((?P<detail>.*)\)$",
        versions="2.0-3.9",
        source="core/src/main/scala/kafka/server/DynamicConfigManager.scala, ZkConfigManager.scala processNotification",
    ),
    Pattern(
        pattern_id="zookeeper.topic_created",
        kind=Kind.TOPIC_CREATED,
        loggers=_ADMIN_LOGGERS,
        regex=rf"^Creating topic {_TOPIC} with configuration \{{.*\}} and initial partition assignment .*$",
        versions="2.0-3.9",
        source=f"{_ADMIN_SOURCE} createTopicWithAssignment",
    ),
    Pattern(
        # The only line of it before 2.2; later it follows the one above.
        pattern_id="zookeeper.topic_node_created",
        kind=Kind.TOPIC_CREATED,
        loggers=_ADMIN_LOGGERS,
        regex=rf"^Topic creation \w*Map\({_TOPIC}-\d+ -> .*\)$",
        versions="1.1-3.9",
        source=f"{_ADMIN_SOURCE} writeTopicPartitionAssignment",
    ),
    Pattern(
        pattern_id="zookeeper.partitions_added",
        kind=Kind.PARTITIONS_ADDED,
        loggers=_ADMIN_LOGGERS,
        regex=rf"^Creating (?P<event_count>\d+) partitions for '{_TOPIC}' with the following replica assignment: .*$",
        versions="2.0-3.9",
        source=f"{_ADMIN_SOURCE} createNewPartitionsAssignment",
    ),
    Pattern(
        pattern_id="zookeeper.topic_deleted",
        kind=Kind.TOPIC_DELETED,
        loggers=_DELETION_LOGGERS,
        regex=rf"^\[Topic Deletion Manager \d+\],? Deletion of topic {_TOPIC} \(re\)started$",
        versions="1.0-3.9",
        source="core/src/main/scala/kafka/controller/TopicDeletionManager.scala resumeDeletions",
    ),
    Pattern(
        pattern_id="kraft.topic_created",
        kind=Kind.TOPIC_CREATED,
        loggers=_REPLICATION_LOGGERS,
        regex=QUORUM_HEAD + rf"(?:Replayed TopicRecord for|Created) topic {_TOPIC} with (?:topic )?ID \S+\.$",
        versions="2.8-4.4",
        source=f"{_PACKAGE}/ReplicationControlManager.java replay",
    ),
    Pattern(
        pattern_id="kraft.topic_deleted",
        kind=Kind.TOPIC_DELETED,
        loggers=_REPLICATION_LOGGERS,
        regex=QUORUM_HEAD + rf"(?:Replayed RemoveTopicRecord for|Removed) topic {_TOPIC} with ID \S+\.$",
        versions="3.0-4.4",
        source=f"{_PACKAGE}/ReplicationControlManager.java replay",
    ),
    Pattern(
        pattern_id="scala.partitions_deleted",
        kind=Kind.PARTITIONS_DELETED,
        loggers=_SCALA_LOGGERS,
        regex=r"^\[GroupCoordinator \d+\]: Removed \d+ offsets associated with deleted partitions: (?P<members>[\w., -]+)\.$",
        versions="2.0-3.9",
        source="core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala handleDeletedPartitions",
    ),
    Pattern(
        pattern_id="java.partitions_deleted",
        kind=Kind.PARTITIONS_DELETED,
        loggers=_SHARD_LOGGERS,
        regex=r"^\[GroupCoordinator id=\d+ topic=__consumer_offsets partition=\d+\] Generated \d+ tombstone records in \d+ milliseconds "
        r"while deleting offsets for partitions \[(?P<members>[\w., -]+)\]\.$",
        versions="3.8-4.4",
        source="group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupCoordinatorShard.java onPartitionsDeleted",
    ),
    Pattern(
        pattern_id="kraft.config_changed",
        kind=Kind.CONFIG_CHANGED,
        loggers=_CONFIG_LOGGERS,
        regex=QUORUM_HEAD
        + r"(?:Replayed ConfigRecord for )?ConfigResource\(type=(?:TOPIC, name='(?P<topic>[\w.-]+)'|BROKER, name='(?P<node>\d*)')\)(?:: | which )"
        r"set configuration (?P<reason>[\w.-]+) to (?P<detail>.*)$",
        versions="3.0-4.4",
        source=f"{_PACKAGE}/ConfigurationControlManager.java replay",
    ),
)
