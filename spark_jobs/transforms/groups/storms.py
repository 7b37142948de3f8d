"""Storms: a group that rebalances in a loop, and what the rhythm of the loop resembles."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from spark_jobs.transforms.rebalances.wording import took

Row = Mapping[str, Any]
Unit = Sequence[Row]
"""A rebalance with its cooperative follow-ups."""

RATE_WINDOW = timedelta(minutes=60)
STORM_UNITS = 6
STORM_REMOVALS = 3
LOOP_LEAVES = 3
"""A client that closes its consumer as often within a storm's window does so in a loop: a deployment does it once."""

REMOVALS = frozenset({"heartbeat_expired", "member_dead", "max_poll_exceeded", "join_timeout", "sync_timeout"})

MIN_BEATS = 4
"""Fewer acts have too few intervals between them to show a rhythm."""
STEADY_SPREAD = 0.2
"""Half of the intervals lie within a fifth of their median.
Source: a coefficient of variation below 0.2, as proposed for storms in docs/adr/0018-chains-and-storms.md."""
LIMIT_SPREAD = 0.1
HEARTBEAT = timedelta(seconds=3)
"""A removal comes as long after the session timeout as a heartbeat may have come after the join.
Source: heartbeat.interval.ms, default 3 s."""
ON_THE_CLOCK = timedelta(seconds=3)
CRON_MINUTES = (60, 30, 20, 15, 12, 10, 6, 5, 4, 3, 2, 1)
"""Whole minutes that divide the hour: the steps in which schedulers repeat themselves."""

_LIMITS = (
    ("session_timeout", ("heartbeat_expired", "member_dead"), "session_timeout_ms", "the session timeout"),
    ("poll_interval", ("max_poll_exceeded",), "rebalance_timeout_ms", "max.poll.interval.ms"),
)
_MEANS = {
    "session_timeout": "members fall silent as soon as they have joined",
    "poll_interval": "members are stuck with the first records that they get",
}


@dataclass(frozen=True)
class Rhythm:
    """What the rhythm of a storm resembles, as a code and in a sentence."""

    fingerprint: str
    says: str


def storms(units: Sequence[Unit]) -> list[list[int]]:
    """The storms of one group, each as the places of its units.

    Takes: the group's units in order. A storm: six or more within any 60 minutes, three of them begun by a removal, or
    by a client that closes again and again: a loop, not a start-up.
    """
    starts = [u[0]["started_at"] for u in units]
    stormy: set[int] = set()
    for first, start in enumerate(starts):
        window = range(first, bisect_right(starts, start + RATE_WINDOW))
        if len(window) >= STORM_UNITS and len(beats(units[window.start : window.stop])) >= STORM_REMOVALS:
            stormy.update(window)
    found: list[list[int]] = []
    for n in sorted(stormy):
        if found and n == found[-1][-1] + 1:
            found[-1].append(n)
        else:
            found.append([n])
    return found


def beats(units: Sequence[Unit]) -> list[Row]:
    """The rebalances that drive a loop: removals, and the leaves of clients that leave again and again."""
    left = Counter(client_of(u[0]) for u in units if u[0]["cause"] == "member_left")
    return [
        u[0]
        for u in units
        if u[0]["cause"] in REMOVALS
        or (u[0]["cause"] == "member_left" and client_of(u[0]) and left[client_of(u[0])] >= LOOP_LEAVES)
    ]


def client_of(row: Row) -> str:
    """The member as it is the same over restarts; empty where no witness names it."""
    return row["instance_id"] or row["client_id"] or row["member_id"] or ""


def rhythm_of(units: Sequence[Unit]) -> Rhythm | None:
    """What the rhythm of a storm's units resembles; None where there are too few to tell.

    Order: a limit of the clients before the clock, the clock before any steady interval: each says more than the next.
    """
    near = next((r for r in (_near_limit(units, *limit) for limit in _LIMITS) if r), None)
    times = [row["started_at"] for row in beats(units)]
    if near or len(times) < MIN_BEATS:
        return near
    return _on_the_clock(times) or _steady(times)


def _near_limit(
    units: Sequence[Unit], fingerprint: str, causes: Sequence[str], column: str, name: str
) -> Rhythm | None:
    """Removals as long after the rebalance before as the limit is: every member was alive when that one ended.

    Odd: this holds for the classic protocol, where all members take part in each rebalance.
    """
    waits, limits = [], []
    for before, unit in itertools.pairwise(units):
        row, last = unit[0], before[-1]["ended_at"]
        if row["cause"] in causes and row["protocol"] == "classic" and row[column] and last:
            waits.append((row["started_at"] - last) / timedelta(milliseconds=1))
            limits.append(row[column])
    if len(waits) < STORM_REMOVALS:
        return None
    off = median(abs(wait - limit) for wait, limit in zip(waits, limits, strict=True))
    if off > max(HEARTBEAT / timedelta(milliseconds=1), LIMIT_SPREAD * median(limits)):
        return None
    middle, spread = _middle(waits)
    return Rhythm(
        fingerprint,
        f"Its removals come {took(middle)} after the rebalance before (median; half of them within {took(spread)} of"
        f" it), and {name} is {took(median(limits))}: {_MEANS[fingerprint]}.",
    )


def _on_the_clock(times: Sequence[datetime]) -> Rhythm | None:
    """Acts at the same minute and second of every hour, or of every part of one."""
    for minutes in CRON_MINUTES:
        step = minutes * 60.0
        phases = [at.timestamp() % step for at in times]
        off = [(p - phases[0] + step / 2) % step - step / 2 for p in phases]
        apart = all((b - a).total_seconds() > step / 2 for a, b in itertools.pairwise(times))
        if apart and max(off) - min(off) <= ON_THE_CLOCK.total_seconds():
            minute, second = divmod(int(min(phases)), 60)
            when = f"second {second}" if minutes == 1 else f"minute {minute}, second {second}"
            return Rhythm("cron", f"It comes by the clock, every {minutes} min at {when}, as a scheduled job does.")
    return None


def _steady(times: Sequence[datetime]) -> Rhythm:
    intervals = [(b - a) / timedelta(milliseconds=1) for a, b in itertools.pairwise(times)]
    middle, spread = _middle(intervals)
    told = f"{took(middle)} apart (median; half of the intervals within {took(spread)} of it)"
    if spread <= STEADY_SPREAD * middle:
        return Rhythm("steady", f"What drives it comes {told}, as a loop of restarts does.")
    return Rhythm("irregular", f"It keeps no rhythm: what drives it comes {told}.")


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """The median, and the median distance from it."""
    middle = median(values)
    return middle, median(abs(v - middle) for v in values)
