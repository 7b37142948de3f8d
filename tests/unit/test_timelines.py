"""Look-ups over time compared with a count of single instants."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline
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


def seconds(found: Intervals[int] | Intervals[None], until: int) -> list[int]:
    """Each second from AT on as often as an interval holds during it."""
    instants = [AT + second * SECOND for second in range(until)]
    return [n for n, t in enumerate(instants) for i in found if i.start <= t and (i.end is None or t < i.end)]


@given(st.lists(SECONDS), BOUND, BOUND)
def test_within_has_its_first_instant_and_lacks_its_last(values: list[int], first: int | None, end: int | None) -> None:
    timeline = Timeline(values, lambda second: AT + second * SECOND)
    expected = [v for v in sorted(values) if (first is None or first <= v) and (end is None or v < end)]
    assert timeline.within(at(first), at(end)) == expected


@given(SPANS, SECONDS, SECONDS)
def test_what_is_clipped_is_what_holds_between_the_bounds(
    spans: list[tuple[int, int | None]], first: int, last: int
) -> None:
    found, bounds = intervals(spans), (AT + first * SECOND, AT + last * SECOND)
    held = [second for second in seconds(found, 20) if first <= second < last]
    assert seconds(found.clip(*bounds), 20) == held
    assert found.total(*bounds) == len(held) * SECOND


@given(SPANS)
def test_a_union_holds_whenever_one_of_its_intervals_does_and_once(spans: list[tuple[int, int | None]]) -> None:
    found = intervals(spans)
    united = found.union()
    assert seconds(united, 30) == sorted(set(seconds(found, 30)))
    assert all(before.end is not None and before.end < after.start for before, after in pairwise(united))


@given(SPANS, SECONDS, SECONDS, st.integers(0, 3))
def test_a_look_up_finds_what_holds_at_any_instant_between_in_order_of_start(
    spans: list[tuple[int, int | None]], first: int, length: int, slack: int
) -> None:
    found, bounds = intervals(spans), (AT + first * SECOND, AT + (first + length) * SECOND, slack * SECOND)
    assert found.between(*bounds) == [i for i in found if i.meets(*bounds)]
