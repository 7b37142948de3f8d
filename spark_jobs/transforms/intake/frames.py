"""Frames: what stands before each record of a wrapped file once its lines were taken out of their envelopes.

A frame has a fixed width: what the record's clock says, its layout, its source within the file, its physical lines.
"""

from __future__ import annotations

import numpy as np

from spark_jobs.transforms.intake.heads import NO_INSTANT, Bytes, Heads, Ints, lines_of, told_by_digits

FRAME = 36
"""Bytes of a frame: a mark, what its clock is, 17 digits of it, layout, source, physical lines, a mark."""

MARK = b"\x1e"
INSTANT, LOCAL, NONE = b"I", b"L", b"N"
NO_CLOCK = b"0" * 17
_CLOCK, _LAYOUT, _SOURCE, _COUNT = slice(2, 19), slice(19, 22), slice(22, 27), slice(27, 35)
_POWERS = {n: 10 ** np.arange(n - 1, -1, -1) for n in (3, 5, 8)}


def frame_of(kind: bytes, clock: bytes, layout: int, source: int, count: int) -> bytes:
    """A frame. Takes: whether the clock is an instant, local or none; the numbers of layout and source; the lines."""
    return MARK + kind + clock + b"%03d%05d%08d" % (layout + 1, source, count) + MARK


def framed(data: bytes, begins: bool) -> tuple[Ints, Heads]:
    """The lines and the records of bytes that an `Unwrapper` wrote. A record's lines count where it begins."""
    lines = lines_of(data, begins)
    padded = np.frombuffer(data + b"\0" * FRAME, np.uint8)
    rows = np.lib.stride_tricks.sliding_window_view(padded, FRAME)
    starts = lines[(rows[lines, 0] == MARK[0]) & (rows[lines, FRAME - 1] == MARK[0])]
    frames = rows[starts]
    counts = _number_in(frames[:, _COUNT])
    kind = frames[:, 1]
    told = np.where(kind == NONE[0], NO_INSTANT, told_by_digits(frames[:, _CLOCK]))
    heads = Heads(
        starts,
        np.cumsum(counts) - counts,
        (_number_in(frames[:, _LAYOUT]) - 1).astype(np.int8),
        told,
        kind != LOCAL[0],
    )
    return np.repeat(starts, counts), heads


def sources_in(data: bytes, starts: Ints) -> Ints:
    """The numbers of the sources of records that begin there."""
    rows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data + b"\0" * FRAME, np.uint8), FRAME)
    return _number_in(rows[starts][:, _SOURCE])


def _number_in(digits: Bytes) -> Ints:
    found: Ints = (digits - np.uint8(ord("0"))).astype(np.int64) @ _POWERS[digits.shape[1]]
    return found
