"""Batches of records, read in a worker: columns in, columns out. What one record says, `reading` decides."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.catalog.quality import QUARANTINE, UNPARSED_LINES
from kafka_hindsight.catalog.silver import EVENT_FIELDS
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_type
from kafka_hindsight.logs.packed_events import PACKED
from kafka_hindsight.logs.reading import (
    QUOTED,
    Reading,
    broker_of_folder,
    broker_told,
    fields_of,
    quotation,
    read_record,
    template,
)

_READ = ("layout", "text", "line_count")
"""What a record is read by, beside whether it is UTF-8 and has an instant."""

_PLACE = ("line_id", "cluster", "origin", "source", "happened_at", "order", "line_count")
"""Where a record stands: passed on as it came."""

_HASH = 8
"""Bytes of the hash by which events are known to be alike."""

_BY = ("source", "origin", "fate", "hour_from")
_COUNTS = {
    "records": ("lines", "count"),
    "lines": ("lines", "sum"),
    "instants": ("at", "distinct"),
    "layouts": ("layout", "distinct"),
    "lowest_broker": ("broker", "min"),
    "highest_broker": ("broker", "max"),
    "named": ("broker", "count"),
}
"""What a tally holds of the records of a source that had a fate in an hour: the column it is taken from, and how."""

_TALLY = pa.struct(
    {
        "hour_from": INSTANT,
        **dict.fromkeys(_COUNTS, pa.int64()),
        "instants": pa.list_(INSTANT),
        "layouts": pa.list_(pa.string()),
    }
)
SCHEMA = pa.schema(
    {
        **{c.name: arrow_type(c.kind) for table in (UNPARSED_LINES, QUARANTINE) for c in table.columns},
        **{"order": pa.int32(), "origin": pa.string(), "fate": pa.string(), "tally": _TALLY},
    }
)
"""What a batch becomes, beside events: a row for each record that is unparsed or quarantined, with all columns of the
table that its fate leads to; rows with a tally."""

_FIELDS = ("kind", "pattern_id", *(c.name for c in EVENT_FIELDS))

Columns = dict[str, Any]


def read_batches(
    batches: Iterable[pa.RecordBatch], edges: Sequence[datetime], pack: Callable[[pa.RecordBatch], None]
) -> Iterator[pa.RecordBatch]:
    """Gives each record to exactly one fate: event, ignored, unparsed or quarantined.

    Takes: rows of bronze.log_records; the edges that cut an hour in two; what takes the events, as PACKED.
    Gives: rows of SCHEMA.
    Keeps: the tallies count every record once, where its fate is decided.
    """
    for batch in batches:
        read = _Read.of(batch)
        if (events := _events(read)) is not None:
            pack(events)
        for rows in (_tally(read, edges), _unparsed(read), _quarantined(read)):
            if count := len(rows["fate"]):
                columns = [rows[f.name] if f.name in rows else pa.nulls(count, f.type) for f in SCHEMA]
                yield pa.RecordBatch.from_arrays([_typed(c, f.type) for c, f in zip(columns, SCHEMA)], schema=SCHEMA)


def hours_of(at: pa.Array, edges: Sequence[datetime]) -> pa.Array:
    """Where the hour of each instant begins, or the part of it that follows an edge."""
    hour = pc.floor_temporal(at, unit="hour")
    for edge in (pa.scalar(edge, at.type) for edge in edges):
        hour = pc.if_else(pc.and_(pc.less_equal(edge, at), pc.less(hour, edge)), edge, hour)
    return hour


@dataclass(frozen=True)
class _Read:
    """A batch, what each of its records says, and the broker that each of its events names."""

    batch: pa.RecordBatch
    texts: list[str]
    readings: list[Reading]
    brokers: list[int | None]
    fates: pa.Array

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> _Read:
        layouts, texts, counts = (batch.column(name).to_pylist() for name in _READ)
        is_utf8 = batch.column("raw").is_null().to_pylist()
        is_dated = batch.column("happened_at").is_valid().to_pylist()
        readings = list(map(read_record, layouts, texts, counts, is_utf8, is_dated))
        is_brokers = pc.equal(batch.column("origin"), "broker").to_pylist()
        brokers = [broker_told(r.message) if r.pattern and is_so else None for r, is_so in zip(readings, is_brokers)]
        return cls(batch, texts, readings, brokers, pa.array([r.fate for r in readings], pa.string()))

    def places(self, fate: LineFate) -> list[int]:
        """The places in the batch of the records of a fate."""
        return list(pc.indices_nonzero(pc.equal(self.fates, fate)).to_pylist())

    def rows(self, places: list[int], **told: Any) -> Columns:
        """What the batch holds of these records, their fate, and these columns."""
        at = pa.array(places, pa.int64())
        kept = self.batch.select(_PLACE).take(at)
        return {**dict(zip(_PLACE, kept.columns)), "fate": self.fates.take(at), **told}


def _events(read: _Read) -> pa.RecordBatch | None:
    """The events of a batch, those of one pattern together."""
    claimed = defaultdict[str, list[int]](list)
    for place in read.places(LineFate.EVENT):
        claimed[read.readings[place].pattern.pattern_id].append(place)  # type: ignore[union-attr]
    fields = defaultdict[str, list[pa.Array]](list)
    for places in claimed.values():
        for name, column in _claimed([read.readings[place] for place in places]).items():
            fields[name].append(column)
    if not claimed:
        return None
    order = list(chain.from_iterable(claimed.values()))
    told = {name: pa.concat_arrays(columns) for name, columns in fields.items()}
    texts = [read.texts[place] for place in order]
    # A copy that went through Windows has other line ends and says the same.
    words = (text.replace("\r", "").encode() for text in texts)
    hashes = (hashlib.blake2b(each, digest_size=_HASH).digest() for each in words)
    likeness = np.frombuffer(b"".join(hashes), np.int64)
    rows = read.rows(order, text=list(map(quotation, texts)), likeness=likeness, **told)
    # Who wrote a line: as it names itself, else as its folder does.
    rows["broker"] = [read.brokers[place] for place in order]
    writers = zip(rows["broker"], rows["source"].to_pylist(), rows["origin"].to_pylist())
    rows["folder_broker"] = [
        broker_of_folder(source) if writer is None and by == "broker" else None for writer, source, by in writers
    ]
    return pa.record_batch([_typed(rows[f.name], f.type) for f in PACKED], PACKED)


def _claimed(readings: list[Reading]) -> Columns:
    """The columns of records that one pattern claims."""
    pattern: Any = readings[0].pattern
    count = len(readings)
    told: Columns = fields_of(pattern, [r.found for r in readings])
    told |= {"kind": [pattern.kind] * count, "pattern_id": [pattern.pattern_id] * count}
    types = {name: PACKED.field(name).type for name in _FIELDS}
    return {n: pa.array(told[n], type_) if n in told else pa.nulls(count, type_) for n, type_ in types.items()}


def _unparsed(read: _Read) -> Columns:
    places = read.places(LineFate.UNPARSED)
    found = [read.readings[place] for place in places]
    return read.rows(
        places,
        logger=[r.logger for r in found],
        template=[template(r.message) for r in found],
        text=[quotation(read.texts[place]) for place in places],
    )


def _quarantined(read: _Read) -> Columns:
    places = read.places(LineFate.QUARANTINED)
    rows = read.rows(
        places,
        row=[read.texts[place][:QUOTED] for place in places],
        sentences=[list(read.readings[place].sentences) for place in places],
    )
    return {**rows, "quarantine_id": rows["line_id"]}


def _tally(read: _Read, edges: Sequence[datetime]) -> Columns:
    """How many records and lines of each source had which fate in which hour."""
    at = read.batch.column("happened_at")
    records = {
        **{name: read.batch.column(name) for name in ("source", "origin")},
        **{"fate": read.fates, "hour_from": hours_of(at, edges), "lines": read.batch.column("line_count"), "at": at},
        "broker": pa.array(read.brokers, pa.int64()),
        "layout": read.batch.column("layout"),
    }
    counted = pa.table(records).group_by(_BY, use_threads=False).aggregate(list(_COUNTS.values())).combine_chunks()
    names = {"hour_from": "hour_from", **{name: "_".join(how) for name, how in _COUNTS.items()}}
    tally = [_typed(counted.column(names[f.name]).combine_chunks(), f.type) for f in _TALLY]
    return {
        **{name: counted.column(name).combine_chunks() for name in ("source", "origin", "fate")},
        "tally": pa.StructArray.from_arrays(tally, fields=list(_TALLY)),
    }


def _typed(column: Any, type_: pa.DataType) -> pa.Array:
    if not isinstance(column, pa.Array):
        return pa.array(column, type_)
    return column if column.type == type_ else column.cast(type_)
