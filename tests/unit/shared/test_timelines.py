"""Look-ups over time compared with a count of single instants."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline
from tests.support.rows import AT

SECOND = timedelta(seconds=1)
SECONDS = st.integers(0, 12)
BOUND = st.one_of(st.none(), SECONDS)
SPANS = st.lists(st.tuples(SECONDS, st.one_of(st.none(), st.integers(0, 6))), max_size=6)


def at(second: int | None) -> datetime | None:
    return None if second is None else AT + second * SECOND


def intervals(spans: list[tuple[int, int | None]]) -> Intervals[int]:
    return Intervals(
        Interval(AT + start * SECOND, None if length is None else AT + (start + length) * SECOND, n)
        for n, (start, length) in enumerate(spans)
    )


def seconds(spans: Intervals[int] | Intervals[None], until: int) -> list[int]:
    """Each second from AT on as often as an interval holds during it."""
    instants = [AT + second * SECOND for second in range(until)]
    return [n for n, t in enumerate(instants) for i in spans if i.start <= t and (i.end is None or t < i.end)]


@given(st.lists(SECONDS), BOUND, BOUND)
def test_within_includes_its_first_instant_and_excludes_its_last(
    values: list[int], first: int | None, end: int | None
) -> None:
    timeline = Timeline(values, lambda second: AT + second * SECOND)
    expected = [v for v in sorted(values) if (first is None or first <= v) and (end is None or v < end)]
    assert timeline.within(at(first), at(end)) == expected


@given(SPANS, SECONDS, SECONDS)
def test_clip_keeps_what_holds_between_the_bounds(spans: list[tuple[int, int | None]], first: int, last: int) -> None:
    all_intervals, bounds = intervals(spans), (AT + first * SECOND, AT + last * SECOND)
    expected = [second for second in seconds(all_intervals, 20) if first <= second < last]
    assert seconds(all_intervals.clip(*bounds), 20) == expected
    assert all_intervals.total(*bounds) == len(expected) * SECOND


@given(SPANS)
def test_union_holds_once_whenever_an_interval_does(spans: list[tuple[int, int | None]]) -> None:
    parts = intervals(spans)
    united = parts.union()
    assert seconds(united, 30) == sorted(set(seconds(parts, 30)))
    assert all(before.end is not None and before.end < after.start for before, after in pairwise(united))


@given(SPANS, SECONDS, SECONDS, st.integers(0, 3))
def test_between_finds_intervals_that_meet_the_bounds_in_order_of_start(
    spans: list[tuple[int, int | None]], first: int, length: int, slack: int
) -> None:
    all_intervals, bounds = intervals(spans), (AT + first * SECOND, AT + (first + length) * SECOND, slack * SECOND)
    assert all_intervals.between(*bounds) == [i for i in all_intervals if i.meets(*bounds)]
