"""Wrapped files, written again as records that begin with a frame, the lines of each record together.

So everything that reads the bytes of files reads these too, in the same way as files that have to be unpacked.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_hindsight.knowledge.pattern_layouts import UNDATED
from kafka_hindsight.lake.landing import packing, read_json, write_json
from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.envelope_lines import Chain, EnvelopeLine, lf_lines, split
from kafka_hindsight.logs.file_bytes import CHUNK, Arriving, Bytes, open_bytes
from kafka_hindsight.logs.forms import DATED, Form, chains_of, every_layout, form_of, sampled
from kafka_hindsight.logs.heads import FRAME, HEADLESS, MARK, PLAIN, frames_of, heads_of

_PATIENCE = 5_000
"""Physical lines of other sources after which a record is complete."""

_SOURCES = ".json"
_CLOCKLESS = frozenset(layout.name for layout in UNDATED)
_UTF_16 = ("utf-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


@dataclass(slots=True)
class _Record:
    """A record of a source, as far as its lines were read. `at` is its head's clock; `is_instant` as in Heads."""

    at: int
    is_instant: bool
    layout: int
    origin: str
    lines: list[bytes]
    physical: int = 0
    last_line: int = 0
    is_written: bool = False


_Head = tuple[int, bool, int]
"""The clock of a head, whether that is an instant, and the number of its layout."""


class Unwrapper:
    """Writes the records of a wrapped file in the order in which they begin.

    `form` is how the file is wrapped, `pattern` the user's, if there is one.
    """

    def __init__(self, form: Form, pattern: str | None) -> None:
        self.form = form
        self.sources: list[str] = [""]
        self._names = every_layout(pattern)
        self._chain = Chain(form.envelopes)
        self._numbers = {"": 0}
        self._newer = list[bytes]()
        self._open = list[_Record]()
        self._last = dict[str, _Record]()
        self._line_count = 0

    def begins(self, data: bytes) -> tuple[list[int], list[int]]:
        """The physical lines that begin records, from 0 on, and their instants. Each line of `data` ends with LF."""
        inside = list(split(self._chain.lines(lf_lines(data, 0))))
        first, firsts = 0, list[int]()
        for line in inside:
            first = max(first, line.line_number - line.physical if line.physical else 0)
            firsts.append(first)
        heads = self._heads(inside)
        return [firsts[n] for n in heads], [at for at, *_ in heads.values()]

    def unwrap(self, data: bytes) -> bytes:
        """Add lines, and return the records that are complete now. `data` ends with LF."""
        if self.form.is_newest_first:
            return self._unwrap_newest_first(data.split(b"\n")[:-1], is_end=False)
        lines = lf_lines(data, self._line_count)
        self._line_count += len(lines)
        inside = list(split(self._chain.lines(lines)))
        return self._records(inside, self._heads(inside), self._line_count - _PATIENCE)

    def flush(self) -> bytes:
        """Return the records that were not complete before the end."""
        if self.form.is_newest_first:
            return self._unwrap_newest_first([], is_end=True)
        inside = list(split(self._chain.unfinished()))
        return self._records(inside, self._heads(inside), self._line_count + 1)

    def _unwrap_newest_first(self, texts: Sequence[bytes], is_end: bool) -> bytes:
        """The records of lines that come newest first, from the oldest on.

        The lines of the oldest instant wait: older lines may follow, with the head that they belong to.
        """
        rows = [*texts[::-1], *self._newer]
        whole = self._chain.lines(EnvelopeLine(text, n) for n, text in enumerate(rows, 1))
        inside = list(split([*whole, *self._chain.unfinished()]))
        heads = self._heads(inside)
        oldest = next((at for at, *_ in heads.values()), 0)
        later = next((inside[n] for n, (at, *_) in heads.items() if at > oldest), None)
        begins = later.line_number - later.physical if later else len(rows)
        self._newer = [] if is_end else rows[:begins]
        numbers = [n for n, line in enumerate(inside) if line.line_number > len(self._newer)]
        heads_left = {new: heads[old] for new, old in enumerate(numbers) if old in heads}
        return self._records([inside[n] for n in numbers], heads_left, len(rows) + 1)

    def _records(self, lines: Sequence[EnvelopeLine], heads: dict[int, _Head], until: int) -> bytes:
        """Write records up to the first one that may get more lines: one with a line since `until`.

        A source whose first line is not a head begins with a record without a head, at the envelope's time.
        """
        for n, line in enumerate(lines):
            record = self._last.get(line.origin)
            if record is None or n in heads:
                at, is_instant, layout = heads.get(n, (line.at, True, HEADLESS))
                record = _Record(at, is_instant, layout, line.origin, [])
                self._open.append(record)
                self._last[line.origin] = record
            record.lines.append(line.text)
            record.physical += line.physical
            record.last_line = max(record.last_line, line.line_number)
        are_open = {id(record) for record in self._last.values() if record.last_line >= until}
        count = next((n for n, record in enumerate(self._open) if id(record) in are_open), len(self._open))
        whole, self._open = self._open[:count], self._open[count:]
        for record in whole:
            record.is_written = True
        self._last = {origin: record for origin, record in self._last.items() if not record.is_written}
        return self._add_frames(whole)

    def _heads(self, lines: Sequence[EnvelopeLine]) -> dict[int, _Head]:
        """The heads by number of the line, in order, each by the layouts of its source."""
        rows: dict[tuple[str, ...], list[int]] = {}
        heads_by_line: dict[int, _Head] = {}
        for n, line in enumerate(lines):
            if line.is_record:
                heads_by_line[n] = (line.at, True, self._names.index(PLAIN[0]))
            else:
                rows.setdefault(self.form.layouts.get(line.origin, self.form.others), []).append(n)
        for layouts, which in rows.items():
            texts = [lines[n].text + b"\n" for n in which]
            starts = np.cumsum([0, *map(len, texts)])[:-1]
            heads = heads_of(b"".join(texts), starts, layouts)
            numbers = [self._names.index(name) for name in layouts]
            are_clockless = [name in _CLOCKLESS for name in layouts]
            columns = (heads.lines, heads.clocks, heads.is_instant, heads.layouts)
            for row, at, is_instant, layout in zip(*(column.tolist() for column in columns), strict=True):
                n, is_clockless = which[row], are_clockless[layout]
                head = (lines[n].at if is_clockless else at, is_instant or is_clockless, numbers[layout])
                heads_by_line.setdefault(n, head)
        return dict(sorted(heads_by_line.items()))

    def _add_frames(self, records: Sequence[_Record]) -> bytes:
        """Records with their frames. No line in them looks like a frame."""
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
        """The number of a source; a new source gets a new number."""
        if origin not in self._numbers:
            self._numbers[origin] = len(self.sources)
            self.sources.append(origin)
        return self._numbers[origin]


