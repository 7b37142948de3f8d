"""The child process that reads `__consumer_offsets`: `python -m kafka_hindsight.kafka.group_records_reader`.

It has the protocol of cluster_reader. It joins no group and commits nothing: each question names the positions to read
from, and each answer the next positions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.kafka.cluster_reader import JsonLine, serve
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.group_records import CALLS
from kafka_hindsight.kafka_records.batches import Record
from kafka_hindsight.kafka_records.commit_runs import Run
from kafka_hindsight.kafka_records.offsets_topic import TOPIC, OffsetsTopic, lacks_names, with_topics

MOST_BYTES = 8 * 1024 * 1024
"""The most bytes of records in one answer, which limits the memory of both processes."""

_AT_ONCE = 500
_DENIED = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED})
_ABSENT = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})
_FETCHING = {
    "group.id": "hindsight-records",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "queued.max.messages.kbytes": 16_384,
    "fetch.message.max.bytes": 1_048_576,
}
Offsets = dict[int, int]


class RecordsReader:
    """A consumer with assigned partitions, and the known names of topics by id."""

    def __init__(self, connection: Connection) -> None:
        settings = {"client.id": "hindsight-records", "log_level": 0, **connection.settings}
        self.admin = AdminClient(settings)
        self.consumer = Consumer({**settings, **_FETCHING})
        self.names: dict[str, str] = {}
        self.has_asked_names = False

    def records(self, of: Mapping[str, Any], timeout: float) -> Iterator[JsonLine]:
        """Read records from some positions on, up to the size of one answer.

        Args:
            of: `positions` by partition; `open`, the runs of commits that go on there; `ends`, the offsets to read up
                to; `topic_id`, the topic of these positions.
            timeout: Seconds for all calls together.

        Yields:
            Rows of bronze.group_records, with `sentence` if a record cannot be decoded; then the runs of commits that
            have ended; at last `next`, the positions and the runs that are still open.
        """
        timeout /= CALLS
        topic = self.admin.list_topics(TOPIC, timeout=timeout).topics[TOPIC]
        refused = topic.error.code() if topic.error is not None else None
        if refused in _DENIED:
            yield {"answer": {"denied": str(topic.error)}}
        elif refused in _ABSENT or not topic.partitions:
            runs = [{"answer": run} for run in of["open"]]
            nothing: JsonLine = {"positions": {}, "open": [], "ends": {}, "topic_id": None, "is_done": True}
            yield from (*runs, {"answer": {"next": nothing}})
        else:
            yield from self._read_on(sorted(topic.partitions), of, timeout)

    def _read_on(self, partitions: list[int], of: Mapping[str, Any], timeout: float) -> Iterator[JsonLine]:
        topic_id = self._topic_id(timeout)
        first, last = self._bounds(partitions, timeout)
        is_new = None not in (topic_id, of["topic_id"]) and topic_id != of["topic_id"]
        positions = {} if is_new else _numbered(of["positions"])
        starts, notes = _starts(positions, first, last)
        if is_new:
            notes.insert(0, "the topic was deleted and created again: all of it is read")
        ends = _numbered(of["ends"]) if of.get("ends") and not notes else last
        silent = [p for p in partitions if p not in last]
        if silent:
            notes.append(f"partitions without an answer: {', '.join(map(str, silent))}")
        content = OffsetsTopic([run for value in of["open"] if (run := Run.of(value))], self.names)
        for partition in {run.offsets_partition for run in content.open_runs}:
            if partition not in silent and starts.get(partition) != positions.get(partition):
                content.end_runs(partition)
        yield from self._rows(content, starts, ends, time.monotonic() + timeout)
        yield from ({"answer": run.as_json()} for run in content.take_finished())
        following = {**{p: positions[p] for p in silent if p in positions}, **self.positions}
        is_done = all(following.get(p, 0) >= end for p, end in ends.items() if p in last)
        go_on = {
            "positions": following,
            "open": [run.as_json() for run in content.open_runs],
            "ends": ends,
            "topic_id": topic_id,
            "is_done": is_done,
        }
        yield {"answer": {"next": go_on, "notes": notes}}

    def _rows(self, content: OffsetsTopic, starts: Offsets, ends: Offsets, until: float) -> Iterator[JsonLine]:
        self.positions = dict(starts)
        waiting = {p for p, at in starts.items() if at < ends.get(p, at)}
        self.consumer.assign([TopicPartition(TOPIC, p, starts[p]) for p in sorted(waiting)])
        size = 0
        while waiting and size < MOST_BYTES and time.monotonic() < until:
            records: dict[int, list[Record]] = {}
            for message in self.consumer.consume(_AT_ONCE, timeout=0.2):
                if message.error() is not None:
                    yield from self._end_or_refusal(message, waiting)
                elif (partition := message.partition()) in waiting:
                    offset, key, value = message.offset(), message.key(), message.value()
                    self.positions[partition] = offset + 1
                    if offset + 1 >= ends[partition]:
                        waiting.discard(partition)
                    records.setdefault(partition, []).append((offset, message.timestamp()[1], key, value))
            for partition, those in records.items():
                for row in content.take(partition, those):
                    size += len(json.dumps(row))
                    yield {"answer": self._with_names(row)}
        self.consumer.unassign()

    def _end_or_refusal(self, message: Message, waiting: set[int]) -> Iterator[JsonLine]:
        """Handle the end of a partition, or a refusal, in place of a record."""
        partition, refused = message.partition(), message.error()
        if refused.code() == KafkaError._PARTITION_EOF and partition in waiting:
            self.positions[partition] = message.offset()
            waiting.discard(partition)
        elif refused.code() in _DENIED:
            yield {"answer": {"denied": str(refused)}}
            waiting.clear()

    def _with_names(self, row: RowValues) -> JsonLine:
        """The row of a record, with the names of topics."""
        if "sentence" in row:
            return row
        if not self.has_asked_names and lacks_names(row, self.names):
            self._ask_names()
        return with_topics(row, self.names)

    def _ask_names(self) -> None:
        """Ask for the ids of all topics. The name of a deleted topic stays unknown."""
        self.has_asked_names = True
        try:
            topics = TopicCollection(list(self.admin.list_topics(timeout=8).topics))
            for name, answer in self.admin.describe_topics(topics, request_timeout=8).items():
                if answer.exception(9) is None:
                    self.names[_id_of(answer.result())] = name
        except (KafkaException, TimeoutError):
            return

    def _topic_id(self, timeout: float) -> str | None:
        """The id of the topic; None if the brokers have none (before 2.8)."""
        try:
            futures = self.admin.describe_topics(TopicCollection([TOPIC]), request_timeout=timeout)
            text = _id_of(futures[TOPIC].result(timeout + 1))
        except (KafkaException, TimeoutError):
            return None
        return text if text.strip("A") else None

    def _bounds(self, partitions: list[int], timeout: float) -> tuple[Offsets, Offsets]:
        """The first offset, and the one after the last committed record, of partitions whose leader answers."""
        bounds: list[Offsets] = []
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest()):
            futures = self.admin.list_offsets(
                {TopicPartition(TOPIC, p): spec for p in partitions},
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=timeout,
            )
            answers = {tp.partition: f for tp, f in futures.items()}
            offsets = {p: f.result().offset for p, f in answers.items() if f.exception(timeout + 1) is None}
            bounds.append({p: offset for p, offset in offsets.items() if offset >= 0})
        first, last = bounds
        return first, {p: end for p, end in last.items() if p in first}


def _starts(positions: Offsets, first: Offsets, last: Offsets) -> tuple[Offsets, list[str]]:
    """The offset from which each partition is read, and a sentence for each whose position is out of range."""
    starts = {p: positions.get(p, first[p]) for p in last}
    out_of_range = [p for p, at in starts.items() if not first[p] <= at <= last[p]]
    notes = [f"partition {p} reaches from {first[p]} to {last[p]}, read to {starts[p]}" for p in out_of_range]
    return {**starts, **{p: first[p] for p in out_of_range}}, notes


def _numbered(offsets: Mapping[str, int]) -> Offsets:
    """Offsets by partition number, which JSON has as text."""
    return {int(p): offset for p, offset in offsets.items()}


def _id_of(topic: Any) -> str:
    """A topic's id in Kafka's base64, which differs from librdkafka's."""
    return str(topic.topic_id).replace("+", "-").replace("/", "_")


if __name__ == "__main__":
    serve(RecordsReader)
