"""Files whose lines transports wrapped: written again as records that begin with a frame, those of each source whole.

So everything that reads files by their bytes reads these too, as it reads files that have to be unpacked.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property

from spark_jobs.knowledge.layouts import LAYOUTS
from spark_jobs.transforms.intake.detection import EVERY, Fit, best_of, closest, is_enough, order_of
from spark_jobs.transforms.intake.envelopes import JSON_RECORD, NAMES, Chain, Inner, micros_of, peel_of
from spark_jobs.transforms.intake.frames import INSTANT, LOCAL, MARK, NO_CLOCK, NONE, frame_of
from spark_jobs.transforms.intake.heads import (
    HEADLESS,
    NO_INSTANT,
    PLAIN,
    byte_head,
    pattern_clock,
)

_PATIENCE = 5_000
"""Physical lines of other sources after which nothing more is expected to belong to a record."""

_DEPTH = 4
"""Envelopes around one another, with a record of JSON inside: two transports, and the two objects of an export."""

_MOST_OTHERS = 0.2
"""Lines of a wrapped file that may be in no envelope: what a program prints besides."""


@dataclass(frozen=True)
class Form:
    """How a file is wrapped: its envelopes from the outermost, and by which layouts the lines of each source are read.

    A source that comes later is read by the layouts of all others.
    """

    envelopes: tuple[str, ...]
    layouts: dict[str, tuple[str, ...]]

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The layouts of a source that was not seen at the beginning."""
        return tuple(dict.fromkeys(name for names in self.layouts.values() for name in names)) or PLAIN


def form_of(lines: Sequence[str], given: str | None = None) -> Form:
    """How a file is wrapped, by some of its lines; without envelopes where it is not, or nothing inside is understood.

    Order: of several ways the one by which the most lines are events; of those the one with the fewest envelopes.
    """
    layouts, how = best_of(lines, given)
    best = Form((), {"": layouts})
    if is_enough(how):
        return best
    told = [line.encode() for line in lines if line.strip()]
    for envelopes in _chains(told, ()):
        form, inside = _form(envelopes, told, given)
        if inside.events and order_of(inside) > order_of(how):
            best, how = form, inside
    return best


def misfit_of(lines: Sequence[str], given: str | None = None) -> str:
    """A sentence about lines of which none has a head that is known: in what they are wrapped, and what is inside."""
    told = [line.encode() for line in lines if line.strip()]
    chain = max(_chains(told, ()), key=len, default=())
    if not chain:
        return closest(lines, given)
    inside = [line.decode(errors="replace") for line in _inside(told, chain)]
    return f"Its lines are wrapped ({', '.join(chain)}). Inside: {closest(inside, given)}"


