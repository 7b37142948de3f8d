"""The beginnings of records in the bytes of a log, and their instants: whole arrays at once, no Python for each line.

A head is what a layout recognises at the beginning of a line. The message, everything behind the head, is cut off
where it is parsed. Kafka's own layout and librdkafka's are searched in whole arrays; a layout that is a pattern is
tried on each line. The module `forms` finds the layouts of a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import Any

import numpy as np

from kafka_hindsight.knowledge.layouts import LAYOUTS
from kafka_hindsight.logs.arrays import NO_INSTANT, ByteArray, Flags, Ints
from kafka_hindsight.logs.conversion_patterns import head_instant
from kafka_hindsight.logs.layout_names import layout_pattern
from kafka_hindsight.shared.instants import micros_of

_DIGITS = 6
"""Digits of a fraction of a second, down to microseconds."""

ISO = "%d{ISO8601}%m"
"""A pattern of an ISO instant alone."""

_PLAIN = {layout.name: re.compile(layout.head, re.ASCII) for layout in LAYOUTS}


@cache
def head_of(name: str) -> re.Pattern[str]:
    """The regex of the head of a layout."""
    return _PLAIN.get(name) or layout_pattern(name).head


@cache
def byte_head(name: str) -> re.Pattern[bytes]:
    """The regex of the head of a layout, for bytes."""
    return re.compile(head_of(name).pattern.encode(), re.ASCII)


def pattern_heads(data: bytes, lines: Ints, name: str) -> tuple[Ints, Ints, Flags]:
    """The lines that begin with a pattern's head, and their clocks.

    It returns the numbers of the lines, the microseconds of each clock, and whether that is an instant.
    """
    match = byte_head(name).match
    rows = [(n, *_clock_of(head, name)) for n, at in enumerate(lines.tolist()) if (head := match(data, at))]
    which, clocks, are_instants = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(which, np.int64), np.array(clocks, np.int64), np.array(are_instants, bool)


def instant_at(text: bytes, name: str) -> int:
    """The microseconds of the clock at the beginning of a text, by a pattern; NO_INSTANT where the pattern differs."""
    head = byte_head(name).match(text)
    return _clock_of(head, name)[0] if head else NO_INSTANT


def _clock_of(head: re.Match[bytes], name: str) -> tuple[int, bool]:
    """The microseconds of a head's clock, and whether they are an instant."""
    groups, fraction = _groups(name)
    at, is_instant = _whole_seconds(name, head.group(0, *groups)[1:])
    digits = head[fraction] if fraction and at != NO_INSTANT else None
    return (at + int(digits[:_DIGITS].ljust(_DIGITS, b"0")), is_instant) if digits else (at, is_instant)


@cache
def _groups(name: str) -> tuple[tuple[str, ...], str | None]:
    """The names of the groups of a head's clock, and of the group of its fraction, if it has one."""
    groups = layout_pattern(name).head.groupindex
    return tuple(g for g in groups if g not in ("logger", "fraction")), "fraction" if "fraction" in groups else None


@lru_cache(maxsize=4096)
def _whole_seconds(name: str, parts: tuple[bytes | None, ...]) -> tuple[int, bool]:
    groups, _ = _groups(name)
    if not groups:
        return NO_INSTANT, False
    fields = {group: value.decode() for group, value in zip(groups, parts, strict=True) if value}
    instant = head_instant(fields, layout_pattern(name).is_utc)
    return (micros_of(instant[0]), instant[1]) if instant else (NO_INSTANT, False)


PLAIN = tuple(layout.name for layout in LAYOUTS)
"""The default layouts of Kafka and librdkafka."""

HEAD_REACH = 200
"""A head is searched in so many bytes of its line, so that endless lines stay cheap."""

HEADLESS = -1
"""Stands for the layout of the text before a file's first head."""

_WIDTH = 32
_PAD = b"\0" * _WIDTH
_MARK = b"\xef\xbb\xbf"
_LF, _SPACE, _ZERO = 10, 32, 48
_CLOCK_DIGITS = 17
_SECOND, _MINUTE, _HOUR, _DAY = 10**6, 60 * 10**6, 3_600 * 10**6, 86_400 * 10**6


@dataclass(frozen=True)
class Heads:
    """The records that begin in some bytes, as arrays: first byte, number of the line, number of the layout, clock.

    `clocks` are the microseconds that the heads show, read as UTC. `is_instant`: the layout counts from the epoch.
    """

    starts: Ints
    lines: Ints
    layouts: np.ndarray[Any, np.dtype[np.int8]]
    clocks: Ints
    is_instant: Flags

    def __len__(self) -> int:
        return len(self.starts)

    def before(self, end: int) -> Heads:
        """The records that begin before a byte."""
        n = int(np.searchsorted(self.starts, end))
        return Heads(self.starts[:n], self.lines[:n], self.layouts[:n], self.clocks[:n], self.is_instant[:n])


