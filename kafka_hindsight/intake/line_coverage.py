"""Coverage: every physical line accounted for, by source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from kafka_hindsight.intake.hours import COLUMN_OF, Hour, layouts_in
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import micros_of
from kafka_hindsight.shared.windows import Window

LINES = ("lines_in", *COLUMN_OF.values())
"""The columns that count lines."""


def cover(
    hours: Iterable[Hour], beginnings: Mapping[str, datetime | None], cluster: str, window: Window
) -> list[dict[str, Any]]:
    """How many lines of each source became what, in one window: rows of quality.coverage.

    Takes: what `count_hours` gives, of all hours of a window that cuts them, and of what has no instant; the first
        instant of each source that has records without one.
    Keeps: lines_in = events + ignored + unparsed + quarantined.
    Edge case: lines without an instant count where their source begins; those of a source without any, in every window.
    """
    inside = [h for h in hours if window.holds(h["hour_from"] or beginnings.get(h["source"]) or window.start)]
    known = {"cluster": cluster, "window_from": window.start, "window_to": window.end}
    return [
        {**known, "source": source, **_covered(own)} for source, own in grouped(inside, lambda h: h["source"]).items()
    ]


def _covered(hours: Sequence[Hour]) -> dict[str, Any]:
    dated = sorted((h for h in hours if h["first_at"]), key=lambda h: h["first_at"])
    silences = [h["longest_silence_ms"] for h in dated if h["longest_silence_ms"] is not None]
    silences += [_ms(after["first_at"]) - _ms(before["last_at"]) for before, after in pairwise(dated)]
    return {
        "origin": min(h["origin"] for h in hours),
        **{name: sum(h[name] for h in hours) for name in LINES},
        "first_at": min((h["first_at"] for h in dated), default=None),
        "last_at": max((h["last_at"] for h in dated), default=None),
        "longest_silence_ms": max(silences, default=None),
        "layouts": layouts_in(h["layouts"] for h in hours),
    }


def _ms(at: datetime) -> int:
    return micros_of(at) // 1_000
