"""The ends of readings: one bears the instant at which it began, and asks for each part after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise

_LONGEST = timedelta(seconds=30)
"""A reading is over by then: some ten questions, most of them answered within a second, some after a time-out. Our
choice."""


def reading_ends(instants: Iterable[datetime]) -> Mapping[datetime, datetime]:
    """The end of each reading, at the latest, by the instants at which they began. The next one begins after it."""
    ordered = sorted(set(instants))
    followed = {at: min(following, at + _LONGEST) for at, following in pairwise(ordered)}
    return followed | {at: at + _LONGEST for at in ordered[-1:]}
