"""Deployments told from crash loops, and scale-outs from both: what a group's comings and goings look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spark_jobs.transforms.durations import RETURN_WITHIN
from spark_jobs.transforms.groups.storms import LOOP_LEAVES, REMOVALS, Row, Unit, client_of

_DEPARTURES = {*REMOVALS, "member_left", "removed_by_admin"}


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


def rolling_restarts(units: Sequence[Unit]) -> list[list[int]]:
    """Deployments, each as the places of its units: two members or more that close and come back, one after another.

    Takes: the group's units in order.
    Keeps: no removal is ever planned: a unit in which a session or a limit ran out belongs to no deployment, and
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


def scale_outs(units: Sequence[Unit]) -> set[str]:
    """The rebalances in which a running group only grew: new members joined, and nobody left for 10 minutes around."""
    departures = [a.at for a in _acts(units) if a.cause in _DEPARTURES]
    return {
        unit[0]["rebalance_id"]
        for unit in units
        if _grows(unit[0]) and not any(abs(at - unit[0]["started_at"]) <= RETURN_WITHIN for at in departures)
    }


def _grows(row: Row) -> bool:
    causes = {row["cause"], *(c["cause"] for c in row["contributors"])}
    grown = bool(row["members_before"]) and (row["members_after"] or 0) > row["members_before"]
    return causes == {"member_joined"} and row["confidence"] in ("certain", "likely") and grown


def _acts(units: Sequence[Unit]) -> list[_Act]:
    found = []
    for n, unit in enumerate(units):
        for row in unit:
            found.append(_Act(row["started_at"], row["cause"], client_of(row), n))
            found += [_Act(c["at"], c["cause"], client_of(c), n) for c in row["contributors"]]
    return found


def _restarts(acts: Sequence[_Act]) -> list[_Restart]:
    found = []
    for left in acts:
        if left.cause != "member_left" or not left.client:
            continue
        returns = [
            a
            for a in acts
            if a.cause == "member_rejoined" and a.client == left.client and left.at < a.at <= left.at + RETURN_WITHIN
        ]
        if returns:
            back = min(returns)
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
