"""Law of the fold: wherever the records are cut, the runs of the pieces merge into those of the whole."""

from __future__ import annotations

import struct
from collections import defaultdict
from itertools import groupby
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.kafka_records.commit_runs import HOUR_MS, CommitFold, GroupRecords, Run, in_order, merged
from kafka_hindsight.kafka_records.offset_commits import CommitKey, encode_commit_key
from kafka_hindsight.kafka_records.wire import Malformed

NIGHT = 1_795_946_400_000
PARTITION = 7


class Write(NamedTuple):
    """A record: a commit of `offset`, a tombstone if that is None, or a record of the group itself."""

    record: int
    at: int
    group: str
    partition: int = 0
    offset: int | None = None
    epoch: int = 1
    has_metadata: bool = False
    is_of_group: bool = False


def fold(writes: list[Write], open_runs: list[Run] | None = None) -> tuple[list[Run], list[Run]]:
    """The finished runs and the open ones."""
    folded = CommitFold(PARTITION, {})
    for run in open_runs or ():
        folded.go_on(run)
    for is_of_group, some in groupby(writes, lambda write: write.is_of_group):
        if is_of_group:
            for write in some:
                folded.take_group_record(write.group)
        else:
            take(folded, *some)
    return folded.take_finished(), folded.open


def take(folded: CommitFold, *writes: Write) -> None:
    """Fold commits and tombstones, all at once."""
    for record in folded.fold([(w.record, w.at, *bytes_of(w)) for w in writes]):
        begin(folded, *record)


def begin(folded: CommitFold, record: int, at: int, key: bytes | None, value: bytes | None) -> None:
    assert key is not None
    folded.begin(record, at, key, value)


def bytes_of(write: Write) -> tuple[bytes, bytes | None]:
    key = encode_commit_key(CommitKey(write.group, "t", write.partition))
    if write.offset is None:
        return key, None
    metadata = b"m" * write.has_metadata
    head = struct.pack(">hqih", 3, write.offset, write.epoch, len(metadata))
    return key, head + metadata + struct.pack(">q", write.at)


def runs(writes: list[Write]) -> list[Run]:
    return [run for some in fold(writes) for run in some]


def group_records(writes: list[Write]) -> GroupRecords:
    places = defaultdict(list)
    for write in writes:
        if write.is_of_group:
            places[PARTITION, write.group].append(write.record)
    return places


@st.composite
def histories(draw: st.DrawFn) -> list[Write]:
    """Records of two groups, as brokers write them: mostly commits that go forward."""
    writes, record, at, offsets = list[Write](), 0, NIGHT, dict[tuple[str, int], int]()
    for kind in draw(st.lists(st.sampled_from("cccccccbtgek"), min_size=1, max_size=40)):
        record += draw(st.sampled_from((1, 1, 1, 5)))
        at += (
            draw(st.sampled_from((0, 1, 400, 5_000, HOUR_MS // 3)))
            if kind != "k"
            else -draw(st.sampled_from((1, 3_000)))
        )
        group, partition = draw(st.sampled_from("gh")), draw(st.integers(0, 1))
        step = -3 if kind == "b" else draw(st.sampled_from((0, 1, 9)))
        offset = offsets[group, partition] = max(offsets.get((group, partition), 10) + step, -2)
        write = Write(record, at, group, partition, offset, has_metadata=draw(st.booleans()))
        if kind == "t":
            write = write._replace(offset=None, epoch=-1, has_metadata=False)
        writes.append(write._replace(is_of_group=kind == "g", epoch=2 if kind == "e" else write.epoch))
    return writes


@given(histories(), st.data())
def test_runs_of_pieces_merge_into_runs_of_whole(writes: list[Write], data: st.DataObject) -> None:
    whole, records = in_order(runs(writes)), group_records(writes)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(writes)), max_size=6)))
    pieces = [runs(writes[a:b]) for a, b in zip([0, *cuts], [*cuts, len(writes)], strict=True)]
    assert merged(data.draw(st.permutations([run for piece in pieces for run in piece])), records) == whole
    half = data.draw(st.integers(0, len(pieces)))
    first, last = (merged([run for piece in some for run in piece], records) for some in (pieces[:half], pieces[half:]))
    assert merged([*last, *first], records) == whole


@given(histories(), st.data())
def test_reading_that_goes_on_with_open_runs_ends_the_same_runs(writes: list[Write], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(writes)))
    finished, still_open = fold(writes[:cut])
    carried = [run for value in [r.as_json() for r in still_open] if (run := Run.of(value))]
    assert carried == still_open
    assert in_order([*finished, *(run for some in fold(writes[cut:], carried) for run in some)]) == in_order(
        runs(writes)
    )


