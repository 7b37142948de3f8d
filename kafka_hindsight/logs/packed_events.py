"""The events of many batches, packed, and the keys that show which of them are repeats.

The broker of an event, and whether another event repeats it, are known once all are read. Until then they are packed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.logs.arrays import Ints

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


def picked(packed: bytes, unit: int, numbers: Ints, brokers: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """The events with these numbers, as PICKED. `brokers`: the broker of each source whose lines name only one."""
    for first, events in _unpacked(packed, brokers):
        nth = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + len(events))]
        columns = events.take(pa.array(nth - first)).select(_WHERE).columns
        yield pa.record_batch([pa.repeat(pa.scalar(unit, pa.int32()), len(nth)), pa.array(nth), *columns], PICKED)


def events_of(
    packed: bytes, repeats: Ints, brokers: Mapping[str, int], knowledge_version: str
) -> Iterator[pa.RecordBatch]:
    """Rows of silver.events, without the events whose numbers are in `repeats`. `brokers` are as for `picked`."""
    for first, events in _unpacked(packed, brokers):
        unique = np.setdiff1d(np.arange(first, first + len(events)), repeats)
        events = events if len(unique) == len(events) else events.take(pa.array(unique - first))
        version = pa.repeat(knowledge_version, len(events))
        yield pa.record_batch([version if f.name == "knowledge_version" else events[f.name] for f in _EVENTS], _EVENTS)


def _unpacked(packed: bytes, brokers: Mapping[str, int]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches of events with the broker that wrote each, and the number of the first event of each batch.

    Where no line names the broker, its folder does.
    """
    sources, only = pa.array(brokers.keys(), pa.string()), pa.array(brokers.values(), pa.int32())
    first = 0
    for events in pa.ipc.open_stream(packed):
        of_log = only.take(pc.index_in(events["source"], sources))
        writer = pc.coalesce(events["broker"], of_log, events["folder_broker"])
        yield first, events.set_column(events.schema.get_field_index("broker"), "broker", writer)
        first += len(events)
