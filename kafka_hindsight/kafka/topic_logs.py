"""Logs that shippers write into a Kafka topic, read from the offsets in the lake on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.declarations import Batch, Line, Period, SourceFails, lines_in

_AT_ONCE = 1_000
"""Records of a batch."""

_OURS = {
    "group.id": "kafka-hindsight",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
}
"""The client requires a group id. It joins no group and commits nothing."""


@dataclass(frozen=True)
class Topic:
    """A topic, with librdkafka's settings. A record's value is a line, or a shipper's object."""

    topic: str
    settings: Mapping[str, Any]

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Read from the offset after the last record that was read to the present end of each partition."""
        connection = Connection.of(f"The topic {self.topic}", self.settings)
        try:
            consumer = Consumer({**connection.settings, **_OURS, "logger": None})
        except KafkaException as refusal:
            why = connection.masked(str(refusal))
            raise BadInput(f"The topic {self.topic} cannot be read: {why}. Needed: librdkafka's settings.") from None
        try:
            yield from self._batches(consumer, {int(p): at for p, at in (position or {}).items()}, connection)
        except KafkaException as failure:
            raise self._fails(connection.masked(str(failure))) from None
        finally:
            consumer.close()

    def _fails(self, why: str) -> SourceFails:
        return SourceFails(
            f"The topic {self.topic} was not read to its end: {why}. Needed: brokers that answer. The next try goes on."
        )

    def _batches(self, consumer: Consumer, offsets: dict[int, int], connection: Connection) -> Iterator[Batch]:
        patience = connection.timeout_ms / 1000
        ends = self._begin(consumer, offsets, patience)
        until = time.monotonic() + patience
        while ends:
            lines = list[Line]()
            for message in consumer.consume(_AT_ONCE, timeout=0.5):
                until = time.monotonic() + patience
                lines += self._new_lines(message, offsets, ends)
            if not lines and time.monotonic() > until:
                raise self._fails(f"partitions {sorted(ends)} did not answer within {patience:g} s")
            yield Batch(lines, {str(p): at for p, at in sorted(offsets.items())})

    def _begin(self, consumer: Consumer, offsets: dict[int, int], patience: float) -> dict[int, int]:
        """Put the first offset of each partition into `offsets`, and return the end of each that has new records."""
        ends: dict[int, int] = {}
        for partition in self._partitions(consumer, time.monotonic() + patience):
            low, high = consumer.get_watermark_offsets(TopicPartition(self.topic, partition), timeout=patience)
            at = offsets.get(partition, low)
            if not low <= at <= high:
                progress.say(f"{self.topic}-{partition} reaches from {low} to {high}, and was read to {at}.")
                at = low
            offsets[partition] = at
            ends |= {partition: high} if at < high else {}
        consumer.assign([TopicPartition(self.topic, p, offsets[p]) for p in ends])
        return ends

    def _partitions(self, consumer: Consumer, until: float) -> list[int]:
        """The partitions of the topic; a broker that just started may not know the topic yet."""
        while True:
            metadata = consumer.list_topics(self.topic, timeout=max(until - time.monotonic(), 1)).topics[self.topic]
            if metadata.error is None:
                return sorted(metadata.partitions)
            if metadata.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART or time.monotonic() > until:
                raise BadInput(
                    f"The topic {self.topic} cannot be read: {metadata.error}. Needed: a topic, and READ on it."
                )
            time.sleep(0.5)

    def _new_lines(self, message: Message, offsets: dict[int, int], ends: dict[int, int]) -> Sequence[Line]:
        """The lines of a new record. A partition that is read to its end is removed from `ends`."""
        partition, error = message.partition(), message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if partition not in ends:
            return ()
        offsets[partition] = message.offset() + (error is None)
        if error is not None or offsets[partition] >= ends[partition]:
            del ends[partition]
        return () if error is not None else self._lines(message)

    def _lines(self, message: Message) -> list[Line]:
        key = (message.key() or b"").decode(errors="replace")
        return lines_in(message.value() or b"", key or f"{self.topic}-{message.partition()}")
