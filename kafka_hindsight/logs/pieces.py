"""The first reading of a file: facts about each piece, and the ranges into which it is cut so that records stay whole.

Pieces are as long as a task reads at once and begin anywhere. A range begins and ends with a record. Its records are
cut and numbered without any other range, except where ranges of one log cover the same instants.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_hindsight.knowledge.layouts import MOST_LINES
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints
from kafka_hindsight.logs.clocks import Clock, ClockStepRange, RepeatedRecords
from kafka_hindsight.logs.forms import Form
from kafka_hindsight.logs.heads import HEADLESS, PLAIN, Heads, framed, heads_of, lines_of, sources_in, start_of_lines

MOST_BYTES = 64 * 1024 * 1024
"""The most bytes of a record beyond a piece that are read for its text."""

REACH = 4_096
"""Bytes that are read beyond a piece, so that a head that begins in it is whole, and a line that names a cluster."""

_MARK_BYTES = 64

NOWHERE = -1


@dataclass(frozen=True)
class Times:
    """The first and the last instant of records in microseconds, and the number of records without one.

    `first` after `last`: no record has an instant.
    """

    first: int = int(np.iinfo(np.int64).max)
    last: int = int(NO_INSTANT)
    timeless: int = 0

    @property
    def are_any(self) -> bool:
        """Whether a record has an instant."""
        return self.first <= self.last

    def hold(self, at: Ints) -> Flags:
        """Whether each instant lies between these. NO_INSTANT does where a record without an instant counts."""
        return np.where(at == NO_INSTANT, self.timeless > 0, (self.first <= at) & (at <= self.last))

    def __add__(self, other: Times) -> Times:
        return Times(min(self.first, other.first), max(self.last, other.last), self.timeless + other.timeless)


NO_TIMES = Times()


def times_of(at: Ints) -> Times:
    """The times of some records."""
    dated = at[at != NO_INSTANT]
    timeless = len(at) - len(dated)
    return Times(int(dated.min()), int(dated.max()), timeless) if len(dated) else replace(NO_TIMES, timeless=timeless)


@dataclass(frozen=True)
class Piece:
    """Facts about the bytes of a file from `begin` to `end`.

    A line and a record belong to the piece in which they begin. `first` and `last` are where its first and last record
    begin, NOWHERE where none does. `lines_before` counts its lines that belong to a record of an earlier piece,
    `lines_of_last` those of its last record. `cut` is a record where the piece can be cut: `before` and `after` are the
    times on both sides. The marks are of the bytes at `first` and `cut`. `steps` are the steps of its clock.
    `clusters` are the ids that its lines name: the first and the last instant of each, and how many lines name it.
    `repeated` are its records in an hour of local time that comes twice.
    `layouts` are those by which it was read. `is_wrapped`: its bytes are records with frames; `form` is how they were
    wrapped. `misfit` says how far its lines fit where none has a head. `is_there` is false where the file vanished or
    is shorter than when it was listed.
    """

    file: int
    begin: int
    end: int
    lines: int = 0
    first: int = NOWHERE
    last: int = NOWHERE
    lines_before: int = 0
    lines_of_last: int = 0
    first_at: int = int(NO_INSTANT)
    last_at: int = int(NO_INSTANT)
    cut: int = NOWHERE
    before: Times = NO_TIMES
    after: Times = NO_TIMES
    first_mark: int = 0
    cut_mark: int = 0
    is_kafka_log: bool = False
    is_broker_log: bool = False
    clusters: tuple[tuple[str, int, int, int], ...] = ()
    repeated: tuple[RepeatedRecords, ...] = ()
    steps: tuple[ClockStepRange, ...] = ()
    layouts: tuple[str, ...] = PLAIN
    is_wrapped: bool = False
    form: Form | None = None
    misfit: str | None = None
    damage: str | None = None
    is_there: bool = True


@dataclass(frozen=True)
class Range:
    """A range of a file, which begins and ends with a record. `size` is how many bytes of it are read.

    `mark` is of its first bytes. `lines_beyond` counts the lines of its last record that are not read.
    """

    file: int
    begin: int
    size: int
    mark: int
    times: Times
    lines_beyond: int = 0


def mark_of(data: bytes, at: int) -> int:
    """A checksum of a line's first bytes. It shows whether the line has changed since."""
    return zlib.crc32(data[at : at + _MARK_BYTES].partition(b"\n")[0])


@dataclass(frozen=True)
class Way:
    """How the bytes of a file are read: the layouts; and, of records with frames, the sources by their numbers."""

    layouts: tuple[str, ...] = PLAIN
    sources: Sequence[str] | None = None

    @property
    def is_wrapped(self) -> bool:
        """Whether the bytes are records with frames."""
        return self.sources is not None

    def parts_of(self, data: bytes, heads: Heads) -> Ints | None:
        """The number of the source within the file of each record; None where the file is their source."""
        return sources_in(data, heads.starts) if self.is_wrapped else None


PLAINLY = Way()


def beginnings(data: bytes, begins: bool, way: Way = PLAINLY) -> tuple[Ints, Heads]:
    """The lines and the records of bytes.

    `begins`: the bytes begin with a line. If that is not a head, it begins a record without a head.
    """
    if way.is_wrapped:
        return framed(data, begins)
    lines = lines_of(data, begins)
    heads = heads_of(data, lines, way.layouts)
    if begins and len(lines) and (not len(heads) or heads.lines[0] > 0):
        heads = _with_headless(heads, int(lines[0]))
    return lines, heads