def copied(place: str) -> tuple[Bytes, list[str]]:
    """The copy that an earlier reading kept, and its sources by their numbers in frames."""
    return open_bytes(place, sys.maxsize), read_json(f"{place}{_SOURCES}")


def wrapped_as(data: bytes, pattern: str | None) -> Form:
    """The form of a file by its first bytes. `pattern` is the user's, if there is one."""
    name, marks = _UTF_16
    form = form_of(first_lines(data), pattern)
    return replace(form, envelopes=(name, *form.envelopes)) if data.startswith(marks) else form


def first_lines(data: bytes) -> list[str]:
    """Some of the lines in the first bytes of a file, also in UTF-16."""
    name, marks = _UTF_16
    if data.startswith(marks):
        data = data[: len(data) // 2 * 2].decode(name, errors="replace").encode(errors="replace")
    return sampled(data)


class Unwrapped(Arriving):
    """The records that an `Unwrapper` writes from the bytes of a file, up to `end` (None: to their end).

    `copy` is the path of a copy for the second reading. It is complete once everything was read.
    """

    def __init__(self, file: Bytes, end: int | None, form: Form, pattern: str | None, copy: str | None = None) -> None:
        self.packed = file
        is_utf_16 = form.envelopes[:1] == _UTF_16[:1]
        self.unwrapper = Unwrapper(replace(form, envelopes=form.envelopes[is_utf_16:]), pattern)
        decode = codecs.getincrementaldecoder(_UTF_16[0])(errors="replace") if is_utf_16 else None
        parts = self._parts(end, decode)
        super().__init__(self._copy_to(parts, copy) if copy else parts)

    @property
    def damage(self) -> str | None:  # type: ignore[override]
        """The reason why the bytes could not be unpacked to their end, after a read."""
        return self.packed.damage

    @property
    def sources(self) -> list[str]:
        """The sources of the lines that were read so far, by their numbers in frames."""
        return self.unwrapper.sources

    def _copy_to(self, parts: Iterator[bytes], place: str) -> Iterator[bytes]:
        with packing(place) as copy:
            for part in parts:
                copy.write(part)
                yield part
        write_json(f"{place}{_SOURCES}", self.sources)

    def _parts(self, end: int | None, decode: codecs.IncrementalDecoder | None) -> Iterator[bytes]:
        rest = b""
        for data in self._chunks(end):
            text = decode.decode(data).encode(errors="replace") if decode else data
            lines, lf, rest = (rest + text).removeprefix(codecs.BOM_UTF8 if not rest else b"").rpartition(b"\n")
            yield self.unwrapper.unwrap(lines + lf)
        if rest:
            yield self.unwrapper.unwrap(rest + b"\n")
        yield self.unwrapper.flush()

    def _chunks(self, end: int | None) -> Iterator[bytes]:
        at = 0
        while data := self.packed.between(at, at + CHUNK if end is None else min(at + CHUNK, end)):
            yield data
            at += len(data)


def divisions(lines: Sequence[bytes], pattern: str | None = None) -> list[int]:
    """The numbers of the lines where a log can be divided.

    A record begins there, later than all before, and no record after it is earlier.

    Files that are divided there share no instant, so identical records in them differ from copies. Of a few lines none
    may be an event, by which envelopes are recognised: then a head inside an envelope shows it.

    Args:
        lines: Lines of one log, wrapped or not.
        pattern: The user's pattern, if there is one.
    """
    texts = [line.decode(errors="replace") for line in lines]
    form, patterns = form_of(texts, pattern), [pattern] if pattern else []
    ways = [(form.envelopes, (*form.others, *patterns))]
    if not form.envelopes:
        ways += [(envelopes, (*PLAIN, *DATED, *patterns)) for envelopes in chains_of(texts)]
    data = b"".join(line + b"\n" for line in lines)
    for envelopes, layouts in ways:
        begins, instants = Unwrapper(Form(envelopes, {"": tuple(dict.fromkeys(layouts))}), pattern).begins(data)
        if begins:
            return [begins[n] for n in _steps(np.array(instants))]
    return []


def _steps(instants: Ints) -> list[int]:
    """The places of instants that are later than all before them, and not later than any after them."""
    before = np.maximum.accumulate(instants)[:-1]
    after = np.minimum.accumulate(instants[::-1])[::-1][1:]
    places: list[int] = np.flatnonzero(np.append(True, before < after)).tolist()
    return places
