"""Canaries: clients outside of every group that write to partitions, read them back, and record when they could not.

`python -m lab.drill.canary BOOTSTRAP FILE` takes one JSON object a line on its standard input, does what it asks for
and answers `done`: {"do": "watch", "topic": T, "partitions": [0, 1]}, {"do": "leave", "topic": T}, {"do": "forget",
"topic": T} for a topic that is about to be deleted, and {"do": "sweep"}: it reads every partition from its start and
lists the acknowledged records that are missing. It sweeps when its input ends, too. docs/drill.md describes FILE.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from lab.drill.canary_rows import (
    ACKS,
    EVERY_MS,
    READ,
    STALL_MS,
    THRESHOLD_MS,
    CanaryRow,
    Place,
    Series,
    Stalls,
    in_ms,
    iso,
    missing,
    now,
    value_of,
)

_ROUND = 0.02
_ANSWERED_WITHIN = 3.0
_SWEPT_WITHIN = 15.0
"""Seconds without a record or a partition's end, after which the rest is not swept."""

_CLIENT: Mapping[str, Any] = {
    "client.id": "canary",
    "log_level": 0,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 300,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 200,
    "topic.metadata.refresh.interval.ms": 500,
    "topic.metadata.refresh.fast.interval.ms": 100,
    "socket.connection.setup.timeout.ms": 1000,
    "socket.timeout.ms": 1000,
    "socket.nagle.disable": True,
}
_WRITER: Mapping[str, Any] = {
    **_CLIENT,
    "linger.ms": 0,
    "message.timeout.ms": 1200,
    "request.timeout.ms": 800,
    "retries": 3,
    "max.in.flight.requests.per.connection": 1,
}
_READER: Mapping[str, Any] = {
    **_CLIENT,
    "group.id": "canary-assigns-only",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "latest",
    "isolation.level": "read_uncommitted",  # An open transaction holds readers of committed records back: no outage.
    "fetch.wait.max.ms": 100,
    "fetch.error.backoff.ms": 100,
}
_SWEEPER: Mapping[str, Any] = {
    **{name: value for name, value in _READER.items() if name != "socket.timeout.ms"},
    "auto.offset.reset": "earliest",
    "enable.partition.eof": True,
}


class CanaryWriter:
    """One producer for one partition and one kind: a broker answers the requests of one connection in order."""

    def __init__(self, bootstrap: str, series: Series, record: CanaryFile, acked: dict[int, int], due: float) -> None:
        self.series = series
        self.due = due
        self._record = record
        self._acked = acked
        self._next_number = 0
        self._settings = {**_WRITER, "bootstrap.servers": bootstrap, "acks": ACKS[series.kind]}
        self._producer = Producer(self._settings)

    def write(self) -> None:
        """Write one record, and fall due again.

        A broker that has just started may answer that it knows no such topic or partition. librdkafka then
        refuses each record for half a minute, without another question: a new producer asks.
        """
        number, series = self._next_number, self.series
        self._next_number += 1
        self.due = max(self.due + EVERY_MS / 1000, now())
        try:
            self._producer.produce(
                series.topic,
                value_of(series.kind, number),
                partition=series.partition,
                on_delivery=partial(self._delivered, number),
            )
        except KafkaException as refusal:
            series.fail(now(), refusal.args[0].name())
            self.poll()
            self._producer = Producer(self._settings)

    def poll(self) -> int:
        """Take the answers that arrived. Returns how many are still open."""
        self._producer.poll(0)
        return len(self._producer)

    def _delivered(self, number: int, error: KafkaError | None, message: confluent_kafka.Message) -> None:
        if error:
            self.series.fail(now(), error.name())
        else:
            self._acked[number] = message.offset() or 0
            self._record.keep(self.series.succeed(now()))


class CanaryReader:
    """One consumer that is given its partitions, and belongs to no group."""

    def __init__(self, bootstrap: str, series: Mapping[int, Series], record: CanaryFile) -> None:
        self.series = series
        self._record = record
        self._consumer = Consumer({**_READER, "bootstrap.servers": bootstrap})
        self._consumer.assign([TopicPartition(s.topic, s.partition, OFFSET_END) for s in series.values()])

    def poll(self) -> None:
        """Take the records that arrived."""
        for message in self._consumer.consume(500, timeout=0):
            if not message.error():
                self._record.keep(self.series[message.partition() or 0].succeed(now()))

    def close(self) -> None:
        """End the consumer."""
        self._consumer.close()


