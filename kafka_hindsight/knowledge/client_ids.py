"""The client ids that libraries choose where an application sets none: every process has them, so they name none."""

from __future__ import annotations

import re

_DEFAULTS = re.compile(
    r"consumer-(?:.+-)?\d+"  # ConsumerConfig.maybeOverrideClientId; before 2.4 KafkaConsumer
    r"|console-consumer"  # ConsoleConsumerOptions
    r"|connect-\d+"  # DistributedHerder up to 3.6; later ones name the worker
    r"|rdkafka"  # CONFIGURATION.md of librdkafka, and with it confluent-kafka, kcat, php-rdkafka
    r"|(?:kafka-python|aiokafka)-\d.*"  # DEFAULT_CONFIG of kafka-python, AIOKafkaConsumer
    r"|sarama"  # NewConfig of sarama
    r"|kgo"  # opts of franz-go
    r"|.*\(github\.com/segmentio/kafka-go\)"  # DefaultClientID of kafka-go
    r"|kafkajs|kafka-node-client|no-kafka-client|ruby-kafka|karafka",  # KafkaJS, kafka-node, no-kafka, Ruby
    re.S,
)


def is_default(client_id: str) -> bool:
    """Whether a library chose that client id."""
    return _DEFAULTS.fullmatch(client_id) is not None
