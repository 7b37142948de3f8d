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
    """Count the lines of each source in one window, by what they became: rows of quality.coverage.

    lines_in = events + ignored + unparsed + quarantined. Lines without an instant count where their source begins;
    those of a source without any instant count in every window.

    `count_hours` gave the hours, cut at the window's edges. `beginnings` has the first instant of each source with
    records without one.
    """
    inside = [h for h in hours if window.holds(h["hour_from"] or beginnings.get(h["source"]) or window.start)]
    constants = {"cluster": cluster, "window_from": window.start, "window_to": window.end}
    return [
        {**constants, "source": source, **_covered(of_source)}
        for source, of_source in grouped(inside, lambda h: h["source"]).items()
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
