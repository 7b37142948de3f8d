"""The form of a file, recognised by its first lines: its envelopes, and the layouts of its sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.layouts import LIBRDKAFKA, first_line
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.conversion_patterns import any_head
from kafka_hindsight.logs.envelope_lines import ANY, JSON_RECORD, PEELS, Chain, EnvelopeLine, lf_lines
from kafka_hindsight.logs.heads import PLAIN, head_of, heads_of, lines_of
from kafka_hindsight.logs.layout_names import is_without_logger, layout_pattern
from kafka_hindsight.logs.reading import read_record

SAMPLE = 300
"""Lines that are looked at in each of some places of a file."""

_PLACES = 3
_FEW = 3
"""A layout by which three of four lines that matter are understood needs no other."""

_KAFKAS_LOGGERS = "org.apache.kafka."

_KAFKAS = "[%d] %p %m (%c)%n"
_SAMPLES = 20
_QUOTED = 160
_LEAST = len("[2026-11-21")
"""A match of so many characters is not chance."""

_UNDATED = {layout.name: layout.pattern for layout in UNDATED}
DATED = tuple(layout.name for layout in PATTERN_LAYOUTS)
EVERY = (*DATED, *(layout.name for layout in UNDATED))
"""The layouts that are patterns, including those that show no day."""

_WITHOUT_LOGGER = (None, *filter(is_without_logger, EVERY))
"""Layouts in which only an event shows that a line is of Kafka: what stands for its logger is in the message."""


Layouts = tuple[str, ...]


class Fit(NamedTuple):
    """How well a layout reads lines.

    It counts records that are events, records with a head and a logger of Kafka's, and records that are not understood.
    """

    events: int
    of_kafka: int
    unread: int

    @property
    def is_any(self) -> bool:
        """Whether the lines are Kafka's: one event shows it, and so do a few of Kafka's loggers."""
        return self.events > 0 or self.of_kafka >= _FEW


def sampled(data: bytes) -> list[str]:
    """The lines at the beginning, in the middle and at the end of some bytes."""
    lines = data.split(b"\n")
    step = max((len(lines) - SAMPLE) // max(_PLACES - 1, 1), 1)
    if len(lines) <= SAMPLE * _PLACES:
        return [line.decode(errors="replace") for line in lines]
    samples = (line for n in range(_PLACES) for line in lines[n * step : n * step + SAMPLE])
    return [line.decode(errors="replace") for line in samples]


def best_of(lines: Sequence[str], pattern: str | None = None, others: Sequence[str] = DATED) -> tuple[Layouts, Fit]:
    """The layouts that read lines best, and how well.

    `pattern` is the user's, if there is one, and is tried first. `others` are tried where a line begins with their
    head. A layout replaces Kafka's own where it makes more lines events, or as many and leaves fewer unread.
    """
    plain = fit(lines, PLAIN)
    if is_enough(plain):
        return PLAIN, plain
    headed = [line for line in lines if _head_of_any(tuple(others)).match(line)]
    candidates = [name for name in others if any(map(head_of(name).match, headed))]
    fits = {name: fit(lines, (name, LIBRDKAFKA.name)) for name in ([pattern] if pattern else []) + candidates}
    if not fits:
        return PLAIN, plain
    best = max(fits, key=lambda name: order_of(fits[name]))
    is_better = (fits[best].is_any or best == pattern) and order_of(fits[best]) > order_of(plain)
    return ((best, LIBRDKAFKA.name), fits[best]) if is_better else (PLAIN, plain)


def fit(lines: Sequence[str], layouts: Sequence[str]) -> Fit:
    """How well some layouts read lines."""
    layout_records = list(records(lines, layouts))
    fates = [read_record(name, text).fate for name, text in layout_records]
    of_kafka = sum(name not in _WITHOUT_LOGGER and _KAFKAS_LOGGERS in first_line(text) for name, text in layout_records)
    return Fit(fates.count(LineFate.EVENT), of_kafka, fates.count(LineFate.UNPARSED))


def records(lines: Sequence[str], layouts: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """The records of some lines, each with its layout; the first one may have none."""
    layout, record = None, list[str]()
    heads = [(name, head_of(name).match) for name in layouts]
    for line in lines:
        if next_layout := next((name for name, match in heads if match(line)), None):
            if record:
                yield layout, "\n".join(record)
            layout, record = next_layout, []
        record.append(line)
    if record:
        yield layout, "\n".join(record)


def layout_of(line: str, layouts: Sequence[str]) -> str | None:
    """The first of some layouts whose head begins a line."""
    return next((name for name in layouts if head_of(name).match(line)), None)


@cache
def _head_of_any(names: tuple[str, ...]) -> re.Pattern[str]:
    return any_head(map(layout_pattern, names))


def is_enough(fit: Fit) -> bool:
    """Whether the lines are read so well that no other layout needs to be tried."""
    return fit.unread * _FEW <= fit.events


def order_of(fit: Fit) -> tuple[int, int, int]:
    """A key that is greater for a better layout. Where no line is an event, Kafka's loggers show the layout."""
    return fit.events, 0 if fit.events else fit.of_kafka, -fit.unread


