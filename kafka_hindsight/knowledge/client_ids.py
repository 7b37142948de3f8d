"""The client ids and groups that libraries and tools choose.

Where an application sets no client id every process has its library's, so that it names none.
"""

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


_OF_ONE_PROCESS = re.compile(r"console-consumer-\d{1,5}")
"""ConsoleConsumer: `console-consumer-${new Random().nextInt(100000)}` where no group is given."""

_HAS_NO_POLL_LIMIT = re.compile(
    r"kafkajs"  # src/consumer/index.js: it leaves in stop, which it calls itself after an error
    r"|vscode-kafka"  # the extension of that name, which is kafkajs: src/client/client.ts
    r"|sarama|kgo|.*\(github\.com/segmentio/kafka-go\)",  # docs/clients.md
    re.S,
)


_OF_STREAMS = re.compile(r"-StreamThread-\d+-consumer\Z")
"""The consumer of a thread of Kafka Streams: StreamThread.java, ClientUtils.java getConsumerClientId; nothing overrides
it."""


def is_of_streams(client_id: str) -> bool:
    """Whether a client id is that of the consumer of a thread of Kafka Streams."""
    return _OF_STREAMS.search(client_id) is not None


def has_no_poll_limit(client_id: str) -> bool:
    """Whether a client id is that of a library whose consumers leave only when they are stopped."""
    return _HAS_NO_POLL_LIMIT.fullmatch(client_id) is not None


TASK_CLIENT = "connector-consumer-"
"""The beginning of the client id of a task's consumer, before the task. Source: Worker.java 2.3 and later."""

CONNECTOR_GROUP = "connect-"
"""The beginning of a sink connector's group, before the connector. Source: SinkUtils.consumerGroupId."""


def is_of_a_task(client_id: str) -> bool:
    """Whether Kafka Connect chose the client id for the consumer of a task."""
    return client_id.startswith(TASK_CLIENT)


_ASSIGNOR_OF_KAFKAJS = "RoundRobinAssigner"
"""kafkajs src/consumer/assigners/roundRobinAssigner; other libraries have Java's name for theirs, roundrobin."""


def has_assignor_without_limit(assignors: str) -> bool:
    """Whether a member's assignors are those of a library whose consumers leave only when they are stopped."""
    return _ASSIGNOR_OF_KAFKAJS in re.findall(r"\w+", assignors)


def is_of_one_process(group_id: str) -> bool:
    """Whether a process made the group for itself, so that a client id in it is one consumer's."""
    return _OF_ONE_PROCESS.fullmatch(group_id) is not None


def is_default(client_id: str) -> bool:
    """Whether a library chose that client id."""
    return _DEFAULTS.fullmatch(client_id) is not None
