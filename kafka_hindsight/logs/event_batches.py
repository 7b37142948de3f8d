"""Batches of records, read in a worker: columns in, columns out. The module `reading` reads each record."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.codes import LineFate, Origin
from kafka_hindsight.catalog.quality import QUARANTINE, UNPARSED_LINES
from kafka_hindsight.catalog.silver import EVENT_FIELDS, EVENTS
from kafka_hindsight.knowledge.witness_loggers import LEVELS
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_schema
from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.reading import (
    QUOTED,
    RecordReading,
    broker_of_folder,
    broker_of_line,
    fields_of,
    quotation,
    read_record,
    relevant_class,
    template,
)

_EVENTS = arrow_schema(EVENTS)
_LATER = ("broker", "knowledge_version")
"""Columns of silver.events that are filled once the whole log is read: a line may not name its broker."""

PACKED = pa.schema(
    [
        *(field for field in _EVENTS if field.name not in _LATER),
        *((name, pa.int32()) for name in ("broker", "folder_broker")),
        ("likeness", pa.int64()),
    ]
)
"""The columns of a packed event: its own, the brokers that its line and its folder name, and the hash of its text."""

_WHERE = ("origin", "source", "happened_at", "order", "likeness", "broker")
PICKED = pa.schema([("unit", pa.int32()), ("nth", pa.int64()), *map(PACKED.field, _WHERE)])
"""The columns that show whether an event is a repeat: the unit that read it, its number there, and where it stands."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_FACTOR = np.int64(0x1E3779B97F4A7C15)


class Packer:
    """Packs batches of events, one after another. `size` is the bytes that were packed so far."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._sink, self._keys = pa.BufferOutputStream(), list[Ints]()
        self._stream = pa.ipc.new_stream(self._sink, PACKED, options=_COMPRESSED)
        self.size = 0

    def pack(self, events: pa.RecordBatch) -> None:
        """Add the events of a batch."""
        self._stream.write_batch(events)
        self._keys.append(keys_of(events))
        self.size = self._sink.tell()

    def packed(self) -> tuple[bytes, Ints]:
        """Return all events as one value, and the key of each, and start again without events."""
        self._stream.close()
        packed, keys = self._sink.getvalue().to_pybytes(), np.concatenate([np.array([], np.int64), *self._keys])
        self._begin()
        return packed, keys


def keys_of(events: pa.RecordBatch) -> Ints:
    """A key for each event: equal for events of one instant and text, mostly different for others."""
    at, likeness = (events[name].cast(pa.int64()).to_numpy() for name in ("happened_at", "likeness"))
    keys: Ints = at * _FACTOR + likeness
    return keys


def picked(packed: bytes, unit: int, numbers: Ints, brokers: Mapping[str, int | None]) -> Iterator[pa.RecordBatch]:
    """The events with these numbers, as PICKED.

    `brokers`: the only broker that the lines of a source name as their writer; None where they name several.
    """
    for first, events in _unpacked(packed, brokers):
        nth = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + len(events))]
        columns = events.take(pa.array(nth - first)).select(_WHERE).columns
        yield pa.record_batch([pa.repeat(pa.scalar(unit, pa.int32()), len(nth)), pa.array(nth), *columns], PICKED)


def events_of(
    packed: bytes, repeats: Ints, brokers: Mapping[str, int | None], knowledge_version: str
) -> Iterator[pa.RecordBatch]:
    """Rows of silver.events, without the events whose numbers are in `repeats`. `brokers` are as for `picked`."""
    for first, events in _unpacked(packed, brokers):
        unique = np.setdiff1d(np.arange(first, first + len(events)), repeats)
        events = events if len(unique) == len(events) else events.take(pa.array(unique - first))
        version = pa.repeat(knowledge_version, len(events))
        yield pa.record_batch([version if f.name == "knowledge_version" else events[f.name] for f in _EVENTS], _EVENTS)


def _unpacked(packed: bytes, brokers: Mapping[str, int | None]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches of events with the broker that wrote each, and the number of the first event of each batch.

    Where no line of the log names a broker, its folder does. Where lines name several, any of them may have written it.
    """
    sources, only = pa.array(brokers.keys(), pa.string()), pa.array(brokers.values(), pa.int32())
    first = 0
    for events in pa.ipc.open_stream(packed):
        place = pc.index_in(events["source"], sources)
        of_folder = pc.if_else(pc.is_null(place), events["folder_broker"], None)
        writer = pc.coalesce(events["broker"], only.take(place), of_folder)
        yield first, events.set_column(events.schema.get_field_index("broker"), "broker", writer)
        first += len(events)


_READ = ("layout", "text", "line_count")
"""The columns that a record is read from, beside whether it has an instant."""

