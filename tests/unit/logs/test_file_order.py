"""How the files of a log follow one another, and that reading them bit by bit gives what reading them at once gives."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.logs.file_order import OUT_OF_ORDER, FileSpan, Turn, copies, is_young, sharing, turns_of
from kafka_hindsight.shared.durations import NEVER

START = datetime(2026, 11, 21, 1, tzinfo=UTC)


def span(first: float, last: float, source: str = "a", timeless: bool = False) -> FileSpan:
    return FileSpan(source, START + timedelta(seconds=first), START + timedelta(seconds=last), timeless)


def rank_and_lane(spans: dict[int, FileSpan]) -> dict[int, tuple[int, int]]:
    return {file: (turn.rank, turn.lane) for file, turn in turns_of(spans).items()}


def test_files_are_ordered_by_their_instants() -> None:
    spans = {1: span(10, 20), 2: span(0, 10), 3: span(0, 20), 4: span(20, 20), 5: span(20, 20), 6: span(5, 6, "b")}
    assert rank_and_lane(spans) == {2: (0, 0), 3: (1, 1), 1: (2, 0), 4: (3, 0), 5: (4, 1), 6: (5, 0)}


def test_slight_overlap_at_rotation_is_no_copy() -> None:
    assert rank_and_lane({1: span(0, 10.005), 2: span(10.003, 20)}) == {1: (0, 0), 2: (1, 0)}
    assert rank_and_lane({1: span(0, 10), 2: span(10 - OUT_OF_ORDER.total_seconds(), 20)}) == {1: (0, 0), 2: (1, 1)}
    assert rank_and_lane({1: span(0, 10.005), 2: span(10.003, 10.004)}) == {1: (0, 0), 2: (1, 1)}
    growing = FileSpan("a", START + timedelta(seconds=10.003), NEVER)
    assert rank_and_lane({1: span(0, 10.005), 2: growing}) == {1: (0, 0), 2: (1, 0)}


def test_file_follows_the_file_that_ends_last_before_it() -> None:
    half_packed, whole, newest = span(0, 7), span(0, 10), span(10, 20)
    assert turns_of({1: half_packed, 2: whole, 3: newest}) == {
        1: Turn(0, 0, is_followed=False),
        2: Turn(1, 1, is_followed=True),
        3: Turn(2, 1, is_followed=False),
    }


def test_file_without_head_follows_no_file() -> None:
    turns = turns_of({1: span(0, 10), 2: FileSpan("a", NEVER, NEVER)})
    assert not turns[1].is_followed


def test_files_sharing_an_instant_are_read_together() -> None:
    spans = {1: span(0, 10), 2: span(10, 20), 3: span(20, 30), 4: span(10, 20, "b"), 5: span(0, 1, timeless=True)}
    assert sharing({9: span(20, 25)}, spans) == {2, 3}
    assert sharing({9: span(20.001, 25, timeless=True)}, spans) == {3, 5}
    assert sharing({}, spans) == set()


def test_young_copy_waits_for_its_original() -> None:
    spans = {1: span(0, 20), 2: span(0, 15), 3: span(0, 20), 4: span(20, 30), 5: span(0, 15, "b")}
    assert copies(spans, young=(1, 2, 3, 4, 5)) == {2, 3}
    assert copies(spans, young=(1, 4)) == {1}
    assert copies({1: FileSpan("a", NEVER, NEVER), 2: FileSpan("a", NEVER, NEVER)}, young=(1, 2)) == set()


def test_file_is_young_for_ten_minutes_after_last_write() -> None:
    ages = (timedelta(minutes=10), timedelta(minutes=9, seconds=59), timedelta(hours=-1))
    assert [is_young(START - age, START) for age in ages] == [False, True, True]


class Line(NamedTuple):
    """A line by its millisecond and its words."""

    at: int
    words: str


Files = dict[int, list[Line]]
Settled = dict[tuple[Line, int], int]
"""A line and its number among its equals, with its rank among the lines of its instant."""

SMALLEST = 12
"""Lines of a file that was rotated: they span more than threads write out of order."""


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Line], list[int]]:
    """A log with equal lines and lines out of order, and where it is cut by rotations."""
    sizes = draw(st.lists(st.integers(SMALLEST, 3 * SMALLEST), min_size=1, max_size=5))
    count = sum(sizes)
    late = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    words = draw(st.lists(st.sampled_from("xy"), min_size=count, max_size=count))
    lines = [Line(i // 3 * 2 + j, w) for i, (j, w) in enumerate(zip(late, words, strict=True))]
    return lines, [sum(sizes[:n]) for n in range(1, len(sizes))]


def spans_of(files: Files, growing: int | None) -> dict[int, FileSpan]:
    def instant(ms: int) -> datetime:
        return START + timedelta(milliseconds=ms)

    return {
        n: FileSpan("a", instant(min(lines).at), NEVER if n == growing else instant(max(lines).at))
        for n, lines in files.items()
    }


def settled(files: Files, turns: dict[int, Turn]) -> Settled:
    """What `ranked_records.settle` does, in plain words."""
    counts: Counter[tuple[int, Line]] = Counter()
    ranks: Counter[int] = Counter()
    rows: Settled = {}
    for n in sorted(files, key=lambda n: turns[n].rank):
        for line in files[n]:
            key = line, counts[turns[n].lane, line]
            counts[turns[n].lane, line] += 1
            if key not in rows:
                rows[key] = ranks[line.at]
                ranks[line.at] += 1
    return rows


@given(log=logs(), data=st.data())
def test_growing_log_gives_same_records_as_whole_log(log: tuple[list[Line], list[int]], data: st.DataObject) -> None:
    lines, cuts = log
    bronze: Settled = {}
    read_parts: set[tuple[Line, ...]] = set()
    for upto in [*sorted(data.draw(st.lists(st.integers(1, len(lines)), max_size=6))), len(lines)]:
        edges = [0, *(c for c in cuts if c < upto), upto]
        files = {n: lines[a:b] for n, (a, b) in enumerate(itertools.pairwise(edges))}
        newest = len(files) - 1
        if data.draw(st.booleans()):
            files[len(files)] = files[newest][: data.draw(st.integers(1, len(files[newest])))]
        copied = copies(spans_of(files, None), range(newest, len(files)))
        files = {n: part for n, part in files.items() if n not in copied}
        turns = turns_of(spans_of(files, newest))
        fresh = {n for n, part in files.items() if tuple(part) not in read_parts}
        real = spans_of(files, None)
        beside = sharing({n: real[n] for n in fresh}, {n: real[n] for n in files if n not in fresh})
        read = {n: part for n, part in files.items() if n in fresh | beside}
        waits = {n for n in fresh if n >= newest and not turns[n].is_followed}
        rows = settled({n: part[:-1] if n in waits else part for n, part in read.items()}, turns)
        bronze = rows | bronze
        read_parts |= {tuple(files[n]) for n in fresh - waits}
    last = {0: lines}
    whole = settled(last, turns_of(spans_of(last, None)))
    assert bronze.items() <= whole.items()
    assert len(whole) - len(bronze) <= 1
