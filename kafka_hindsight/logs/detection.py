"""The layouts of a file: those by which most of its first lines are understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.conversion import any_head
from kafka_hindsight.knowledge.layouts import LIBRDKAFKA, first_line
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED, layout_pattern
from kafka_hindsight.logs.heads import PLAIN, head_of
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
    of_kafka = sum(name is not None and _KAFKAS_LOGGERS in first_line(text) for name, text in layout_records)
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
    return (
        f"The closest layout is {patterns[name]!r}: of {line[:_QUOTED]!r} the first {at} characters fit, "
        f"{line[:at][-_QUOTED:]!r}; then {missing!r} was needed."
    )
