"""Readings of partitions in compact form: each state of a partition once, with the instants that show it.

A topic of 10,000 partitions that is read every five minutes has three million readings a day, and few states. Rows of
single readings are made where a verdict looks at one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import pairwise
from operator import attrgetter
from typing import overload

from kafka_hindsight.catalog.rows import OffsetSnapshot, PartitionSnapshot, PartitionState
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.shared.grouping import grouped

Partition = tuple[str, str, int]
Commits = Mapping[str, tuple[OffsetSnapshot, ...]]
"""The offsets that groups had committed of one partition, by reading."""

STATE = tuple(f.name for f in fields(PartitionState) if f.name in {g.name for g in fields(PartitionSnapshot)})
"""The columns that are the same in all readings that show one state."""

_PARTITION = attrgetter("cluster", "topic", "partition")

_WITNESSES = 3
"""The readings that prove a state: verdicts quote the first two, each confirmed by the one after it."""


@value_class(slots=True, kw_only=True)
class ReadingWithCommits(PartitionSnapshot):
    """A partition in one reading, with what groups had committed of it by then."""

    commits: tuple[OffsetSnapshot, ...]


class PartitionReadings(Sequence[PartitionSnapshot]):
    """The readings of one partition, or those of a span of time, by instant."""

    def __init__(self, states: Iterable[PartitionState], commits: Commits) -> None:
        """Take the partition's states, each with its readings in order, and the offsets committed of it by reading."""
        self._states, self._commits = list(states), commits
        places = [(at, n, i) for n, state in enumerate(self._states) for i, at in enumerate(state.snapshot_ats)]
        if len(self._states) > 1:
            places.sort()
        self._ats = [at for at, _, _ in places]
        self._numbers = numbers = [number for _, number, _ in places]
        self._nths = [i for _, _, i in places]
        self._turns = [n for n in range(len(places)) if n == 0 or numbers[n] != numbers[n - 1]]
        self._first, self._end = 0, len(places)

    def __len__(self) -> int:
        return self._end - self._first

    @overload
    def __getitem__(self, place: int) -> PartitionSnapshot: ...
    @overload
    def __getitem__(self, place: slice) -> list[PartitionSnapshot]: ...
    def __getitem__(self, place: int | slice) -> PartitionSnapshot | list[PartitionSnapshot]:
        index = range(self._first, self._end)[place]
        return self._row(index) if isinstance(index, int) else [self._row(n) for n in index]

    def _row(self, n: int) -> PartitionSnapshot:
        state, i = self._state(n), self._nths[n]
        snapshot_id, end_offset = state.snapshot_ids[i], state.end_offsets[i]
        state_columns = {name: getattr(state, name) for name in STATE}
        known_end = end_offset if end_offset >= 0 else None
        columns = state_columns | {"snapshot_id": snapshot_id, "snapshot_at": self._ats[n], "end_offset": known_end}
        commits = self._commits.get(snapshot_id)
        return ReadingWithCommits(**columns, commits=commits) if commits else PartitionSnapshot(**columns)

    def _state(self, n: int) -> PartitionState:
        return self._states[self._numbers[n]]

    def within(self, first: datetime | None, end: datetime | None) -> PartitionReadings:
        """The readings from an instant on up to but without another; None: that side has no bound."""
        part = PartitionReadings.__new__(PartitionReadings)
        part.__dict__.update(self.__dict__)
        if first is not None:
            part._first = max(self._first, bisect_left(self._ats, first))
        if end is not None:
            part._end = max(part._first, min(self._end, bisect_left(self._ats, end)))
        return part

    def where(self, holds: Callable[[PartitionState], bool]) -> Iterator[PartitionSnapshot]:
        """The readings that show a state for which a condition holds."""
        numbers = {number for number, state in enumerate(self._states) if holds(state)}
        places = range(self._first, self._end) if numbers else ()
        return (self._row(n) for n in places if self._numbers[n] in numbers)

    def without_repeats(self, cuts: Iterable[datetime] = ()) -> list[PartitionSnapshot]:
        """The readings without those that only repeat what was read just before and is read just after.

        Of each stretch of readings that show one state the first three and the last. The readings around each of the
        `cuts`, at which something else happened, stay.
        """
        inside = (
            n for n in (*self._turns, *(bisect_left(self._ats, cut) for cut in cuts)) if self._first < n < self._end
        )
        bounds = sorted({self._first, *inside, self._end})
        stretches = (range(first, end) for first, end in pairwise(bounds))
        return [self._row(n) for own in stretches for n in sorted({*own[:_WITNESSES], own[-1]})]

    def last_until(self, instant: datetime, holds: Callable[[PartitionState], object]) -> PartitionSnapshot | None:
        """The last reading up to an instant, included, of a state for which a condition holds."""
        places = range(min(self._end, bisect_right(self._ats, instant)) - 1, self._first - 1, -1)
        return next((self._row(n) for n in places if holds(self._state(n))), None)

    def first_after(self, instant: datetime, holds: Callable[[PartitionState], object]) -> PartitionSnapshot | None:
        """The first reading after an instant, not included, of a state for which a condition holds."""
        places = range(max(self._first, bisect_right(self._ats, instant)), self._end)
        return next((self._row(n) for n in places if holds(self._state(n))), None)


NO_READINGS = PartitionReadings((), {})


def readings_by_partition(
    states: Iterable[PartitionState], commits: Iterable[OffsetSnapshot] = ()
) -> dict[Partition, PartitionReadings]:
    """The readings of each partition. `commits`: rows of bronze.offset_snapshots of the same readings."""
    commits_of: defaultdict[Partition, dict[str, tuple[OffsetSnapshot, ...]]] = defaultdict(dict)
    for commit in commits:
        own_commits = commits_of[_PARTITION(commit)]
        own_commits[commit.snapshot_id] = (*own_commits.get(commit.snapshot_id, ()), commit)
    by_partition = grouped(states, _PARTITION)
    return {key: PartitionReadings(own_states, commits_of.get(key, {})) for key, own_states in by_partition.items()}
