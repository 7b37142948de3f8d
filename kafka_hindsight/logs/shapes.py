"""A regex on very many lines, once for each shape: lines that begin with the same bytes, whatever their digits.

What transports and layouts put before a message differs in little else than digits. So one match shows where the groups
lie in all lines that are alike as far as it reached. Lines of rare shapes are matched one by one.

Keeps: no regex takes one digit for better than another. A test proves that of every declared one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_hindsight.logs.arrays import WORD, Flags, Ints, Words, words_at

Reach = Callable[[Ints], int]

NOWHERE = -1
"""Stands for the shape of a line that does not match, and for the place of a group that is not there."""

_LONGEST = 512
"""A shape is no longer: lines that match further are matched one by one."""

_TRIED = 64
_FEW = 64
"""A shape that fewer than one of so many lines have is rare."""

_RARE = 4
"""After so many rare shapes every line is matched for itself."""

_OPTIONAL = np.isin(np.arange(256), np.frombuffer(b" \xef", np.uint8))
"""What may follow a prefix and belong to it: a space, the mark of UTF-8. Alike are lines that both have it, or not."""


@dataclass(frozen=True)
class Shapes:
    """The shape of each line, NOWHERE where the regex does not match; where groups lie in lines of each shape.

    `spans` has a row for each shape: begin and end of the match and of each group, counted from the line's begin.
    """

    of_line: Ints
    spans: Ints

    @property
    def are_there(self) -> Flags:
        """Which lines match."""
        return self.of_line >= 0

    def places(self, starts: Ints, edge: int) -> Ints:
        """Where a group begins (twice its number) or ends (one more) in each line; NOWHERE where it is not there."""
        found = np.append(self.spans[:, edge], NOWHERE)[self.of_line]
        return np.where(found < 0, NOWHERE, starts + found)


def shapes_of(data: bytes, starts: Ints, regex: re.Pattern[bytes], reach: Reach, ends: Ints | None = None) -> Shapes:
    """The shapes of lines that begin there.

    Takes: how many bytes lines of one shape have in common, by their spans; where lines end, if a match could go on.
    """
    until = np.full(len(starts), len(data)) if ends is None else ends
    of_line, spans, left = _common(data, starts, until, regex, reach)
    lines = zip(left.tolist(), starts[left].tolist(), until[left].tolist(), strict=True)
    hits = [(n, told) for n, at, end in lines if (told := regex.match(data, at, end))]
    of_line[[n for n, _ in hits]] = np.arange(len(hits)) + len(spans)
    return Shapes(of_line, np.concatenate([spans, _spans([told for _, told in hits], spans.shape[1])]))


def matching(data: bytes, starts: Ints, regex: re.Pattern[bytes]) -> Flags:
    """Which lines that begin there match."""
    of_line, _, left = _common(data, starts, np.full(len(starts), len(data)), regex, lambda spans: int(spans[1]))
    are: Flags = of_line != NOWHERE
    are[left] = [regex.match(data, at) is not None for at in starts[left].tolist()]
    return are


def _common(data: bytes, starts: Ints, ends: Ints, regex: re.Pattern[bytes], reach: Reach) -> tuple[Ints, Ints, Ints]:
    """The lines of common shapes: the shape of each, the spans of each shape; which lines were not looked at."""
    of_line, words = np.full(len(starts), NOWHERE, np.int64), words_at(data, _LONGEST)
    left, found, rare = np.arange(len(starts)), list[Ints](), 0
    while len(left) and rare < _RARE:
        tried = left[:_TRIED]
        lines = enumerate(zip(starts[tried].tolist(), ends[tried].tolist(), strict=True))
        at, told = next(((n, m) for n, (at, end) in lines if (m := regex.match(data, at, end))), (len(tried), None))
        left = left[at:]
        if told is None:
            continue
        (spans,) = _spans([told], 2 * regex.groups + 2)
        same = _alike(words, starts[left], reach(spans))
        of_line[left[same]] = len(found)
        found.append(spans)
        rare += int(np.count_nonzero(same)) * _FEW < len(left)
        left = left[~same]
    return of_line, np.array(found, np.int64).reshape(len(found), 2 * regex.groups + 2), left


def _spans(matches: Sequence[re.Match[bytes]], width: int) -> Ints:
    """Where groups begin and end in each match, counted from its begin."""
    spans = np.array([told.regs for told in matches], np.int64).reshape(len(matches), width)
    return np.where(spans < 0, NOWHERE, spans - spans[:, :1])


def _alike(words: Words, starts: Ints, reach: int) -> Flags:
    """Which lines begin as the first of them does, whatever their digits, and go on as it does.

    Eight bytes are compared at once. A byte is a digit where its upper half is 3, and still is 3 when six is added.
    """
    if not 0 < reach < _LONGEST:
        only_first: Flags = np.arange(len(starts)) == 0
        return only_first
    count = -(-reach // WORD)
    wanted = words[starts[0] + WORD * np.arange(count)]
    first = wanted.view(np.uint8)
    is_told = np.arange(WORD * count) < reach
    is_digit = is_told & (first - np.uint8(ord("0")) <= 9)
    compared, upper, six = (
        np.where(where, byte, 0).astype(np.uint8).view(np.uint64)
        for where, byte in ((is_told, np.where(is_digit, 0xF0, 0xFF)), (is_digit, 0xF0), (is_digit, 6))
    )
    behind = words[starts + reach] & np.uint64(0xFF)
    same: Flags = (behind == behind[0]) | ~(_OPTIONAL[behind] | _OPTIONAL[behind[0]])
    for n in range(count):
        told = words[starts + n * WORD]
        same &= (told ^ wanted[n]) & compared[n] == 0
        if upper[n]:
            digits = upper[n] | (upper[n] >> np.uint64(4))
            same &= ((told & digits) + six[n] ^ wanted[n]) & upper[n] == 0
    return same
