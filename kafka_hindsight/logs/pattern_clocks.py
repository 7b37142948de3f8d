"""The heads of layouts in bytes, and what the clocks of those that are patterns say: whole arrays at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from kafka_hindsight.knowledge.conversion import instant_of
from kafka_hindsight.knowledge.layouts import LAYOUTS
from kafka_hindsight.knowledge.pattern_layouts import layout_pattern
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints, Words, as_before, words_at
from kafka_hindsight.logs.shapes import Shapes, matching, shapes_of
from kafka_hindsight.shared.instants import micros_of

_DIGITS = 6
"""Of a fraction of a second, down to microseconds."""

ISO = "%d{ISO8601}%m"
"""A pattern that is an instant of ISO and nothing else."""

_PLAIN = {layout.name: re.compile(layout.head, re.ASCII) for layout in LAYOUTS}


@cache
def head_of(name: str) -> re.Pattern[str]:
    """The regex of the head of a layout."""
    return _PLAIN.get(name) or layout_pattern(name).head


@cache
def byte_head(name: str) -> re.Pattern[bytes]:
    """The same for bytes."""
    return re.compile(head_of(name).pattern.encode(), re.ASCII)


def pattern_heads(data: bytes, lines: Ints, name: str) -> tuple[Ints, Ints, Flags]:
    """Which lines begin with the head of a pattern, the microseconds of its clock, and whether they are instants.

    Lines are alike as far as their clock reaches; whether the rest is a head as well, a match of each of them says.
    """
    regex, edges = byte_head(name), [*_clock_groups(name).values()]
    shapes = shapes_of(data, lines, regex, lambda spans: _end_of_clock(spans, edges))
    which = np.flatnonzero(shapes.are_there)
    which = which[matching(data, lines[which], regex)]
    if not edges or not len(which):
        return which, np.full(len(which), NO_INSTANT), np.zeros(len(which), bool)
    return which, *_clocks(data, lines[which], Shapes(shapes.of_line[which], shapes.spans), name)


def _end_of_clock(spans: Ints, edges: Sequence[int]) -> int:
    """The character behind the clock is of the shape too: it ends the fraction and the zone."""
    return int(spans[[e + 1 for e in edges]].max()) + 1 if edges else int(spans[1])


def _clocks(data: bytes, starts: Ints, shapes: Shapes, name: str) -> tuple[Ints, Flags]:
    """What the clocks of heads say: all but the fraction is read once for neighbours that have it in common."""
    begins, ends = (
        np.array([shapes.places(starts, edge + side) for edge in _clock_groups(name).values()]) for side in (0, 1)
    )
    last, words = ends.max(axis=0), words_at(data)
    first = np.where(begins < 0, last, begins).min(axis=0)
    fraction = byte_head(name).groupindex.get("fraction")
    begin, end = (shapes.places(starts, 2 * fraction + side) if fraction else last for side in (0, 1))
    begin, end = np.where(begin < 0, last, begin), np.where(end < 0, last, end)
    turns = np.flatnonzero(~(as_before(words, first, begin) & as_before(words, np.minimum(end, last), last)))
    spans = np.stack([begins, ends], axis=2)[:, turns].transpose(1, 0, 2).tolist()
    told = [_whole_seconds(name, tuple(data[b:e] if b >= 0 else None for b, e in parts)) for parts in spans]
    runs = np.diff(turns, append=len(starts))
    at, is_instant = (np.repeat(np.array(column), runs) for column in zip(*told, strict=True))
    return np.where(at == NO_INSTANT, at, at + _micros(words, begin, end)), is_instant


def _micros(words: Words, begins: Ints, ends: Ints) -> Ints:
    """The microseconds of fractions of a second, of which the digits are there."""
    found = np.zeros(len(begins), np.int64)
    for n in range(_DIGITS):
        digits = (words[np.minimum(begins + n, ends)] & np.uint64(0xFF)).astype(np.int64) - ord("0")
        found = found * 10 + np.where(begins + n < ends, digits, 0)
    return found


@cache
def _clock_groups(name: str) -> dict[str, int]:
    """The groups of a head's clock but for the fraction, with the column in which `Shapes.spans` has their begin."""
    groups = layout_pattern(name).head.groupindex
    return {group: 2 * number for group, number in groups.items() if group not in ("logger", "fraction")}


@lru_cache(maxsize=4096)
def _whole_seconds(name: str, parts: tuple[bytes | None, ...]) -> tuple[int, bool]:
    named = {n: value.decode() for n, value in zip(_clock_groups(name), parts, strict=True) if value}
    found = instant_of(named, layout_pattern(name).is_utc)
    return (micros_of(found[0]), found[1]) if found else (NO_INSTANT, False)
