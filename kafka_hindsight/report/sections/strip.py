"""The window in a strip: absences of brokers, partitions that could not be used, rebalances, declared changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import WitnessGap, WitnessKind
from kafka_hindsight.catalog.nouns.tones import Tone
from kafka_hindsight.catalog.rows import BrokerOutage, Incident, Rebalance, Witness
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.measures.time_away import least_until
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.curves import count_curve
from kafka_hindsight.report.not_known import missing_witnesses
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped, runs
from kafka_hindsight.shared.timelines import Interval, Intervals

BROKERS = 5
"""The brokers that have a lane: those that were away most often."""

MARKS = 240
"""The most marks of a curve, so that a crowded night keeps a small first view."""

PARTS = 4
"""The parts into which the axis is divided."""

_LATE = timedelta(minutes=2)
"""A broker serves again within this time after the first line of its process. Our choice."""

MARGIN = 0.1
LEAST_MARGIN = timedelta(seconds=5)
"""How much of its time, and at least how long, the strip of an incident shows before and after it."""


def strip(page: PageRows) -> Iterator[ui.TimelineStrip]:
    """The strip; nothing where no broker was away, nothing could not be used and no change is declared.

    What the logs could not show has a lane of its own, for an empty lane claims that nothing happened.
    """
    lanes = [*_broker_lanes(page), *_count_lanes(page), *_declared(page)]
    if lanes:
        first, end = page.window
        instants = tuple(ui.At(first + (end - first) * n / PARTS) for n in range(PARTS + 1))
        yield ui.TimelineStrip((*lanes, *_not_known(page)), instants)


def strip_of(page: PageRows, incident: Incident) -> Iterator[ui.TimelineStrip]:
    """The strip of an incident: what was going on in its time, and shortly before and after."""
    first, last = incident.started_at, incident.ended_at or page.window[1]
    margin = max((last - first) * MARGIN, LEAST_MARGIN)
    start, end = max(page.window[0], first - margin), min(page.window[1], last + margin)
    if start < end:
        yield from strip(page.between(start, end))


def _broker_lanes(page: PageRows) -> Iterator[ui.StripLane]:
    outages = grouped(page.of(BrokerOutage), lambda o: o.broker)
    worst = sorted(outages, key=lambda b: (-len(outages[b]), b))
    for broker in sorted(worst[:BROKERS]):
        own = outages[broker]
        marks = tuple((*_place(page, o.down_at, _shown_until(page, o)), 100.0, str(noun_of(o).tone)) for o in own)
        yield ui.StripLane(
            f"Broker {broker}", plain.anchor("broker", str(broker)), f"away {words.times(len(own))}", marks
        )
    if hidden := [o for broker in worst[BROKERS:] for o in outages[broker]]:
        marks = tuple((*_place(page, o.down_at, _shown_until(page, o)), 100.0, str(noun_of(o).tone)) for o in hidden)
        label = words.counted(len(worst) - BROKERS, "more broker")
        yield ui.StripLane(label, "cluster", f"away {words.times(len(hidden))}", marks)


def _shown_until(page: PageRows, outage: BrokerOutage) -> datetime | None:
    """The end of an absence, or where it is not shown up to that, the begin of the time of which no log was read."""
    least = least_until(outage)
    if outage.up_at is None or least is None or least >= outage.up_at:
        return outage.up_at
    gaps = (
        w.first_at
        for w in page.rows_of(Witness, "broker", outage.broker)
        if w.kind is WitnessKind.LIFE and w.gap is WitnessGap.NO_LINES and w.first_at < outage.up_at < w.last_at + _LATE
    )
    unread_from = min((at for at in gaps if at >= outage.down_at), default=outage.up_at)
    return max(least, unread_from)


def _count_lanes(page: PageRows) -> Iterator[ui.StripLane]:
    """The lanes of counts. A count that the logs could not show whole is a least one."""
    lanes = (
        ("No leader", WitnessKind.LEADERS, "partition", Tone.LOST, page.leaderless_times),
        ("Writes refused", WitnessKind.IN_SYNC, "partition", Tone.LOST, page.refusing_times),
        ("Rebalancing", WitnessKind.GROUPS, "group", Tone.MEMBER, page.rebalancing_times),
    )
    # A rebalance without a known end is in no curve.
    is_open = any(row.ended_at is None for row in page.of(Rebalance))
    least_known = page.unknown_kinds | ({WitnessKind.GROUPS} if is_open else set())
    for label, kind, noun, tone, intervals in lanes:
        points = count_curve(page, intervals)
        if top := max((value for _, value in points), default=0):
            most = f"{words.number(top)}+ {noun}s" if kind in least_known else f"up to {words.counted(top, noun)}"
            yield ui.StripLane(label, "timeline", f"{most} at once", _steps(page, points, top, tone))


def _declared(page: PageRows) -> Iterator[ui.StripLane]:
    """The lane of declared changes, with their number."""
    if page.changes:
        marks = tuple((*_place(page, c.start, c.end), 100.0, str(Tone.ASKED)) for c in page.changes)
        yield ui.StripLane("Declared", "night", words.counted(len(page.changes), "change"), marks)


def _not_known(page: PageRows) -> Iterator[ui.StripLane]:
    spans = [span for unknown in missing_witnesses(page.of(Witness)) for span in unknown.spans]
    if spans:
        united = Intervals(Interval(first, last, None) for first, last in spans).union()
        marks = tuple((*_place(page, i.start, i.end), 100.0, str(Tone.UNKNOWN)) for i in united)
        yield ui.StripLane("Not known", "coverage", "some logs are missing", marks)


def _place(page: PageRows, start: datetime, end: datetime | None) -> tuple[float, float]:
    """The start and the length of a time in percent of the window; without an end it lasts to the window's."""
    begin = page.place(start)
    return round(begin, 2), round(page.place(end or page.window[1]) - begin, 2)


def _steps(
    page: PageRows, points: Iterable[tuple[int, int]], top: int, tone: Tone
) -> tuple[tuple[float, float, float, str], ...]:
    """A curve as marks: in each part of the window the highest value that it has there."""
    first, end = page.window
    part = (end - first) / timedelta(milliseconds=1) / MARKS
    highest = [0] * MARKS
    for (at, value), (later, _) in pairwise([*points, (round(part * MARKS), 0)]):
        for n in range(min(MARKS - 1, int(at / part)), min(MARKS, int(later / part) + 1)) if value else ():
            highest[n] = max(highest[n], value)
    return tuple(
        (
            round(100 * own[0] / MARKS, 2),
            round(100 * len(own) / MARKS, 2),
            round(100 * highest[own[0]] / top, 1),
            str(tone),
        )
        for own in runs(range(MARKS), lambda run, n: highest[run[-1]] == highest[n])
        if highest[own[0]]
    )
