"""Earlier windows that records of the logs touched after they had been published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared.windows import Window


@dataclass(frozen=True)
class Published:
    """A window of a cluster, and when the run that published it last began."""

    window: Window
    at: datetime


def earlier_windows(published: Sequence[Published], own: Window) -> list[Published]:
    """The windows that began before a run's own and ended at most a week before it, oldest first.

    A window within the run's own, or within one that was published later, is left out: the larger one covers it.
    """
    near = [p for p in published if p.window.start < own.start and p.window.end > own.start - timedelta(days=LATE_DAYS)]
    largest = [p for p in near if not any(_lies_in(p.window, o.window) and o.at >= p.at for o in published)]
    return sorted(largest, key=lambda p: (p.window.start, p.window.end))


def _lies_in(window: Window, other: Window) -> bool:
    return window != other and other.start <= window.start and window.end <= other.end
