"""Files whose lines transports wrapped: written again as records that begin with a frame, those of each source whole.

So everything that reads files by their bytes reads these too, as it reads files that have to be unpacked.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_hindsight.knowledge.pattern_layouts import UNDATED
from kafka_hindsight.lake.landing import packing, read_json, write_json
from kafka_hindsight.logs.detection import sampled
from kafka_hindsight.logs.envelopes import Chain, Line, lines_in, split
from kafka_hindsight.logs.file_bytes import CHUNK, Arriving, Bytes, opened
from kafka_hindsight.logs.forms import Form, every_layout, form_of
from kafka_hindsight.logs.frames import FRAME, MARK, frames_of
from kafka_hindsight.logs.heads import HEADLESS, PLAIN, heads_of

_PATIENCE = 5_000
"""Physical lines of other sources after which nothing more is expected to belong to a record."""

_SOURCES = ".json"
_CLOCKLESS = frozenset(layout.name for layout in UNDATED)
_UTF_16 = ("utf-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


@dataclass(slots=True)
class _Record:
    """A record of a source as far as its lines have come: what its head's clock says, whether that is an instant."""

    at: int
    is_instant: bool
    layout: int
    origin: str
    lines: list[bytes]
    physical: int = 0
    last_seen: int = 0
    is_written: bool = False


_Head = tuple[int, bool, int]
"""What the clock of a head says, whether that is an instant, and the number of its layout."""


class Unwrapper:
    """Writes the records of a wrapped file, those of each source in their order, all in the order in which they begin.

    Takes: how the file is wrapped; the pattern that a user gave, if any.
    """

    def __init__(self, form: Form, given: str | None) -> None:
        self.form = form
        self.sources: list[str] = [""]
        self._names = every_layout(given)
        self._chain = Chain(form.envelopes)
        self._numbers = {"": 0}
        self._newer = list[bytes]()
        self._begun = list[_Record]()
        self._last = dict[str, _Record]()
        self._seen = 0

    def begins(self, data: bytes) -> tuple[list[int], list[int]]:
        """The physical lines with which records begin, from 0 on, and the instants of these. Takes: lines with LF."""
        inside = list(split(self._chain.lines(lines_in(data, 0))))
        first, firsts = 0, list[int]()
        for line in inside:
            first = max(first, line.seen - line.physical if line.physical else 0)
            firsts.append(first)
        heads = self._heads(inside)
        return [firsts[n] for n in heads], [at for at, *_ in heads.values()]

    def written(self, data: bytes) -> bytes:
        """The records that are whole once these lines have come. Takes: bytes that end with LF."""
        if self.form.is_newest_first:
            return self._turned(data.split(b"\n")[:-1], is_end=False)
        lines = lines_in(data, self._seen)
        self._seen += len(lines)
        inside = list(split(self._chain.lines(lines)))
        return self._records(inside, self._heads(inside), self._seen - _PATIENCE)

    def rest(self) -> bytes:
        """The records that were not whole before the end."""
        if self.form.is_newest_first:
            return self._turned([], is_end=True)
        inside = list(split(self._chain.rest()))
        return self._records(inside, self._heads(inside), self._seen + 1)

    def _turned(self, texts: Sequence[bytes], is_end: bool) -> bytes:
        """The records of lines that come newest first, from the oldest on.

        What comes before the second instant is held back: more lines of it may come, and the head that they belong to.
        """
        rows = [*texts[::-1], *self._newer]
        whole = self._chain.lines(Line(text, n) for n, text in enumerate(rows, 1))
        inside = list(split([*whole, *self._chain.rest()]))
        heads = self._heads(inside)
        oldest = next((at for at, *_ in heads.values()), 0)
        later = next((inside[n] for n, (at, *_) in heads.items() if at > oldest), None)
        begins = later.seen - later.physical if later else len(rows)
        self._newer = [] if is_end else rows[:begins]
        kept = [n for n, line in enumerate(inside) if line.seen > len(self._newer)]
        left = {new: heads[old] for new, old in enumerate(kept) if old in heads}
        return self._records([inside[n] for n in kept], left, len(rows) + 1)

    def _records(self, lines: Sequence[Line], heads: dict[int, _Head], until: int) -> bytes:
        """Writes records up to the first one for which more lines may come: one that has lines since `until`.

        A record without a head begins with the first line of a source, where no head does: at the envelope's time.
        """
        for n, line in enumerate(lines):
            record = self._last.get(line.origin)
            if record is None or n in heads:
                at, is_instant, layout = heads.get(n, (line.at, True, HEADLESS))
                record = _Record(at, is_instant, layout, line.origin, [])
                self._begun.append(record)
                self._last[line.origin] = record
            record.lines.append(line.text)
            record.physical += line.physical
            record.last_seen = max(record.last_seen, line.seen)
        are_open = {id(record) for record in self._last.values() if record.last_seen >= until}
        count = next((n for n, record in enumerate(self._begun) if id(record) in are_open), len(self._begun))
        whole, self._begun = self._begun[:count], self._begun[count:]
        for record in whole:
            record.is_written = True
        self._last = {origin: record for origin, record in self._last.items() if not record.is_written}
        return self._framed(whole)

    def _heads(self, lines: Sequence[Line]) -> dict[int, _Head]:
        """The lines that begin records, in their order, each by the layouts of who wrote it."""
        rows: dict[tuple[str, ...], list[int]] = {}
        found: dict[int, _Head] = {}
        for n, line in enumerate(lines):
            if line.is_record:
                found[n] = (line.at, True, self._names.index(PLAIN[0]))
            else:
                rows.setdefault(self.form.layouts.get(line.origin, self.form.others), []).append(n)
        for layouts, which in rows.items():
            texts = [lines[n].text + b"\n" for n in which]
            starts = np.cumsum([0, *map(len, texts)])[:-1]
            heads = heads_of(b"".join(texts), starts, layouts)
            numbers = [self._names.index(name) for name in layouts]
            are_clockless = [name in _CLOCKLESS for name in layouts]
            told = zip(heads.lines.tolist(), heads.told.tolist(), heads.is_instant.tolist(), heads.layouts.tolist())
            for row, at, is_instant, layout in told:
                n, is_clockless = which[row], are_clockless[layout]
                head = (lines[n].at if is_clockless else at, is_instant or is_clockless, numbers[layout])
                found.setdefault(n, head)
        return dict(sorted(found.items()))

    def _framed(self, records: Sequence[_Record]) -> bytes:
        """Records with their frames, in which no line looks like a frame."""
        if not records:
            return b""
        columns = zip(
            *((r.at, r.is_instant, r.layout, self._number(r.origin), max(r.physical, 1)) for r in records), strict=True
        )
        at, are_instants, layouts, sources, counts = map(np.array, columns)
        frames = frames_of(at, are_instants, layouts, sources, counts)
        texts = (b"\n".join(r.lines).replace(b"\n" + MARK, b"\n ") for r in records)
        return b"".join(frames[n * FRAME : (n + 1) * FRAME] + text + b"\n" for n, text in enumerate(texts))

    def _number(self, origin: str) -> int:
        """The number of a source, a new one where it was not seen yet."""
        if origin not in self._numbers:
            self._numbers[origin] = len(self.sources)
            self.sources.append(origin)
        return self._numbers[origin]