_PLACE = ("line_id", "cluster", "origin", "source", "happened_at", "order", "line_count")
"""Columns that say where a record stands. They are passed on unchanged."""

_HASH = 8
"""Bytes of the hash by which identical events are recognised."""

_BY = ("source", "origin", "fate", "hour_from")
_COUNTS = {
    "records": ("lines", "count"),
    "lines": ("lines", "sum"),
    "replaced": ("replaced", "sum"),
    "instants": ("at", "distinct"),
    "layouts": ("layout", "distinct"),
    "loggers": ("logger", "distinct"),
    "lowest_broker": ("broker", "min"),
    "highest_broker": ("broker", "max"),
    "named": ("broker", "count"),
}
"""The numbers of a tally, which counts a source's records of one fate in one hour: column and aggregation of each."""

TALLIES = pa.schema(
    {
        **{"source": pa.string(), "origin": pa.string(), "fate": pa.string(), "hour_from": INSTANT},
        **dict.fromkeys(_COUNTS, pa.int64()),
        "instants": pa.list_(INSTANT),
        "layouts": pa.list_(pa.string()),
        "loggers": pa.list_(pa.string()),
    }
)

_LEVEL_WITHIN = 120
"""A record's head names its level within its first characters, behind the instant and the thread."""

_LEVEL = r"\b(?P<level>" + "|".join(LEVELS) + r")\b"


class Rest(NamedTuple):
    """The results of a batch beside events: TALLIES, and rows of quality.unparsed_lines and quality.quarantine."""

    tallies: pa.RecordBatch
    unparsed: pa.RecordBatch
    quarantined: pa.RecordBatch


_FIELDS = ("kind", "pattern_id", *(c.name for c in EVENT_FIELDS))

Columns = dict[str, Any]


def read_batches(
    batches: Iterable[pa.RecordBatch], edges: Sequence[datetime], pack: Callable[[pa.RecordBatch], None]
) -> Iterator[Rest]:
    """Give each record exactly one fate: event, ignored, unparsed or quarantined.

    The tallies count every record once, where its fate is decided.

    Args:
        batches: Rows of bronze.log_records.
        edges: Instants that cut an hour in two.
        pack: Receives the events, as PACKED.
    """
    for records in batches:
        batch = _ParsedBatch.of(records)
        if (events := _events(batch)) is not None:
            pack(events)
        yield Rest(_tally(batch, edges), _unparsed(batch), _quarantined(batch))


def hours_of(at: pa.Array, edges: Sequence[datetime]) -> pa.Array:
    """The start of each instant's hour, or the last edge before the instant in that hour."""
    hour = pc.floor_temporal(at, unit="hour")
    for edge in (pa.scalar(edge, at.type) for edge in edges):
        hour = pc.if_else(pc.and_(pc.less_equal(edge, at), pc.less(hour, edge)), edge, hour)
    return hour


@dataclass(frozen=True)
class _ParsedBatch:
    """A batch of records, the reading of each, the broker that each event names, and the fates."""

    records: pa.RecordBatch
    texts: list[str]
    readings: list[RecordReading]
    brokers: list[int | None]
    fates: pa.Array

    @classmethod
    def of(cls, records: pa.RecordBatch) -> _ParsedBatch:
        layouts, texts, counts = (records.column(name).to_pylist() for name in _READ)
        is_dated = records.column("happened_at").is_valid().to_pylist()
        readings = list(map(read_record, layouts, texts, counts, is_dated))
        is_brokers = pc.equal(records.column("origin"), "broker").to_pylist()
        brokers = [broker_of_line(r.message) if r.pattern and is_so else None for r, is_so in zip(readings, is_brokers)]
        return cls(records, texts, readings, brokers, pa.array([r.fate for r in readings], pa.string()))

    def places(self, fate: LineFate) -> list[int]:
        """The places of the records of a fate in the batch."""
        return list(pc.indices_nonzero(pc.equal(self.fates, fate)).to_pylist())

    def rows(self, places: list[int], **columns: Any) -> Columns:
        """The columns of some records: where they stand, and `columns`."""
        columns_of_place = self.records.select(_PLACE).take(pa.array(places, pa.int64()))
        return {**dict(zip(_PLACE, columns_of_place.columns)), **columns}


