"""The events of a batch in one value, and what shows which of them stand twice.

Spark keeps and moves one value for a batch, where it would take rows apart into columns and columns into rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.lake.arrow_types import arrow_schema

ALIKE = pa.schema([(name, pa.int32()) for name in ("task", "batch", "nth")])
"""By what an event is found again: the task and the batch that it was read in, and its number there. Order: a task that
is run again reads the same records in the same batches."""

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
PICKED = pa.schema([*ALIKE, *map(PACKED.field, _WHERE)])
"""What shows whether another event says the same."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_HOUR = 3_600_000_000
_PARTS = 16
"""Into how many parts the marks of an hour go, so that one worker holds those of one part."""


def pack(events: pa.RecordBatch) -> bytes:
    """The events of a batch as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, PACKED, options=_COMPRESSED) as stream:
        stream.write_batch(events)
    return bytes(sink.getvalue())


def marks_of(events: pa.RecordBatch) -> dict[str, list[Any]]:
    """What shows which events may stand twice. Gives: `part`, the same for equal ones; `marks`, the instant, the hash
    and the number of each event of that part.
    """
    at, likeness = (events[name].cast(pa.int64()).to_numpy() for name in ("happened_at", "likeness"))
    part = at // _HOUR * _PARTS + likeness % _PARTS
    order = np.argsort(part, kind="stable")
    marks = np.stack([at, likeness, np.arange(len(at))], axis=1)[order]
    begins = np.flatnonzero(np.diff(part[order], prepend=part[order][:1] - 1))
    return {
        "part": part[order][begins].tolist(),
        "marks": [part.tobytes() for part in np.split(marks, begins[1:])] if len(begins) else [],
    }


def alike(parts: pa.Table) -> pa.Table:
    """The events of a part that share instant and words with others. Takes: task, batch and marks. Gives: ALIKE."""
    held = [np.frombuffer(marks.as_buffer(), np.int64).reshape(-1, 3) for marks in parts["marks"]]
    at, likeness, nth = np.concatenate(held).T
    order = np.lexsort((likeness, at))
    is_next = (np.diff(at[order]) == 0) & (np.diff(likeness[order]) == 0)
    found = order[np.append(is_next, False) | np.append(False, is_next)]
    row = np.repeat(np.arange(len(held)), [len(marks) for marks in held])[found]
    of_batch = {name: parts[name].take(pa.array(row)) for name in ("task", "batch")}
    return pa.table({**of_batch, "nth": pa.array(nth[found].astype(np.int32))})


def picked(batches: Iterable[pa.RecordBatch], brokers: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """The events that `numbers` names, as PICKED. Takes: what `_unpacked` takes."""
    for place, events, numbers in _unpacked(batches, brokers):
        told = events.take(pa.array(numbers)).select(_WHERE)
        columns = [pa.repeat(of_batch, len(numbers)) for of_batch in place]
        yield pa.record_batch([*columns, pa.array(numbers), *told.columns], PICKED)


def events_of(
    batches: Iterable[pa.RecordBatch], brokers: Mapping[str, int], knowledge_version: str
) -> Iterator[pa.RecordBatch]:
    """Rows of silver.events, without those that `numbers` names. Takes: what `_unpacked` takes."""
    for _, events, numbers in _unpacked(batches, brokers):
        if len(numbers):
            events = events.take(pa.array(np.setdiff1d(np.arange(len(events)), numbers)))
        version = pa.repeat(knowledge_version, len(events))
        yield pa.record_batch([version if f.name == "knowledge_version" else events[f.name] for f in _EVENTS], _EVENTS)


def _unpacked(
    batches: Iterable[pa.RecordBatch], brokers: Mapping[str, int]
) -> Iterator[tuple[tuple[pa.Scalar, pa.Scalar], pa.RecordBatch, Any]]:
    """Takes: task, batch, events and numbers; the only broker that the lines of a log name, by source.

    Gives: task and batch; the events, each with the broker that wrote it; the numbers that name some of them.
    Edge case: where no line names the broker, its folder does; a client's words are its own file's alone.
    """
    sources, only = pa.array(brokers.keys(), pa.string()), pa.array(brokers.values(), pa.int32())
    for task, batch, packed, named in (row for held in batches for row in zip(*held.columns, strict=True)):
        events = pa.ipc.open_stream(packed.as_buffer()).read_next_batch()
        of_log = only.take(pc.index_in(events["source"], sources))
        writer = pc.coalesce(events["broker"], of_log, events["folder_broker"])
        numbers = named.values.to_numpy() if named.is_valid else np.array([], np.int32)
        yield (task, batch), events.set_column(events.schema.get_field_index("broker"), "broker", writer), numbers
