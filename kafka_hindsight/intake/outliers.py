"""Instants that do not widen a window: before Kafka existed, in the future, or few and far from all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kafka_hindsight.shared.grouping import runs

FIRST_KAFKA = datetime(2011, 1, 1, tzinfo=UTC)
"""Source: Kafka 0.6, the first release, is of January 2011."""

AHEAD = timedelta(days=1)
"""How far the clock of a log may be ahead of the run's clock."""

APART = timedelta(days=7)
_FEW = 3
_OF_HOW_MANY = 100
"""Records far from all others are outliers where they are few: at most three, and at most one of a hundred."""


class Day(NamedTuple):
    """The records of one source on one day."""

    source: str
    records: int
    first_at: datetime
    last_at: datetime


def is_possible(at: datetime, now: datetime) -> bool:
    """Whether Kafka may have written at an instant."""
    return FIRST_KAFKA <= at <= now + AHEAD


def is_suspicious(first: datetime, last: datetime, now: datetime) -> bool:
    """Whether instants are so far apart that one of them may be an outlier."""
    return not is_possible(first, now) or not is_possible(last, now) or last - first > APART


def outliers(days: Iterable[Day], now: datetime) -> tuple[list[Day], list[Day]]:
    """The days whose records may widen a window, and the outliers, each in the order of time.

    Where no day would be left, the run's clock is wrong or all others are: then every day counts.
    """
    ordered = sorted(days, key=lambda d: (d.first_at, d.source))
    possible = [d for d in ordered if is_possible(d.first_at, now) and is_possible(d.last_at, now)] or ordered
    most = min(_FEW, sum(d.records for d in possible) / _OF_HOW_MANY)
    islands = runs(possible, lambda island, day: day.first_at - island[-1].last_at <= APART)
    regular = [d for island in islands if sum(d.records for d in island) > most for d in island]
    return regular, [d for d in ordered if d not in regular]


def sentence_about(days: Sequence[Day]) -> str:
    """One sentence about the days that do not count."""
    some = "; ".join(f"{d.source} {d.first_at.isoformat(' ', 'seconds')[:19]} ({d.records})" for d in days[:5])
    return (
        f"{sum(d.records for d in days)} records lie far from all others, before Kafka existed or in the future, and do"
        f" not widen the window: {some}. A clock was wrong, or a line is damaged. FROM and TO choose a window that"
        " holds them."
    )
