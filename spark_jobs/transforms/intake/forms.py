"""How a file is wrapped, and by which layouts its sources are read: found by what its first lines say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spark_jobs.transforms.intake.arrays import NO_INSTANT, Ints
from spark_jobs.transforms.intake.detection import DATED, EVERY, Fit, best_of, closest, is_enough, layout_of, order_of
from spark_jobs.transforms.intake.envelopes import JSON_RECORD, NAMES, Chain, peel_of
from spark_jobs.transforms.intake.heads import PLAIN, heads_of, lines_of
from spark_jobs.transforms.intake.origins import Origins
from spark_jobs.transforms.intake.wrapped_lines import Lines, lines_in

_FEW = 4
"""Steps of the clock back that are more than chance, and so many times as many as those on."""

_DEPTH = 4
"""Envelopes around one another, with a record of JSON inside: two transports, and the two objects of an export."""

_GLANCE = 60
"""Lines that show which envelopes need no look at all of them."""

_ANY = ("colours",)
"""Envelopes that few of the lines may be in."""

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


def form_of(lines: Sequence[str], given: str | None = None) -> Form:
    """How a file is wrapped, by some of its lines; without envelopes where it is not, or nothing inside is understood.

    Order: of several ways the one by which the most lines are events; of those the one with the fewest envelopes.
    Edge case: of a few lines none may be an event. Then heads of Kafka's own layout show what they are wrapped in.
    """
    told = _told(lines)
    best, how = _form((), told, given, DATED)
    if is_enough(how):
        return best
    for envelopes in _chains(told, ()):
        form, inside = _form(envelopes, told, given, EVERY)
        if inside.events and order_of(inside) > order_of(how):
            best, how = form, inside
    if how.events or _begins(told, ()):
        return best
    shown = next((envelopes for envelopes in _chains(told, ()) if _begins(told, envelopes)), ())
    return _form(shown, told, given, DATED)[0]


def _begins(lines: Lines, envelopes: tuple[str, ...]) -> bool:
    """Whether a line in some envelopes has a head of Kafka's own layout."""
    texts = Chain(envelopes).lines(lines).texts().to_pylist()
    return any(layout_of(text, PLAIN) for text in _decoded(texts))


def misfit_of(lines: Sequence[str], given: str | None = None) -> str:
    """A sentence about lines of which none has a head that is known: in what they are wrapped, and what is inside."""
    told = _told(lines)
    chain = max(_chains(told, ()), key=len, default=())
    if not chain:
        return closest(lines, given)
    inside = Chain(chain).lines(told).texts().to_pylist()
    return f"Its lines are wrapped ({', '.join(chain)}). Inside: {closest(_decoded(inside), given)}"


def chains_of(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The envelopes that most of some lines are in, whatever is inside."""
    return _chains(_told(lines), ())


def every_layout(given: str | None) -> tuple[str, ...]:
    """The layouts by whose numbers frames name them."""
    return (*PLAIN, *EVERY, *([given] if given else []))


def _told(lines: Sequence[str]) -> Lines:
    return lines_in("".join(f"{line}\n" for line in lines if line.strip()).encode(), 0)


def _decoded(lines: Sequence[bytes]) -> list[str]:
    return [line.decode(errors="replace") for line in lines]


def _chains(lines: Lines, around: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The envelopes that most lines are in, and those that are inside of them."""
    some = lines.where(_irregular(len(lines)))
    some = some.with_texts(some.texts())
    for name in NAMES:
        if name not in _ANY and not peel_of(name)(some, Origins())[1].any():
            continue
        inside, are_inside, are_parts = peel_of(name)(lines, Origins())
        count = int(np.count_nonzero(are_inside))
        if count and count >= len(lines) * (0 if name in _ANY else 1 - _MOST_OTHERS):
            chain = (*around, name)
            yield chain
            if len(chain) < _DEPTH and name != JSON_RECORD:
                yield from _chains(Chain((name,)).lines(lines) if are_parts.any() else inside, chain)


def _irregular(count: int) -> Ints:
    """The places of a few of so many lines, at no regular distance: what is in none of them is not in most."""
    return np.unique(np.geomspace(1, count, _GLANCE).astype(np.int64)) - 1 if count else np.arange(0)


def _form(envelopes: tuple[str, ...], lines: Lines, given: str | None, others: Sequence[str]) -> tuple[Form, Fit]:
    """The layouts of each source in some envelopes, and how well its lines are understood."""
    chain = Chain(envelopes)
    inside = chain.lines(lines)
    texts = defaultdict[str, list[str]](list)
    for number, text in zip(inside.origins.tolist(), _decoded(inside.texts().to_pylist()), strict=True):
        texts[chain.origins.names[number]] += text.split("\n")
    found = {origin: best_of(told, given, others) for origin, told in texts.items()}
    fits = [how for _, how in found.values()]
    layouts = {origin: names for origin, (names, _) in found.items()}
    steps = [step for origin, names in layouts.items() for step in _steps(texts[origin], names)]
    back, on = sum(step < 0 for step in steps), sum(step > 0 for step in steps)
    is_newest_first = back >= _FEW and back > _FEW * on
    fit = Fit(sum(f.events for f in fits), sum(f.unread for f in fits))
    return Form(envelopes, layouts or {"": PLAIN}, is_newest_first), fit


def _steps(lines: Sequence[str], layouts: Sequence[str]) -> list[int]:
    """How far the clock goes on from each head to the next one."""
    data = "".join(f"{line}\n" for line in lines).encode()
    told = heads_of(data, lines_of(data, True), layouts).told
    found: list[int] = np.diff(told[told != NO_INSTANT]).tolist()
    return found
