"""Storms, rolling restarts and busy hours: the comings and goings of a group."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from kafka_hindsight.catalog.codes import Cause, Confidence, IncidentKind, Protocol
from kafka_hindsight.catalog.rows import Contributor, Incident, Rebalance
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules.group_rules import REBALANCES_EXCESSIVE, REBALANCES_FREQUENT
from kafka_hindsight.shared.durations import RETURN_WITHIN
from kafka_hindsight.shared.grouping import grouped, runs
from kafka_hindsight.shared.timelines import Timeline, timelines
from kafka_hindsight.shared.words import listed, verb

RebalanceUnit = Sequence[Rebalance]
"""A rebalance with its cooperative follow-ups."""

RATE_WINDOW = timedelta(minutes=60)
STORM_UNITS = 6
LOOP_TURNS = 3
"""So many removals within a storm's window are a loop. So are the leaves of one client: a deployment closes it once.

A client id that several members share, as the default of a library is, names no client: its members leave without a
return that is known for one."""


def driver_of(rebalance: Rebalance) -> Cause | None:
    """The cause in a rebalance that begins the next one of a loop; None if there is none.

    A removal, an assignment that could not be stored, or members that it left behind: they join again.
    Source: GroupCoordinator.onCompleteJoin completes a generation without those that did not join in time.
    """
    if rebalance.cause.noun.is_removal or rebalance.cause.noun.is_unstored:
        return rebalance.cause
    return next((c.cause for c in rebalance.contributors if c.cause.noun.is_late_join), None)


@dataclass(frozen=True)
class Storm:
    """The units of one storm, in order."""

    units: Sequence[RebalanceUnit]

    @cached_property
    def driving(self) -> list[Rebalance]:
        """The rebalances that drive the loop, the leaves of clients that leave again and again among them."""
        firsts = [unit[0] for unit in self.units]
        leaves = Counter(client_of(r) for r in firsts if r.cause.noun.is_leave)
        returning = _returning_clients(self.units)
        loops = {client for client, count in leaves.items() if client in returning and count >= LOOP_TURNS}
        return [r for r in firsts if driver_of(r) or (r.cause.noun.is_leave and client_of(r) in loops)]


def find_storms(units: Sequence[RebalanceUnit]) -> list[range]:
    """The storms of one group, each as the places of its units.

    A storm: six or more within any 60 minutes, three of which drive a loop, or are begun by a client that closes again
    and again: not a start-up.
    """
    returning = _returning_clients(units)
    loops = [_loop_of(unit[0], returning) for unit in units]
    turns: Counter[tuple[bool, str] | None] = Counter()
    storms: list[range] = []
    end = 0
    for first, unit in enumerate(units):
        while end < len(units) and units[end][0].started_at <= unit[0].started_at + RATE_WINDOW:
            turns[loops[end]] += 1
            end += 1
        if end - first >= STORM_UNITS and any(count >= LOOP_TURNS for loop, count in turns.items() if loop):
            if storms and first < storms[-1].stop:
                storms[-1] = range(storms[-1].start, end)
            else:
                storms.append(range(first, end))
        turns[loops[first]] -= 1
    return storms


def _returning_clients(units: Iterable[RebalanceUnit]) -> set[str]:
    """The clients that are known to have come back between the leaves of a loop."""
    acts = (act for unit in units for row in unit for act in acts_in(row))
    returns = Counter(client_of(act.row) for act in acts if act.cause.noun.is_return)
    return {client for client, count in returns.items() if client and count >= LOOP_TURNS - 1}


def _loop_of(rebalance: Rebalance, returning: Collection[str]) -> tuple[bool, str] | None:
    """The loop that a rebalance may be a turn of: that of all that begin the next one, or that of a client's leaves."""
    if driver_of(rebalance):
        return True, ""
    client = client_of(rebalance)
    return (False, client) if rebalance.cause.noun.is_leave and client in returning else None


@dataclass(frozen=True)
class MemberAct:
    """The act of one member in a rebalance. `row`: the rebalance that it began, or a contributor."""

    at: datetime
    cause: Cause
    row: Rebalance | Contributor
    rebalance: Rebalance


def acts_in(row: Rebalance) -> list[MemberAct]:
    """The acts of members in a rebalance: the one that began it, then those that fell into it."""
    return [
        MemberAct(row.started_at, row.cause, row, row),
        *(MemberAct(c.at, c.cause, c, row) for c in row.contributors),
    ]


