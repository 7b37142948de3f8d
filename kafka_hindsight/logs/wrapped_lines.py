"""Lines while they are taken out of envelopes: arrays of where they lie in some bytes, and what was said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.logs.arrays import NO_INSTANT, Bytes, Flags, Ints

_LF = ord("\n")
_SAID = ("seen", "physical", "at", "origins", "are_records")


@dataclass(frozen=True)
class Lines:
    """Lines in the order in which they lie in `data`, each with LF behind it.

    `seen` is the physical line of the file with which each came whole, `physical` how many it was. `at` is the
    instant, and `origins` the number of who wrote it, as envelopes say it. `are_records`: it was a record of JSON,
    written here as Kafka's own layout has it, and `at` is its instant.
    """

    data: bytes
    starts: Ints
    ends: Ints
    seen: Ints
    physical: Ints
    at: Ints
    origins: Ints
    are_records: Flags

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def end_with_lf(self) -> Flags:
        """Which of them end with an LF of their own, before the one behind them."""
        are: Flags = (_bytes(self.data)[self.ends - 1] == _LF) & (self.ends > self.starts)
        return are

    def where(self, which: Ints) -> Lines:
        """Some of them, in their order. Takes: which, or flags."""
        return replace(self.told(which), starts=self.starts[which], ends=self.ends[which])

    def told(self, rows: Ints) -> Lines:
        """What was said of some of them, for lines that lie elsewhere."""
        said: dict[str, Any] = {n: getattr(self, n)[rows] for n in _SAID}
        return replace(self, **said)

    def turned(self) -> Lines:
        """The same from the last to the first."""
        rows = np.arange(len(self))[::-1]
        return self.told(rows).with_texts(self.texts().take(pa.array(rows)))

    def texts(self) -> pa.Array:
        """Each line by itself."""
        edges = np.column_stack([self.starts, self.ends]).reshape(-1)
        return _between(self.data, edges)[::2] if len(self) else pa.array([], pa.binary())

    def with_texts(self, texts: pa.Array) -> Lines:
        """The same lines with other texts."""
        whole = pc.binary_join_element_wise(texts, pa.scalar(b"\n", pa.binary()), pa.scalar(b"", pa.binary()))
        data, offsets = laid_out(whole)
        return replace(self, data=data, starts=offsets[:-1], ends=offsets[1:] - 1)

    def joined(self, rows: Ints, are_last: Flags) -> Lines:
        """Some of them in another order, made to longer lines: what is said of each is said of its last part."""
        lf = 2 * len(self)
        breaks = np.flatnonzero(are_last)
        data, offsets = laid_out(elements_of(self).take(pa.array(np.insert(2 * rows, breaks + 1, lf))))
        ends = offsets[breaks + 1 + np.arange(len(breaks))]
        whole = replace(self.told(rows[breaks]), data=data, starts=np.append(0, ends + 1)[:-1], ends=ends)
        return replace(whole, physical=np.add.reduceat(self.physical[rows], np.append(0, breaks + 1)[:-1]))

    def split(self) -> Lines:
        """Lines of their own where a line holds LF, but for records. The first has the physical lines."""
        if self.data.count(b"\n") == len(self):
            return self
        breaks = np.flatnonzero(_bytes(self.data) == _LF)
        rows = np.searchsorted(self.starts, breaks, "right") - 1
        is_inside = (rows >= 0) & (breaks < self.ends[rows]) & ~self.are_records[rows]
        if not is_inside.any():
            return self
        breaks, rows = breaks[is_inside], rows[is_inside]
        every = np.concatenate([np.arange(len(self)), rows])
        starts, ends = np.append(self.starts, breaks + 1), np.append(self.ends, self.ends[rows])
        order = np.argsort(starts, kind="stable")
        every, starts, ends = every[order], starts[order], ends[order]
        goes_on = np.append(every[1:] == every[:-1], False)
        ends[goes_on] = starts[1:][goes_on[:-1]] - 1
        is_first = np.append(True, every[1:] != every[:-1])
        whole = replace(self.told(every), starts=starts, ends=ends)
        return replace(whole, physical=np.where(is_first, whole.physical, 0))


def lines_in(data: bytes, seen: int) -> Lines:
    """The lines of bytes that end with LF. Takes: how many physical lines came before them."""
    ends = np.flatnonzero(_bytes(data) == _LF)
    count = len(ends)
    none, zeros = np.full(count, NO_INSTANT), np.zeros(count, np.int64)
    ordinals = seen + 1 + np.arange(count)
    starts = np.append(0, ends + 1)[:-1]
    return Lines(data, starts, ends, ordinals, np.ones(count, np.int64), none, zeros, np.zeros(count, bool))


def chained(parts: Sequence[Lines]) -> Lines:
    """Lines one after another."""
    shifts = np.append(0, np.cumsum([len(part.data) for part in parts]))
    return Lines(
        b"".join(part.data for part in parts),
        np.concatenate([part.starts + shift for part, shift in zip(parts, shifts, strict=False)]),
        np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=False)]),
        **{n: np.concatenate([getattr(part, n) for part in parts]) for n in _SAID},
    )


def elements_of(lines: Lines, others: bytes = b"", width: int = 1) -> pa.Array:
    """The bytes of lines in elements: line n is 2 n; LF is twice their count; then come others of one width."""
    end = len(lines.data)
    edges = np.column_stack([lines.starts, lines.ends]).reshape(-1)
    every = np.concatenate([edges, [end], np.arange(end + 1, end + 2 + len(others), width)])
    return _between(lines.data + b"\n" + others, every)


def _between(data: bytes, edges: Ints) -> pa.Array:
    """The bytes from each place to the next."""
    offsets = pa.py_buffer(edges.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(edges) - 1, [None, offsets, pa.py_buffer(data)])


def laid_out(texts: pa.Array) -> tuple[bytes, Ints]:
    """The bytes of texts one after another, and where each begins and the last ends."""
    _, offsets, data = texts.buffers()
    edges = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return (data.to_pybytes() if data else b"")[edges[0] : edges[-1]], edges - edges[0]


def _bytes(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)
