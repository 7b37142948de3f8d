"""Files whose lines transports wrapped: written again as records that begin with a frame, those of each source whole.

So everything that reads files by their bytes reads these too, as it reads files that have to be unpacked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from kafka_hindsight.knowledge.pattern_layouts import UNDATED
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints
from kafka_hindsight.logs.forms import Form, every_layout
from kafka_hindsight.logs.frames import FRAME, MARK, frames_of
from kafka_hindsight.logs.heads import HEADLESS, PLAIN, heads_of
from kafka_hindsight.logs.opened_envelopes import Chain
from kafka_hindsight.logs.wrapped_lines import Lines, chained, elements_of, laid_out, lines_in

_PATIENCE = 5_000
"""Physical lines of other sources after which nothing more is expected to belong to a record."""

_CLOCKLESS = frozenset(layout.name for layout in UNDATED)


@dataclass(frozen=True)
class _Begun:
    """Which lines begin records; what the clocks of these say, whether that is an instant, and by which layout."""

    are: Flags
    told: Ints
    are_instants: Flags
    layouts: Ints

    def where(self, which: Ints) -> _Begun:
        return _Begun(self.are[which], self.told[which], self.are_instants[which], self.layouts[which])

    def after(self, before: _Begun) -> _Begun:
        return _Begun(*(np.concatenate([getattr(before, n), getattr(self, n)]) for n in self.__dataclass_fields__))


class Unwrapper:
    """Writes the records of a wrapped file, those of each source in their order, all in the order in which they begin.

    Takes: how the file is wrapped; the pattern that a user gave, if any.
    """

    def __init__(self, form: Form, given: str | None) -> None:
        self.form = form
        self._names = every_layout(given)
        self._chain = Chain(form.envelopes)
        self._held = self._newer = lines_in(b"", 0)
        self._begun = _nothing(0)
        self._seen = 0

    @property
    def sources(self) -> list[str]:
        """Who wrote lines, by the numbers in frames, as far as they were read."""
        return self._chain.origins.names

    def begins(self, data: bytes) -> tuple[Ints, Ints]:
        """The physical lines with which records begin, from 0 on, and the instants of these. Takes: lines with LF."""
        inside = self._chain.lines(lines_in(data, 0)).split()
        begun = self._heads(inside)
        rows = np.flatnonzero(begun.are)
        firsts = np.maximum.accumulate(np.where(inside.physical > 0, inside.seen - inside.physical, 0))
        return firsts[rows], begun.told[rows]

    def written(self, data: bytes) -> bytes:
        """The records that are whole once these lines have come. Takes: bytes that end with LF."""
        lines = lines_in(data, self._seen)
        self._seen += len(lines)
        if self.form.is_newest_first:
            return self._turned(lines, is_end=False)
        inside = self._chain.lines(lines).split()
        return self._records(inside, self._heads(inside), self._seen - _PATIENCE)

    def rest(self) -> bytes:
        """The records that were not whole before the end."""
        if self.form.is_newest_first:
            return self._turned(lines_in(b"", 0), is_end=True)
        inside = self._chain.rest().split()
        return self._records(inside, self._heads(inside), self._seen + 1)

    def _turned(self, lines: Lines, is_end: bool) -> bytes:
        """The records of lines that come newest first, from the oldest on.

        What comes before the second instant is held back: more lines of it may come, and the head that they belong to.
        """
        rows = chained([lines.turned(), self._newer])
        rows = replace(rows, seen=1 + np.arange(len(rows)))
        inside = chained([self._chain.lines(rows), self._chain.rest()]).split()
        begun = self._heads(inside)
        at = begun.told[begun.are]
        later = np.flatnonzero(begun.are & (begun.told > at[0])) if len(at) else at
        begins = int(inside.seen[later[0]] - inside.physical[later[0]]) if len(later) else len(rows)
        older = np.arange(0 if is_end else begins)
        self._newer = rows.where(older).with_texts(rows.where(older).texts())
        kept = np.flatnonzero(inside.seen > len(older))
        return self._records(inside.where(kept), begun.where(kept), len(rows) + 1)

    def _records(self, new: Lines, heads: _Begun, until: int) -> bytes:
        """Writes records up to the first one for which more lines may come: one that has lines since `until`."""
        lines = chained([self._held, new])
        begun = _with_headless(lines, heads.after(self._begun))
        records = _records_of(lines, begun)
        last_seen = np.zeros(len(lines) + 1, np.int64)
        np.maximum.at(last_seen, records, lines.seen)
        opened = _last_of_each(lines.origins, begun)
        opened = opened[last_seen[opened] >= until]
        first = int(opened.min(initial=len(lines)))
        kept = np.flatnonzero(records >= first)
        self._held, self._begun = lines.where(kept).with_texts(lines.where(kept).texts()), begun.where(kept)
        return _framed(lines, begun, records, np.flatnonzero(records < first))

    def _heads(self, lines: Lines) -> _Begun:
        """The lines that begin records, each by the layouts of who wrote it."""
        found = _nothing(len(lines))
        for layouts, origins in self._origins_by_layouts().items():
            which = np.flatnonzero(np.isin(lines.origins, origins) & ~lines.are_records)
            heads = heads_of(lines.data, lines.starts[which], layouts)
            first = np.flatnonzero(np.diff(heads.lines, prepend=-1))
            rows = which[heads.lines[first]]
            number = np.array([self._names.index(name) for name in layouts])
            is_clockless = np.array([name in _CLOCKLESS for name in layouts], bool)[heads.layouts[first]]
            found.are[rows] = True
            found.told[rows] = np.where(is_clockless, lines.at[rows], heads.told[first])
            found.are_instants[rows] = heads.is_instant[first] | is_clockless
            found.layouts[rows] = number[heads.layouts[first]]
        found.are[lines.are_records] = True
        found.told[lines.are_records] = lines.at[lines.are_records]
        found.are_instants[lines.are_records] = True
        found.layouts[lines.are_records] = self._names.index(PLAIN[0])
        return found

    def _origins_by_layouts(self) -> dict[tuple[str, ...], list[int]]:
        found: dict[tuple[str, ...], list[int]] = {}
        for number, name in enumerate(self.sources):
            found.setdefault(self.form.layouts.get(name, self.form.others), []).append(number)
        return found


def _nothing(count: int) -> _Begun:
    layouts = np.full(count, HEADLESS, np.int64)
    return _Begun(np.zeros(count, bool), np.full(count, NO_INSTANT), np.ones(count, bool), layouts)


def _by_origin(origins: Ints) -> tuple[Ints, Flags]:
    """The lines of each origin together, in their order; which of them are the first of theirs."""
    rows = _in_order(origins)
    return rows, np.append(True, origins[rows][1:] != origins[rows][:-1])[: len(rows)]


def _in_order(keys: Ints) -> Ints:
    """The places of keys from the least to the greatest. Edge case: those of one source are in order already."""
    is_sorted = bool((keys[1:] >= keys[:-1]).all())
    order: Ints = np.arange(len(keys)) if is_sorted else np.argsort(keys, kind="stable")
    return order


def _with_headless(lines: Lines, begun: _Begun) -> _Begun:
    """A record without a head begins with the first line of each origin, where no head does: at the envelope's time."""
    rows, are_first = _by_origin(lines.origins)
    new = rows[are_first & ~begun.are[rows]]
    are, told = begun.are.copy(), begun.told.copy()
    are[new], told[new] = True, lines.at[new]
    return replace(begun, are=are, told=told)


