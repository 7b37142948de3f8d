"""Rebalances with one origin, told once: an outage, a deployment, a storm, a cooperative pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.knowledge.causes import CAUSE_BY_CODE
from spark_jobs.transforms.evidence import evidence_of, row_id

Row = Mapping[str, Any]

RATE_WINDOW = timedelta(minutes=60)
STORM_UNITS = 6
STORM_REMOVALS = 3
RESTART_WITHIN = timedelta(minutes=10)
OUTAGE_SHADOW = timedelta(seconds=75)
"""How long after a broker's outage its groups may still pay for it: a session of 45 s and the time to notice."""

REMOVALS = frozenset({"heartbeat_expired", "member_dead", "max_poll_exceeded", "join_timeout", "sync_timeout"})
_OWED_TO_BROKERS = frozenset({"coordinator_moved", "heartbeat_expired", "storage_error"})


@dataclass
class _Incident:
    kind: str
    rebalances: list[Row]
    outage: Row | None = None
    planned: bool = False


def group_incidents(
    rebalances: Iterable[Row], outages: Sequence[Row], moves: Sequence[Row], partition_counts: Mapping[str, int]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Every rebalance in exactly one incident.

    Takes: rows of gold.rebalances, broker_outages and coordinator_moves of one cluster, and how many partitions each
    group owned. Gives: rows of gold.incidents, and the incident of each rebalance id.
    Keeps: the rebalance counts of the incidents add up to the rebalances.
    """
    by_group: dict[str, list[Row]] = defaultdict(list)
    for rebalance in sorted(rebalances, key=lambda r: (r["started_at"], r["rebalance_id"])):
        by_group[rebalance["group_id"]].append(rebalance)
    incidents: list[_Incident] = []
    shared: dict[str, _Incident] = {}
    for group_id in sorted(by_group):
        own_moves = [m for m in moves if m["group_id"] == group_id]
        incidents.extend(_incidents_of_group(by_group[group_id], outages, own_moves, shared))
    incidents.extend(shared.values())
    rows = [_row(i, partition_counts) for i in incidents]
    of = {r["rebalance_id"]: row["incident_id"] for i, row in zip(incidents, rows, strict=True) for r in i.rebalances}
    return sorted(rows, key=lambda r: (r["started_at"], r["incident_id"])), of


def _incidents_of_group(
    rebalances: list[Row], outages: Sequence[Row], moves: Sequence[Row], shared: dict[str, _Incident]
) -> list[_Incident]:
    rest = []
    for rebalance in rebalances:
        outage = _outage_behind(rebalance, outages, moves)
        if outage is None:
            rest.append(rebalance)
            continue
        incident = shared.setdefault(
            outage["outage_id"], _Incident("broker_outage", [], outage, planned=outage["planned"])
        )
        incident.rebalances.append(rebalance)
    units = _units(rest)
    rolling, units = _rolling_restarts(units)
    storms, units = _storms(units)
    return [*rolling, *storms, *(_small_incident(u) for u in units)]


def _outage_behind(rebalance: Row, outages: Sequence[Row], moves: Sequence[Row]) -> Row | None:
    """The outage of the group's coordinator that the rebalance is owed to."""
    if rebalance["cause"] not in _OWED_TO_BROKERS:
        return None
    at = rebalance["started_at"]
    moved = {
        m["outage_id"]
        for m in moves
        if m["outage_id"] and m["moved_at"] - OUTAGE_SHADOW <= at <= m["moved_at"] + OUTAGE_SHADOW
    }
    for outage in outages:
        end = outage["up_at"] or outage["detected_at"] or outage["down_at"]
        hit = outage["broker"] == rebalance["coordinator"] or outage["outage_id"] in moved
        if hit and outage["down_at"] <= at <= end + OUTAGE_SHADOW:
            return outage
    return None


def _units(rebalances: Sequence[Row]) -> list[list[Row]]:
    """A cooperative follow-up belongs to the rebalance before it; every other rebalance stands for itself."""
    units: list[list[Row]] = []
    for rebalance in rebalances:
        if rebalance["cause"] == "cooperative_followup" and units:
            units[-1].append(rebalance)
        else:
            units.append([rebalance])
    return units


def _acts(unit: Sequence[Row]) -> list[tuple[datetime, str, str]]:
    """Who did what in a unit: (at, cause, client), triggers and contributors."""
    found = []
    for rebalance in unit:
        found.append((rebalance["started_at"], rebalance["cause"], _client(rebalance)))
        found.extend((c["at"], c["cause"], _client(c)) for c in rebalance["contributors"])
    return found


def _client(row: Row) -> str:
    return row["instance_id"] or row["client_id"] or row["member_id"] or ""


def _rolling_restarts(units: list[list[Row]]) -> tuple[list[_Incident], list[list[Row]]]:
    """Members that close and come back one after another: a deployment. At least two, each within 10 minutes."""
    acts = [(at, cause, client, n) for n, unit in enumerate(units) for at, cause, client in _acts(unit)]
    restarts: list[tuple[datetime, datetime, str, int, int]] = []
    for at, cause, client, n in acts:
        if cause != "member_left" or not client:
            continue
        back = min(
            (
                (b_at, b_n)
                for b_at, b_cause, b_client, b_n in acts
                if b_cause == "member_rejoined" and b_client == client and at < b_at <= at + RESTART_WITHIN
            ),
            default=None,
        )
        if back is not None:
            restarts.append((at, back[0], client, n, back[1]))
    incidents, used = [], set()
    for chain in _chains(sorted(restarts)):
        if len({client for _, _, client, _, _ in chain}) < 2:
            continue
        members = sorted({n for _, _, _, left, back in chain for n in (left, back)})
        used.update(members)
        incidents.append(_Incident("rolling_restart", [r for n in members for r in units[n]], planned=True))
    return incidents, [u for n, u in enumerate(units) if n not in used]


def _chains(
    restarts: list[tuple[datetime, datetime, str, int, int]],
) -> list[list[tuple[datetime, datetime, str, int, int]]]:
    chains: list[list[tuple[datetime, datetime, str, int, int]]] = []
    for restart in restarts:
        if chains and restart[0] - chains[-1][-1][1] <= RESTART_WITHIN:
            chains[-1].append(restart)
        else:
            chains.append([restart])
    return chains


def _storms(units: list[list[Row]]) -> tuple[list[_Incident], list[list[Row]]]:
    """Six or more within any 60 minutes, three of them begun by the removal of a member: a loop, not a start-up."""
    starts = [u[0]["started_at"] for u in units]
    stormy: set[int] = set()
    for first, start in enumerate(starts):
        window = [n for n in range(first, len(units)) if starts[n] - start <= RATE_WINDOW]
        removals = sum(units[n][0]["cause"] in REMOVALS for n in window)
        if len(window) >= STORM_UNITS and removals >= STORM_REMOVALS:
            stormy.update(window)
    incidents: list[_Incident] = []
    last: int | None = None
    for n in sorted(stormy):
        if last is not None and n == last + 1:
            incidents[-1].rebalances.extend(units[n])
        else:
            incidents.append(_Incident("storm", list(units[n])))
        last = n
    return incidents, [u for n, u in enumerate(units) if n not in stormy]


def _small_incident(unit: list[Row]) -> _Incident:
    if len(unit) > 1:
        return _Incident("cooperative_pair", unit)
    return _Incident("coordinator_move" if unit[0]["cause"] == "coordinator_moved" else "single", unit)


def _row(incident: _Incident, partition_counts: Mapping[str, int]) -> dict[str, Any]:
    rebalances = sorted(incident.rebalances, key=lambda r: (r["started_at"], r["rebalance_id"]))
    first = rebalances[0]
    lead = _leading(rebalances, incident.kind)
    ends = [r["ended_at"] for r in rebalances]
    return {
        "cluster": first["cluster"],
        "incident_id": row_id("incident", incident.kind, *(r["rebalance_id"] for r in rebalances)),
        "kind": incident.kind,
        "planned": incident.planned,
        "started_at": first["started_at"],
        "ended_at": None if None in ends else max(ends),
        "group_ids": sorted({r["group_id"] for r in rebalances}),
        "rebalance_count": len(rebalances),
        "cause": lead["cause"],
        "confidence": lead["confidence"],
        "outage_id": incident.outage["outage_id"] if incident.outage else None,
        "partition_seconds": _cost(rebalances, partition_counts),
        "explanation": _explain(incident, rebalances, lead),
        "advice": CAUSE_BY_CODE[lead["cause"]].advice,
        "evidence": evidence_of(e for r in rebalances for e in r["evidence"][:3]),
    }


def _leading(rebalances: Sequence[Row], kind: str) -> Row:
    """The rebalance whose cause stands for the incident: in a storm the most frequent removal, else the first."""
    if kind != "storm":
        return rebalances[0]
    counts = Counter(r["cause"] for r in rebalances if r["cause"] in REMOVALS)
    cause = min(counts, key=lambda c: (-counts[c], c))
    return next(r for r in rebalances if r["cause"] == cause)


def _cost(rebalances: Sequence[Row], partition_counts: Mapping[str, int]) -> float | None:
    """Partitions stopped times seconds, for eager rebalances: in the others most partitions go on being read."""
    known = [
        partition_counts[r["group_id"]] * r["duration_ms"] / 1000
        for r in rebalances
        if r["duration_ms"] is not None and r["protocol"] == "classic" and r["group_id"] in partition_counts
    ]
    return round(sum(known), 3) if known else None


def _explain(incident: _Incident, rebalances: Sequence[Row], lead: Row) -> str:
    count, group = len(rebalances), rebalances[0]["group_id"]
    causes = Counter(r["cause"] for r in rebalances)
    told = ", ".join(f"{n} × {c.replace('_', ' ')}" for c, n in sorted(causes.items(), key=lambda i: (-i[1], i[0])))
    if incident.kind == "broker_outage" and incident.outage is not None:
        groups = len({r["group_id"] for r in rebalances})
        return (
            f"Broker {incident.outage['broker']} was away from {incident.outage['down_at']:%H:%M:%S} on:"
            f" {count} rebalances of {groups} groups are owed to it ({told})."
        )
    if incident.kind == "rolling_restart":
        members = len({_client(r) for r in rebalances if r["cause"] in ("member_left", "member_rejoined")})
        return f"{members} members of group '{group}' were restarted one after another: {count} rebalances."
    if incident.kind == "storm":
        return f"Group '{group}' rebalanced {count} times: {told}."
    if incident.kind == "cooperative_pair":
        return f"{lead['explanation']} The cooperative follow-up belongs to it."
    return str(lead["explanation"])
