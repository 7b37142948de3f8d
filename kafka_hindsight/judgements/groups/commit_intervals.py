"""The lag that one commit interval of a partition brings: that of a consumer that keeps up, by readings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from kafka_hindsight.catalog.rows import OffsetSnapshot


def middle(lengths: Sequence[timedelta]) -> timedelta:
    """The median, of two in the middle the longer one."""
    return sorted(lengths)[len(lengths) // 2]


def most_in_one_interval(readings: Sequence[OffsetSnapshot]) -> int:
    """The most records that arrived in as long as the committed offset ever stood between two readings, and one more.

    A commit interval is no longer than that: readings may fall anywhere in it.
    """
    moves = [readings[0], *(b for a, b in pairwise(readings) if a.committed_offset != b.committed_offset)]
    instants = [r.snapshot_at for r in (*moves, readings[-1])]
    pauses = [later - earlier for earlier, later in pairwise(instants)]
    steps = [later.snapshot_at - earlier.snapshot_at for earlier, later in pairwise(readings)]
    if not steps:
        return 0
    interval = max(pauses) + middle(steps)
    most, last = 0, 0
    for reading in readings:
        while last < len(readings) - 1 and readings[last].snapshot_at < reading.snapshot_at + interval:
            last += 1
        most = max(most, (readings[last].end_offset or 0) - (reading.end_offset or 0))
    return most
