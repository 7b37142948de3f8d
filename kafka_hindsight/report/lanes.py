"""The picture of a window as blocks: lanes on one axis of time. The page's script draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Span:
    """Something that lasted, on a lane. `says` is its text alone, `short` where several are drawn as one.

    `shape` is bar, tail or tick; `tone` its colour; `anchor` the place with more, empty where there is none.
    """

    shape: str
    start: datetime
    end: datetime
    tone: str
    says: str
    short: str
    anchor: str


@dataclass(frozen=True)
class Lane:
    """One broker, partition or group, or the controller, through the window. `says` is the same in words."""

    kind: str
    label: str
    note: str
    says: str
    anchor: str
    spans: Sequence[Span]


@dataclass(frozen=True)
class CurveLane:
    """A number through the window: points of (milliseconds from its first instant, value from there on).

    `top` is the greatest value, `span_ms` the length of the window. `says` is the same in words.
    """

    label: str
    note: str
    says: str
    points: tuple[tuple[int, int], ...]
    top: int
    span_ms: int


@dataclass(frozen=True)
class Timeline:
    """The picture of the window.

    `focus` is where most of it happened, in percent of the axis; `legend` what the colours mean: (tone, label).
    """

    begins: datetime
    ends: datetime
    absences: Sequence[Span]
    curves: tuple[CurveLane, ...]
    lanes: tuple[Lane, ...]
    left_out: tuple[str, ...]
    focus: float
    legend: tuple[tuple[str, str], ...]
