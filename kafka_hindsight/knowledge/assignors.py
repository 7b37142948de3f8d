"""The assignors of Kafka's clients, and how much their members give back in a rebalance."""

from __future__ import annotations

import re

EAGER = frozenset({"range", "roundrobin", "sticky"})
"""Kafka's own assignors that know only the eager protocol; librdkafka, sarama, franz-go and Python's clients have them
too.

A Java consumer that offers one of them beside others rebalances eagerly: it takes what all that it offers support.
Source: ConsumerCoordinator's constructor; KIP-429."""

_EAGER_ELSEWHERE = frozenset({"default", "RoundRobinAssigner", "rack-affinity"})
"""Protocols of Kafka Connect until 2.2 (ConnectProtocolCompatibility.EAGER), of kafkajs and of segmentio's kafka-go."""

_INCREMENTAL = re.compile(r"cooperative|^(?:sessioned|compatible|stream)$")
"""The protocols under which members keep what does not move: of consumers (KIP-429), of Kafka Connect (KIP-415:
ConnectProtocolCompatibility) and of Kafka Streams (KAFKA-8179: StreamsPartitionAssignor.supportedProtocols)."""

OF_CONNECT = frozenset({"default", "compatible", "sessioned"})
"""The protocols of Kafka Connect, whose workers share out connectors and tasks."""


def is_eager(assignor: str | None) -> bool:
    """Whether every member gives back everything under this assignor."""
    return assignor in EAGER or assignor in _EAGER_ELSEWHERE


def is_cooperative(assignor: str | None) -> bool:
    """Whether a member keeps what does not move under this assignor."""
    return assignor is not None and _INCREMENTAL.search(assignor) is not None


_CLASSES = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def assignor_names(text: str) -> list[str]:
    """Assignors, separated by commas, by the names that the protocol has for them; a Java client prints classes."""
    parts = (part.removeprefix("class ").rpartition(".")[2] for part in re.split(r",\s*", text) if part)
    return [_CLASSES.get(part, part) for part in parts]
