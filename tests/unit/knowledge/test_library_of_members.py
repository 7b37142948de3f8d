"""The library of a member, by what is known of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_hindsight.catalog.codes import ClientLibrary
from kafka_hindsight.knowledge.client_libraries import library_of
from kafka_hindsight.knowledge.patterns import PATTERNS


@pytest.mark.parametrize(
    ("client_id", "patterns", "assignors", "library"),
    [
        ("orders-a", ["client.joined"], ["range"], "java"),
        ("orders-a", ["librdkafka.max_poll"], ["range"], "librdkafka"),
        ("orders-a", ["aiokafka.left"], ["roundrobin"], "aiokafka"),
        ("orders-a", [], ["RoundRobinAssigner"], "kafkajs"),
        ("orders-a", [], ["range"], "unknown"),
        (None, [], [], "unknown"),
        ("consumer-orders-1", [], [], "java"),
        ("rdkafka", [], [], "librdkafka"),
        ("kafka-python-2.0.2", [], [], "kafka_python"),
        ("kgo", [], [], "franz_go"),
        ("sarama", [], [], "sarama"),
        ("me@host (github.com/segmentio/kafka-go)", [], [], "kafka_go"),
        ("app-1-StreamThread-1-consumer", ["client.joined"], ["stream"], "streams"),
        ("connector-consumer-sink-a-0", ["client.joined"], ["range"], "connect_task"),
        ("connect-1", ["client.joined"], ["sessioned"], "connect"),
        ("orders-a", ["client.joined", "franz.left"], [], "unknown"),
    ],
)
def test_library_is_named_by_lines_client_id_or_assignor(
    client_id: str | None, patterns: Sequence[str], assignors: Sequence[str], library: str
) -> None:
    assert library_of(client_id, patterns, assignors) == library


def test_each_library_with_patterns_of_its_own_is_known_by_them() -> None:
    firsts = {p.pattern_id.partition(".")[0] for p in PATTERNS}
    of_lines = {library_of(None, [f"{first}.any"], []) for first in firsts} - {ClientLibrary.UNKNOWN}
    named_otherwise = {ClientLibrary.STREAMS, ClientLibrary.CONNECT_TASK, ClientLibrary.UNKNOWN}
    assert of_lines == {*ClientLibrary} - named_otherwise