class CanaryFile:
    """canary.jsonl. Each row is on disk at once: a process that is killed leaves what it measured."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def keep(self, *rows: CanaryRow | None) -> None:
        """Write down rows."""
        for row in filter(None, rows):
            self._file.write(json.dumps(row) + "\n")
        self._file.flush()


class Flock:
    """All canaries of a drill."""

    def __init__(self, bootstrap: str, record: CanaryFile) -> None:
        self._bootstrap = bootstrap
        self._record = record
        self._stalls = Stalls()
        self._round_ended_at = now()
        self._writers: list[CanaryWriter] = []
        self._leaving: list[CanaryWriter] = []
        self._readers: list[tuple[str, CanaryReader]] = []
        self._acked: dict[Place, dict[str, dict[int, int]]] = defaultdict(lambda: {kind: {} for kind in ACKS})
        settings = {"every_ms": EVERY_MS, "threshold_ms": THRESHOLD_MS, "librdkafka": confluent_kafka.libversion()[0]}
        record.keep({"row": "settings", "at": iso(now()), **settings, "writer": _WRITER, "reader": _READER})

    def watch(self, topic: str, partitions: Sequence[int]) -> None:
        """Start canaries on partitions."""
        reads = {p: Series(topic, p, READ, self._stalls) for p in partitions}
        self._readers.append((topic, CanaryReader(self._bootstrap, reads, self._record)))
        for number, (p, kind) in enumerate((p, kind) for p in partitions for kind in ACKS):
            due = now() + number * EVERY_MS / 1000 / len(partitions) / len(ACKS)
            series = Series(topic, p, kind, self._stalls)
            writer = CanaryWriter(self._bootstrap, series, self._record, self._acked[topic, p][kind], due)
            self._writers.append(writer)

    def leave(self, topic: str) -> None:
        """Stop the canaries of a topic; what they wrote is swept all the same."""
        leaving = [w for w in self._writers if w.series.topic == topic]
        self._writers = [w for w in self._writers if w not in leaving]
        self._leaving += leaving
        for writer in leaving:
            self._record.keep(*writer.series.end(now()))
        for reader in [r for of, r in self._readers if of == topic]:
            for series in reader.series.values():
                self._record.keep(*series.end(now()))
            reader.close()
        self._readers = [(of, r) for of, r in self._readers if of != topic]

    def forget(self, topic: str) -> None:
        """Stop the canaries of a topic that goes: it cannot be swept."""
        self.leave(topic)
        for place in [p for p in self._acked if p[0] == topic]:
            del self._acked[place]
            self._record.keep({**_swept("not_swept", place), "why": "the topic was deleted"})

    def round(self) -> None:
        """Write the records that are due, and take the answers that arrived."""
        for writer in self._writers:
            if writer.due <= now():
                writer.write()
            writer.poll()
        for _, reader in self._readers:
            reader.poll()
        self._leaving = [w for w in self._leaving if w.poll()]
        time.sleep(_ROUND)
        began, self._round_ended_at = self._round_ended_at, now()
        self._stalls.add(began, self._round_ended_at)

    def end(self) -> None:
        """Stop every canary and sweep."""
        for topic in sorted({of for of, _ in self._readers}):
            self.leave(topic)
        until = now() + _ANSWERED_WITHIN
        while self._leaving and now() < until:
            self.round()
        stalls = [in_ms(b - a) for a, b in self._stalls.spans]
        self._record.keep({"row": "stalls", f"over_{STALL_MS}_ms": len(stalls), "longest_ms": max(stalls, default=0)})
        self.sweep()

    def sweep(self) -> None:
        """Looks for acknowledged records that are missing."""
        self._record.keep(*sweep(self._acked, self._bootstrap))


def sweep(acked: Mapping[Place, Mapping[str, Mapping[int, int]]], bootstrap: str) -> Iterator[CanaryRow]:
    """Read partitions from their start. Returns a row for each, with the acknowledged records that are missing."""
    consumer = Consumer({**_SWEEPER, "bootstrap.servers": bootstrap})
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in acked])
    values: dict[Place, set[bytes]] = defaultdict(set)
    open_places = set(acked)
    progress_at = now()
    while open_places and now() - progress_at < _SWEPT_WITHIN:
        for message in consumer.consume(10_000, timeout=0.5):
            place = (message.topic() or "", message.partition() or 0)
            error = message.error()
            if not error:
                values[place].add(message.value() or b"")
                progress_at = now()
            elif error.code() == KafkaError._PARTITION_EOF:
                open_places.discard(place)
                progress_at = now()
    consumer.close()
    for place, kinds in sorted(acked.items()):
        if place in open_places:
            why = f"its end was not reached, and for {_SWEPT_WITHIN:.0f} s no record came"
            yield {**_swept("not_swept", place), "why": why}
        else:
            yield {**_swept("sweep", place), **missing(kinds, values[place])}


def _swept(row: str, place: Place) -> CanaryRow:
    return {"row": row, "topic": place[0], "partition": place[1]}


def main() -> int:
    """Play the canaries until its input ends, then sweep."""
    bootstrap, path = sys.argv[1:]
    orders: queue.SimpleQueue[CanaryRow | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    with Path(path).open("w", encoding="utf-8") as file:
        flock = Flock(bootstrap, CanaryFile(file))
        while True:
            while not orders.empty():
                match orders.get():
                    case {"do": "watch", "topic": topic, "partitions": partitions}:
                        flock.watch(topic, partitions)
                    case {"do": "leave", "topic": topic}:
                        flock.leave(topic)
                    case {"do": "forget", "topic": topic}:
                        flock.forget(topic)
                    case {"do": "sweep"}:
                        flock.sweep()
                    case None:
                        flock.end()
                        return 0
                print("done", flush=True)
            flock.round()


def _listen(orders: queue.SimpleQueue[CanaryRow | None]) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    orders.put(None)


if __name__ == "__main__":
    sys.exit(main())