@given(histories(), st.data())
def test_what_is_read_twice_adds_nothing(writes: list[Write], data: st.DataObject) -> None:
    whole, records = in_order(runs(writes)), group_records(writes)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(writes))] * 2)))
    assert merged([*whole, *runs(writes[first:last])], records) == whole
    assert merged([*whole, *whole], records) == whole


@given(histories())
def test_runs_hold_every_commit_and_end_where_something_else_is_said(writes: list[Write]) -> None:
    whole, commits = runs(writes), [w for w in writes if not w.is_of_group]
    assert sum(run.commits for run in whole) == len(commits)
    ends = {record for run in whole for record in (run.first_record, run.last_record)}
    for before, after in neighbours(commits):
        between = [
            w for w in writes if before.record < w.record < after.record and w.is_of_group and w.group == after.group
        ]
        goes_on = before.offset is not None and after.offset is not None and after.offset >= before.offset
        same = goes_on and before.epoch == after.epoch and after.at >= before.at
        if between or not same or before.at // HOUR_MS != after.at // HOUR_MS:
            assert {before.record, after.record} <= ends
    for run in whole:
        of_run = [w for w in commits if (w.group, w.partition) == (run.group_id, run.partition)]
        of_run = [w for w in of_run if run.first_record <= w.record <= run.last_record]
        assert run.commits == len(of_run)
        assert run.moves == sum(a.offset != b.offset for a, b in neighbours(of_run))
        assert run.has_metadata == any(w.has_metadata for w in of_run)
        moved = [b.at for a, b in neighbours(of_run) if a.offset != b.offset]
        assert (run.first_moved_at, run.moved_at) == ((moved[0], moved[-1]) if moved else (run.first_at,) * 2)
        assert run.stood_ms == max((b - a for a, b in zip([run.first_at, *moved], moved, strict=False)), default=0)


def neighbours(writes: list[Write]) -> list[tuple[Write, Write]]:
    """Each commit with the next one of the same group and partition."""
    latest, pairs = dict[tuple[str, int], Write](), list[tuple[Write, Write]]()
    for write in writes:
        whose = write.group, write.partition
        if whose in latest:
            pairs.append((latest[whose], write))
        latest[whose] = write
    return pairs


def test_run_has_its_commits_and_longest_stand() -> None:
    clocks_and_offsets = ((0, 5), (1_000, 5), (4_000, 8), (6_000, 9), (7_000, 9))
    writes = [Write(n, NIGHT + at, "g", offset=offset) for n, (at, offset) in enumerate(clocks_and_offsets)]
    finished, (run,) = fold(writes)
    assert finished == []
    assert (run.first_offset, run.last_offset, run.commits, run.moves) == (5, 9, 5, 2)
    assert (run.stood_at - NIGHT, run.stood_ms) == (0, 4_000)
    assert (run.first_moved_at - NIGHT, run.moved_at - NIGHT, run.last_at - NIGHT) == (4_000, 6_000, 7_000)


def test_open_runs_end_when_their_hour_is_over() -> None:
    folded = CommitFold(PARTITION, {})
    take(folded, Write(1, NIGHT, "g", offset=3))
    folded.end_hours(NIGHT + HOUR_MS - 1)
    assert folded.take_finished() == []
    folded.end_hours(NIGHT + HOUR_MS)
    assert ([run.last_offset for run in folded.take_finished()], folded.open) == ([3], [])


def test_commit_that_cannot_be_decoded_changes_nothing() -> None:
    folded = CommitFold(PARTITION, {})
    key, value = bytes_of(Write(1, NIGHT, "g", offset=3))
    folded.begin(1, NIGHT, key, value)
    for broken in ((key, b"\0\x09"), (b"\0\1\0\x09g", value), (b"\0\1\0\x09g", None)):
        assert list(folded.fold([(2, NIGHT, *broken)])) == [(2, NIGHT, *broken)]
        with pytest.raises(Malformed):
            folded.begin(2, NIGHT, *broken)
    assert ([run.last_record for run in folded.open], folded.take_finished()) == ([1], [])


@pytest.mark.parametrize(
    "value", (None, {}, [1], {"topic": "t"}, {**runs([Write(1, NIGHT, "g")])[0].as_json(), "commits": "1"})
)
def test_value_that_is_not_a_run_is_none(value: object) -> None:
    assert Run.of(value) is None
