"""Earlier windows that records of the logs touched after they had been published."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared.windows import Window


@dataclass(frozen=True)
class Published:
    """A window of a cluster, and when the run began that published it last."""

    window: Window
    at: datetime


def earlier_windows(published: Iterable[Published], own: Window) -> list[Published]:
    """The windows that began before a run's own and ended at most a week before it, oldest first.

    Those that lie within the run's own, or within a later published one, are not among them: it answers for them.
    """
    known = list(published)
    near = [p for p in known if p.window.start < own.start and p.window.end > own.start - timedelta(days=LATE_DAYS)]
    kept = [p for p in near if not any(_lies_in(p.window, other.window) and other.at >= p.at for other in known)]
    return sorted(kept, key=lambda p: (p.window.start, p.window.end))


def _lies_in(window: Window, other: Window) -> bool:
    return window != other and other.start <= window.start and window.end <= other.end
