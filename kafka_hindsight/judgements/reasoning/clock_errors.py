"""Clocks that are known to be wrong, and how sure a verdict can be that compares them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.codes import ClockMeaning, Confidence
from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS, ORDERED_WITHIN

_AGAINST_OTHERS = (ClockMeaning.AHEAD, ClockMeaning.SET_BACK, ClockMeaning.OTHER_ZONE)
"""Errors that make a clock differ from others at any time."""


@dataclass(frozen=True)
class ClockError:
    """A clock that is wrong by up to `by`, the logs and the brokers that write by it.

    From `ordered_at` on, for ORDERED_WITHIN, only the order of its lines is known. `repeated` are the first and the
    last instant of its lines in an hour of local time that comes twice: each may be of either time. `proof`: what shows
    that it differs from other clocks.
    """

    meaning: ClockMeaning
    sources: frozenset[str]
    brokers: frozenset[int]
    by: timedelta
    ordered_at: datetime | None = None
    repeated: tuple[datetime, datetime] | None = None
    proof: str = ""

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> ClockError:
        """The error that a summary of ingest describes."""
        at, repeated = summary["ordered_at"], summary["repeated"]
        return cls(
            ClockMeaning(summary["meaning"]),
            frozenset(summary["sources"]),
            frozenset(summary["brokers"]),
            summary["by_ms"] * MS,
            datetime.fromisoformat(at) if at else None,
            (datetime.fromisoformat(repeated[0]), datetime.fromisoformat(repeated[1])) if repeated else None,
            summary["proof"],
        )

    def summary(self) -> dict[str, Any]:
        """The error for a summary of ingest."""
        return {
            "meaning": str(self.meaning),
            "sources": sorted(self.sources),
            "brokers": sorted(self.brokers),
            "by_ms": self.by // MS,
            "ordered_at": self.ordered_at.isoformat() if self.ordered_at else None,
            "repeated": [at.isoformat() for at in self.repeated] if self.repeated else None,
            "proof": self.proof,
        }

    @property
    def differs(self) -> bool:
        """Whether the clock differs from others at any time."""
        return self.meaning in _AGAINST_OTHERS

    def hides(self, length: timedelta) -> bool:
        """Whether the clock differs from others by half of a length of time, or more."""
        return self.differs and length <= 2 * self.by + CLOCK_SKEW

    def is_wrong_at(self, at: datetime) -> bool:
        """Whether the clock differs from others at an instant: for a repeated hour of local time only around it."""
        is_near = self.ordered_at is not None and abs(at - self.ordered_at) <= self.by
        return self.differs or is_near or self._is_repeated(at)

    def _is_repeated(self, at: datetime) -> bool:
        return self.repeated is not None and self.repeated[0] <= at <= self.repeated[1]

    def most(self, quotes: Sequence[Quote]) -> Confidence:
        """The most confidence of a verdict that rests on these lines.

        A comparison of this clock with another one, and a line whose local time comes twice, are `likely` at most. If
        only the order of lines is known, lengths of time prove nothing: `possible`. So do lines of two clocks that
        differ by half of the time between these lines, or more.
        """
        own = [quote.happened_at for quote in quotes if quote.source in self.sources]
        if own and self.ordered_at is not None and min(own) - ORDERED_WITHIN <= self.ordered_at <= max(own):
            return Confidence.POSSIBLE
        is_compared = 0 < len(own) < len(quotes) and self.differs
        times = [quote.happened_at for quote in quotes]
        if is_compared and self.hides(max(times) - min(times)):
            return Confidence.POSSIBLE
        return Confidence.LIKELY if is_compared or any(map(self._is_repeated, own)) else Confidence.CERTAIN


def apart(clocks: Sequence[ClockError], brokers: Collection[int | None], at: datetime) -> timedelta:
    """The most by which the clocks of these brokers may differ at an instant; zero if none is known to be wrong."""
    own = (error for error in clocks if error.brokers.intersection(brokers))
    return max((error.by for error in own if error.is_wrong_at(at)), default=timedelta())
