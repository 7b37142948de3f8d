"""The heads of layouts in bytes, and the clocks of those layouts that are patterns."""

from __future__ import annotations

import re
from functools import cache, lru_cache

import numpy as np

from kafka_hindsight.knowledge.conversion import instant_of
from kafka_hindsight.knowledge.layouts import LAYOUTS
from kafka_hindsight.knowledge.pattern_layouts import layout_pattern
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints
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
    instant = instant_of(fields, layout_pattern(name).is_utc)
    return (micros_of(instant[0]), instant[1]) if instant else (NO_INSTANT, False)
