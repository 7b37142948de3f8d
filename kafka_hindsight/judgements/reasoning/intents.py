"""Whether an event had been declared. How it happened, such as one broker after another, does not show that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kafka_hindsight.catalog.codes import Intent
from kafka_hindsight.catalog.rows import BrokerOutage
from kafka_hindsight.measures.time_away import gone_by
from kafka_hindsight.settings.maintenance import MaintenanceWindow
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.timelines import Interval

_DECLARED_LEAST = (Intent.UNDECLARED, Intent.UNKNOWN, Intent.DECLARED)


@dataclass(frozen=True)
class Declaration:
    """The intent of an event. `window`: the maintenance window that covers its beginning."""

    intent: Intent
    window: MaintenanceWindow | None = None

    @property
    def sentence(self) -> str:
        """The window in words; empty without one."""
        if self.window is None:
            return ""
        reason = f": {self.window.reason}" if self.window.reason else ""
        return f"A maintenance window declares it, {self.window.start:%H:%M} to {self.window.end:%H:%M}{reason}."


def declaration_of(began: Iterable[Interval[None]], maintenance: Sequence[MaintenanceWindow]) -> Declaration:
    """The intent that maintenance windows give an event whose parts began within these intervals.

    Declared where a window covers the beginning of each part, with the window that ends first. Unknown where a part may
    have begun within a window or outside, and none began outside for sure.
    """
    parts = [_of_beginning(beginning, maintenance) for beginning in began]
    windows = [part.window for part in parts if part.window]
    intent = least_declared(part.intent for part in parts)
    return Declaration(intent, min(windows, key=lambda w: w.end) if intent is Intent.DECLARED else None)


def _of_beginning(beginning: Interval[None], maintenance: Sequence[MaintenanceWindow]) -> Declaration:
    first, last = beginning.start, beginning.end or NEVER
    covering = [w for w in maintenance if w.start <= first and last < w.end]
    if covering:
        return Declaration(Intent.DECLARED, max(covering, key=lambda w: w.end))
    is_met = any(w.start <= last and first < w.end for w in maintenance)
    return Declaration(Intent.UNKNOWN if is_met else Intent.UNDECLARED)


def least_declared(intents: Iterable[Intent]) -> Intent:
    """The intent of a whole: undeclared where a part is, then unknown."""
    return min(intents, key=_DECLARED_LEAST.index)


def beginning_of(outage: BrokerOutage) -> Interval[None]:
    """The time in which an absence began: from the last sign of life to the detection; an instant if it is exact."""
    return Interval(outage.down_at, max(outage.down_at, gone_by(outage) or outage.down_at), None)


def declare(outages: Iterable[BrokerOutage], maintenance: Sequence[MaintenanceWindow]) -> list[BrokerOutage]:
    """Absences with their intent."""
    return [replace(o, intent=declaration_of([beginning_of(o)], maintenance).intent) for o in outages]
