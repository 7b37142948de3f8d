"""The events of many batches, packed, and what shows which of them stand twice.

Who wrote an event, and whether another one says the same, is known when all were read: until then they wait, packed.
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
"""Columns of silver.events that are filled when others of its log are read: a line may name no broker."""

PACKED = pa.schema(
    [
        *(field for field in _EVENTS if field.name not in _LATER),
        *((name, pa.int32()) for name in ("broker", "folder_broker")),
        ("likeness", pa.int64()),
    ]
)
"""What is packed of an event: its columns, the hash of its text, and the broker that it or its folder names."""

_WHERE = ("origin", "source", "happened_at", "order", "likeness", "broker")
PICKED = pa.schema([("unit", pa.int32()), ("nth", pa.int64()), *map(PACKED.field, _WHERE)])
"""What shows whether another event says the same: the unit that it was read in, its number there, and where it is."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_FACTOR = np.int64(0x1E3779B97F4A7C15)


class Packer:
    """Packs batches of events, one after another. `size` is how many bytes they take, as far as they were packed."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._sink, self._keys = pa.BufferOutputStream(), list[Ints]()
        self._stream = pa.ipc.new_stream(self._sink, PACKED, options=_COMPRESSED)
        self.size = 0

    def pack(self, events: pa.RecordBatch) -> None:
        """Adds the events of a batch."""
        self._stream.write_batch(events)
        self._keys.append(keys_of(events))
        self.size = self._sink.tell()

    def packed(self) -> tuple[bytes, Ints]:
        """All of them as one value, and the key of each one; none are left."""
        self._stream.close()
        packed, keys = self._sink.getvalue().to_pybytes(), np.concatenate([np.array([], np.int64), *self._keys])
        self._begin()
        return packed, keys


def keys_of(events: pa.RecordBatch) -> Ints:
    """A number for each event, the same for those of one instant and the same words, and mostly another for others."""
    at, likeness = (events[name].cast(pa.int64()).to_numpy() for name in ("happened_at", "likeness"))
    keys: Ints = at * _FACTOR + likeness
    return keys


def picked(packed: bytes, unit: int, numbers: Ints, brokers: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """The events that these numbers name, as PICKED. Takes: the only broker that the lines of a log name, by source."""
    for first, events in _unpacked(packed, brokers):
        nth = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + len(events))]
        columns = events.take(pa.array(nth - first)).select(_WHERE).columns
        yield pa.record_batch([pa.repeat(pa.scalar(unit, pa.int32()), len(nth)), pa.array(nth), *columns], PICKED)


def events_of(
    packed: bytes, repeats: Ints, brokers: Mapping[str, int], knowledge_version: str
) -> Iterator[pa.RecordBatch]:
    """Rows of silver.events, without those whose numbers are among the repeats. Takes: what `picked` takes."""
    for first, events in _unpacked(packed, brokers):
        kept = np.setdiff1d(np.arange(first, first + len(events)), repeats)
        events = events if len(kept) == len(events) else events.take(pa.array(kept - first))
        version = pa.repeat(knowledge_version, len(events))
        yield pa.record_batch([version if f.name == "knowledge_version" else events[f.name] for f in _EVENTS], _EVENTS)


def _unpacked(packed: bytes, brokers: Mapping[str, int]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The events, each with the broker that wrote it, and the number of the first one of each batch.

    Edge case: where no line names the broker, its folder does; a client's words are its own file's alone.
    """
    sources, only = pa.array(brokers.keys(), pa.string()), pa.array(brokers.values(), pa.int32())
    first = 0
    for events in pa.ipc.open_stream(packed):
        of_log = only.take(pc.index_in(events["source"], sources))
        writer = pc.coalesce(events["broker"], of_log, events["folder_broker"])
        yield first, events.set_column(events.schema.get_field_index("broker"), "broker", writer)
        first += len(events)
