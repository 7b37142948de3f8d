"""Commits as consumers make them, in the forms in which they come: what decoding and folding them costs.

A thousand commits a second of 200 groups with 25 partitions each, in one partition of `__consumer_offsets`.
"""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from kafka_hindsight.intake.checksums import fast_crc32c
from kafka_hindsight.intake.record_files import read_record_files
from kafka_hindsight.kafka_records.batches import Record
from kafka_hindsight.kafka_records.commit_runs import Run
from kafka_hindsight.kafka_records.offset_commits import CommitKey, encode_commit_key
from kafka_hindsight.kafka_records.offsets_topic import TOPIC, OffsetsTopic
from lab.bench import usage

COUNT = 1_000_000
_GROUPS, _PARTITIONS, _PARTITION = 200, 25, 7
_FIRST_AT = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp() * 1000)
_MOVES = 0.8
"""So many commits are of another offset than the one before."""

_STEP = 40
_POLL = 500
"""So many records the reader of the live topic takes at once."""

_ROLLED_AT = 100 * 1024 * 1024
"""The size at which a broker rolls a segment: offsets.topic.segment.bytes."""

_VALUE, _COMMITTED_AT = struct.Struct(">hqi"), struct.Struct(">q")
_TOPIC_ID = b"\x01\x00\x10" + bytes(16)
_PREFIX, _BEFORE_CRC, _REST = struct.Struct(">qi"), struct.Struct(">ibI"), struct.Struct(">hiqqqhii")


def requests(count: int) -> Iterator[list[Record]]:
    """The records of one commit request after another, which a broker writes as one batch: one for each partition."""
    draw = random.Random(4)
    keys = [
        [encode_commit_key(CommitKey(f"svc-{g:03}-consumers", f"topic-{g % 60:02}.events.v1", p)) for p in range(25)]
        for g in range(_GROUPS)
    ]
    offsets = [[0] * _PARTITIONS for _ in keys]
    for first in range(0, count, _PARTITIONS):
        group, at = first // _PARTITIONS % _GROUPS, _FIRST_AT + first
        own = offsets[group]
        own[:] = [offset + (_STEP if draw.random() < _MOVES else 0) for offset in own]
        yield [(first + p, at, key, _value(own[p], at)) for p, key in enumerate(keys[group])]


def _value(offset: int, at: int) -> bytes:
    """The value of a commit to a broker from 4.3 on: leader epoch 3, no metadata, the topic's id."""
    return _VALUE.pack(4, offset, 3) + b"\x01" + _COMMITTED_AT.pack(at) + _TOPIC_ID


def batch_of(records: Sequence[Record]) -> bytes:
    """Records as a batch in a segment, of the same instant."""
    first, at, _, _ = records[0]
    body = b"".join(_laid_out(record, first) for record in records)
    rest = _REST.pack(0, len(records) - 1, at, at, -1, -1, -1, len(records)) + body
    batch = _BEFORE_CRC.pack(3, 2, fast_crc32c(rest)) + rest
    return _PREFIX.pack(first, len(batch)) + batch


def _laid_out(record: Record, first: int) -> bytes:
    offset, _, key, value = record
    parts = (b"\0\0", _varint(offset - first), *chain.from_iterable((_varint(len(b)), b) for b in (key, value) if b))
    body = b"".join(parts) + b"\0"
    return _varint(len(body)) + body


def _varint(number: int) -> bytes:
    """A number that is not negative as a signed varint."""
    number, low = number << 1, bytearray()
    while number > 0x7F:
        low.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*low, number))


def json_line(record: Record) -> str:
    """A record as a line of JSON."""
    offset, at, *texts = record
    key, value = (base64.b64encode(text or b"").decode() for text in texts)
    return json.dumps({"topic": TOPIC, "partition": _PARTITION, "offset": offset, "at": at, "key": key, "value": value})


def lay(folder: Path, count: int = COUNT) -> None:
    """Lay the same records as segments and as JSON lines."""
    segments = folder / "segments" / f"{TOPIC}-{_PARTITION}"
    segments.mkdir(parents=True)
    segment = segments / f"{0:020}.log"
    with (folder / "records.jsonl").open("w", encoding="utf-8") as lines:
        for records in requests(count):
            if segment.exists() and segment.stat().st_size > _ROLLED_AT:
                segment = segments / f"{records[0][0]:020}.log"
            with segment.open("ab") as file:
                file.write(batch_of(records))
            lines.writelines(json_line(record) + "\n" for record in records)


def live(folder: Path, count: int) -> Callable[[], Iterable[Run]]:
    """Records that a consumer hands over. What librdkafka does is not measured."""
    records = [record for request in requests(count) for record in request]
    polls = [records[first : first + _POLL] for first in range(0, count, _POLL)]
    topic = OffsetsTopic((), {})

    def fold() -> Iterable[Run]:
        for poll in polls:
            topic.take(_PARTITION, poll)
        return (*topic.take_finished(), *topic.open_runs)

    return fold


def segments(folder: Path, count: int) -> Callable[[], Iterable[Run]]:
    """Segments as they lie on the disk of a broker."""
    return lambda: read_record_files(str(folder / "segments")).runs


def json_lines(folder: Path, count: int) -> Callable[[], Iterable[Run]]:
    """A file of JSON lines."""
    return lambda: read_record_files(str(folder / "records.jsonl")).runs


WAYS: Mapping[str, Callable[[Path, int], Callable[[], Iterable[Run]]]] = {
    way.__name__: way for way in (live, segments, json_lines)
}
"""The forms in which records come: each makes its input, and returns what is measured."""


def measure(way: str, folder: Path, count: int) -> dict[str, float]:
    """Decode and fold the records in one form. Raises RuntimeError where commits are missing."""
    work = WAYS[way](folder, count)
    with usage.metered() as used:
        runs = work()
    if (commits := sum(run.commits for run in runs)) != count:
        raise RuntimeError(f"Found: {commits} commits in {way}. Needed: {count}.")
    return {"commits": count, **used.figures()}
