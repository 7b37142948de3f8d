"""How far the owner of each partition has read, by readings: when the partition stood, and when it fell behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby, pairwise

from kafka_hindsight.catalog.rows import OffsetCommits, OffsetSnapshot, Ownership, Rebalance
from kafka_hindsight.judgements.groups.backlogs import silent_since
from kafka_hindsight.judgements.groups.commit_intervals import middle, most_in_one_interval
from kafka_hindsight.shared.durations import LONG_AGO, MS
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals
from kafka_hindsight.shared.windows import Window

Place = tuple[str, int]
"""Topic and partition."""

MINIMUM_READINGS = 3
"""A stand has so many readings with the same offset, or more: one commit may come just after the first reading, and the
next one just after the second. Our choice."""

NEW_HEIGHTS = 5
"""At so many readings the lag of a partition that falls behind was larger than ever before. Our choice: what arrives at
once, and is then worked off, makes one or two."""


@dataclass(frozen=True)
class Period:
    """Readings of one partition that belong together, in order of time, and the readings just before and after them."""

    readings: Sequence[OffsetSnapshot]
    before: OffsetSnapshot | None
    after: OffsetSnapshot | None

    @property
    def started_at(self) -> datetime:
        """The first reading."""
        return self.readings[0].snapshot_at

    @property
    def last_at(self) -> datetime:
        """The last reading."""
        return self.readings[-1].snapshot_at

    @property
    def length(self) -> timedelta:
        """From the first reading to the last one."""
        return self.last_at - self.started_at


@dataclass(frozen=True)
class Progress:
    """The readings of one partition of a group that show its committed offset and its end, in order of time.

    `owners`: who owned it when; `rebalances`: when the group rebalanced, or waited for a member that was silent;
    `commits`: the runs of its commits, in the order in which they were written.
    """

    readings: Sequence[OffsetSnapshot]
    owners: Intervals[Ownership]
    rebalances: Intervals[None]
    commits: Sequence[OffsetCommits] = ()

    @cached_property
    def runs(self) -> Sequence[Sequence[OffsetSnapshot]]:
        """The readings with the same committed offset, one after another."""
        return [list(readings) for _, readings in groupby(self.readings, lambda r: r.committed_offset)]

    def owner_at(self, instant: datetime) -> Ownership | None:
        """The ownership of the partition at an instant; None where it had no owner, or none is known."""
        return next((i.value for i in self.owners.at(instant)), None)

    def stands(self) -> list[Period]:
        """The times in which an owner did not move the committed offset while records waited."""
        parts_with_lag = ([r for r in part if lag_of(r)] for run in self.runs for part in self._owned(run))
        return [self._period(part) for part in parts_with_lag if len(part) >= MINIMUM_READINGS]

    def last_move_before(self, stand: Period) -> tuple[datetime, OffsetCommits] | None:
        """The instant at which a commit brought the offset of a stand, after the reading before it, and that run."""
        first, before = stand.readings[0], stand.before
        if before is not None and before.committed_offset == first.committed_offset:
            return None
        earliest = before.snapshot_at if before else LONG_AGO
        moves = ((at, run) for run in self.commits if (at := _reached_at(run, first)) and earliest < at)
        return next(moves, None)

    def waits_apart_from(self, stand: Period) -> list[timedelta]:
        """How long records waited, each time up to the first reading that shows the next offset; without one stand."""
        offset = stand.readings[0].committed_offset
        moves = [(run, following) for run, following in pairwise(self.runs) if run[0].committed_offset != offset]
        waits = [(next((r for r in run if lag_of(r)), run[-1]), following[0]) for run, following in moves]
        return [end.snapshot_at - start.snapshot_at for start, end in waits]

    def growths(self, stands: Sequence[Period]) -> list[Period]:
        """The times in which the offset moved and the lag grew by more than one commit interval brings.

        Each goes from the first reading above that to the last one before the lag had come down again.
        """
        standing_times = Intervals(Interval(s.started_at, s.last_at, None) for s in stands)
        parts = self._owned(self.readings) if len(self.owners) else self._moving()
        moving_parts = (
            list(readings)
            for part in parts
            for stands_still, readings in groupby(part, lambda r: bool(standing_times.at(r.snapshot_at)))
            if not stands_still
        )
        return [self._period(growth) for part in moving_parts for growth in _growths_in(part)]

    def moved_between(self, first: datetime, last: datetime) -> tuple[OffsetSnapshot, OffsetSnapshot] | None:
        """The first and the last reading of some time, if they show that the committed offset rose."""
        inside = [r for r in self.readings if first <= r.snapshot_at <= last]
        has_risen = len(inside) > 1 and (inside[-1].committed_offset or 0) > (inside[0].committed_offset or 0)
        return (inside[0], inside[-1]) if has_risen else None

    def had_nothing_between(self, first: datetime, last: datetime) -> bool:
        """Whether readings of some time show the partition, and none of them a record that waits."""
        inside = [r for r in self.readings if first <= r.snapshot_at <= last]
        return bool(inside) and not any(map(lag_of, inside))

    def _owned(self, readings: Sequence[OffsetSnapshot]) -> Iterator[list[OffsetSnapshot]]:
        """The readings at which the partition had an owner and the group did not rebalance.

        They are split where the partition had no owner.
        """
        between_rebalances = (r for r in readings if not self.rebalances.at(r.snapshot_at))
        for has_owner, part in groupby(between_rebalances, lambda r: self.owner_at(r.snapshot_at) is not None):
            if has_owner:
                yield list(part)

    def _moving(self) -> Iterator[Sequence[OffsetSnapshot]]:
        """The readings from the first to the last change of the committed offset: someone commits."""
        if len(self.runs) > 2:
            yield [r for run in self.runs[1:-1] for r in run]

    def _period(self, readings: Sequence[OffsetSnapshot]) -> Period:
        before = [r for r in self.readings if r.snapshot_at < readings[0].snapshot_at]
        after = [r for r in self.readings if r.snapshot_at > readings[-1].snapshot_at]
        return Period(readings, before[-1] if before else None, after[0] if after else None)


def lag_of(reading: OffsetSnapshot) -> int:
    """The records that wait at a reading which shows both offsets."""
    return reading.lag or 0


def progress_of(
    offsets: Iterable[OffsetSnapshot],
    ownership: Iterable[Ownership],
    rebalances: Iterable[Rebalance],
    window: Window,
    commits: Iterable[OffsetCommits] = (),
) -> Mapping[Place, Progress]:
    """The progress of each partition of one group within a window."""
    rebalance_times = Intervals(Interval(silent_since(r), r.ended_at or r.started_at, None) for r in rebalances).union()
    owners = grouped(ownership, lambda o: (o.topic, o.partition))
    inside = (o for o in offsets if window.holds(o.snapshot_at) and o.lag is not None)
    runs = grouped(sorted(commits, key=lambda c: c.first_record), lambda c: (c.topic, c.partition))
    readings = grouped(sorted(inside, key=lambda r: r.snapshot_at), lambda r: (r.topic, r.partition))
    return {
        place: Progress(own, Intervals(map(_interval_of, owners.get(place, ()))), rebalance_times, runs.get(place, ()))
        for place, own in sorted(readings.items())
    }


def usual_wait(waits: Sequence[timedelta]) -> timedelta | None:
    """The usual time for which records wait until the committed offset moves; None where it never moved."""
    return middle(waits) if waits else None


def _reached_at(run: OffsetCommits, reading: OffsetSnapshot) -> datetime | None:
    """The instant at which a run came to the offset of a reading, before it; None where its row does not show it."""
    ends = ((run.first_offset, run.first_at), (run.last_offset, run.moved_at))
    arrivals = [at for offset, at in ends if offset == reading.committed_offset]
    if not arrivals and run.stood_at <= reading.snapshot_at < run.stood_at + run.stood_ms * MS:
        arrivals = [run.stood_at]
    return next((at for at in arrivals if at <= reading.snapshot_at), None)


def _interval_of(ownership: Ownership) -> Interval[Ownership]:
    end = None if ownership.is_open else ownership.valid_to - timedelta.resolution
    return Interval(ownership.valid_from, end, ownership)


def _growths_in(readings: Sequence[OffsetSnapshot]) -> Iterator[Sequence[OffsetSnapshot]]:
    """The parts in which the lag is above what one commit interval brings, and reaches new heights."""
    usual = most_in_one_interval(readings)
    least, start, heights, has_grown = lag_of(readings[0]), 0, [0], False
    for place, reading in enumerate(readings):
        lag = lag_of(reading)
        least = lag if not has_grown and lag < least else least
        if lag <= least + usual:
            if has_grown:
                yield readings[start + 1 : place]
            start, heights, has_grown, least = place, [least + usual], False, lag if has_grown else least
        elif lag > heights[-1]:
            heights.append(lag)
            has_grown = has_grown or len(heights) > NEW_HEIGHTS
    if has_grown:
        yield readings[start + 1 :]
