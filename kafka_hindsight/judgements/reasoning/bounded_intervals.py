"""Intervals whose two ends are known within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from kafka_hindsight.judgements.reasoning.timelines import Interval

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BoundedInterval(Generic[T]):
    """A value that held from `start` up to `end`, as witnesses show it best; `end` None: it was not over.

    `proven` is the part in which it surely held, None where no proof shows one; `possible` is all the time in which it
    can have held, None where no proof bounds it. What was not over has none of their ends.
    """

    start: datetime
    end: datetime | None
    proven: Interval[None] | None
    possible: Interval[None] | None
    value: T

    def low(self, until: datetime) -> timedelta:
        """How long it held at least. Takes: up to when it is known that it was not over."""
        if self.proven is None:
            return timedelta(0)
        return max(timedelta(0), (self.proven.end or until) - self.proven.start)

    @property
    def high(self) -> timedelta | None:
        """How long it held at most; None where that is not bounded."""
        if self.possible is None or self.possible.end is None:
            return None
        return self.possible.end - self.possible.start

    def from_on(self, start: datetime) -> BoundedInterval[T]:
        """The same, begun no earlier than an instant."""
        return replace(
            self,
            start=max(self.start, start),
            proven=self.proven and _cut(self.proven, start, None),
            possible=self.possible and _cut(self.possible, start, None),
        )

    def over_by(self, end: datetime) -> BoundedInterval[T]:
        """The same, over no later than an instant."""
        return replace(
            self,
            end=_first(self.end, end),
            proven=self.proven and _cut(self.proven, None, end),
            possible=self.possible and _cut(self.possible, None, end),
        )


def span(start: datetime | None, end: datetime | None) -> Interval[None] | None:
    """A part of an interval, without an end where that was not over; None where nothing shows it to begin before."""
    return None if start is None or (end is not None and end < start) else Interval(start, end, None)


def one_after_another(intervals: Iterable[BoundedInterval[T]]) -> Iterator[BoundedInterval[T]]:
    """The intervals of one thing in order of time, each without what belongs to one before it.

    Keeps: they do not overlap, and together they cover the same time.
    """
    reached: datetime | None = None
    for interval in sorted(intervals, key=lambda i: i.start):
        if reached is None or interval.start >= reached:
            yield interval
        elif interval.end is None or interval.end > reached:
            yield interval.from_on(reached)
        else:
            continue
        reached = interval.end
        if reached is None:
            return


def _cut(interval: Interval[None], first: datetime | None, last: datetime | None) -> Interval[None] | None:
    return span(interval.start if first is None else max(interval.start, first), _first(interval.end, last))


def _first(end: datetime | None, other: datetime | None) -> datetime | None:
    return min((at for at in (end, other) if at is not None), default=None)
