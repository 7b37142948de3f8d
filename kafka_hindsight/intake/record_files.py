"""The files of RECORDS, with records of `__consumer_offsets`: segments as brokers keep them, and JSON lines."""

from __future__ import annotations

import json
import re
from binascii import a2b_base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import ge, lt

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as json_columns

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.intake.checksums import fast_crc32c
from kafka_hindsight.intake.group_record_rows import OffsetsTopicInput, columns_of_record
from kafka_hindsight.intake.json_lines import landed_blocks, lines_of, value_of
from kafka_hindsight.intake.packed_batches import unpacked
from kafka_hindsight.intake.reading_files import files_of_input
from kafka_hindsight.kafka_records.batches import Record, batches, uncommitted
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

_COLUMNS = pa.schema(
    [("topic", pa.string()), *((n, pa.int64()) for n in _BOUNDS), ("key", pa.string()), ("value", pa.string())]
)
_AS_COLUMNS = json_columns.ParseOptions(explicit_schema=_COLUMNS, unexpected_field_behavior="ignore")

_BLOCK = 1 << 20
"""The bytes of JSON lines that are read together: few enough that their columns are made in memory that is at hand."""

_AT_ONCE = 2_000
"""So many records of a segment, or some more, are folded at once."""

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
            reader.read_segment(file, left_out)
    for file in lines:
        reader.read_lines(file)
    return reader.result()


class _Stream:
    """Records one after another, as one file has them: those of a partition are in order."""

    def __init__(self, topic_names: dict[str, str]) -> None:
        self.topic = OffsetsTopic((), topic_names)
        self._positions: dict[int, int] = {}

    def take(self, partition: int, records: Sequence[Record]) -> list[RowValues]:
        """Take the next records of a partition. Where it goes back, as it does if a file has it twice, runs end."""
        offsets = [record[0] for record in records]
        before, rows = [self._positions.get(partition, -1), *offsets], list[RowValues]()
        self._positions[partition] = before[-1]
        if all(map(lt, before, offsets)):
            return self.topic.take(partition, records)
        begin = 0
        for place in [place for place, goes_back in enumerate(map(ge, before, offsets)) if goes_back]:
            rows += self.topic.take(partition, records[begin:place])
            self.topic.end_runs(partition)
            begin = place
        return rows + self.topic.take(partition, records[begin:])


class _Reader:
    """Reads files one after another."""

    def __init__(self) -> None:
        self.groups: list[RowValues] = []
        self.runs: list[Run] = []
        self.broken: list[Broken] = []
        self.topic_names: dict[str, str] = {}

    def read_segment(self, file: Found, left_out: Collection[int]) -> None:
        """Read a segment, without batches at these offsets; up to where it breaks off."""
        match = _SEGMENT.fullmatch(file.uri)
        partition, stream, records = int(match[1]) if match else 0, _Stream(self.topic_names), list[Record]()
        try:
            for batch in batches(_content(file), checksum=fast_crc32c, unpack=unpacked):
                if not batch.is_control and batch.base_offset not in left_out:
                    records += batch.records
                if len(records) >= _AT_ONCE:
                    self._keep(stream.take(partition, records))
                    records = []
        except Malformed as refusal:
            self.broken.append((file.name, f"{file.name}: {refusal} Nothing after it was read."))
        self._keep(stream.take(partition, records))
        self._end(stream)

    def read_lines(self, file: Found) -> None:
        """Read a file of JSON lines; records of other topics are left out."""
        content, stream = open_bytes(file.uri, file.size), _Stream(self.topic_names)
        try:
            for block in landed_blocks(content, _BLOCK):
                for partition, records in self._records_in(block).items():
                    self._keep(stream.take(partition, records))
            if content.damage is not None:
                self.broken.append(
                    (file.name, f"{file.name}: {content.damage}. The records before the break are kept.")
                )
        finally:
            content.close()
        self._end(stream)

    def _records_in(self, block: bytes) -> Mapping[int, Sequence[Record]]:
        """The records of whole lines, by partition: by columns, and line by line where one cannot be a record."""
        try:
            return _records_of_columns(block)
        except (pa.ArrowException, ValueError):
            records: dict[int, list[Record]] = {}
            for text in lines_of(block):
                try:
                    if (record := _record_in(text)) is not None:
                        records.setdefault(record[0], []).append(record[1])
                except ValueError:
                    self.broken.append((text, _NO_RECORD))
            return records

    def _keep(self, rows: Iterable[RowValues]) -> None:
        for row in rows:
            if "sentence" in row:
                self.broken.append((json.dumps(row), row["sentence"]))
            else:
                self.groups.append(row)

    def _end(self, stream: _Stream) -> None:
        self.runs += [*stream.topic.take_finished(), *stream.topic.open_runs]

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


def _records_of_columns(block: bytes) -> Mapping[int, Sequence[Record]]:
    """The records of lines by partition. Raises: ValueError, ArrowException if a line may be no record."""
    reading = json_columns.ReadOptions(use_threads=False, block_size=len(block) + 1)
    table = json_columns.read_json(pa.BufferReader(block), reading, _AS_COLUMNS)
    if table.num_rows != block.count(b"\n") + 1 or table["topic"].null_count:
        raise ValueError(_NO_RECORD)
    table = table.filter(pc.equal(table["topic"], TOPIC))
    for name, most in _BOUNDS.items():
        bounds = pc.min_max(table[name]).as_py()
        if table[name].null_count or (table.num_rows and not 0 <= bounds["min"] <= bounds["max"] < most):
            raise ValueError(_NO_RECORD)
    keys, values = (
        [text if text is None else a2b_base64(text, strict_mode=True) for text in table[name].to_pylist()]
        for name in ("key", "value")
    )
    offsets, instants = (table[name].to_numpy().tolist() for name in ("offset", "at"))
    records = zip(offsets, instants, keys, values, strict=True)
    partitions = pc.unique(table["partition"]).to_pylist()
    if len(partitions) == 1:
        return {partitions[0]: list(records)}
    by_partition: dict[int, list[Record]] = {}
    for partition, record in zip(table["partition"].to_pylist(), records, strict=True):
        by_partition.setdefault(partition, []).append(record)
    return by_partition


def _record_in(text: str) -> tuple[int, Record] | None:
    """The partition and the record in a line; None for one of another topic. Raises: ValueError."""
    line = value_of(text)
    if not isinstance(line, dict) or not isinstance(line.get("topic"), str):
        raise ValueError(_NO_RECORD)
    if line["topic"] != TOPIC:
        return None
    partition, offset, at = (_number_of(line.get(name), most) for name, most in _BOUNDS.items())
    return partition, (offset, at, _bytes_of(line.get("key")), _bytes_of(line.get("value")))


def _number_of(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value < most:
        raise ValueError(_NO_RECORD)
    return value


def _bytes_of(text: object) -> bytes | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(_NO_RECORD)
    return a2b_base64(text, strict_mode=True)
