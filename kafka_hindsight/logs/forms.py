"""The form of a file, recognised by its first lines: its envelopes, and the layouts of its sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.detection import DATED, EVERY, Fit, Layouts, best_of, closest, is_enough, layout_of, order_of
from kafka_hindsight.logs.envelope_lines import ANY, JSON_RECORD, PEELS, Chain, Line, lines_in
from kafka_hindsight.logs.heads import PLAIN, heads_of, lines_of

_FEW = 4
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
    lines: Sequence[Line]
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
    plain = _InnerLines((), _as_lines(lines), True)
    best = _candidate(plain, pattern, DATED)
    if is_enough(best.fit) and not _leaves_lines(best):
        return _form(best)
    every = list(_chains(plain))
    for inside in every:
        candidate = _candidate(inside, pattern, EVERY)
        if _is_better(inside, candidate, best):
            best = candidate
    if best.fit.is_any or _begins(plain.lines):
        return _form(best)
    headed = next((inside for inside in every if _begins(inside.lines)), plain)
    return _form(_candidate(headed, pattern, DATED))


def _is_better(inside: _InnerLines, candidate: _Candidate, best: _Candidate) -> bool:
    """Whether a candidate reads more lines than the best; or as many, and lines without a head are in it too."""
    are_around = inside.are_all and inside.envelopes[: len(best.envelopes)] == best.envelopes
    is_rest_inside = are_around and candidate.fit == best.fit and _leaves_lines(best)
    return candidate.fit.is_any and (is_rest_inside or order_of(candidate.fit) > order_of(best.fit))


def _leaves_lines(candidate: _Candidate) -> bool:
    """Whether lines have no head, by a layout that may read an envelope as a part of it. Kafka's own cannot."""
    several = [(candidate.texts[origin], names) for origin, names in candidate.layouts.items() if names != PLAIN]
    return any(layout_of(line, names) is None for lines, names in several for line in lines)


def _begins(lines: Sequence[Line]) -> bool:
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


def _as_lines(lines: Sequence[str]) -> list[Line]:
    return lines_in("".join(f"{line}\n" for line in lines if line.strip()).encode(), 0)


def _decoded(lines: Sequence[Line]) -> list[str]:
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
    return Form(candidate.envelopes, candidate.layouts or {"": PLAIN}, back >= _FEW and back > _FEW * on)


def _steps(lines: Sequence[str], layouts: Sequence[str]) -> list[int]:
    """The microseconds from each head's clock to the next one's."""
    data = "".join(f"{line}\n" for line in lines).encode()
    clocks = heads_of(data, lines_of(data, True), layouts).clocks
    steps: list[int] = np.diff(clocks[clocks != NO_INSTANT]).tolist()
    return steps
