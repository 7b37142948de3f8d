"""Settings of brokers and topics, as brokers log them: all of a broker's, and those that a topic overrides."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import TOPIC_PARTITION

_CONFIG_LOGGERS = ("kafka.server.KafkaConfig", "org.apache.kafka.common.config.AbstractConfig")
_LOG_LOGGERS = ("kafka.log.LogManager",)
_PUBLISHER_LOGGERS = ("kafka.server.metadata.DynamicConfigPublisher",)
_ZOOKEEPER_LOGGERS = ("kafka.server.DynamicConfigManager", "kafka.server.ZkConfigManager")
_TOPIC = r"(?P<topic>[\w.-]+)"

_WANTED = "".join(
    rf"(?:.*?\n\t(?P<detail_{i}>{name.replace('.', '[.]')} = [^\r\n]*))?" for i, name in enumerate(BROKER_SETTINGS, 1)
)
"""One setting a line, in alphabetical order; a version that lacks one leaves its line empty."""


PATTERNS = (
    Pattern(
        pattern_id="broker.configured",
        kind=Kind.BROKER_CONFIGURED,
        loggers=_CONFIG_LOGGERS,
        regex=rf"^KafkaConfig values: ?{_WANTED}.*$",
        versions="2.0-4.3",
        source="core/src/main/scala/kafka/server/KafkaConfig.scala; clients/src/main/java/org/apache/kafka/common/config/AbstractConfig.java logAll",
    ),
    Pattern(
        pattern_id="broker.log_created",
        kind=Kind.TOPIC_CONFIGURED,
        loggers=_LOG_LOGGERS,
        regex=rf"^Created log for partition {TOPIC_PARTITION} in .* with properties \{{(?P<detail>[^{{}}]*)\}}\.?$",
        versions="2.8-4.3",
        source="core/src/main/scala/kafka/log/LogManager.scala getOrCreateLog; LogConfig overriddenConfigsAsLoggableString",
    ),
    Pattern(
        pattern_id="kraft.topic_configured",
        kind=Kind.TOPIC_CONFIGURED,
        loggers=_PUBLISHER_LOGGERS,
        regex=rf"^\[DynamicConfigPublisher \w+ id=\d+\] Updating topic {_TOPIC} with new configuration : ?(?P<detail>.*)$",
        versions="3.4-4.3",
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
)
