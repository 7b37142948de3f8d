"""The parts of a window of which inputs beside the brokers' logs were read: what rests on them is known there alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from kafka_hindsight.catalog.codes import InputKind, Origin
from kafka_hindsight.catalog.rows import InputSpan, ParsedHour
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

_QUIET = timedelta(hours=1)
"""For so long clients may write no line, and groups no record, while their logs and records are at hand. Our choice."""

_PAUSE = timedelta(minutes=2)
"""Readings that are closer than this have no gap between them. Our choice: an admin client waits for a minute for an
answer (default.api.timeout.ms)."""

_MISSED = 3
"""So many times the usual time between two readings is a gap: some did not come about. Our choice."""


def find_input_spans(
    cluster: str,
    hours: Iterable[ParsedHour],
    reading_instants: Iterable[datetime],
    record_instants: Iterable[datetime],
    window: Window,
) -> list[InputSpan]:
    """Find for each input in which parts of the window it was read.

    A client may be silent for hours between two lines of its log, and groups may write no record.

    Args:
        cluster: The cluster's name.
        hours: The hours of all logs.
        reading_instants: The instants of the readings.
        record_instants: The instants of the first and the last record of `__consumer_offsets`, and any between.
        window: The window that is judged.
    """
    of_clients = grouped((h for h in hours if h.origin == Origin.CLIENT), lambda h: h.source).values()
    logs = [(min(h.first_at for h in own), max(h.last_at for h in own)) for own in of_clients]
    readings, records = sorted({*reading_instants}), sorted({*record_instants})
    steps = [(after - before).total_seconds() for before, after in pairwise(readings)]
    gap = max(_PAUSE, timedelta(seconds=_MISSED * median(steps))) if steps else _PAUSE
    inputs = (
        (InputKind.CLIENT_LOGS, logs, _QUIET),
        (InputKind.READINGS, [(at, at) for at in readings], gap),
        (InputKind.RECORDS, [(records[0], records[-1])] if records else [], _QUIET),
    )
    return [
        InputSpan(cluster=cluster, input=kind, first_at=part.start, last_at=part.end, is_read=is_read)
        for kind, spans, longest in inputs
        for part, is_read in _parts(spans, longest, window)
    ]


def _parts(
    spans: Iterable[tuple[datetime, datetime]], longest: timedelta, window: Window
) -> Iterator[tuple[Window, bool]]:
    """The parts of a window in order, each with whether the spans cover it but for pauses up to the longest."""
    merged: list[Window] = []
    for first, last in sorted(spans):
        if merged and first - merged[-1].end <= longest:
            merged[-1] = Window(merged[-1].start, max(merged[-1].end, last))
        else:
            merged.append(Window(first, last))
    reached = window.start
    for span in merged:
        since = window.start if span.start - window.start <= longest else span.start
        until = window.end if window.end - span.end <= longest else span.end
        if since < until and window.meets(since, until):
            if reached < since:
                yield Window(reached, since), False
            yield Window(since, until), True
            reached = until
    if reached < window.end:
        yield Window(reached, window.end), False
