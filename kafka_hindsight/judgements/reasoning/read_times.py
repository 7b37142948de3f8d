"""The times in which logs of brokers were read: what happened between two of them has no witness.

Numbers that Kafka raises by one (leader epochs, generations, partition epochs) still show that nothing was between two
lines. Nothing else does: a length that spans a time without logs is known within bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.rows import LogFile
from kafka_hindsight.shared.timelines import Interval, Intervals

ROTATED_WITHIN = timedelta(minutes=2)
"""Between two files of one log a file is missing where more time lies between their lines. Our choice."""


def joined(intervals: Iterable[Interval[None]], within: timedelta = ROTATED_WITHIN) -> Intervals[None]:
    """The intervals, joined where no file is missing between them."""
    longer = Intervals(Interval(i.start, i.end + within, None) for i in intervals if i.end).union()
    return Intervals(Interval(i.start, i.end - within, None) for i in longer if i.end)


@dataclass(frozen=True)
class ReadTimes:
    """The times between the first line and the last in which no log of any broker was read; without any, all was."""

    unread: Intervals[None]

    @classmethod
    def of(cls, files: Iterable[LogFile]) -> ReadTimes:
        """Those of the files of a cluster's brokers."""
        spans = joined(Interval(f.first_at, f.last_at, None) for f in files if f.first_at and f.last_at)
        return cls(Intervals(Interval(a.end or a.start, b.start, None) for a, b in pairwise(spans)))

    def until(self, since: datetime, end: datetime) -> datetime:
        """The last instant up to `end` up to which logs were read without a break from `since` on."""
        gaps = self.unread.clip(since, end).intervals if since < end else ()
        return gaps[0].start if gaps else end

    def is_whole(self, since: datetime, end: datetime) -> bool:
        """Whether logs were read from one instant to another without a break."""
        return self.until(since, end) >= end


ALL_READ = ReadTimes(Intervals(()))
"""Where nothing says which logs were read."""
