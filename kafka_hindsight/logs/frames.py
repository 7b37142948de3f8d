"""Frames: prefixes of the records of a wrapped file, once its lines are out of their envelopes.

A frame has a fixed width: the record's clock, its layout, its source within the file, its physical lines. Numbers are
letters from a to p, four bits each, so that a frame has no line break and looks like no other text.
"""

from __future__ import annotations

import numpy as np

from kafka_hindsight.logs.arrays import ByteArray, Flags, Ints
from kafka_hindsight.logs.heads import Heads, lines_of

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
