"""Events that stand twice are found by their marks, whatever batch and task they were read in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.logs.packed_events import PACKED, alike, events_of, marks_of, pack, picked
from tests.support.rows import values

HOUR = 3_600_000_000
Event = tuple[int, int]
"""Instant and hash."""


def batch_of(events: list[Event], **columns: Any) -> pa.RecordBatch:
    told = values(EVENTS, **columns) | {"folder_broker": 9}
    rows = [{**told, "line_id": f"{n}", "likeness": likeness} for n, (_, likeness) in enumerate(events)]
    at = pa.array([at for at, _ in events], pa.int64()).cast(PACKED.field("happened_at").type)
    named = {f.name: pa.array([row[f.name] for row in rows], f.type) for f in PACKED if f.name != "happened_at"}
    return pa.record_batch([at if f.name == "happened_at" else named[f.name] for f in PACKED], PACKED)


def found(batches: list[list[Event]]) -> list[tuple[int, int]]:
    """Batch and number of the events that share instant and hash with others, part by part."""
    parts: dict[int, list[tuple[int, bytes]]] = {}
    for n, events in enumerate(batches):
        told = marks_of(batch_of(events))
        for part, marks in zip(told["part"], told["marks"], strict=True):
            parts.setdefault(part, []).append((n, marks))
    rows = []
    for held in parts.values():
        task, batch = pa.array([7] * len(held), pa.int32()), pa.array([n for n, _ in held], pa.int32())
        marks = pa.array([marks for _, marks in held], pa.binary())
        rows += alike(pa.table({"task": task, "batch": batch, "marks": marks})).to_pylist()
    assert {row["task"] for row in rows} <= {7}
    return sorted((row["batch"], row["nth"]) for row in rows)


EVENT = st.tuples(st.sampled_from([0, 1, HOUR - 1, HOUR, -1, -HOUR]), st.sampled_from([0, 1, 16, -1, -(1 << 63)]))


@given(st.lists(st.lists(EVENT, max_size=8), max_size=4))
def test_exactly_the_events_that_are_there_twice_are_found(batches: list[list[Event]]) -> None:
    times = Counter(event for events in batches for event in events)
    twice = [(n, i) for n, events in enumerate(batches) for i, event in enumerate(events) if times[event] > 1]
    assert found(batches) == twice


def packed(events: pa.RecordBatch, *numbers: int) -> pa.RecordBatch:
    named = pa.array([list(numbers) or None], pa.list_(pa.int32()))
    place = {"task": pa.array([3], pa.int32()), "batch": pa.array([4], pa.int32())}
    return pa.record_batch({**place, "events": pa.array([pack(events)]), "numbers": named})


def test_events_come_out_as_they_were_packed_without_those_that_are_named() -> None:
    events = batch_of([(HOUR, 5), (0, 6), (1, 7)], source="a/server.log", group_id="g")
    (all_of_them,) = events_of([packed(events)], {}, "v1")
    assert all_of_them.schema.names == list(EVENTS.column_names)
    assert all_of_them.select(["line_id", "happened_at", "group_id"]) == events.select(
        ["line_id", "happened_at", "group_id"]
    )
    assert set(all_of_them["knowledge_version"].to_pylist()) == {"v1"}
    (others,) = events_of([packed(events, 0, 2)], {}, "v1")
    assert others["line_id"].to_pylist() == ["1"]
    (named,) = picked([packed(events, 2, 0)], {})
    assert [(r["task"], r["batch"], r["nth"], r["likeness"]) for r in named.to_pylist()] == [(3, 4, 2, 7), (3, 4, 0, 5)]


def test_who_wrote_an_event_is_named_by_its_line_else_by_its_log_else_by_its_folder() -> None:
    def writer(source: str, broker: int | None) -> int:
        (rows,) = events_of([packed(batch_of([(0, 0)], source=source, broker=broker))], {"of 5": 5}, "v1")
        return int(rows["broker"][0].as_py())

    assert (writer("of 5", 2), writer("of 5", None), writer("other", None)) == (2, 5, 9)
