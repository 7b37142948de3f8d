"""Storms: a group that rebalances in a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.catalog.rows import Contributor, Rebalance

Unit = Sequence[Rebalance]
"""A rebalance with its cooperative follow-ups."""

RATE_WINDOW = timedelta(minutes=60)
STORM_UNITS = 6
STORM_REMOVALS = 3
LOOP_LEAVES = 3
"""A client that closes its consumer this often within a storm's window does so in a loop: a deployment does it once."""

REMOVALS = frozenset(c for c in Cause if c.noun.is_removal)


@dataclass(frozen=True)
class Storm:
    """The units of one storm, in order."""

    units: Sequence[Unit]

    @cached_property
    def driving(self) -> list[Rebalance]:
        """The rebalances that drive the loop: removals, and the leaves of clients that leave again and again."""
        firsts = [unit[0] for unit in self.units]
        left = Counter(client_of(r) for r in firsts if r.cause == Cause.MEMBER_LEFT)
        loops = {client for client, count in left.items() if client and count >= LOOP_LEAVES}
        return [r for r in firsts if r.cause in REMOVALS or (r.cause == Cause.MEMBER_LEFT and client_of(r) in loops)]

    @cached_property
    def times(self) -> list[datetime]:
        """When each of those began."""
        return [r.started_at for r in self.driving]


def find_storms(units: Sequence[Unit]) -> list[range]:
    """The storms of one group, each as the places of its units.

    Takes: the group's units in order. A storm: six or more within any 60 minutes, three of them begun by a removal, or
    by a client that closes again and again: a loop, not a start-up.
    """
    found: list[range] = []
    window, end = _DrivingCount(), 0
    for first, unit in enumerate(units):
        while end < len(units) and units[end][0].started_at <= unit[0].started_at + RATE_WINDOW:
            window.change(units[end][0], 1)
            end += 1
        if end - first >= STORM_UNITS and window.total >= STORM_REMOVALS:
            if found and first <= found[-1].stop:
                found[-1] = range(found[-1].start, end)
            else:
                found.append(range(first, end))
        window.change(unit[0], -1)
    return found


class _DrivingCount:
    """How many rebalances of a window that slides drive a loop."""

    def __init__(self) -> None:
        self.total = 0
        self._left: Counter[str] = Counter()

    def change(self, rebalance: Rebalance, by: int) -> None:
        """A rebalance enters (1) or leaves (-1) the window."""
        client = client_of(rebalance)
        if rebalance.cause in REMOVALS:
            self.total += by
        elif rebalance.cause == Cause.MEMBER_LEFT and client:
            self.total -= self._driving_leaves(client)
            self._left[client] += by
            self.total += self._driving_leaves(client)

    def _driving_leaves(self, client: str) -> int:
        return self._left[client] if self._left[client] >= LOOP_LEAVES else 0


def acts_in(row: Rebalance) -> list[tuple[datetime, Rebalance | Contributor]]:
    """What members did in a rebalance, and when: what began it, then what else fell into it."""
    return [(row.started_at, row), *((c.at, c) for c in row.contributors)]


def client_of(row: Rebalance | Contributor) -> str:
    """The name that a member keeps over restarts; empty where no evidence names the member."""
    return row.instance_id or row.client_id or row.member_id or ""
