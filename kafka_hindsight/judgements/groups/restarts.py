"""Rolling restarts, which are not crash loops, and scale-outs: the comings and goings of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.groups.storms import LOOP_LEAVES, REMOVALS, Unit, acts_in, client_of
from kafka_hindsight.judgements.reasoning.timelines import Timeline, timelines
from kafka_hindsight.shared.durations import RETURN_WITHIN

_DEPARTURES = frozenset(c for c in Cause if c.noun.is_departure)


@dataclass(frozen=True, order=True)
class _Act:
    """Who did what in a unit: a trigger or a contributor."""

    at: datetime
    cause: str
    client: str
    unit: int


@dataclass(frozen=True, order=True)
class _Restart:
    left_at: datetime
    back_at: datetime
    client: str
    units: tuple[int, int]


def find_rolling_restarts(units: Sequence[Unit]) -> list[list[int]]:
    """Deployments, each as the places of its units: two members or more that close and come back, one after another.

    Takes: the group's units in order.
    Keeps: a removal is not part of it: a unit in which a session or a limit ran out belongs to no deployment, and
    neither does a client that restarts again and again.
    """
    acts = _acts(units)
    broken = {a.unit for a in acts if a.cause in REMOVALS}
    restarts = [r for r in _restarts(acts) if not broken & {*r.units}]
    found = []
    for chain in _chains(sorted(restarts)):
        times = Counter(r.client for r in chain)
        calm = [r for r in chain if times[r.client] < LOOP_LEAVES]
        if len({r.client for r in calm}) >= 2:
            found.append(sorted({n for r in calm for n in r.units}))
    return found


def find_scale_outs(units: Sequence[Unit]) -> set[str]:
    """The rebalances in which a running group only grew: new members joined, and none left for 10 minutes around."""
    departures = Timeline((a for a in _acts(units) if a.cause in _DEPARTURES), at=lambda a: a.at)
    return {
        unit[0].rebalance_id
        for unit in units
        if _grows(unit[0]) and not departures.near(unit[0].started_at, RETURN_WITHIN)
    }


def _grows(row: Rebalance) -> bool:
    causes = {row.cause, *(c.cause for c in row.contributors)}
    is_known = row.confidence in (Confidence.CERTAIN, Confidence.LIKELY)
    before = row.members_before or 0
    return causes == {Cause.MEMBER_JOINED} and is_known and 0 < before < (row.members_after or 0)


def _acts(units: Sequence[Unit]) -> list[_Act]:
    return [
        _Act(at, act.cause, client_of(act), n)
        for n, unit in enumerate(units)
        for row in unit
        for at, act in acts_in(row)
    ]


def _restarts(acts: Sequence[_Act]) -> list[_Restart]:
    returns = timelines(
        (a for a in acts if a.cause == Cause.MEMBER_REJOINED and a.client), lambda a: a.client, lambda a: a.at
    )
    found = []
    for left in acts:
        if left.cause == Cause.MEMBER_LEFT and left.client in returns:
            back = returns[left.client].first_after(left.at)
            if back is not None and back.at <= left.at + RETURN_WITHIN:
                found.append(_Restart(left.at, back.at, left.client, (left.unit, back.unit)))
    return found


def _chains(restarts: Sequence[_Restart]) -> list[list[_Restart]]:
    chains: list[list[_Restart]] = []
    for restart in restarts:
        if chains and restart.left_at - chains[-1][-1].back_at <= RETURN_WITHIN:
            chains[-1].append(restart)
        else:
            chains.append([restart])
    return chains