def copied(place: str) -> tuple[Bytes, list[str]]:
    """The copy that an earlier reading kept, and who wrote the lines, by the numbers in frames."""
    return opened(place, sys.maxsize), read_json(f"{place}{_SOURCES}")


def wrapped_as(data: bytes, given: str | None) -> Form:
    """How a file is wrapped, by its first bytes. Takes: the pattern that a user gave, if any."""
    name, marks = _UTF_16
    if not data.startswith(marks):
        return form_of(sampled(data), given)
    lines = sampled(data[: len(data) // 2 * 2].decode(name, errors="replace").encode(errors="replace"))
    form = form_of(lines, given)
    return replace(form, envelopes=(name, *form.envelopes))


class Unwrapped(Arriving):
    """What an `Unwrapper` makes of the bytes of a file, up to `end`; None: as far as they go.

    Takes: how the file is wrapped; the pattern that a user gave, if any; where a copy is kept for the second reading,
        which is there once all was read.
    """

    def __init__(self, held: Bytes, end: int | None, form: Form, given: str | None, copy: str | None = None) -> None:
        self.packed = held
        is_utf_16 = form.envelopes[:1] == _UTF_16[:1]
        self.unwrapper = Unwrapper(replace(form, envelopes=form.envelopes[is_utf_16:]), given)
        decode = codecs.getincrementaldecoder(_UTF_16[0])(errors="replace") if is_utf_16 else None
        written = self._written(end, decode)
        super().__init__(self._copied(written, copy) if copy else written)

    @property
    def damage(self) -> str | None:  # type: ignore[override]
        """Why the bytes could not be unpacked to their end, once that was tried."""
        return self.packed.damage

    @property
    def sources(self) -> list[str]:
        """Who wrote the lines, by the numbers in frames, as far as they were read."""
        return self.unwrapper.sources

    def _copied(self, parts: Iterator[bytes], place: str) -> Iterator[bytes]:
        with packing(place) as copy:
            for part in parts:
                copy.write(part)
                yield part
        write_json(f"{place}{_SOURCES}", self.sources)

    def _written(self, end: int | None, decode: codecs.IncrementalDecoder | None) -> Iterator[bytes]:
        rest = b""
        for data in self._read(end):
            text = decode.decode(data).encode(errors="replace") if decode else data
            lines, lf, rest = (rest + text).removeprefix(codecs.BOM_UTF8 if not rest else b"").rpartition(b"\n")
            yield self.unwrapper.written(lines + lf)
        if rest:
            yield self.unwrapper.written(rest + b"\n")
        yield self.unwrapper.rest()

    def _read(self, end: int | None) -> Iterator[bytes]:
        at = 0
        while data := self.packed.between(at, at + CHUNK if end is None else min(at + CHUNK, end)):
            yield data
            at += len(data)