def _records_of(lines: Lines, begun: _Begun) -> Ints:
    """The record of each line, by its first line: the last one of its origin that has begun."""
    rows, _ = _by_origin(lines.origins)
    found = np.empty(len(rows), np.int64)
    found[rows] = rows[np.maximum.accumulate(np.where(begun.are[rows], np.arange(len(rows)), 0))]
    return found


def _last_of_each(origins: Ints, begun: _Begun) -> Ints:
    """The record of each origin that began last."""
    begins = np.flatnonzero(begun.are)
    _, last = np.unique(origins[begins][::-1], return_index=True)
    return begins[::-1][last]


def _framed(lines: Lines, begun: _Begun, records: Ints, wanted: Ints) -> bytes:
    """Records with their frames. Takes: those of their lines that are wanted, whole records."""
    rows = wanted[_in_order(records[wanted])]
    firsts = records[rows] == rows
    heads = rows[firsts]
    counts = np.bincount(records[wanted], lines.physical[wanted], len(lines))[heads]
    frames = frames_of(
        begun.told[heads],
        begun.are_instants[heads],
        begun.layouts[heads],
        lines.origins[heads],
        np.maximum(counts, 1).astype(np.int64),
    )
    lf = 2 * len(lines)
    places = np.arange(len(rows)) * 2 + np.cumsum(firsts)
    indices = np.full(2 * len(rows) + len(heads), lf, np.int64)
    indices[places] = 2 * rows
    indices[places[firsts] - 1] = lf + 1 + np.arange(len(heads))
    data, offsets = laid_out(elements_of(lines, frames, FRAME).take(pa.array(indices)))
    return _without_marks(data, offsets[places[firsts] - 1])


def _without_marks(data: bytes, frames: Ints) -> bytes:
    """Records in which no line looks like a frame. Takes: where frames begin."""
    if data.count(MARK) == 2 * len(frames):
        return data
    found = np.frombuffer(data, np.uint8).copy()
    marks = np.flatnonzero(found == MARK[0])
    behind = marks[(marks > 0) & (found[marks - 1] == ord("\n"))]
    found[np.setdiff1d(behind, frames)] = ord(" ")
    return found.tobytes()
