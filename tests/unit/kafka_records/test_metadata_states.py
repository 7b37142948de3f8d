"""A metadata log that is read on from a state says what its replay from the beginning says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from kafka_hindsight.catalog.bronze import METADATA_FILES, METADATA_RECORDS
from kafka_hindsight.catalog.rows import Event, MetadataFile, MetadataRecord, MetadataState
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.events import read_metadata
from kafka_hindsight.kafka_records.metadata_log import FOLDER, read_segment
from kafka_hindsight.kafka_records.metadata_states import MetadataStart, find_start
from kafka_hindsight.shared.windows import Window
from tests.support.nights import EXCERPTS
from tests.support.rows import row

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EVER = datetime(2100, 1, 1, tzinfo=UTC)
VERSIONS = ("3.9", "4.3")
DAY = timedelta(days=1)


@cache
def log_of(version: str) -> list[MetadataRecord]:
    """The records of a recorded log, an hour between two batches, so that they fill many days."""
    path = EXCERPTS / f"metadata-{version}" / "controller-4" / FOLDER / "00000000000000000000.log"
    defaults = {**dict.fromkeys(METADATA_RECORDS.column_names), "cluster": "k", "source": "a"}
    written = sorted({r["written_at"] for r in read_segment(path.read_bytes(), 0).rows})
    hours = {at: EPOCH + n * timedelta(hours=1) for n, at in enumerate(written)}
    rows = read_segment(path.read_bytes(), 0).rows
    return [MetadataRecord.of({**defaults, **r, "written_at": hours[r["written_at"]]}) for r in rows]


def ledger(records: Sequence[MetadataRecord], *missing: int) -> list[MetadataFile]:
    """One segment that holds all records; of offsets that are missing two, with a gap between."""
    ends = [0, *missing, max(r.record_offset for r in records) + 1]
    spans = [(start + bool(n), end) for n, (start, end) in enumerate(pairwise(ends))]
    return [row(METADATA_FILES, first_offset=start, next_offset=end, is_snapshot=False) for start, end in spans]


def run(
    records: Sequence[MetadataRecord], files: list[MetadataFile], at: datetime, start: MetadataStart | None = None
) -> tuple[list[Event], list[MetadataState]]:
    """What a run sees from the instant on, and the state that it leaves there."""
    metadata = read_metadata(list(records), files, start, Scope("k", Window(at, EVER), Window(at, EVER)))
    return metadata.events, metadata.states


def read_on(
    records: Sequence[MetadataRecord], files: list[MetadataFile], states: list[MetadataState], at: datetime
) -> tuple[list[Event], list[MetadataState]]:
    """What a run sees that starts where the states of an earlier one serve, as the rebuild hands them on."""
    days = Counter(r.written_at.date().isoformat() for r in records if r.record_offset <= states[0].record_offset)
    start = find_start(states[0], days, files)
    if start is None:
        return run(records, files, at)
    shared = [c for c in MetadataRecord.__slots__ if c in MetadataState.__slots__]
    parts = [row(METADATA_RECORDS, **{c: getattr(s, c) for c in shared}) for s in states]
    return run([*parts, *(r for r in records if r.record_offset > start.record_offset)], files, at, start)


def test_state_row_has_the_columns_of_a_metadata_record() -> None:
    of_record, of_state = ({c.name: c for c in cls.COLUMNS} for cls in (MetadataRecord, MetadataState))
    own = ("cluster", "record_offset", "written_at", "controller_epoch", "snapshot_place")
    for name in (of_record.keys() & of_state.keys()) - {*own}:
        assert of_state[name] == of_record[name]


@pytest.mark.parametrize("version", VERSIONS)
def test_run_from_a_state_equals_run_from_the_beginning(version: str) -> None:
    records = log_of(version)
    files, instants = ledger(records), sorted({r.written_at for r in records})
    for first, second in zip(instants[1::5], instants[4::5], strict=False):
        states = run(records, files, first)[1]
        assert read_on(records, files, states, second) == run(records, files, second)


@settings(max_examples=60, phases=(Phase.explicit, Phase.generate))
@given(some.data())
def test_run_from_a_state_is_equal_with_transactions_copies_and_gaps(draw: some.DataObject) -> None:
    records, gap = list(log_of("4.3")), list[int]()
    highest = records[-1].record_offset
    marks = sorted(draw.draw(some.sets(some.integers(1, len(records) - 2), min_size=2, max_size=2)))
    begin, end = (records[n] for n in marks)
    kind = draw.draw(some.sampled_from(["end_transaction", "abort_transaction"]))
    records[marks[0]] = replace(begin, record_type="begin_transaction")
    records[marks[1]] = replace(end, record_type=kind)
    undone = draw.draw(some.integers(1, len(records) - 1))
    later = [replace(r, controller_epoch=r.controller_epoch + 1) for r in records[undone:]]
    records = [*records[: undone + draw.draw(some.integers(0, 3))], *later]
    if draw.draw(some.booleans()):
        gap = [draw.draw(some.integers(2, highest - 1))]
        records = [r for r in records if r.record_offset != gap[0]]
    files, instants = ledger(records, *gap), sorted({r.written_at for r in records})
    first, second = sorted(draw.draw(some.lists(some.sampled_from(instants), min_size=2, max_size=2)))
    states = run(records, files, first)[1]
    if states:
        assert read_on(records, files, states, second) == run(records, files, second)


def test_state_replaces_records_removed_by_retention() -> None:
    records = log_of("4.3")
    files, at = ledger(records), records[-10].written_at
    states, whole = run(records, files, at)[1], run(records, files, at)
    kept = [r for r in records if r.written_at >= EPOCH + DAY]
    assert len(kept) < len(records) and read_on(kept, files, states, at) == whole
    assert run(kept, files, at)[0] != whole[0], "without the state the start is not known"


def test_late_records_invalidate_the_state() -> None:
    records = log_of("4.3")
    files, at = ledger(records), records[-30].written_at
    early = next(r for r in records if r.record_type == "partition")
    states = run([r for r in records if r is not early], files, at)[1]
    assert read_on(records, files, states, at) == run(records, files, at)
    gap = run(records, ledger(records, early.record_offset), at)[1]
    assert read_on(records, files, gap, at) == run(records, files, at)
