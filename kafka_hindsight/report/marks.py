"""Things that lasted, as marks on a lane: drawn at rest on the page, and listed one by one for whoever zooms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kafka_hindsight.report.lanes import Item, Mark, Tick
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

MARKS_PER_LANE = 160
# Marks nearer to each other than this part of the axis, in percent, are drawn as one.
NEAR = 0.1
TICKS_BY_LEVEL = (6, 16, 48, 192)
# Each divides the next, so that the ticks of a coarse level are ticks of the finer ones too.
_STEPS = (1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800)


@dataclass(frozen=True)
class Span:
    """Something that lasted, before it is known how near its neighbours are. `short` says it where many are one."""

    shape: str
    start: datetime
    end: datetime
    tone: str
    says: str
    short: str
    anchor: str


def items(page: PageRows, spans: Iterable[Span]) -> tuple[Item, ...]:
    """Every span in order of time, in milliseconds from the window's first instant."""
    first, last = page.window
    length = (last - first) / timedelta(milliseconds=1)

    def since(at: datetime) -> int:
        return round(min(length, max(0.0, (at - first) / timedelta(milliseconds=1))))

    return tuple(
        Item(s.shape, since(s.start), since(s.end) - since(s.start), s.tone, s.says, s.short, s.anchor)
        for s in sorted(spans, key=lambda s: (s.start, s.shape, s.anchor))
    )


def marks(page: PageRows, spans: Iterable[Span]) -> tuple[Mark, ...]:
    """Spans as marks. Those that lie too near to be distinguished share one place, one above the other by tone."""
    by_shape = grouped(sorted(spans, key=lambda s: (s.start, s.anchor)), lambda s: s.shape)
    found: list[Mark] = []
    for shape in sorted(by_shape, reverse=True):
        near = NEAR
        while len(clusters := _clusters(page, by_shape[shape], near)) > MARKS_PER_LANE:
            near *= 2
        for cluster in clusters:
            top = 0.0
            for run in grouped(cluster, lambda s: s.tone).values():
                height = len(run) / len(cluster)
                found.append(_mark(page, run, top, height))
                top += height
    return tuple(found)


def _clusters(page: PageRows, spans: Sequence[Span], near: float) -> list[list[Span]]:
    clusters: list[list[Span]] = []
    end = 0.0
    for span in spans:
        if clusters and page.place(span.start) <= end + near:
            clusters[-1].append(span)
            end = max(end, page.place(span.end))
        else:
            clusters.append([span])
            end = page.place(span.end)
    return clusters


def _mark(page: PageRows, run: Sequence[Span], top: float, height: float) -> Mark:
    first = run[0]
    left = page.place(first.start)
    # What has no width at all a browser does not draw.
    width = max(0.01, page.place(max(span.end for span in run)) - left)
    says = first.says
    if len(run) > 1:
        when = f"{words.instant(first.start, page.day)} to {words.instant(run[-1].start, page.day)}"
        says = f"{when}: {tallied(Counter(span.short for span in run))}"
    place = (round(left, 3), round(width, 3), round(top, 3), round(height, 3))
    return Mark(first.shape, *place, first.tone, says, first.anchor)


def tallied(counts: Counter[str]) -> str:
    """What there was how often, the most frequent first: `a member left (4) and a member joined (1)`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return words.listed([f"{label} ({words.number(count)})" for label, count in ordered], at_most=5)


def ticks(first: datetime, end: datetime) -> tuple[Tick, ...]:
    """Round instants. A coarser step has the lower level, so that a small screen can leave out the finer ones."""
    span = (end - first).total_seconds()
    if span <= 0:
        return ()
    steps = [next((s for s in _STEPS if span / s <= limit), _STEPS[-1]) for limit in TICKS_BY_LEVEL]
    midnight = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + timedelta(seconds=steps[-1] * -(-(first - midnight).total_seconds() // steps[-1]))
    found = []
    while at <= end:
        offset = int((at - midnight).total_seconds())
        level = next((i for i, step in enumerate(steps) if offset % step == 0), None)
        if level is not None:
            found.append(Tick(round(100 * (at - first).total_seconds() / span, 3), _tick_label(at), level))
        at += timedelta(seconds=steps[-1])
    return tuple(found)


def _tick_label(at: datetime) -> str:
    if at.hour == at.minute == at.second == 0:
        return f"{at:%m-%d}"
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"