def client_of(row: Rebalance | Contributor) -> str:
    """The name that a member keeps over restarts; empty where no evidence names the member."""
    return row.instance_id or row.client_id or row.member_id or ""


class _Restart(NamedTuple):
    left_at: datetime
    back_at: datetime
    client: str
    units: tuple[int, int]
    is_close: bool


def _may_be_close(act: MemberAct) -> bool:
    """Whether a member that left without a reason may have been closed as well as too slow."""
    is_possible = act.row is act.rebalance and act.rebalance.confidence == Confidence.POSSIBLE
    return act.cause.noun.is_late_poll and is_possible


def find_rolling_restarts(units: Sequence[RebalanceUnit]) -> list[list[int]]:
    """Deployments, each as the places of its units: two members or more that close and come back, one after another.

    A unit in which a session or a limit ran out belongs to no deployment, and neither does a client that restarts again
    and again. A leave that only may have been for the poll limit is one, beside a member that did close.
    """
    acts = [(act, client_of(act.row), n) for n, unit in enumerate(units) for row in unit for act in acts_in(row)]
    broken = {n for act, _, n in acts if act.cause.noun.is_removal and not _may_be_close(act)}
    comebacks = (a for a in acts if a[0].cause.noun.is_return and a[1])
    returns = timelines(comebacks, lambda a: a[1], lambda a: a[0].at)
    restarts = []
    for leave, client, n in acts:
        if (leave.cause.noun.is_leave or _may_be_close(leave)) and client in returns and n not in broken:
            comeback, _, comeback_n = returns[client].first_after(leave.at) or (None, "", n)
            if comeback is not None and comeback.at <= leave.at + RETURN_WITHIN and comeback_n not in broken:
                is_close = leave.cause.noun.is_leave
                restarts.append(_Restart(leave.at, comeback.at, client, (n, comeback_n), is_close))
    deployments = []
    for chain in runs(sorted(restarts), lambda run, restart: restart.left_at - run[-1].back_at <= RETURN_WITHIN):
        times = Counter(r.client for r in chain)
        calm = [r for r in chain if times[r.client] < LOOP_TURNS]
        if len({r.client for r in calm}) >= 2 and any(r.is_close for r in calm):
            deployments.append(sorted({n for r in calm for n in r.units}))
    return deployments


@dataclass(frozen=True)
class Replacement:
    """Members that left a group, and as many others that joined it, in the units at these places."""

    places: Sequence[int]
    leavers: int
    joiners: int
    span: timedelta


_DOUBTS = (Confidence.POSSIBLE, Confidence.UNKNOWN)


class _Successor(NamedTuple):
    first_at: datetime
    last_at: datetime
    leaver: str
    joiner: str
    units: tuple[int, int]


def find_replacements(units: Sequence[RebalanceUnit]) -> list[Replacement]:
    """The times in which two members or more left a group, and another one joined it within ten minutes of each.

    Lines name a member by its client id, its instance id and its member id alone, so they do not show whether the same
    program goes on under another name, or under a name that all share. A unit in which a session or a limit ran out
    belongs to none, and neither does a leave whose cause is only possible. Where lines show another number of members
    afterwards, the group was made larger or smaller.
    """
    acts = [(act, _process_of(act.row), n) for n, unit in enumerate(units) for row in unit for act in acts_in(row)]
    broken = {n for act, _, n in acts if act.cause.noun.is_removal or _is_doubtful_leave(act)}
    successors = sorted(_successors(sorted((a for a in acts if a[1] and a[2] not in broken), key=lambda a: a[0].at)))
    with_ends = zip(successors, accumulate((s.last_at for s in successors), max), strict=True)
    replacements = []
    for run in runs(with_ends, lambda run, pair: pair[0].first_at - run[-1][1] <= RETURN_WITHIN):
        leavers, joiners = {s.leaver for s, _ in run}, {s.joiner for s, _ in run}
        places = sorted({n for s, _ in run for n in s.units})
        before, after = units[places[0]][0].members_before, units[places[-1]][-1].members_after
        is_resized = None not in (before, after) and before != after
        if min(len(leavers), len(joiners)) > 1 and not leavers & joiners and not is_resized:
            span = run[-1][1] - run[0][0].first_at
            replacements.append(Replacement(places, len(leavers), len(joiners), span))
    return replacements


