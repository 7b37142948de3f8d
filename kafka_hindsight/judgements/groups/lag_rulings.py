"""Whether a consumer keeps up with one partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import accumulate, pairwise

from kafka_hindsight.catalog.codes import LagStatus
from kafka_hindsight.catalog.rows import OffsetSnapshot
from kafka_hindsight.judgements.reasoning.rulings import LIKELY, Proof, Ruling, always, proof_if

MINIMUM_READINGS = 10
"""Fewer show no tendency. Source: Burrow, evaluator and storage default `intervals`."""


@dataclass(frozen=True)
class Progress:
    """The readings of one partition of one group that have a committed offset, in order of time."""

    readings: Sequence[OffsetSnapshot]

    @cached_property
    def committed(self) -> list[int]:
        """The committed offsets."""
        return [r.committed_offset for r in self.readings if r.committed_offset is not None]

    @cached_property
    def behind(self) -> list[int]:
        """The lags since the last reading without one.

        Source: Burrow calls a consumer well that had caught up once among its last ten commits. Over a night nearly all
        had, so that here only the readings since then count.
        """
        lags = [r.lag for r in self.readings if r.lag is not None]
        caught_up = next((place for place in range(len(lags), 0, -1) if lags[place - 1] == 0), 0)
        return lags[caught_up:]

    @cached_property
    def waits(self) -> list[list[OffsetSnapshot]]:
        """Runs of readings in which the offset stood while there was something to read."""
        waits: list[list[OffsetSnapshot]] = []
        for before, reading in zip([None, *self.readings], self.readings, strict=False):
            if not reading.lag:
                continue
            if before is not None and before.lag and before.committed_offset == reading.committed_offset:
                waits[-1].append(reading)
            else:
                waits.append([reading])
        return waits


def nothing_waits(progress: Progress) -> Proof | None:
    """The last reading shows no lag."""
    return proof_if(not progress.readings or not progress.readings[-1].lag)


def commits_moved(progress: Progress) -> Proof | None:
    """The committed offset changed within the window."""
    return proof_if(len(set(progress.committed)) > 1)


def never_moved(progress: Progress) -> Proof | None:
    """The committed offset never changed within the window."""
    return proof_if(commits_moved(progress) is None)


def stands_longer_than_ever(progress: Progress) -> Proof | None:
    """The committed offset now stands for ten readings or more, and longer than it ever had while records waited.

    Edge case: a reading does not show a commit that repeats an offset, so that standing alone is not a stop.
    """
    *former, now = progress.waits
    is_longest = all(_length(now) > _length(wait) for wait in former)
    return proof_if(len(now) >= MINIMUM_READINGS and is_longest)


def was_set_back(progress: Progress) -> Proof | None:
    """The committed offset fell, and no later one reached what was committed before."""
    highest_since = list(accumulate(reversed(progress.committed), max))[::-1]
    return proof_if(
        any(b < a and later < a for (a, b), later in zip(pairwise(progress.committed), highest_since[1:], strict=True))
    )


def caught_up_lately(progress: Progress) -> Proof | None:
    """Fewer than ten readings show a lag since the consumer had last caught up."""
    return proof_if(len(progress.behind) < MINIMUM_READINGS)


def never_gained(progress: Progress) -> Proof | None:
    """No reading since the consumer had last caught up shows a smaller lag than the one before."""
    return proof_if(all(later >= earlier for earlier, later in pairwise(progress.behind)))


def _length(wait: Sequence[OffsetSnapshot]) -> timedelta:
    return wait[-1].snapshot_at - wait[0].snapshot_at


_SOURCE = "Burrow, core/internal/evaluator/caching.go"

LAG_RULINGS: tuple[Ruling[Progress], ...] = (
    Ruling(
        LagStatus.OK,
        LIKELY,
        "The consumer has read all records.",
        proof=(nothing_waits,),
        source=_SOURCE,
        decides="made: it commits every end",
        looks_alike="made: nothing waited at first",
    ),
    Ruling(
        LagStatus.STOP,
        LIKELY,
        "The consumer committed before, and has now stood for longer than ever while records wait.",
        proof=(commits_moved, stands_longer_than_ever),
        source=_SOURCE,
        decides="made: it stops after eight commits",
        looks_alike="made: it commits every eleven minutes",
    ),
    Ruling(
        LagStatus.REWIND,
        LIKELY,
        "The committed offset was set back, and has not come as far again.",
        proof=(was_set_back,),
        source=_SOURCE,
        decides="made: it is set back for good",
        looks_alike="made: it is set back and comes further",
    ),
    Ruling(
        LagStatus.OK,
        LIKELY,
        "The consumer had caught up within the last ten readings.",
        proof=(caught_up_lately,),
        source=_SOURCE,
        decides="made: it is behind at every other reading",
        looks_alike="made: it commits half of what arrives",
    ),
    Ruling(
        LagStatus.STALL,
        LIKELY,
        "The committed offset never changed while records wait.",
        proof=(never_moved,),
        source=_SOURCE,
        decides="made: nothing waited at first",
        looks_alike="made: it stops after eight commits",
    ),
    Ruling(
        LagStatus.WARN,
        LIKELY,
        "The consumer commits, and its lag never became smaller.",
        proof=(never_gained,),
        source=_SOURCE,
        decides="made: it commits half of what arrives",
        looks_alike="made: it commits every eleven minutes",
    ),
    Ruling(
        LagStatus.OK,
        LIKELY,
        "The consumer commits, and its lag became smaller at times.",
        proof=(always,),
        source=_SOURCE,
        decides="made: it commits every eleven minutes",
        looks_alike="made: it commits half of what arrives",
    ),
)
"""For the readings of a window, instead of the last ten commits."""
