"""The files of RECORDS, with records of `__consumer_offsets`: JSON lines."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.intake.group_record_rows import OffsetsTopicInput, columns_of_record
from kafka_hindsight.intake.json_lines import landed_lines, value_of
from kafka_hindsight.intake.reading_files import files_of_input
from kafka_hindsight.kafka_records.commit_runs import Run
from kafka_hindsight.kafka_records.offsets_topic import TOPIC, OffsetsTopic, with_topics
from kafka_hindsight.logs.file_bytes import open_bytes
from kafka_hindsight.logs.found_files import Found
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput

_JSON_LINES = re.compile(r"(?!\.)[^/]+\.jsonl(?:\.\w+)?")
_NEEDED = "a JSON-lines file, or a folder of them, with one record of __consumer_offsets a line"
_NO_RECORD = (
    "It is not a record. Needed: a JSON object with topic, partition, offset, at (in milliseconds), and key and value"
    " (in base64; null where there is none)."
)
_BOUNDS = {"partition": 1 << 31, "offset": 1 << 63, "at": 253_402_300_800_000}
"""Above the largest number of each field. The calendar ends with the year 9999."""

Broken = tuple[str, str]
"""What could not be read, and a sentence that says why."""


class Record(NamedTuple):
    """One record of the topic. `at`: when it was written, in milliseconds."""

    partition: int
    offset: int
    at: int
    key: bytes | None
    value: bytes | None


def read_record_files(place: str | None) -> OffsetsTopicInput:
    """Read the files at a place; nothing for None.

    Raises:
        BadInput: The place has no file of records.
    """
    if place is None:
        return OffsetsTopicInput()
    found = files_of_input("RECORDS", place, _NEEDED)
    lines = [f for f in found if f.uri.rstrip("/").endswith(place.rstrip("/")) or _JSON_LINES.fullmatch(f.name)]
    if not lines:
        raise BadInput(
            f"RECORDS names {masked(place)}, and none of its {len(found)} files has records. Needed: {_NEEDED}."
        )
    read = _Reader()
    for file in lines:
        read.take_stream(read.lines_of(file))
    return read.result()


class _Reader:
    """Reads streams of records one after another: in each, the records of a partition are in order."""

    def __init__(self) -> None:
        self.groups: list[RowValues] = []
        self.runs: list[Run] = []
        self.broken: list[Broken] = []
        self.topic_names: dict[str, str] = {}

    def take_stream(self, records: Iterator[Record]) -> None:
        """Read one stream. Where a partition goes back, as it does if a file has it twice, runs end."""
        topic, positions = OffsetsTopic(), dict[int, int]()
        for record in records:
            partition = record.partition
            if record.offset <= positions.get(partition, -1):
                topic.end_runs(partition)
            positions[partition] = record.offset
            row = topic.take(*record)
            if row is None:
                continue
            if "sentence" in row:
                self.broken.append((json.dumps(row), row["sentence"]))
            else:
                self.groups.append(row)
        self.runs += [*topic.take_finished(), *topic.open_runs]
        self.topic_names |= topic.topic_names

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
        """What was read. An assignment gets the names of its topics, wherever the records showed them."""
        groups = (columns_of_record(with_topics(row, self.topic_names)) for row in self.groups)
        return OffsetsTopicInput(tuple(groups), tuple(self.runs), tuple(self.broken))


def _record_in(text: str) -> Record | None:
    """The record in a line; None for one of another topic. Raises: ValueError."""
    line = value_of(text)
    if not isinstance(line, dict) or not isinstance(line.get("topic"), str):
        raise ValueError(_NO_RECORD)
    if line["topic"] != TOPIC:
        return None
    partition, offset, at = (_number_of(line.get(name), most) for name, most in _BOUNDS.items())
    return Record(partition, offset, at, _bytes_of(line.get("key")), _bytes_of(line.get("value")))


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