def closest(lines: Sequence[str], pattern: str | None = None) -> str:
    """A sentence about lines without a head: the first line, or the closest layout and where it stops fitting."""
    samples = [line for line in lines if line.strip()][:_SAMPLES]
    if not samples:
        return "It holds no text."
    (name, _), best_fit = best_of(lines, others=tuple(_UNDATED))
    if name in _UNDATED and best_fit.events:
        return (
            f"Its lines show no time: their layout is {_UNDATED[name]!r}. Needed: one that shows it, or a transport"
            " that writes it before each line."
        )
    patterns = {pattern: pattern} if pattern else {}
    patterns |= {_KAFKAS: _KAFKAS, **{layout.name: layout.pattern for layout in PATTERN_LAYOUTS}}
    attempts = [(*layout_pattern(name).fits_until(line), name, line) for name in patterns for line in samples]
    at, missing, name, line = max(attempts, key=lambda r: r[0])
    if at < _LEAST:
        return f"The first line is {samples[0][:_QUOTED]!r}: no known layout begins like that."
    if not missing:
        return f"The layout {patterns[name]!r} fits {line[:_QUOTED]!r}, and no logger of Kafka's wrote it."
    return (
        f"The closest layout is {patterns[name]!r}: of {line[:_QUOTED]!r} the first {at} characters fit, "
        f"{line[:at][-_QUOTED:]!r}; then {missing!r} was needed."
    )


_MORE_BACK = 4
"""A file is newest first with so many steps back of the clock, and so many times more steps back than forward."""

_DEPTH = 5
"""The most nested envelopes: the two objects of an export, twice, with a record of JSON inside."""

_GLANCE = 60
"""Lines that are tried first: an envelope that none of them is in is not tried on the others."""

_MOST_OTHERS = 0.2
"""The share of a wrapped file's lines that may be without an envelope: other output of a program."""


@dataclass(frozen=True)
class Form:
    """The form of a file: its envelopes from the outermost, and the layouts of each source.

    A source that comes later is read by the layouts of all others. Exports may have the newest line first.
    """

    envelopes: tuple[str, ...]
    layouts: dict[str, tuple[str, ...]]
    is_newest_first: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the lines are as their program wrote them, in the same order."""
        return not self.envelopes and not self.is_newest_first

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The layouts of a source that does not occur at the beginning."""
        return tuple(dict.fromkeys(name for names in self.layouts.values() for name in names)) or PLAIN


class _InnerLines(NamedTuple):
    """The lines inside some envelopes, the outermost first; whether every line is in them."""

    envelopes: tuple[str, ...]
    lines: Sequence[EnvelopeLine]
    are_all: bool


class _Candidate(NamedTuple):
    """A possible form: envelopes, the lines of each source in them, their layouts, and how well those read them."""

    envelopes: tuple[str, ...]
    texts: dict[str, list[str]]
    layouts: dict[str, Layouts]
    fit: Fit


def form_of(lines: Sequence[str], pattern: str | None = None) -> Form:
    """The form of a file by some of its lines. It has no envelopes where nothing inside of them is understood.

    The form that makes most lines events wins; of equal ones that with the fewest envelopes. Of a few lines none may
    be an event: then heads of Kafka's own layout show the envelopes. A layout may read an envelope as a part of its
    head, such as a thread. Where all lines are in it, also those without a head, it is an envelope.
    """
    best, every = _best_candidate(lines, pattern)
    headed = next((inside for inside in every if _begins(inside.lines)), every[0])
    if best.fit.is_any or headed is every[0]:
        return _form(best)
    return _form(_candidate(headed, pattern, DATED))


def is_of_kafka(lines: Sequence[str], pattern: str | None = None) -> bool:
    """Whether some lines are events or of Kafka's loggers, or begin as Kafka's own do: in envelopes or without."""
    best, every = _best_candidate(lines, pattern)
    return best.fit.is_any or any(_begins(inside.lines) for inside in every)


def _best_candidate(lines: Sequence[str], pattern: str | None) -> tuple[_Candidate, list[_InnerLines]]:
    """The form that reads most lines, and the lines in all envelopes, beginning with those in none."""
    plain = _InnerLines((), _as_lines(lines), True)
    best = _candidate(plain, pattern, DATED)
    if is_enough(best.fit) and not _leaves_lines(best):
        return best, [plain]
    every = list(_chains(plain))
    for inside in every:
        candidate = _candidate(inside, pattern, EVERY)
        if _is_better(inside, candidate, best):
            best = candidate
    return best, [plain, *every]