def start_of_lines(data: bytes) -> int:
    """The place where the first line of a file begins: behind the byte order mark, if there is one."""
    return len(_MARK) if data.startswith(_MARK) else 0


def lines_of(data: bytes, begins: bool) -> Ints:
    """The places where lines begin: LF alone ends a line. `begins` says whether the bytes begin with a line.

    The byte order mark that some programs write before the first line belongs to no line.
    """
    after = np.flatnonzero(np.frombuffer(data, np.uint8) == _LF) + 1
    if len(after) and after[-1] == len(data):
        after = after[:-1]
    first = start_of_lines(data)
    return np.concatenate([np.array([first]), after]) if begins and len(data) > first else after


def heads_of(data: bytes, lines: Ints, layouts: Sequence[str] = PLAIN) -> Heads:
    """The lines that begin with the head of one of the layouts. `Heads.layouts` has the number of that layout."""
    padded = np.frombuffer(data + _PAD, np.uint8)
    rows = np.lib.stride_tricks.sliding_window_view(padded, _WIDTH)
    by_layout = [
        _heads(data, rows, lines, PLAIN.index(name), number) if name in PLAIN else _patterned(data, lines, name, number)
        for number, name in enumerate(layouts)
    ]
    which = np.concatenate([f.lines for f in by_layout])
    order = np.argsort(which, kind="stable")
    return Heads(
        starts=lines[which[order]],
        lines=which[order],
        layouts=np.concatenate([f.layouts for f in by_layout])[order],
        clocks=np.concatenate([f.clocks for f in by_layout])[order],
        is_instant=np.concatenate([f.is_instant for f in by_layout])[order],
    )


def _heads(data: bytes, rows: ByteArray, lines: Ints, index: int, layout_number: int) -> Heads:
    layout = LAYOUTS[index]
    which, window = _lines_alike(rows, lines, layout.begins)
    if layout.has_clock:
        is_head = _has_level(data, window, lines[which], index)
        which, clocks = which[is_head], clocks_of_digits(window[is_head][:, _digits(layout.begins)])
    else:
        matches = [byte_head(LAYOUTS[index].name).match(data[at : at + HEAD_REACH]) for at in lines[which].tolist()]
        which = which[np.array([m is not None for m in matches], bool)]
        clocks = np.array([_micros(m[1]) for m in matches if m], np.int64)
    return Heads(
        lines[which],
        which,
        np.full(len(which), layout_number, np.int8),
        clocks,
        np.full(len(which), layout.is_epoch, bool),
    )


def _patterned(data: bytes, lines: Ints, name: str, layout_number: int) -> Heads:
    """The heads of a layout that is a pattern."""
    which, clocks, is_instant = pattern_heads(data, lines, name)
    return Heads(lines[which], which, np.full(len(which), layout_number, np.int8), clocks, is_instant)


@cache
def _digits(begins: str) -> list[int]:
    return [i for i, c in enumerate(begins) if c == "0"]


def _lines_alike(rows: ByteArray, lines: Ints, begins: str) -> tuple[Ints, ByteArray]:
    """The lines that begin as a layout's lines do, character by character, and their first bytes."""
    which = np.flatnonzero(rows[lines, 0] == ord(begins[0]))
    window = rows[lines[which]]
    is_alike = np.ones(len(which), bool)
    for i, c in enumerate(begins):
        if c != "0":
            is_alike &= window[:, i] == ord(c)
    digits = window[:, _digits(begins)] - np.uint8(_ZERO)
    is_alike &= (digits <= 9).all(axis=1)
    if is_alike.all():
        return which, window
    return which[is_alike], window[is_alike]


def _has_level(data: bytes, window: ByteArray, starts: Ints, number: int) -> Flags:
    """Whether a word in capitals and a space follow the fixed beginning of the layout's heads."""
    at = len(LAYOUTS[number].begins)
    is_head = np.zeros(len(window), bool)
    is_open = window[:, at] - np.uint8(ord("A")) < 26
    for i in range(at + 1, _WIDTH):
        is_head |= is_open & (window[:, i] == _SPACE)
        is_open &= window[:, i] - np.uint8(ord("A")) < 26
    for i in np.flatnonzero(is_open).tolist():
        start = int(starts[i])
        is_head[i] = byte_head(LAYOUTS[number].name).match(data[start : start + HEAD_REACH]) is not None
    return is_head


