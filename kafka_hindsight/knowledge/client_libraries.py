"""The library of a member, by its own lines, its client id and the assignors that it offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kafka_hindsight.catalog.codes import ClientLibrary
from kafka_hindsight.knowledge.assignors import OF_CONNECT
from kafka_hindsight.knowledge.client_ids import is_of_a_task, is_of_streams

_OF_PATTERNS: Mapping[str, ClientLibrary] = {
    "client": ClientLibrary.JAVA,
    "connect": ClientLibrary.CONNECT,
    "librdkafka": ClientLibrary.LIBRDKAFKA,
    "kafka_python": ClientLibrary.KAFKA_PYTHON,
    "aiokafka": ClientLibrary.AIOKAFKA,
    "kafkajs": ClientLibrary.KAFKAJS,
    "franz": ClientLibrary.FRANZ_GO,
    "sarama": ClientLibrary.SARAMA,
    "segmentio": ClientLibrary.KAFKA_GO,
}
"""The libraries by the first part of the names of the patterns that read their lines."""

_OF_CLIENT_IDS: tuple[tuple[re.Pattern[str], ClientLibrary], ...] = (
    (re.compile(r"consumer-(?:.+-)?\d+|console-consumer", re.S), ClientLibrary.JAVA),
    (re.compile(r"rdkafka"), ClientLibrary.LIBRDKAFKA),
    (re.compile(r"kafka-python-\d.*", re.S), ClientLibrary.KAFKA_PYTHON),
    (re.compile(r"aiokafka-\d.*", re.S), ClientLibrary.AIOKAFKA),
    (re.compile(r"kafkajs"), ClientLibrary.KAFKAJS),
    (re.compile(r"kgo"), ClientLibrary.FRANZ_GO),
    (re.compile(r"sarama"), ClientLibrary.SARAMA),
    (re.compile(r".*\(github\.com/segmentio/kafka-go\)", re.S), ClientLibrary.KAFKA_GO),
)
"""The client ids that libraries choose: knowledge/client_ids.py has their sources."""

_OF_ASSIGNORS: Mapping[str, ClientLibrary] = {
    **dict.fromkeys(OF_CONNECT, ClientLibrary.CONNECT),
    "stream": ClientLibrary.STREAMS,
    "RoundRobinAssigner": ClientLibrary.KAFKAJS,
    "rack-affinity": ClientLibrary.KAFKA_GO,
}
"""Assignors that one library alone has. Source: ConnectProtocolCompatibility, StreamsPartitionAssignor.name,
roundRobinAssigner/index.js, groupbalancer.go."""


def library_of(client_id: str | None, pattern_ids: Iterable[str], assignors: Iterable[str]) -> ClientLibrary:
    """The library of a member.

    A consumer of Kafka Streams and of a sink of Connect is a Java consumer, and its lines are: its name comes first.

    Args:
        client_id: Its client id.
        pattern_ids: The patterns that read lines of its own log.
        assignors: Those that it offers, or that its group uses.
    """
    if client_id and is_of_a_task(client_id):
        return ClientLibrary.CONNECT_TASK
    if client_id and is_of_streams(client_id):
        return ClientLibrary.STREAMS
    of_assignors = {_OF_ASSIGNORS[name] for name in assignors if name in _OF_ASSIGNORS}
    if len(of_assignors) == 1:
        return of_assignors.pop()
    of_lines = {_OF_PATTERNS[first] for p in pattern_ids if (first := p.partition(".")[0]) in _OF_PATTERNS}
    if len(of_lines) == 1:
        return of_lines.pop()
    of_ids = (library for shape, library in _OF_CLIENT_IDS if client_id and shape.fullmatch(client_id))
    return next(of_ids, ClientLibrary.UNKNOWN)
