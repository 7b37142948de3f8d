"""The clock of a log, and the meaning of each of its steps. The order of the lines in the file decides.

log4j stamps an event when it is made (LogEvent.getTimeMillis) and appends it when the appender is free: a line may be
late, and none is early. A clock that was set back stays back. Local time repeats an hour when summer time ends: its
records are counted, and where the order of a file does not show the second time they are read as of the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from kafka_hindsight.catalog.codes import ClockMeaning
from kafka_hindsight.knowledge.layouts import BROKER_REGEX
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints
from kafka_hindsight.logs.heads import FRAME, Heads
from kafka_hindsight.shared.durations import CLOCK_SKEW, ORDERED_WITHIN

_MICRO = timedelta(microseconds=1)
_MILLI, _MINUTE, _HOUR, _DAY = 1_000, 60 * 10**6, 3_600 * 10**6, 86_400 * 10**6
_QUARTER = _HOUR // 4
SKEW = CLOCK_SKEW // _MICRO

_MOST_LATE = 40
"""The most lines that are late together: each thread that waits for the appender has one."""

_FEW = 3
"""The most lines with a garbled instant that follow one another."""

_SORTED_BACK = 70 * _MINUTE
"""The most that a clock was set back where its lines are put in the order of the file. A file that goes back further
may be several logs, one after another."""

_MOST_STEPS = 100
"""The most steps of a piece: a file with more is not in the order of any clock."""

_MOST_COMPARED = 200
"""Lines on either side of a step whose writers are compared."""

_QUOTED = 300
_END = int(np.iinfo(np.int64).max)
_BROKER = re.compile(BROKER_REGEX.removeprefix("^").encode())
_FAMILY = re.compile(rb"\((kafka\.|org\.apache\.zookeeper\.server)")
"""The loggers of a broker, and those of a server of ZooKeeper, which the quickstart lets write to the same file."""


@dataclass(frozen=True)
class ClockStepRange:
    """A step of a clock, between the lines `before` and `after`, whose clocks show `before_at` and `after_at`.

    It changes the records from the byte `begin` up to `end` of source `part` within the file. They are placed between
    the microseconds `placed_at` and `placed_until`, by their places in the file. They keep their own instants where
    `placed_at` is None, but for those of an hour that comes twice: they are an hour later.
    """

    meaning: str
    begin: int
    end: int
    part: int
    placed_at: int | None
    placed_until: int
    before_at: int
    after_at: int
    before: str
    after: str

    def placed(self, places: Ints) -> Ints:
        """The instants of its records. `places` are where they begin in the file."""
        length = self.placed_until - (self.placed_at or 0)
        placed: Ints = (self.placed_at or 0) + (places - self.begin) * length // max(self.end - self.begin, 1)
        return placed


class RepeatedRecords(NamedTuple):
    """The records of one day whose local time comes twice: the day since 1970, their number and their instants."""

    day: int
    records: int
    first_at: int
    last_at: int


class Clock:
    """The instants of one file's records, in the order of the file."""

    def __init__(self, zone: str, steps: Iterable[ClockStepRange] = (), is_turned: bool = False) -> None:
        """`steps` are those of another reading. `is_turned`: the newest lines come first, and no steps are searched."""
        self.zone = None if zone == "UTC" else ZoneInfo(zone)
        self._is_turned = is_turned
        self._steps = [*steps]
        self._newest: dict[int, _Newest] = {}

    def instants(self, heads: Heads, offset: int, parts: Ints | None) -> Ints:
        """The instant of each record in microseconds. The bytes begin at `offset`; `parts` are the records' sources."""
        at, is_doubled = self._as_first(heads)
        for step in self._steps:
            first, stop = np.searchsorted(heads.starts, (step.begin - offset, step.end - offset)).tolist()
            own = slice(first, stop)
            is_own = at[own] != NO_INSTANT
            if parts is not None and step.part >= 0:
                is_own &= parts[own] == step.part
            if step.placed_at is not None:
                at[own][is_own] = step.placed(heads.starts[own][is_own] + offset)
            elif step.meaning == ClockMeaning.HOUR_REPEATED:
                at[own][is_own & _comes_again(at[own], is_doubled[own], step.before_at)] += _HOUR
        return at

    def look(
        self, heads: Heads, data: bytes, offset: int, until: int, parts: Ints | None
    ) -> tuple[Ints, list[ClockStepRange]]:
        """The instants of the records that begin before the byte `until`, and the steps of the clock there.

        `data` reaches a little further. Pieces of a file that are read one after another are one log.
        """
        at = self.instants(heads, offset, parts)
        _, is_doubled = self._as_first(heads)
        steps: list[ClockStepRange] = []
        for part in () if self._is_turned else (-1,) if parts is None else np.unique(parts).tolist():
            is_own = (at != NO_INSTANT) if parts is None else (at != NO_INSTANT) & (parts == part)
            rows = slice(None) if is_own.all() else np.flatnonzero(is_own)
            lines = _DatedRecords(data, offset, part, heads, rows, at[rows], is_doubled[rows], self._newest.get(part))
            steps += (step for step in lines.steps() if step.begin < until + offset)
            at[rows] = lines.instants
            if newest := lines.newest(until):
                self._newest[part] = newest
        self._steps += (step for step in steps if step.meaning == ClockMeaning.HOUR_REPEATED)
        return at[: int(np.searchsorted(heads.starts, until))], steps

    def repeated(self, heads: Heads, at: Ints) -> tuple[RepeatedRecords, ...]:
        """The records whose local time comes twice, by its day. `at` are the instants of the records."""
        if self.zone is None:
            return ()
        _, is_doubled = self._as_first(heads)
        days, own = heads.clocks[is_doubled] // _DAY, at[is_doubled]
        return tuple(
            RepeatedRecords(day, int((days == day).sum()), int(own[days == day].min()), int(own[days == day].max()))
            for day in np.unique(days).tolist()
        )

    def _as_first(self, heads: Heads) -> tuple[Ints, Flags]:
        """The instants if each hour that comes twice is the first of the two; and which lie in such an hour."""
        if self.zone is None or not len(heads):
            return heads.clocks.copy(), np.zeros(len(heads), bool)
        has_offset = (heads.clocks != NO_INSTANT) & ~heads.is_instant
        quarters, which = np.unique(np.where(has_offset, heads.clocks // _QUARTER, 0), return_inverse=True)
        offsets, doubled = zip(*(_offset(self.zone, q) for q in quarters.tolist()), strict=True)
        at = np.where(has_offset, heads.clocks - np.array(offsets, np.int64)[which], heads.clocks)
        return at, np.array(doubled, bool)[which] & has_offset


def _comes_again(at: Ints, is_doubled: Flags, near: int) -> Flags:
    """Flags of the instants in the hour that comes twice on the day of `near`."""
    is_repeat: Flags = is_doubled & (np.abs(at - near) < _DAY // 2)
    return is_repeat


class _Newest(NamedTuple):
    """The newest record of a source in the bytes before."""

    at: int
    clock: int
    is_doubled: bool
    line: bytes


class _RecordsSetBack(NamedTuple):
    """Records from `first` up to `stop`, earlier than the newest one before them, `top`: the first by `by`."""

    top: int
    first: int
    stop: int
    by: int


class _DatedRecords:
    """The dated records of one source in some bytes, behind the newest one of the bytes before."""

    def __init__(
        self,
        data: bytes,
        offset: int,
        part: int,
        heads: Heads,
        which: Any,
        at: Ints,
        is_doubled: Flags,
        newest: _Newest | None,
    ) -> None:
        self._data, self._offset, self._part, self._before = data, offset, part, newest
        columns: tuple[Any, ...] = heads.starts[which], at, heads.clocks[which], is_doubled
        if newest:
            first = 0, newest.at, newest.clock, newest.is_doubled
            columns = tuple(np.concatenate([[value], own]) for value, own in zip(first, columns, strict=True))
        self._at: Ints = columns[1]
        self._starts, _, self._clocks, self._is_doubled = columns

    @property
    def instants(self) -> Ints:
        """The instants of the records, corrected by the steps so far."""
        return self._at[1:] if self._before else self._at

    def newest(self, until: int) -> _Newest | None:
        """The newest of the records that begin before the byte `until`, or of the bytes before."""
        inside = int(np.searchsorted(self._starts, until))
        if not inside:
            return None
        n = int(np.argmax(self._at[:inside]))
        return _Newest(int(self._at[n]), int(self._clocks[n]), bool(self._is_doubled[n]), self._line(n))

    def steps(self) -> Iterator[ClockStepRange]:
        """The steps that have a meaning, in order. They correct the instants."""
        begin = 0
        for _ in range(_MOST_STEPS):
            step_and_begin = next(filter(None, map(self._step, self._runs(begin))), None)
            if step_and_begin is None:
                return
            step, begin = step_and_begin
            yield step

    def _runs(self, begin: int) -> Iterator[_RecordsSetBack]:
        tops = np.maximum.accumulate(self._at[begin:])
        behind = np.flatnonzero(self._at[begin:] < tops - SKEW)
        if len(behind):
            for run in np.split(behind, np.flatnonzero(np.diff(behind) > 1) + 1):
                first, stop = begin + int(run[0]), begin + int(run[-1]) + 1
                top = begin + int(np.searchsorted(tops, tops[run[0]]))
                yield _RecordsSetBack(top, first, stop, int(tops[run[0]] - self._at[first]))

    def _step(self, run: _RecordsSetBack) -> tuple[ClockStepRange, int] | None:
        """The step of a run, and where the search continues; None for late lines and those of another process."""
        at, reached = self._at, int(self._at[run.top])
        if run.stop - run.first <= _FEW and reached - int(at[run.first : run.stop].max()) > _DAY:
            return self._place_records(ClockMeaning.GARBLED, run, run.first, run.stop, reached), run.top
        is_fold = bool(self._is_doubled[run.top] and self._is_doubled[run.first]) and run.by > _MINUTE
        if self._is_late(run) and not (is_fold and self._is_quiet(run)):
            return None
        if is_fold:
            step = self._new_step(ClockMeaning.HOUR_REPEATED, run, self._place(run.first), _END)
            at[run.first :][_comes_again(at, self._is_doubled, reached)[run.first :]] += _HOUR
            self._is_doubled[run.first :] = False
            return step, run.top
        if self._is_garbled(run):
            instant = int(at[run.top - 1 if run.top else run.first])
            line = run._replace(top=run.top - 1 if run.top else run.first, first=run.top)
            step = self._place_records(ClockMeaning.GARBLED, line, run.top, run.first, instant)
            return step, int(np.argmax(at[: run.first]))
        if self._is_of_others(run):
            return None
        if run.by > _SORTED_BACK:
            return self._new_step(ClockMeaning.SET_BACK, run, self._place(run.first), self._place(run.first)), run.first
        caught_up = np.flatnonzero(at[run.first :] >= reached)
        stop = run.first + int(caught_up[0]) if len(caught_up) else len(at)
        # The next piece of the file may go on in the same order.
        until = min(int(at[stop]), reached + ORDERED_WITHIN // _MICRO) if stop < len(at) else reached + _MILLI
        return self._place_records(ClockMeaning.SET_BACK, run, run.first, stop, reached, until), stop - 1

    def _place_records(
        self, meaning: ClockMeaning, run: _RecordsSetBack, first: int, stop: int, since: int, until: int | None = None
    ) -> ClockStepRange:
        """Place records at an instant, or between two."""
        step = self._new_step(meaning, run, self._place(first), self._place(stop))
        step = replace(step, placed_at=since, placed_until=since if until is None else until)
        self._at[first:stop] = step.placed(self._starts[first:stop] + self._offset)
        return step

    def _new_step(self, meaning: ClockMeaning, run: _RecordsSetBack, begin: int, end: int) -> ClockStepRange:
        clocks = int(self._clocks[run.top]), int(self._clocks[run.first])
        lines = (self._line(n).decode(errors="replace") for n in (run.top, run.first))
        return ClockStepRange(meaning, begin, end, self._part, None, 0, *clocks, *lines)

    def _line(self, n: int) -> bytes:
        """The first line of a record, without its frame."""
        if self._before and not n:
            return self._before.line
        start = int(self._starts[n]) + (FRAME if self._part >= 0 else 0)
        return self._data[start : start + _QUOTED].partition(b"\n")[0].rstrip(b"\r")

    def _place(self, n: int) -> int:
        """The byte of the file where a record begins; behind the last record, the end of the bytes."""
        return self._offset + (int(self._starts[n]) if n < len(self._starts) else len(self._data))

    def _is_late(self, run: _RecordsSetBack) -> bool:
        """Whether few lines are behind and the clock then returns: threads waited to write them."""
        is_back = run.stop == len(self._at) or int(self._at[run.stop] - self._at[run.stop - 1]) >= run.by // 2
        return run.stop - run.first <= _MOST_LATE and is_back

    def _is_quiet(self, run: _RecordsSetBack) -> bool:
        """Whether few lines of the repeated hour follow. Then a few lines may be all of it."""
        return not self._is_doubled[run.stop + _MOST_LATE :][:1].any()

    def _is_garbled(self, run: _RecordsSetBack) -> bool:
        """Whether few lines are ahead of those before and after them, which agree. No line is ever early."""
        if run.first - run.top > _FEW or not run.top:
            return not run.top and run.first <= _FEW and run.by > _DAY
        before = int(self._at[run.top - 1])
        return int(self._at[run.top]) - before > SKEW and int(self._at[run.first]) >= before - SKEW

    def _is_of_others(self, run: _RecordsSetBack) -> bool:
        """Whether the lines that are behind are of other processes than the lines that are ahead."""
        ahead = np.flatnonzero(self._at[: run.first] > self._at[run.first] + SKEW)[-_MOST_COMPARED:]
        pairs = zip(*map(self._writers, (ahead.tolist(), range(run.first, run.stop)[:_MOST_COMPARED])), strict=True)
        return any(theirs and behind and not theirs & behind for theirs, behind in pairs)

    def _writers(self, lines: Iterable[int]) -> tuple[set[bytes], set[bytes]]:
        """The brokers and the families of loggers that the lines name."""
        texts = [self._line(n) for n in lines]
        return {b for t in texts for b in _BROKER.findall(t)[:1]}, {f for t in texts for f in _FAMILY.findall(t)[-1:]}


@cache
def _offset(zone: ZoneInfo, quarter: int) -> tuple[int, bool]:
    """The offset of a zone in a quarter of an hour of local time, and whether that comes twice."""
    at = datetime(1970, 1, 1) + quarter * _QUARTER * _MICRO
    first, second = (at.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    return first // _MICRO, first - second == timedelta(hours=1)
