"""Events that stand twice are found by their keys, whatever batch and unit they were read in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.intake.parsed_events import repeats_among
from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.event_batches import PACKED, PICKED, Packer, events_of, picked
from tests.support.rows import values

HOUR = 3_600_000_000
Event = tuple[int, int]
"""Instant and hash."""


def batch_of(events: list[Event], **columns: Any) -> pa.RecordBatch:
    columns_of_all = values(EVENTS, **columns) | {"folder_broker": 9}
    rows = [{**columns_of_all, "line_id": f"{n}", "likeness": likeness} for n, (_, likeness) in enumerate(events)]
    at = pa.array([at for at, _ in events], pa.int64()).cast(PACKED.field("happened_at").type)
    named = {f.name: pa.array([row[f.name] for row in rows], f.type) for f in PACKED if f.name != "happened_at"}
    return pa.record_batch([at if f.name == "happened_at" else named[f.name] for f in PACKED], PACKED)


EVENT = st.tuples(st.sampled_from([0, 1, HOUR - 1, HOUR, -1, -HOUR]), st.sampled_from([0, 1, 16, -1, -(1 << 63)]))


def packed(*batches: pa.RecordBatch) -> tuple[bytes, Ints]:
    packer = Packer()
    for events in batches:
        packer.pack(events)
    data, keys = packer.packed()
    return data, keys


@given(st.lists(st.lists(EVENT, max_size=8), max_size=4))
def test_only_repeated_events_share_a_key(batches: list[list[Event]]) -> None:
    events = [event for batch in batches for event in batch]
    _, keys = packed(*map(batch_of, batches))
    times, of_key = Counter(events), Counter(keys.tolist())
    assert [of_key[key] for key in keys.tolist()] == [times[event] for event in events]


@given(st.lists(st.lists(EVENT, max_size=8), max_size=4))
def test_every_repeat_after_the_first_event_is_listed(batches: list[list[Event]]) -> None:
    shown, earlier, wanted = [PICKED.empty_table()], set[Event](), dict[int, list[int]]()
    for unit, events in enumerate(batches):
        data, keys = packed(batch_of(events, source=f"{unit}/server.log"))
        shown += map(pa.table, picked(data, unit, np.arange(len(keys)), {}))
        for nth, event in enumerate(events):
            if event in earlier:
                wanted.setdefault(unit, []).append(nth)
            earlier.add(event)
    repeats = repeats_among(pa.concat_tables(shown))
    assert {unit: numbers.tolist() for unit, numbers in repeats.of_unit.items()} == wanted
    assert repeats.of_source.total() == sum(map(len, wanted.values()))


def test_unpacked_events_equal_packed_ones_without_the_excluded() -> None:
    one = batch_of([(HOUR, 5), (0, 6), (1, 7)], source="a/server.log", group_id="g")
    other = batch_of([(2, 8), (3, 9)], source="b/server.log")
    data, _ = packed(one, other)
    every = list(events_of(data, np.array([], np.int64), {}, "v1"))
    names = ["line_id", "happened_at", "group_id"]
    assert [events.select(names) for events in every] == [one.select(names), other.select(names)]
    assert {tuple(events.schema.names) for events in every} == {EVENTS.column_names}
    assert {version for events in every for version in events["knowledge_version"].to_pylist()} == {"v1"}
    others = events_of(data, np.array([0, 2, 3]), {}, "v1")
    assert [(e["source"].to_pylist(), e["line_id"].to_pylist()) for e in others] == [
        (["a/server.log"], ["1"]),
        (["b/server.log"], ["1"]),
    ]
    named = [row for rows in picked(data, 3, np.array([0, 2, 4]), {}) for row in rows.to_pylist()]
    assert [(r["unit"], r["nth"], r["likeness"]) for r in named] == [(3, 0, 5), (3, 2, 7), (3, 4, 9)]


def test_broker_of_an_event_comes_from_line_then_log_then_folder() -> None:
    def writer(source: str, broker: int | None) -> int | None:
        data, _ = packed(batch_of([(0, 0)], source=source, broker=broker))
        (rows,) = events_of(data, np.array([], np.int64), {"of 5": 5, "of several": None}, "v1")
        written_by: int | None = rows["broker"][0].as_py()
        return written_by

    assert (writer("of 5", 2), writer("of 5", None), writer("other", None)) == (2, 5, 9)
    assert (writer("of several", 2), writer("of several", None)) == (2, None)


@pytest.mark.parametrize(("only", "count"), [(None, 1), (9, 0)])
@pytest.mark.parametrize("sources", [("b0/server.log", "b1/server.log"), ("b1/server.log", "b0/server.log")])
def test_copy_in_a_log_of_several_brokers_repeats_the_line_whose_writer_is_known(
    sources: tuple[str, str], only: int | None, count: int
) -> None:
    original, copy = sources
    shown = [PICKED.empty_table()]
    for unit, (source, broker, writer) in enumerate([(original, 4, 4), (copy, None, only)]):
        data, keys = packed(batch_of([(0, 1), (HOUR, 2 + unit)], source=source, broker=broker))
        shown += map(pa.table, picked(data, unit, np.arange(len(keys)), {source: writer}))
    repeats = repeats_among(pa.concat_tables(shown))
    assert [numbers.tolist() for numbers in repeats.of_unit.values()] == [[0]] * count
    assert [*repeats.of_source] == [copy] * count
