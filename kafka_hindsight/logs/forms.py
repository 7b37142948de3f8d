"""How a file is wrapped, and by which layouts its sources are read: found by what its first lines say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.detection import DATED, EVERY, Fit, Layouts, best_of, closest, is_enough, layout_of, order_of
from kafka_hindsight.logs.envelopes import ANY, JSON_RECORD, PEELS, Chain, Line, lines_in
from kafka_hindsight.logs.heads import PLAIN, heads_of, lines_of

_FEW = 4
"""Steps of the clock back that are more than chance, and so many times as many as those on."""

_DEPTH = 5
"""Envelopes around one another: the two objects of an export, twice, with a record of JSON inside."""

_GLANCE = 60
"""Lines that show which envelopes need no look at all of them."""

_MOST_OTHERS = 0.2
"""Lines of a wrapped file that may be in no envelope: what a program prints besides."""


@dataclass(frozen=True)
class Form:
    """How a file is wrapped: its envelopes from the outermost, and by which layouts the lines of each source are read.

    A source that comes later is read by the layouts of all others. Exports may have the newest line first.
    """

    envelopes: tuple[str, ...]
    layouts: dict[str, tuple[str, ...]]
    is_newest_first: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the lines of a file are as their program wrote them, in their order."""
        return not self.envelopes and not self.is_newest_first

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Form:
        """The form that a mapping of its fields describes."""
        layouts = {origin: tuple(names) for origin, names in told["layouts"].items()}
        return cls(tuple(told["envelopes"]), layouts, told["is_newest_first"])

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The layouts of a source that was not seen at the beginning."""
        return tuple(dict.fromkeys(name for names in self.layouts.values() for name in names)) or PLAIN


class _Inside(NamedTuple):
    """What is inside of some envelopes, the outermost first; whether every line is in them."""

    envelopes: tuple[str, ...]
    lines: Sequence[Line]
    are_all: bool


class _Understood(NamedTuple):
    """How lines are understood in some envelopes: those of each source, by which layouts, and how well."""

    envelopes: tuple[str, ...]
    texts: dict[str, list[str]]
    layouts: dict[str, Layouts]
    fit: Fit


def form_of(lines: Sequence[str], given: str | None = None) -> Form:
    """How a file is wrapped, by some of its lines; without envelopes where it is not, or nothing inside is understood.

    Order: of several ways the one by which the most lines are events; of those the one with the fewest envelopes.
    Edge cases: of a few lines none may be an event. Then heads of Kafka's own layout show what they are wrapped in. A
        layout may take an envelope for a part of its head, such as a thread: where all lines are in it, those too that
        have no head, it is one.
    """
    plain = _Inside((), _told(lines), True)
    best = _understood(plain, given, DATED)
    if is_enough(best.fit) and not _leaves_lines(best):
        return _form(best)
    every = list(_chains(plain))
    for inside in every:
        found = _understood(inside, given, EVERY)
        if _is_better(inside, found, best):
            best = found
    if best.fit.is_any or _begins(plain.lines):
        return _form(best)
    shown = next((inside for inside in every if _begins(inside.lines)), plain)
    return _form(_understood(shown, given, DATED))


def _is_better(inside: _Inside, found: _Understood, best: _Understood) -> bool:
    """Whether more is understood inside of some envelopes; or as much, and lines without a head are in them too."""
    are_around = inside.are_all and inside.envelopes[: len(best.envelopes)] == best.envelopes
    is_rest_inside = are_around and found.fit == best.fit and _leaves_lines(best)
    return found.fit.is_any and (is_rest_inside or order_of(found.fit) > order_of(best.fit))


def _leaves_lines(told: _Understood) -> bool:
    """Whether lines have no head of a layout that could take an envelope for a part of it, as Kafka's own cannot."""
    several = [(told.texts[origin], names) for origin, names in told.layouts.items() if names != PLAIN]
    return any(layout_of(line, names) is None for lines, names in several for line in lines)


def _begins(lines: Sequence[Line]) -> bool:
    """Whether one of some lines has a head of Kafka's own layout."""
    return any(layout_of(text, PLAIN) for text in _decoded(lines))


def misfit_of(lines: Sequence[str], given: str | None = None) -> str:
    """A sentence about lines of which none has a head that is known: in what they are wrapped, and what is inside."""
    every = _chains(_Inside((), _told(lines), True))
    innermost = max(every, key=lambda inside: len(inside.envelopes), default=None)
    if innermost is None:
        return closest(lines, given)
    wrapped = ", ".join(innermost.envelopes)
    return f"Its lines are wrapped ({wrapped}). Inside: {closest(_decoded(innermost.lines), given)}"


def chains_of(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The envelopes that most of some lines are in, whatever is inside."""
    return (inside.envelopes for inside in _chains(_Inside((), _told(lines), True)))


def every_layout(given: str | None) -> tuple[str, ...]:
    """The layouts by whose numbers frames name them."""
    return (*PLAIN, *EVERY, *([given] if given else []))


def _told(lines: Sequence[str]) -> list[Line]:
    return lines_in("".join(f"{line}\n" for line in lines if line.strip()).encode(), 0)


def _decoded(lines: Sequence[Line]) -> list[str]:
    return [line.text.decode(errors="replace") for line in lines]


def _chains(outer: _Inside) -> Iterator[_Inside]:
    """What is inside of the envelopes that most lines are in, and of those that are inside of them."""
    lines = outer.lines
    glance = [lines[n] for n in _irregular(len(lines))]
    for name in [name for name, peel in PEELS.items() if any(peel(replace(line)) for line in glance)]:
        chain = Chain((name,))
        inside = chain.lines(map(replace, lines))
        if chain.count and chain.count >= len(lines) * (0 if name in ANY else 1 - _MOST_OTHERS):
            found = _Inside((*outer.envelopes, name), inside, outer.are_all and chain.count == len(lines))
            yield found
            if len(found.envelopes) < _DEPTH and name != JSON_RECORD:
                yield from _chains(found)


def _irregular(count: int) -> list[int]:
    """The places of a few of so many lines, at no regular distance: what is in none of them is not in most."""
    return sorted({int(n) - 1 for n in np.geomspace(1, count, _GLANCE)}) if count else []


def _understood(inside: _Inside, given: str | None, others: Sequence[str]) -> _Understood:
    """The layouts of each source in some envelopes, and how well its lines are understood."""
    texts = defaultdict[str, list[str]](list)
    for line, text in zip(inside.lines, _decoded(inside.lines), strict=True):
        texts[line.origin] += text.split("\n")
    found = {origin: best_of(told, given, others) for origin, told in texts.items()}
    fit = Fit(*map(sum, zip(*(how for _, how in found.values()), strict=True))) if found else Fit(0, 0, 0)
    return _Understood(inside.envelopes, texts, {origin: names for origin, (names, _) in found.items()}, fit)


def _form(told: _Understood) -> Form:
    steps = [step for origin, names in told.layouts.items() for step in _steps(told.texts[origin], names)]
    back, on = sum(step < 0 for step in steps), sum(step > 0 for step in steps)
    return Form(told.envelopes, told.layouts or {"": PLAIN}, back >= _FEW and back > _FEW * on)


def _steps(lines: Sequence[str], layouts: Sequence[str]) -> list[int]:
    """How far the clock goes on from each head to the next one."""
    data = "".join(f"{line}\n" for line in lines).encode()
    told = heads_of(data, lines_of(data, True), layouts).told
    found: list[int] = np.diff(told[told != NO_INSTANT]).tolist()
    return found