def _events(batch: _ParsedBatch) -> pa.RecordBatch | None:
    """The events of a batch, grouped by pattern."""
    claimed = defaultdict[str, list[int]](list)
    for place in batch.places(LineFate.EVENT):
        claimed[batch.readings[place].pattern.pattern_id].append(place)  # type: ignore[union-attr]
    fields = defaultdict[str, list[pa.Array]](list)
    for places in claimed.values():
        for name, column in _pattern_columns([batch.readings[place] for place in places]).items():
            fields[name].append(column)
    if not claimed:
        return None
    order = list(chain.from_iterable(claimed.values()))
    columns = {name: pa.concat_arrays(parts) for name, parts in fields.items()}
    texts = [batch.texts[place] for place in order]
    # A copy that went through Windows has other line ends and says the same.
    words = (text.replace("\r", "").encode() for text in texts)
    hashes = (hashlib.blake2b(each, digest_size=_HASH).digest() for each in words)
    likeness = np.frombuffer(b"".join(hashes), np.int64)
    rows = batch.rows(order, text=list(map(quotation, texts)), likeness=likeness, **columns)
    # Who wrote a line: as it names itself, else as its folder does.
    rows["broker"] = [batch.brokers[place] for place in order]
    writers = zip(rows["broker"], rows["source"].to_pylist(), rows["origin"].to_pylist())
    rows["folder_broker"] = [
        broker_of_folder(source) if writer is None and by == "broker" else None for writer, source, by in writers
    ]
    return _batch_of(rows, PACKED)


def _pattern_columns(readings: list[RecordReading]) -> Columns:
    """The fields of records that one pattern claims, as columns."""
    pattern: Any = readings[0].pattern
    count = len(readings)
    columns: Columns = fields_of(pattern, [r.groups for r in readings])
    columns |= {"kind": [pattern.kind] * count, "pattern_id": [pattern.pattern_id] * count}
    types = {name: PACKED.field(name).type for name in _FIELDS}
    return {n: pa.array(columns[n], dtype) if n in columns else pa.nulls(count, dtype) for n, dtype in types.items()}


def _unparsed(batch: _ParsedBatch) -> pa.RecordBatch:
    places = batch.places(LineFate.UNPARSED)
    readings = [batch.readings[place] for place in places]
    rows = batch.rows(
        places,
        logger=[r.logger for r in readings],
        template=[template(r.message) for r in readings],
        text=[quotation(batch.texts[place]) for place in places],
    )
    return _batch_of(rows, arrow_schema(UNPARSED_LINES))


def _quarantined(batch: _ParsedBatch) -> pa.RecordBatch:
    places = batch.places(LineFate.QUARANTINED)
    rows = batch.rows(
        places,
        row=[batch.texts[place][:QUOTED] for place in places],
        sentences=[list(batch.readings[place].sentences) for place in places],
    )
    return _batch_of({**rows, "quarantine_id": rows["line_id"]}, arrow_schema(QUARANTINE))


def _tally(batch: _ParsedBatch, edges: Sequence[datetime]) -> pa.RecordBatch:
    """The tallies: records and lines by source, fate and hour."""
    column = batch.records.column
    at = column("happened_at")
    columns = {
        **{name: column(name) for name in ("source", "origin", "layout")},
        **{"fate": batch.fates, "hour_from": hours_of(at, edges), "lines": column("line_count"), "at": at},
        "replaced": pc.if_else(column("raw").is_valid(), column("line_count"), 0),
        "broker": pa.array(batch.brokers, pa.int64()),
        "logger": pc.if_else(
            pc.equal(column("origin"), Origin.BROKER),
            levels_and_loggers(column("text"), batch.readings),
            pa.scalar(None, pa.string()),
        ),
    }
    totals = pa.table(columns).group_by(_BY, use_threads=False).aggregate(list(_COUNTS.values()))
    names = {**{name: name for name in _BY}, **{name: "_".join(how) for name, how in _COUNTS.items()}}
    return _batch_of({name: totals[own].combine_chunks() for name, own in names.items()}, TALLIES)


def levels_and_loggers(texts: pa.Array, readings: Iterable[RecordReading]) -> pa.Array:
    """The level and the logger of each record, as in `INFO GroupCoordinator`; null where its head names no level.

    A logger whose lines are never events stays unnamed. The level is what its head names, in Kafka's own words.
    """
    heads = pc.utf8_slice_codeunits(texts, 0, _LEVEL_WITHIN)
    levels = pc.struct_field(pc.extract_regex(heads, _LEVEL), "level")
    classes = pa.array([relevant_class(reading.logger) for reading in readings], pa.string())
    return pc.utf8_rtrim_whitespace(pc.binary_join_element_wise(levels, classes, " "))


def _batch_of(columns: Columns, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([_as_array(columns[f.name], f.type) for f in schema], schema)


def _as_array(column: Any, type_: pa.DataType) -> pa.Array:
    if not isinstance(column, pa.Array):
        return pa.array(column, type_)
    return column if column.type == type_ else column.cast(type_)
