"""The scope of a run: what is judged."""

from __future__ import annotations

from dataclasses import dataclass

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