def _chains(lines: Sequence[bytes], around: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The envelopes that most lines are in, and those that are inside of them."""
    for name in NAMES:
        peel = peel_of(name)
        count = sum(peel(line) is not None for line in lines)
        if count and count >= len(lines) * (0 if name == "colours" else 1 - _MOST_OTHERS):
            chain = (*around, name)
            yield chain
            if len(chain) < _DEPTH and name != JSON_RECORD:
                yield from _chains(list(_inside(lines, (name,))), chain)


def _inside(lines: Iterable[bytes], envelopes: Sequence[str]) -> Iterator[bytes]:
    chain = Chain(envelopes)
    return (inner.line for line in lines for inner in chain.lines(line))


def _form(envelopes: tuple[str, ...], lines: Sequence[bytes], given: str | None) -> tuple[Form, Fit]:
    """The layouts of each source in some envelopes, and how well its lines are understood."""
    chain = Chain(envelopes)
    texts = defaultdict[str, list[str]](list)
    for line in lines:
        for inner in chain.lines(line):
            texts[inner.origin] += inner.line.decode(errors="replace").split("\n")
    found = {origin: best_of(told, given, EVERY) for origin, told in texts.items()}
    fits = [how for _, how in found.values()]
    layouts = {origin: names for origin, (names, _) in found.items()}
    return Form(envelopes, layouts), Fit(sum(f.events for f in fits), sum(f.unread for f in fits))


@dataclass
class _Record:
    """A record while its lines come."""

    frame: tuple[bytes, bytes, int, int]
    lines: list[bytes]
    count: int
    seen: int
    is_done: bool = False

    def written(self) -> bytes:
        return frame_of(*self.frame, max(self.count, 1)) + b"\n".join(self.lines).replace(b"\n" + MARK, b"\n ") + b"\n"


@dataclass
class Unwrapper:
    """Writes the records of a wrapped file, those of each source in their order, all in the order in which they begin.

    Takes: how the file is wrapped; the layouts by whose numbers frames name them. `sources` are those seen so far.
    """

    form: Form
    names: Sequence[str]
    sources: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chain = Chain(self.form.envelopes)
        self._open: dict[str, _Record] = {}
        self._numbers: dict[str, int] = {}
        self._queue: deque[_Record] = deque()
        self._seen = 0

    def written(self, lines: Iterable[bytes]) -> bytes:
        """The records that are whole once these lines have come."""
        for line in lines:
            self._seen += 1
            for inner in self._chain.lines(line):
                self._take(inner)
        return b"".join(self._ready(self._seen - _PATIENCE))

    def rest(self) -> bytes:
        """The records that were not whole before the end."""
        for inner in self._chain.rest():
            self._take(inner)
        return b"".join(self._ready(self._seen + 1))

    def _take(self, inner: Inner) -> None:
        held = self._open.get(inner.origin)
        count = inner.physical
        for line in [inner.line] if inner.is_record else inner.line.split(b"\n"):
            begun = self._begun(line.rstrip(b"\r"), inner)
            if begun is None and held is not None and not held.is_done:
                held.lines.append(line)
                held.count, held.seen = held.count + count, self._seen
            else:
                if held is not None:
                    held.is_done = True
                frame = begun or (*_clock_of(micros_of(inner.at)), HEADLESS)
                held = _Record((*frame, self._number(inner.origin)), [line], count, self._seen)
                self._open[inner.origin] = held
                self._queue.append(held)
            count = 0

    def _begun(self, line: bytes, inner: Inner) -> tuple[bytes, bytes, int] | None:
        """The clock and the layout of a record that begins with a line, if one does."""
        if inner.is_record:
            return *_clock_of(micros_of(inner.at)), self.names.index(PLAIN[0])
        for name in self.form.layouts.get(inner.origin, self.form.others):
            if told := head_in_bytes(name).match(line):
                return *_told(name, told, inner), self.names.index(name)
        return None

    def _number(self, origin: str) -> int:
        if origin not in self._numbers:
            self._numbers[origin] = len(self.sources)
            self.sources.append(origin)
        return self._numbers[origin]

    def _ready(self, until: int) -> Iterator[bytes]:
        while self._queue and (self._queue[0].is_done or self._queue[0].seen < until):
            self._queue[0].is_done = True
            yield self._queue.popleft().written()


@cache
def head_in_bytes(name: str) -> re.Pattern[bytes]:
    """The regex of a layout's head, for bytes."""
    plain = {layout.name: layout.head for layout in LAYOUTS}
    return re.compile(plain[name].encode(), re.ASCII) if name in plain else byte_head(name)


def _told(name: str, told: re.Match[bytes], inner: Inner) -> tuple[bytes, bytes]:
    """What a head's clock says. Edge case: where it shows no day, the instant is the envelope's."""
    if name == PLAIN[0]:
        return LOCAL, re.sub(rb"\D", b"", told[1])
    if name == PLAIN[1]:
        return _clock_of(micros_of(told[1].decode()))
    at, is_instant = pattern_clock(name, told)
    if at == NO_INSTANT:
        return _clock_of(micros_of(inner.at) if "year" not in told.re.groupindex else None)
    return (INSTANT if is_instant else LOCAL), _clock_of(at)[1]


def _clock_of(micros: int | None) -> tuple[bytes, bytes]:
    if micros is None:
        return NONE, NO_CLOCK
    return INSTANT, _second(micros // 1_000_000) + b"%03d" % (micros // 1_000 % 1_000)


@cache
def _second(seconds: int) -> bytes:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M%S").encode()


def every_layout(given: str | None) -> tuple[str, ...]:
    """The layouts by whose numbers frames name them."""
    return (*PLAIN, *EVERY, *([given] if given else []))
