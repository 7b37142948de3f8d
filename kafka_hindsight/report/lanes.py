"""The picture of a window as blocks: lanes with marks on one axis of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Mark:
    """Something on a lane: its place and length in percent of the axis, and what part of the lane's height it fills.

    `shape` is bar, tail or tick; `tone` its colour; `anchor` the place with more, empty where there is none.
    """

    shape: str
    left: float
    width: float
    top: float
    height: float
    tone: str
    says: str
    anchor: str


@dataclass(frozen=True)
class Item:
    """One thing that lasted, for whoever zooms: milliseconds from the window's first instant, and what it was.

    `says` is its text alone, `short` where several are drawn as one. `anchor` may be empty.
    """

    shape: str
    start_ms: int
    length_ms: int
    tone: str
    says: str
    short: str
    anchor: str


@dataclass(frozen=True)
class Lane:
    """One broker, partition or group, or the controller, through the window. `says` is the same in words.

    `marks` are drawn where nothing can zoom; `items` are all that the lane holds.
    """

    kind: str
    label: str
    note: str
    says: str
    anchor: str
    marks: tuple[Mark, ...]
    items: tuple[Item, ...]


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
class Tick:
    """A line of the time axis. A greater `level` is drawn only where there is room for it."""

    at: float
    label: str
    level: int


@dataclass(frozen=True)
class Timeline:
    """The picture of the window.

    `focus` is where most of it happened, in percent of the axis; `legend` what the colours mean: (tone, label).
    """

    begins: datetime
    ends: datetime
    ticks: tuple[Tick, ...]
    bands: tuple[Mark, ...]
    absences: tuple[Item, ...]
    curves: tuple[CurveLane, ...]
    lanes: tuple[Lane, ...]
    left_out: tuple[str, ...]
    focus: float
    legend: tuple[tuple[str, str], ...]