def _successors(acts: Sequence[tuple[MemberAct, str, int]]) -> list[_Successor]:
    """A member that joined for each that left: the first one after it, else the last one before it that stays.

    Orchestrators start new instances before they stop the old ones, or after.
    """
    leaves = [a for a in acts if a[0].cause.noun.is_leave]
    left_at = {leaver: leave.at for leave, leaver, _ in leaves}
    joins = Timeline(
        (a for a in acts if a[0].cause.noun.is_arrival and not a[0].cause.noun.is_return), lambda a: a[0].at
    )
    paired = set[tuple[str, int]]()
    successors = []
    for leave, leaver, n in leaves:
        near = [j for j in joins.near(leave.at, RETURN_WITHIN) if j[1] != leaver and j[1:] not in paired]
        after = [j for j in near if j[0].at >= leave.at]
        before = [j for j in near if j[0].at < leave.at < left_at.get(j[1], leave.at + RETURN_WITHIN)]
        if after or before:
            join, joiner, place = after[0] if after else before[-1]
            paired.add((joiner, place))
            first_at, last_at = sorted((leave.at, join.at))
            successors.append(_Successor(first_at, last_at, leaver, joiner, (n, place)))
    return successors


def _process_of(row: Rebalance | Contributor) -> str:
    """The name of a member's process: its member id, which a process that starts again does not keep."""
    return row.member_id or client_of(row)


def _is_doubtful_leave(act: MemberAct) -> bool:
    """Whether what a member began may have been no leave. Whatever the cause of a join, another member came."""
    is_doubtful = act.row is act.rebalance and act.rebalance.confidence in _DOUBTS
    return is_doubtful and not act.cause.noun.is_arrival


RATE_RULES = (REBALANCES_EXCESSIVE, REBALANCES_FREQUENT)
"""The worst first."""

_NAMED = 3
_IN_TURN = (IncidentKind.ROLLING_RESTART, IncidentKind.MEMBERS_REPLACED)
_HOUR = timedelta(minutes=REBALANCES_FREQUENT.thresholds["minutes"])


def busiest_hours(
    rebalances: Iterable[Rebalance], incidents: Iterable[Incident]
) -> dict[str, tuple[Rule, Sequence[Rebalance]]]:
    """The rebalances of the busiest 60 minutes of each group in which there were too many, with the rule they break.

    A cooperative pair counts once; members that were restarted in turn or replaced do not, nor changes of share groups:
    they stop no member, since none owns a partition alone (KIP-932).
    """
    restarts = {i.incident_id for i in incidents if i.kind in _IN_TURN}
    counting = (r for r in rebalances if r.protocol != Protocol.SHARE and not r.cause.noun.is_follow_up)
    relevant = (r for r in counting if r.incident_id not in restarts)
    by_group = grouped(sorted(relevant, key=turn_of), lambda r: r.group_id)
    busiest: dict[str, tuple[Rule, Sequence[Rebalance]]] = {}
    for group_id, rows in sorted(by_group.items()):
        starts = [r.started_at for r in rows]
        spans = ((first, bisect_left(starts, start + _HOUR)) for first, start in enumerate(starts))
        first, end = max(spans, key=lambda span: span[1] - span[0])
        if rule := rate_rule(rows[first:end]):
            busiest[group_id] = rule, rows[first:end]
    return busiest


def rate_rule(rows: Sequence[Rebalance]) -> Rule | None:
    """The worst rule that this many rebalances within an hour break."""
    return next((rule for rule in RATE_RULES if len(rows) >= rule.thresholds["rebalances"]), None)


def causes_of(rows: Iterable[Rebalance]) -> str:
    """Causes with their counts, the most frequent first."""
    causes = Counter(r.cause for r in rows)
    return ", ".join(f"{n} × {c.noun.label}" for c, n in sorted(causes.items(), key=lambda i: (-i[1], i[0])))


def advice_on(rows: Sequence[Rebalance], otherwise: str) -> str:
    """The advice on each kind of removal, the most frequent first, with the clients that it is about.

    In a loop of removals and returns, the removal is what to fix.
    """
    removals = grouped((r for r in rows if r.cause.noun.is_removal), lambda r: (r.cause, r.advice))
    ordered = sorted(removals.values(), key=lambda batch: (-len(batch), batch[0].cause, batch[0].advice))
    advice = []
    for batch in ordered:
        hosts = {f"'{r.client_id}'": f" on {r.host.removeprefix('/')}" if r.host else "" for r in batch if r.client_id}
        clients = [f"{client}{host}" for client, host in hosts.items()]
        subject = f"{verb(len(clients), 'Client', 'Clients')} {listed(clients, _NAMED)}: " if clients else ""
        advice.append(f"{subject}{batch[0].advice}")
    return " ".join(advice) or otherwise