def _is_better(inside: _InnerLines, candidate: _Candidate, best: _Candidate) -> bool:
    """Whether a candidate reads more lines than the best; or as many, and lines without a head are in it too."""
    are_around = inside.are_all and inside.envelopes[: len(best.envelopes)] == best.envelopes
    is_rest_inside = are_around and candidate.fit == best.fit and _leaves_lines(best)
    return candidate.fit.is_any and (is_rest_inside or order_of(candidate.fit) > order_of(best.fit))


def _leaves_lines(candidate: _Candidate) -> bool:
    """Whether lines have no head, by a layout that may read an envelope as a part of it. Kafka's own cannot."""
    several = [(candidate.texts[origin], names) for origin, names in candidate.layouts.items() if names != PLAIN]
    return any(layout_of(line, names) is None for lines, names in several for line in lines)


def _begins(lines: Sequence[EnvelopeLine]) -> bool:
    """Whether one of the lines has a head of Kafka's own layout."""
    return any(layout_of(text, PLAIN) for text in _decoded(lines))


def misfit_of(lines: Sequence[str], pattern: str | None = None) -> str:
    """A sentence about lines without a known head: their envelopes, and what is inside."""
    inside = _innermost(lines)
    wrapped = f"Its lines are wrapped ({', '.join(inside.envelopes)}). Inside: " if inside.envelopes else ""
    return wrapped + closest(_decoded(inside.lines), pattern)


def innermost(lines: Sequence[str]) -> list[str]:
    """The lines inside all envelopes that most of them are in."""
    return _decoded(_innermost(lines).lines)


def _innermost(lines: Sequence[str]) -> _InnerLines:
    plain = _InnerLines((), _as_lines(lines), True)
    return max(_chains(plain), key=lambda inside: len(inside.envelopes), default=plain)


def chains_of(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The envelopes that most lines are in, whatever is inside."""
    return (inside.envelopes for inside in _chains(_InnerLines((), _as_lines(lines), True)))


def every_layout(pattern: str | None) -> tuple[str, ...]:
    """All layouts. Frames name a layout by its number in this list."""
    return (*PLAIN, *EVERY, *([pattern] if pattern else []))


def _as_lines(lines: Sequence[str]) -> list[EnvelopeLine]:
    return lf_lines("".join(f"{line}\n" for line in lines if line.strip()).encode(), 0)


def _decoded(lines: Sequence[EnvelopeLine]) -> list[str]:
    return [line.text.decode(errors="replace") for line in lines]


def _chains(outer: _InnerLines) -> Iterator[_InnerLines]:
    """The lines inside the envelopes that most lines are in, and inside the envelopes nested in those."""
    lines = outer.lines
    glance = [lines[n] for n in _irregular(len(lines))]
    for name in [name for name, peel in PEELS.items() if any(peel(replace(line)) for line in glance)]:
        chain = Chain((name,))
        inside = chain.lines(map(replace, lines))
        if chain.count and chain.count >= len(lines) * (0 if name in ANY else 1 - _MOST_OTHERS):
            inner = _InnerLines((*outer.envelopes, name), inside, outer.are_all and chain.count == len(lines))
            yield inner
            if len(inner.envelopes) < _DEPTH and name != JSON_RECORD:
                yield from _chains(inner)


def _irregular(count: int) -> list[int]:
    """The places of a few of so many lines, at irregular distances. An envelope that wraps most lines wraps one."""
    return sorted({int(n) - 1 for n in np.geomspace(1, count, _GLANCE)}) if count else []


def _candidate(inside: _InnerLines, pattern: str | None, others: Sequence[str]) -> _Candidate:
    """The layouts of each source in some envelopes, and how well they read its lines."""
    texts = defaultdict[str, list[str]](list)
    for line, text in zip(inside.lines, _decoded(inside.lines), strict=True):
        texts[line.origin] += text.split("\n")
    best = {origin: best_of(lines, pattern, others) for origin, lines in texts.items()}
    fit = Fit(*map(sum, zip(*(fit for _, fit in best.values()), strict=True))) if best else Fit(0, 0, 0)
    return _Candidate(inside.envelopes, texts, {origin: names for origin, (names, _) in best.items()}, fit)


def _form(candidate: _Candidate) -> Form:
    steps = [step for origin, names in candidate.layouts.items() for step in _steps(candidate.texts[origin], names)]
    back, on = sum(step < 0 for step in steps), sum(step > 0 for step in steps)
    return Form(candidate.envelopes, candidate.layouts or {"": PLAIN}, back >= _MORE_BACK and back > _MORE_BACK * on)


def _steps(lines: Sequence[str], layouts: Sequence[str]) -> list[int]:
    """The microseconds from each head's clock to the next one's."""
    data = "".join(f"{line}\n" for line in lines).encode()
    clocks = heads_of(data, lines_of(data, True), layouts).clocks
    steps: list[int] = np.diff(clocks[clocks != NO_INSTANT]).tolist()
    return steps
