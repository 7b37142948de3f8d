"""The scope of a run: what is judged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.settings.maintenance import MaintenanceWindow
from kafka_hindsight.shared.windows import Window

SCOPE = "scope"
"""The name of the parameter that takes the scope of a run."""


@dataclass(frozen=True)
class Scope:
    """The cluster and the window that is judged. `wide_window` is the window with its look-back and look-ahead.

    `clocks` are those that are known to be wrong by more than CLOCK_SKEW.
    `maintenance` holds the intervals in which work on the cluster was declared.
    """

    cluster: str
    window: Window
    wide_window: Window
    clocks: tuple[ClockError, ...] = ()
    maintenance: tuple[MaintenanceWindow, ...] = ()

    @property
    def week(self) -> Window:
        """The wide window with the week before it."""
        return Window(self.wide_window.start - timedelta(days=7), self.wide_window.end)
