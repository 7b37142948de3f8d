"""The child process that reads `__consumer_offsets`: `python -m kafka_hindsight.kafka.group_records_reader`.

The same protocol as the reader's. It joins no group and commits nothing: each question names the positions to read
from, and each answer the positions that come next.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
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

from kafka_hindsight.kafka.cluster_reader import serve
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.group_records import CALLS
from kafka_hindsight.knowledge import group_records

TOPIC = "__consumer_offsets"
MOST_BYTES = 8 * 1024 * 1024
"""The most in one answer, so that neither process holds more."""

_AT_ONCE = 500
_QUOTED_BYTES = 500
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
Line = dict[str, Any]
Offsets = dict[int, int]


class RecordsReader:
    """One consumer that is given its partitions, and the names of topics by id as far as they are known."""

    def __init__(self, connection: Connection) -> None:
        known = {"client.id": "hindsight-records", "log_level": 0, **connection.settings}
        self.admin = AdminClient(known)
        self.consumer = Consumer({**known, **_FETCHING})
        self.names: dict[str, str] = {}
        self.asked_names = False

    def read(self, of: Mapping[str, Any], timeout: float) -> Iterator[Line]:
        """The records from some positions on, as far as one answer holds them, then where to go on.

        Takes: positions by partition; `ends`, up to where to read; `topic_id`, of the topic that they belong to; the
            time-out of all calls together.
        Gives: rows of bronze.group_records, or `sentence` where one cannot be read; last `next`.
        """
        timeout /= CALLS
        held = self.admin.list_topics(TOPIC, timeout=timeout).topics[TOPIC]
        refused = held.error.code() if held.error is not None else None
        if refused in _DENIED:
            yield {"tell": {"denied": str(held.error)}}
        elif refused in _ABSENT or not held.partitions:
            yield {"tell": {"next": {"positions": {}, "ends": {}, "topic_id": None, "is_done": True}}}
        else:
            yield from self._read_on(sorted(held.partitions), of, timeout)

    def _read_on(self, partitions: list[int], of: Mapping[str, Any], timeout: float) -> Iterator[Line]:
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
        yield from self._rows(starts, ends, time.monotonic() + timeout)
        following = {**{p: positions[p] for p in silent if p in positions}, **self.positions}
        is_done = all(following.get(p, 0) >= end for p, end in ends.items() if p in last)
        go_on = {"positions": following, "ends": ends, "topic_id": topic_id, "is_done": is_done}
        yield {"tell": {"next": go_on, "notes": notes}}

    def _rows(self, starts: Offsets, ends: Offsets, until: float) -> Iterator[Line]:
        self.positions = dict(starts)
        waiting = {p for p, at in starts.items() if at < ends.get(p, at)}
        self.consumer.assign([TopicPartition(TOPIC, p, starts[p]) for p in sorted(waiting)])
        size = 0
        while waiting and size < MOST_BYTES and time.monotonic() < until:
            for message in self.consumer.consume(_AT_ONCE, timeout=0.2):
                if message.error() is not None:
                    yield from self._stopped(message, waiting)
                elif (partition := message.partition()) in waiting:
                    self.positions[partition] = message.offset() + 1
                    if self.positions[partition] >= ends[partition]:
                        waiting.discard(partition)
                    if (row := self._row(message)) is not None:
                        size += len(message.key() or b"") + len(message.value() or b"")
                        yield {"tell": row}
        self.consumer.unassign()

    def _stopped(self, message: Message, waiting: set[int]) -> Iterator[Line]:
        """Takes the end of a partition, or a refusal, instead of a record."""
        partition, refused = message.partition(), message.error()
        if refused.code() == KafkaError._PARTITION_EOF and partition in waiting:
            self.positions[partition] = message.offset()
            waiting.discard(partition)
        elif refused.code() in _DENIED:
            yield {"tell": {"denied": str(refused)}}
            waiting.clear()

    def _row(self, message: Message) -> Line | None:
        """What a record says; None for one that is about no group or member."""
        key, value = message.key(), message.value()
        place = {
            "offsets_partition": message.partition(),
            "record_offset": message.offset(),
            "written_at": _iso(message.timestamp()[1]),
        }
        try:
            if group_records.type_of(key) is None:
                return None
            found = group_records.decode(key, value)
        except group_records.Malformed as wrong:
            quoted = {"key": (key or b"")[:_QUOTED_BYTES].hex(), "value": (value or b"")[:_QUOTED_BYTES].hex()}
            return {**place, "sentence": str(wrong), **quoted}
        self.names |= {t["topic_id"]: t["topic"] for t in found.pop("topics", ())}
        if found.get("state_at") is not None:
            found["state_at"] = _iso(found["state_at"])
        for name in ("assignment", "pending_revocation"):
            found |= {name: [self._named(owned) for owned in found[name]]} if name in found else {}
        return {**place, **found}

    def _named(self, owned: Line) -> Line:
        """A partition with its topic's name, where the id is known."""
        if owned["topic_id"] not in self.names and not self.asked_names:
            self._ask_names()
        return {"topic": self.names.get(owned["topic_id"]), **owned}

    def _ask_names(self) -> None:
        """The ids of all topics that there are now. Edge case: the name of a deleted topic is no longer known."""
        self.asked_names = True
        try:
            wanted = TopicCollection(list(self.admin.list_topics(timeout=8).topics))
            for name, answer in self.admin.describe_topics(wanted, request_timeout=8).items():
                if answer.exception(9) is None:
                    self.names[_id_of(answer.result())] = name
        except (KafkaException, TimeoutError):
            return

    def _topic_id(self, timeout: float) -> str | None:
        """The id of the topic; None where the brokers or their metadata know none (before 2.8)."""
        try:
            asked = self.admin.describe_topics(TopicCollection([TOPIC]), request_timeout=timeout)
            text = _id_of(asked[TOPIC].result(timeout + 1))
        except (KafkaException, TimeoutError):
            return None
        return text if text.strip("A") else None

    def _bounds(self, partitions: list[int], timeout: float) -> tuple[Offsets, Offsets]:
        """The first offset, and the one behind the last that is committed, of partitions whose leader answers."""
        found: list[Offsets] = []
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest()):
            asked = self.admin.list_offsets(
                {TopicPartition(TOPIC, p): spec for p in partitions},
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=timeout,
            )
            answers = {tp.partition: f for tp, f in asked.items()}
            told = {p: f.result().offset for p, f in answers.items() if f.exception(timeout + 1) is None}
            found.append({p: offset for p, offset in told.items() if offset >= 0})
        first, last = found
        return first, {p: end for p, end in last.items() if p in first}


def _starts(positions: Offsets, first: Offsets, last: Offsets) -> tuple[Offsets, list[str]]:
    """Where each partition is read on, and a sentence for each whose position is not there any longer."""
    starts = {p: positions.get(p, first[p]) for p in last}
    gone = [p for p, at in starts.items() if not first[p] <= at <= last[p]]
    notes = [f"partition {p} reaches from {first[p]} to {last[p]}, read to {starts[p]}" for p in gone]
    return {**starts, **{p: first[p] for p in gone}}, notes


def _numbered(said: Mapping[str, int]) -> Offsets:
    """Offsets by the numbers of partitions: JSON makes texts of them."""
    return {int(p): offset for p, offset in said.items()}


def _id_of(topic: Any) -> str:
    """A topic's id as Kafka writes it: librdkafka has another base64."""
    return str(topic.topic_id).replace("+", "-").replace("/", "_")


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


if __name__ == "__main__":
    serve(RecordsReader)
