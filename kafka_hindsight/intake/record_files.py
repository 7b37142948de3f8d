"""The files of RECORDS, with records of `__consumer_offsets`: segments as brokers keep them, and JSON lines."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterator

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.intake.checksums import fast_crc32c
from kafka_hindsight.intake.group_record_rows import OffsetsTopicInput, columns_of_record
from kafka_hindsight.intake.json_lines import landed_lines, value_of
from kafka_hindsight.intake.reading_files import files_of_input
from kafka_hindsight.kafka_records.batches import batches, uncommitted
from kafka_hindsight.kafka_records.commit_runs import Run
from kafka_hindsight.kafka_records.offsets_topic import TOPIC, OffsetsTopic, with_topics
from kafka_hindsight.kafka_records.wire import Malformed
from kafka_hindsight.logs.file_bytes import Stored, open_bytes
from kafka_hindsight.logs.found_files import Found
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import grouped

_JSON_LINES = re.compile(r"(?!\.)[^/]+\.jsonl(?:\.\w+)?")
_SEGMENT = re.compile(rf".*?{TOPIC}-(\d{{1,9}})/\d{{20}}\.log")
_NEEDED = (
    "a folder with segments of __consumer_offsets (__consumer_offsets-N/*.log), or a JSON-lines file, or a folder of"
    " them, with one record of __consumer_offsets a line"
)
_NO_RECORD = (
    "It is not a record. Needed: a JSON object with topic, partition, offset, at (in milliseconds), and key and value"
    " (in base64; null where there is none)."
)
_BOUNDS = {"partition": 1 << 31, "offset": 1 << 63, "at": 253_402_300_800_000}
"""Above the largest number of each field. The calendar ends with the year 9999."""

Record = tuple[int, int, int, bytes | None, bytes | None]
"""Partition and offset, when it was written, in milliseconds, key and value."""

Broken = tuple[str, str]
"""What could not be read, and a sentence that says why."""


def read_record_files(place: str | None) -> OffsetsTopicInput:
    """Read the files at a place; nothing for None.

    Raises:
        BadInput: The place has no file of records.
    """
    if place is None:
        return OffsetsTopicInput()
    files = files_of_input("RECORDS", place, _NEEDED)
    segments = [f for f in files if _SEGMENT.fullmatch(f.uri)]
    lines = [f for f in files if f not in segments and (_is_itself(f, place) or _JSON_LINES.fullmatch(f.name))]
    if not segments and not lines:
        raise BadInput(
            f"RECORDS names {masked(place)}, and none of its {len(files)} files has records. Needed: {_NEEDED}."
        )
    reader = _Reader()
    for replica in grouped(sorted(segments, key=lambda f: f.uri), lambda f: f.uri.rpartition("/")[0]).values():
        left_out = uncommitted(_content(file) for file in replica)
        for file in replica:
            reader.take_stream(reader.records_of(file, left_out))
    for file in lines:
        reader.take_stream(reader.lines_of(file))
    return reader.result()


class _Reader:
    """Reads streams of records one after another: in each, the records of a partition are in order."""

    def __init__(self) -> None:
        self.groups: list[RowValues] = []
        self.runs: list[Run] = []
        self.broken: list[Broken] = []
        self.topic_names: dict[str, str] = {}

    def take_stream(self, records: Iterator[Record]) -> None:
        """Read one stream. Where a partition goes back, as it does if a file has it twice, runs end."""
        topic, positions = OffsetsTopic((), self.topic_names), dict[int, int]()
        for partition, offset, at, key, value in records:
            if offset <= positions.get(partition, -1):
                topic.end_runs(partition)
            positions[partition] = offset
            row = topic.take(partition, offset, at, key, value)
            if row is None:
                continue
            if "sentence" in row:
                self.broken.append((json.dumps(row), row["sentence"]))
            else:
                self.groups.append(row)
        self.runs += [*topic.take_finished(), *topic.open_runs]

    def records_of(self, file: Found, left_out: Collection[int]) -> Iterator[Record]:
        """The records of a segment, without batches at these offsets; up to where it breaks off."""
        match = _SEGMENT.fullmatch(file.uri)
        partition = int(match[1]) if match else 0
        try:
            for batch in batches(_content(file), checksum=fast_crc32c):
                if not batch.is_control and batch.base_offset not in left_out:
                    yield from ((partition, *record) for record in batch.records)
        except Malformed as refusal:
            self.broken.append((file.name, f"{file.name}: {refusal} Nothing after it was read."))

    def lines_of(self, file: Found) -> Iterator[Record]:
        """The records of a file of JSON lines; those of other topics are left out."""
        content = open_bytes(file.uri, file.size)
        try:
            for text in landed_lines(content):
                try:
                    if (record := _record_in(text)) is not None:
                        yield record
                except ValueError:
                    self.broken.append((text, _NO_RECORD))
            if content.damage is not None:
                self.broken.append(
                    (file.name, f"{file.name}: {content.damage}. The records before the break are kept.")
                )
        finally:
            content.close()

    def result(self) -> OffsetsTopicInput:
        """The records that were read. An assignment gets the names of its topics, wherever the records showed them."""
        groups = (columns_of_record(with_topics(row, self.topic_names)) for row in self.groups)
        return OffsetsTopicInput(tuple(groups), tuple(self.runs), tuple(self.broken))


def _is_itself(file: Found, place: str) -> bool:
    """Whether a file is the place that the user named."""
    return file.uri.rstrip("/").endswith(place.rstrip("/"))


def _content(file: Found) -> bytes:
    """The bytes of a segment, which Kafka rolls at 100 MiB (offsets.topic.segment.bytes)."""
    content = Stored(file.uri)
    try:
        return content.between(0, file.size)
    finally:
        content.close()


def _record_in(text: str) -> Record | None:
    """The record in a line; None for one of another topic. Raises: ValueError."""
    line = value_of(text)
    if not isinstance(line, dict) or not isinstance(line.get("topic"), str):
        raise ValueError(_NO_RECORD)
    if line["topic"] != TOPIC:
        return None
    partition, offset, at = (_number_of(line.get(name), most) for name, most in _BOUNDS.items())
    return (partition, offset, at, _bytes_of(line.get("key")), _bytes_of(line.get("value")))


def _number_of(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value < most:
        raise ValueError(_NO_RECORD)
    return value


def _bytes_of(text: object) -> bytes | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(_NO_RECORD)
    return base64.b64decode(text, validate=True)
