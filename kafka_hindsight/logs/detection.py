"""Which layouts a file has: those by which the most of its first lines are understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.conversion import any_head
from kafka_hindsight.knowledge.layouts import LIBRDKAFKA, first_line
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED, layout_pattern
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.pattern_clocks import head_of
from kafka_hindsight.logs.reading import read_record

SAMPLE = 300
"""Lines that are looked at in each of some places of a file."""

_PLACES = 3
_FEW = 3
"""A layout by which three of four lines that matter are understood needs no other."""

_KAFKAS_LOGGERS = "org.apache.kafka."

_KAFKAS = "[%d] %p %m (%c)%n"
_TRIED = 20
_QUOTED = 160
_LEAST = len("[2026-11-21")
"""As many characters that fit are more than chance."""

_UNDATED = {layout.name: layout.pattern for layout in UNDATED}
DATED = tuple(layout.name for layout in PATTERN_LAYOUTS)
EVERY = (*DATED, *(layout.name for layout in UNDATED))
"""The layouts that are patterns, and with them those that show no day."""


Layouts = tuple[str, ...]


class Fit(NamedTuple):
    """How well lines are understood by a layout: records that are events, those with a head that name a logger of
    Kafka's, and those that are not understood.
    """

    events: int
    of_kafka: int
    unread: int

    @property
    def is_any(self) -> bool:
        """Whether the lines show that they are Kafka's: one event is enough, and so are a few of its loggers."""
        return self.events > 0 or self.of_kafka >= _FEW


def sampled(data: bytes) -> list[str]:
    """The lines at the beginning, in the middle and at the end of some bytes."""
    lines = data.split(b"\n")
    step = max((len(lines) - SAMPLE) // max(_PLACES - 1, 1), 1)
    if len(lines) <= SAMPLE * _PLACES:
        return [line.decode(errors="replace") for line in lines]
    chosen = (line for n in range(_PLACES) for line in lines[n * step : n * step + SAMPLE])
    return [line.decode(errors="replace") for line in chosen]


def layouts_of(lines: Sequence[str], given: str | None = None) -> tuple[str, ...]:
    """The layouts of a file by some of its lines. Takes: the pattern that a user gave, if one did."""
    return best_of(lines, given)[0]


def best_of(lines: Sequence[str], given: str | None = None, others: Sequence[str] = DATED) -> tuple[Layouts, Fit]:
    """The layouts by which lines are understood best, and how well.

    Takes: the pattern that a user gave, if one did; the other layouts that are tried, where a line begins by them.
    Order: the user's pattern is tried before the others. A layout replaces Kafka's own where more lines are events by
        it, or as many and fewer are not understood.
    """
    plain = fit(lines, PLAIN)
    if is_enough(plain):
        return PLAIN, plain
    told = [line for line in lines if _head_of_any(tuple(others)).match(line)]
    begun = [name for name in others if any(map(head_of(name).match, told))]
    found = {name: fit(lines, (name, LIBRDKAFKA.name)) for name in ([given] if given else []) + begun}
    if not found:
        return PLAIN, plain
    best = max(found, key=lambda name: order_of(found[name]))
    is_better = (found[best].is_any or best == given) and order_of(found[best]) > order_of(plain)
    return ((best, LIBRDKAFKA.name), found[best]) if is_better else (PLAIN, plain)


def fit(lines: Sequence[str], layouts: Sequence[str]) -> Fit:
    """How well lines are understood by some layouts."""
    held = list(records(lines, layouts))
    fates = [read_record(name, text).fate for name, text in held]
    of_kafka = sum(name is not None and _KAFKAS_LOGGERS in first_line(text) for name, text in held)
    return Fit(fates.count(LineFate.EVENT), of_kafka, fates.count(LineFate.UNPARSED))


def records(lines: Sequence[str], layouts: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """The records of some lines, each with its layout; the first one may have none."""
    layout, held = None, list[str]()
    heads = [(name, head_of(name).match) for name in layouts]
    for line in lines:
        if begun := next((name for name, match in heads if match(line)), None):
            if held:
                yield layout, "\n".join(held)
            layout, held = begun, []
        held.append(line)
    if held:
        yield layout, "\n".join(held)


def layout_of(line: str, layouts: Sequence[str]) -> str | None:
    """The first of some layouts whose head a line begins with."""
    return next((name for name in layouts if head_of(name).match(line)), None)


@cache
def _head_of_any(names: tuple[str, ...]) -> re.Pattern[str]:
    return any_head(map(layout_pattern, names))


def is_enough(fit: Fit) -> bool:
    """Whether so much is understood that no other layout needs to be tried."""
    return fit.unread * _FEW <= fit.events


def order_of(fit: Fit) -> tuple[int, int, int]:
    """By what one layout is better than another. Where no line is an event, Kafka's loggers show the layout."""
    return fit.events, 0 if fit.events else fit.of_kafka, -fit.unread


def closest(lines: Sequence[str], given: str | None = None) -> str:
    """A sentence about lines of which none has a head: what the first one is, and where the closest layout ends."""
    told = [line for line in lines if line.strip()][:_TRIED]
    if not told:
        return "It holds no text."
    (name, _), how = best_of(lines, others=tuple(_UNDATED))
    if name in _UNDATED and how.events:
        return (
            f"Its lines show no time: their layout is {_UNDATED[name]!r}. Needed: one that shows it, or a transport"
            " that writes it before each line."
        )
    patterns = {given: given} if given else {}
    patterns |= {_KAFKAS: _KAFKAS, **{layout.name: layout.pattern for layout in PATTERN_LAYOUTS}}
    reached = [(*layout_pattern(name).fits_until(line), name, line) for name in patterns for line in told]
    at, needed, name, line = max(reached, key=lambda r: r[0])
    if at < _LEAST:
        return f"The first line is {told[0][:_QUOTED]!r}: no layout that is known begins so."
    return (
        f"The closest layout is {patterns[name]!r}: of {line[:_QUOTED]!r} the first {at} characters fit, "
        f"{line[:at][-_QUOTED:]!r}; then {needed!r} was needed."
    )
