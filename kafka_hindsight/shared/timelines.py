"""Look-ups over time: values sorted by instant, and intervals. Every look-up is a bisect."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from operator import attrgetter, le
from typing import Generic, TypeVar

from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.shared.grouping import grouped

T = TypeVar("T")
K = TypeVar("K")

NO_SLACK = timedelta(0)


class Timeline(Generic[T]):
    """Values in order of the instants at which they happened; values of one instant keep the order of the input."""

    def __init__(self, values: Iterable[T], at: Callable[[T], datetime]) -> None:
        """Sort the values by the instant that `at` returns for each."""
        self.values: Sequence[T] = sorted(values, key=at)
        self._at = [at(v) for v in self.values]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[T]:
        return iter(self.values)

    def between(self, first: datetime, last: datetime) -> Sequence[T]:
        """The values from one instant to another, both included."""
        return self.values[bisect_left(self._at, first) : bisect_right(self._at, last)]

    def within(self, first: datetime | None, end: datetime | None) -> Sequence[T]:
        """The values from an instant on up to but without another; None: that side has no bound."""
        begin = 0 if first is None else bisect_left(self._at, first)
        return self.values[begin : None if end is None else bisect_left(self._at, end)]

    def near(self, instant: datetime, slack: timedelta) -> Sequence[T]:
        """The values that happened at most `slack` before or after an instant."""
        return self.between(instant - slack, instant + slack)

    def until(self, instant: datetime) -> Sequence[T]:
        """The values up to an instant, included."""
        return self.values[: bisect_right(self._at, instant)]

    def since(self, instant: datetime) -> Sequence[T]:
        """The values from an instant on, included."""
        return self.values[bisect_left(self._at, instant) :]

    def after(self, instant: datetime, most: int | None = None) -> Sequence[T]:
        """The values after an instant, not included; of them the first `most`."""
        place = bisect_right(self._at, instant)
        return self.values[place : None if most is None else place + most]

    def count_until(self, instant: datetime) -> int:
        """How many values happened up to an instant, included."""
        return bisect_right(self._at, instant)

    def count_before(self, instant: datetime) -> int:
        """How many values happened before an instant, not included."""
        return bisect_left(self._at, instant)

    def last_until(self, instant: datetime) -> T | None:
        """The last value up to an instant, included; None without any."""
        place = bisect_right(self._at, instant)
        return self.values[place - 1] if place else None

    def last_before(self, instant: datetime) -> T | None:
        """The last value before an instant, not included; None without any."""
        place = bisect_left(self._at, instant)
        return self.values[place - 1] if place else None

    def first_since(self, instant: datetime) -> T | None:
        """The first value from an instant on, included; None without any."""
        place = bisect_left(self._at, instant)
        return self.values[place] if place < len(self.values) else None

    def first_after(self, instant: datetime) -> T | None:
        """The first value after an instant, not included; None without any."""
        place = bisect_right(self._at, instant)
        return self.values[place] if place < len(self.values) else None


def by_instant(rows: Iterable[T]) -> Timeline[T]:
    """The timeline of events, or of other rows that have happened_at."""
    return Timeline(rows, attrgetter("happened_at"))


def instants(ats: Iterable[datetime]) -> Timeline[datetime]:
    """The timeline of instants alone."""
    return Timeline(ats, lambda at: at)


def timelines(values: Iterable[T], key: Callable[[T], K], at: Callable[[T], datetime]) -> dict[K, Timeline[T]]:
    """The values of each key, to be looked up by instant."""
    return {k: Timeline(values_of_key, at) for k, values_of_key in grouped(values, key).items()}


@value_class(slots=True)
class Interval(Generic[T]):
    """A value that holds from `start` up to `end`; `end` None: it has no known end."""

    start: datetime
    end: datetime | None
    value: T

    def holds(self, instant: datetime, slack: timedelta = NO_SLACK) -> bool:
        """Whether it holds at an instant, both ends included, each moved out by `slack`."""
        return self.start - slack <= instant and (self.end is None or instant <= self.end + slack)

    def meets(self, first: datetime, last: datetime, slack: timedelta = NO_SLACK) -> bool:
        """Whether it holds at any instant from `first` to `last`, its ends moved out by `slack`."""
        return self.start - slack <= last and (self.end is None or first <= self.end + slack)

    def clip(self, first: datetime, last: datetime) -> Interval[T] | None:
        """Its part from `first` to `last`; None where it has none, or only an instant."""
        if self.end is not None and first <= self.start < self.end <= last:
            return self
        start, end = max(self.start, first), last if self.end is None else min(self.end, last)
        return Interval(start, end, self.value) if start < end else None

    def split(self, cuts: Timeline[datetime]) -> Iterator[Interval[T]]:
        """Its parts between the cuts that lie inside it, in order. The cuts must differ from one another."""
        inside = cuts.within(self.start + timedelta.resolution, self.end)
        for start, end in pairwise([self.start, *inside, self.end]):
            if start is not None:
                yield Interval(start, end, self.value)


class Intervals(Generic[T]):
    """Intervals in order of their start; those of one start keep the order of the input. They may overlap."""

    def __init__(self, intervals: Iterable[Interval[T]]) -> None:
        """Sort the intervals by start."""
        self.intervals: Sequence[Interval[T]] = sorted(intervals, key=lambda i: i.start)
        self._starts = [i.start for i in self.intervals]
        self._ends = [datetime.max.replace(tzinfo=i.start.tzinfo) if i.end is None else i.end for i in self.intervals]
        self._ends_are_in_order = all(map(le, self._ends, self._ends[1:]))

    def __len__(self) -> int:
        return len(self.intervals)

    def __iter__(self) -> Iterator[Interval[T]]:
        return iter(self.intervals)

    def at(self, instant: datetime, slack: timedelta = NO_SLACK) -> list[Interval[T]]:
        """The intervals that hold at an instant, each end moved out by `slack`, in order of start."""
        return self.between(instant, instant, slack)

    def between(self, first: datetime, last: datetime, slack: timedelta = NO_SLACK) -> list[Interval[T]]:
        """The intervals that hold at any instant from `first` to `last`, in order of start."""
        return [self.intervals[n] for n in self._ending_since(first - slack, bisect_right(self._starts, last + slack))]

    def clip(self, first: datetime, last: datetime) -> Intervals[T]:
        """Their parts from `first` to `last`."""
        return Intervals(part for i in self.between(first, last) if (part := i.clip(first, last)) is not None)

    def total(self, first: datetime, last: datetime) -> timedelta:
        """The time that they hold from `first` to `last`; overlapping intervals count once each."""
        return sum((part.end - part.start for part in self.clip(first, last) if part.end is not None), NO_SLACK)

    def union(self) -> Intervals[None]:
        """The time in which any of them holds, as intervals that neither overlap nor touch."""
        united: list[Interval[None]] = []
        for start, end in ((i.start, i.end) for i in self.intervals if i.end is None or i.start < i.end):
            last = united[-1] if united else None
            if last is None or (last.end is not None and last.end < start):
                united.append(Interval(start, end, None))
            elif last.end is not None and (end is None or last.end < end):
                united[-1] = Interval(last.start, end, None)
        return Intervals(united)

    @cached_property
    def _latest_ends(self) -> list[list[datetime]]:
        """The ends, then the later one of each two, and so on up to the latest of all."""
        levels = [self._ends]
        while len(levels[-1]) > 1:
            levels.append([max(levels[-1][n : n + 2]) for n in range(0, len(levels[-1]), 2)])
        return levels

    def _ending_since(self, instant: datetime, stop: int) -> Iterable[int]:
        """The places below `stop` of the intervals that end at an instant or later, in order.

        Where the ends are in order, as those of intervals that do not overlap are, a bisect finds the first.
        """
        if self._ends_are_in_order:
            return range(bisect_left(self._ends, instant), stop)
        return self._ending_since_by_levels(instant, stop)

    def _ending_since_by_levels(self, instant: datetime, stop: int) -> Iterator[int]:
        """The same by `_latest_ends`, which halves with each level: intervals without an end do not slow it down."""
        places = [(len(self._latest_ends) - 1, 0)] if stop else []
        while places:
            level, place = places.pop()
            if place << level >= stop or self._latest_ends[level][place] < instant:
                continue
            if level == 0:
                yield place
            else:
                below = (2 * place + 1, 2 * place)
                places += [(level - 1, n) for n in below if n < len(self._latest_ends[level - 1])]


def intervals(
    values: Iterable[T], key: Callable[[T], K], interval: Callable[[T], Interval[T]]
) -> dict[K, Intervals[T]]:
    """The intervals in which the values of each key hold."""
    return {k: Intervals(map(interval, values_of_key)) for k, values_of_key in grouped(values, key).items()}


def united(values: Iterable[T], key: Callable[[T], object], interval: Callable[[T], Interval[None]]) -> Intervals[None]:
    """The intervals in which the values of each key hold, all together. Those of one key neither overlap nor touch."""
    groups = grouped(values, key).values()
    return Intervals(part for own in groups for part in Intervals(map(interval, own)).union())