def look(data: bytes, file: int, begin: int, end: int, clock: Clock, way: Way = PLAINLY) -> Piece:
    """Read a piece. `data` is from one byte before `begin`, if there is one, to REACH behind `end`."""
    offset = max(begin - 1, 0)
    lines, heads = beginnings(data, begin == 0, way)
    until = end - offset if begin else max(end, start_of_lines(data) + 1)
    at, steps = clock.look(heads, data, offset, until, way.parts_of(data, heads))
    heads, count = heads.before(until), int(np.searchsorted(lines, until))
    starts = heads.starts
    piece = Piece(
        file,
        begin,
        end,
        lines=count,
        lines_before=count,
        repeated=clock.repeated(heads, at),
        steps=tuple(steps),
        layouts=way.layouts,
        is_wrapped=way.is_wrapped,
    )
    if not len(heads):
        return piece
    cut = _cut(at) if begin else 0
    return replace(
        piece,
        first=offset + int(starts[0]),
        last=offset + int(starts[-1]),
        lines_before=int(heads.lines[0]),
        lines_of_last=count - int(heads.lines[-1]),
        first_at=int(at[0]),
        last_at=int(at[-1]),
        cut=offset + int(starts[cut]),
        before=times_of(at[:cut]),
        after=times_of(at[cut:]),
        first_mark=mark_of(data, int(starts[0]) if begin else 0),
        cut_mark=mark_of(data, int(starts[cut])),
    )


def _cut(at: Ints) -> int:
    """The record in the middle half with the longest step of the clock before it, where no instant is on both sides."""
    upper = np.where(at == NO_INSTANT, np.iinfo(np.int64).max, at)
    until = np.maximum.accumulate(at)[:-1]
    gaps = np.minimum.accumulate(upper[::-1])[::-1][1:] - np.maximum(until, -(1 << 61))
    low, high = len(at) // 4, max(len(at) * 3 // 4, len(at) // 4 + 1)
    return low + 1 + int(np.argmax(gaps[low:high])) if len(gaps[low:high]) else 0


def _with_headless(heads: Heads, start: int) -> Heads:
    return Heads(
        np.concatenate([[start], heads.starts]),
        np.concatenate([[0], heads.lines]),
        np.concatenate([np.array([HEADLESS], np.int8), heads.layouts]),
        np.concatenate([np.array([NO_INSTANT]), heads.clocks]),
        np.concatenate([[False], heads.is_instant]),
    )


def ranges_of(pieces: Sequence[Piece], until: int | None = None) -> list[Range]:
    """The ranges of one file, by its pieces in their order. `until` is where to end, if not at the file's end."""
    if not pieces or pieces[0].first == NOWHERE:
        return []
    ranges = _all_ranges(pieces)
    if until is None:
        return ranges
    # The range that reaches beyond the end is cut there.
    return [
        replace(r, size=until - r.begin, lines_beyond=0) if r.begin + r.size > until else r
        for r in ranges
        if r.begin < until
    ]


def _all_ranges(pieces: Sequence[Piece]) -> list[Range]:
    """The ranges up to the file's end. A record begins in the first piece."""
    ranges: list[Range] = []
    spanned: list[Piece] = []
    first = pieces[0]
    begin, mark, times = 0, first.first_mark, first.before + first.after
    for piece in pieces[1:]:
        if piece.first == NOWHERE:
            spanned.append(piece)
            continue
        if spanned:
            at, new_mark, before, after = piece.first, piece.first_mark, NO_TIMES, piece.before + piece.after
        else:
            at, new_mark, before, after = piece.cut, piece.cut_mark, piece.before, piece.after
        ranges.append(_range(first, begin, at, mark, times + before, spanned, piece.lines_before if spanned else 0))
        first, begin, mark, times, spanned = piece, at, new_mark, after, []
    return [*ranges, _range(first, begin, pieces[-1].end, mark, times, spanned, 0)]


def _range(
    first: Piece, begin: int, end: int, mark: int, times: Times, spanned: Sequence[Piece], lines_after: int
) -> Range:
    """A range. Of a record that spans pieces, only as much is read as is kept of its text."""
    lines = first.lines_of_last
    for n, piece in enumerate(spanned):
        if lines > MOST_LINES or piece.begin - first.end > MOST_BYTES:
            beyond = sum(p.lines for p in spanned[n:]) + lines_after
            return Range(first.file, begin, piece.begin - begin, mark, times, beyond)
        lines += piece.lines
    return Range(first.file, begin, end - begin, mark, times)


def contests(spans: Mapping[int, Times]) -> dict[int, Times]:
    """The spans of one log that share instants, or records without one, with others: what each may share."""
    ordered = sorted((t.first, t.last, n) for n, t in spans.items() if t.are_any)
    shared: dict[int, Times] = {}
    reached = int(NO_INSTANT)
    for (first, last, n), (following, *_) in zip(ordered, [*ordered[1:], (NO_TIMES.first,)], strict=False):
        begins, ends = first <= reached, following <= last
        if begins or ends:
            shared[n] = Times(first if begins else following, last if ends else min(last, reached))
        reached = max(reached, last)
    timeless = {n: Times(timeless=t.timeless) for n, t in spans.items() if t.timeless}
    return shared | {n: t + shared.get(n, NO_TIMES) for n, t in timeless.items() if len(timeless) > 1}
