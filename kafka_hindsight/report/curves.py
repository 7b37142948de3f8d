"""Counts through the window as curves: how many partitions or groups were in trouble at each instant, and the lag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, groupby, pairwise

from kafka_hindsight.catalog.codes import IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import IsrChange
from kafka_hindsight.report.blocks import CurveLane
from kafka_hindsight.report.page_rows import LagReading, LeaderReading, PageRows
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.timelines import Interval, Intervals, united

Point = tuple[int, int]
"""Milliseconds from the window's first instant, and the value from there on."""

MOST_POINTS = 800


def curves(page: PageRows) -> Iterator[CurveLane]:
    """The curves that are not zero throughout. They count only what rows show."""
    for label, intervals in (
        ("Partitions without a leader", page.leaderless_times),
        ("Under-replicated partitions", under_replicated(page)),
        ("Groups rebalancing", page.rebalancing_times),
    ):
        yield from _lane(page, label, count_curve(page, intervals))
    lag = [(_ms(page, r.snapshot_at), r.lag) for r in page.of(LagReading)]
    yield from _lane(page, "Lag of all groups, in records", lag)


def leader_curves(page: PageRows) -> Iterator[CurveLane]:
    """The partitions that each broker leads, as the readings show them."""
    readings = sorted({row.snapshot_at for row in page.of(LeaderReading)})
    for broker in page.brokers:
        leaders = {row.snapshot_at: row.leaders for row in page.rows_of(LeaderReading, "broker", broker)}
        points = [(_ms(page, at), leaders.get(at, 0)) for at in readings]
        yield from _lane(page, f"Partitions that broker {broker} leads", points)


def under_replicated(page: PageRows) -> Intervals[None]:
    """The times in which a partition missed a replica in its ISR, by shrinks of this window that are not moves."""
    shrinks = (
        row
        for row in page.of(IsrChange)
        if row.change == IsrChangeKind.SHRINK and row.shrink_cause != OutOfSyncKind.REASSIGNMENT
    )
    end = page.window[1]
    return united(
        shrinks,
        lambda r: (r.topic, r.partition),
        lambda r: Interval(r.happened_at, r.out_of_sync_until or r.observed_until or end, None),
    )


def count_curve(page: PageRows, intervals: Intervals[None]) -> list[Point]:
    """Count the intervals that hold, from each change on."""
    first, end = page.window
    changes = [
        (_ms_since(first, instant), step)
        for i in intervals.between(first, end)
        for instant, step in ((max(first, i.start), 1), (end if i.end is None else min(end, i.end), -1))
    ]
    by_instant = [(at, sum(step for _, step in same)) for at, same in groupby(sorted(changes), key=lambda c: c[0])]
    totals = accumulate(step for _, step in by_instant)
    return [(0, 0), *((at, total) for (at, _), total in zip(by_instant, totals, strict=True))] if changes else []


def thin(points: Sequence[Point], span_ms: int) -> list[Point]:
    """Thin points out to about MOST_POINTS: the highest of points near each other stays, so that no peak is lost."""
    if len(points) <= MOST_POINTS:
        return list(points)
    size, peaks, last = -(-span_ms // MOST_POINTS), [], points[0][1]
    for place, neighbours in groupby(points, key=lambda p: p[0] // size):
        values = [value for _, value in neighbours]
        peaks.append((place * size, max(last, *values)))
        last = values[-1]
    return [*peaks, (points[-1][0], last)]


def _lane(page: PageRows, label: str, points: Sequence[Point]) -> Iterator[CurveLane]:
    top = max((value for _, value in points), default=0)
    if not top:
        return
    first, end = page.window
    span = _ms(page, end)
    peak = next(at for at, value in points if value == top)
    above = sum(later - at for (at, value), (later, _) in pairwise([*points, (span, 0)]) if value)
    when = words.instant(first + timedelta(milliseconds=peak), page.day)
    sentence = f"up to {words.number(top)}, at {when}; above zero for {words.duration(above)}"
    yield CurveLane(label, f"up to {words.number(top)}, at {when}", sentence, tuple(thin(points, span)), top, span)


def _ms(page: PageRows, at: datetime) -> int:
    first, end = page.window
    return _ms_since(first, min(end, max(first, at)))


def _ms_since(first: datetime, at: datetime) -> int:
    return round((at - first) / MS)
