"""Logs that shippers write into a Kafka topic, read from the offsets in the lake on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.declarations import Batch, Line, Loss, Period, SourceFails, lines_in

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


@dataclass
class _Reached:
    """How far a topic was read: the id that it had, and the next offset of each partition."""

    topic_id: str | None
    offsets: dict[int, int]

    @classmethod
    def of(cls, position: Any) -> _Reached:
        """The position of an earlier batch; the beginning for None."""
        own = position or {"topic_id": None, "offsets": {}}
        return cls(own["topic_id"], {int(partition): at for partition, at in own["offsets"].items()})

    @property
    def position(self) -> Any:
        """The position as JSON."""
        return {"topic_id": self.topic_id, "offsets": {str(p): at for p, at in sorted(self.offsets.items())}}


def _topic_id(connection: Connection, topic: str, patience: float) -> str | None:
    """The id of a topic; None where the brokers are older than ids (2.8), or may not be asked."""
    with suppress(KafkaException):
        client = AdminClient({**connection.settings, "logger": None})
        answers = client.describe_topics(TopicCollection([topic]), request_timeout=patience)
        return str(answers[topic].result().topic_id)
    return None


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
            yield from self._batches(consumer, _Reached.of(position), connection)
        except KafkaException as failure:
            raise self._fails(connection.masked(str(failure))) from None
        finally:
            consumer.close()

    def _fails(self, why: str) -> SourceFails:
        return SourceFails(
            f"The topic {self.topic} was not read to its end: {why}. Needed: brokers that answer. The next try goes on."
        )

    def _batches(self, consumer: Consumer, reached: _Reached, connection: Connection) -> Iterator[Batch]:
        patience = connection.timeout_ms / 1000
        losses = self._renewed(reached, _topic_id(connection, self.topic, patience))
        offsets = reached.offsets
        ends = self._begin(consumer, offsets, patience, losses)
        for loss in losses:
            progress.say(loss.sentence)
        yield Batch([], reached.position, losses)
        until = time.monotonic() + patience
        while ends:
            lines = list[Line]()
            for message in consumer.consume(_AT_ONCE, timeout=0.5):
                until = time.monotonic() + patience
                lines += self._new_lines(message, offsets, ends)
            if not lines and time.monotonic() > until:
                raise self._fails(f"partitions {sorted(ends)} did not answer within {patience:g} s")
            yield Batch(lines, reached.position)

    def _renewed(self, reached: _Reached, topic_id: str | None) -> list[Loss]:
        """Begin again where the topic is another one than before: it was deleted and created again."""
        losses = list[Loss]()
        if reached.topic_id and topic_id and reached.topic_id != topic_id:
            losses.append(
                Loss(
                    self.topic,
                    None,
                    f"The topic {self.topic} was deleted and created again since it was read: its id was"
                    f" {reached.topic_id} and is {topic_id}. It is read from its beginning. What the old one held after"
                    " the last reading is lost.",
                )
            )
            reached.offsets.clear()
        reached.topic_id = topic_id or reached.topic_id
        return losses

    def _begin(
        self, consumer: Consumer, offsets: dict[int, int], patience: float, losses: list[Loss]
    ) -> dict[int, int]:
        """Put the first offset of each partition into `offsets`, and return the end of each that has new records."""
        ends: dict[int, int] = {}
        for partition in self._partitions(consumer, time.monotonic() + patience):
            low, high = consumer.get_watermark_offsets(TopicPartition(self.topic, partition), timeout=patience)
            at = offsets.get(partition, low)
            if not low <= at <= high:
                losses.append(self._loss(partition, at, low, high))
                at = low
            offsets[partition] = at
            ends |= {partition: high} if at < high else {}
        consumer.assign([TopicPartition(self.topic, p, offsets[p]) for p in ends])
        return ends

    def _loss(self, partition: int, at: int, low: int, high: int) -> Loss:
        reaches = f"{self.topic}-{partition} reaches from offset {low} to {high}, and was read to {at}."
        if at < low:
            count = f"{low - at:,} offsets"
            why = f"Its retention removed {count} before they were read. Read it more often, or keep it longer."
            return Loss(f"{self.topic}-{partition}", low - at, f"{reaches} {why}")
        why = "Its end was cut off, or the topic was created again. It is read from its beginning."
        return Loss(f"{self.topic}-{partition}", None, f"{reaches} {why}")

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