_WEIGHTS = np.zeros((_CLOCK_DIGITS, 5))
_WEIGHTS[range(8), 0] = [10**i for i in range(7, -1, -1)]
for _column, _first, _last in ((1, 8, 10), (2, 10, 12), (3, 12, 14), (4, 14, 17)):
    _WEIGHTS[range(_first, _last), _column] = [10**i for i in range(_last - _first - 1, -1, -1)]


def clocks_of_digits(digits: ByteArray) -> Ints:
    """The microseconds of digits from year to milliseconds; NO_INSTANT for a date or a time that does not exist."""
    numbers = ((digits - np.uint8(_ZERO)).astype(np.float64) @ _WEIGHTS).astype(np.int64)
    days, hours, minutes, seconds, millis = numbers.T
    turns = np.flatnonzero(np.diff(days, prepend=-1))
    midnights = np.array([_midnight(int(days[i])) for i in turns], np.int64)
    at = np.repeat(midnights, np.diff(turns, append=len(days)))
    is_date = (at != NO_INSTANT) & (hours < 24) & (minutes < 60) & (seconds < 60)
    clock = hours * _HOUR + minutes * _MINUTE + seconds * _SECOND + millis * 1_000
    return np.where(is_date, at + clock, NO_INSTANT)


@cache
def _midnight(day: int) -> int:
    try:
        midnight = date(day // 10_000, day // 100 % 100, day % 100)
    except ValueError:
        return int(NO_INSTANT)
    return (midnight - date(1970, 1, 1)).days * _DAY


def _micros(stamp: bytes) -> int:
    seconds, _, millis = stamp.partition(b".")
    return int(seconds) * _SECOND + int(millis) * 1_000


MARK = b"\x1e"
_WIDTHS = {"told": 16, "is_instant": 1, "layout": 2, "source": 6, "count": 8}
_ENDS = dict(zip(_WIDTHS, np.cumsum(list(_WIDTHS.values())) + 1, strict=True))
_PLACES = {name: slice(int(end) - _WIDTHS[name], int(end)) for name, end in _ENDS.items()}

FRAME = sum(_WIDTHS.values()) + 2
"""Bytes of a frame: a mark, the numbers, a mark."""


def frames_of(clocks: Ints, is_instant: Flags, layouts: Ints, sources: Ints, counts: Ints) -> bytes:
    """Frames, one after another.

    `clocks` are as Heads has them, `layouts` and `sources` are numbers (layout -1: none), and `counts` are of physical
    lines.
    """
    frames = np.full((len(clocks), FRAME), MARK[0], np.uint8)
    for name, numbers in zip(_PLACES, (clocks, is_instant, layouts + 1, sources, counts), strict=True):
        frames[:, _PLACES[name]] = _letters(numbers.astype(np.int64), _WIDTHS[name])
    return frames.tobytes()


def framed(data: bytes, begins: bool) -> tuple[Ints, Heads]:
    """The lines and the records in bytes of an `Unwrapper`. All lines of a record are where it begins."""
    lines = lines_of(data, begins)
    padded = np.frombuffer(data + b"\0" * FRAME, np.uint8)
    starts = lines[(padded[lines] == MARK[0]) & (padded[lines + FRAME - 1] == MARK[0])]
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[starts]
    counts = _number(frames, "count")
    heads = Heads(
        starts,
        np.cumsum(counts) - counts,
        (_number(frames, "layout") - 1).astype(np.int8),
        _number(frames, "told"),
        _number(frames, "is_instant") == 1,
    )
    return np.repeat(starts, counts), heads


def sources_in(data: bytes, starts: Ints) -> Ints:
    """The numbers of the sources of records, by where these begin."""
    rows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data + b"\0" * FRAME, np.uint8), FRAME)
    return _number(rows[starts], "source")


def _letters(numbers: Ints, width: int) -> ByteArray:
    shifts = np.arange(4 * width - 4, -1, -4)
    letters: ByteArray = ((numbers[:, None] >> shifts) & 15).astype(np.uint8) + np.uint8(ord("a"))
    return letters


def _number(frames: ByteArray, name: str) -> Ints:
    letters = frames[:, _PLACES[name]] - np.uint8(ord("a"))
    shifts = np.arange(4 * _WIDTHS[name] - 4, -1, -4)
    numbers: Ints = (letters.astype(np.int64) << shifts).sum(axis=1)
    return numbers
