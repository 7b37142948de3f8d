"""Rebalances with one origin, told once: an outage, a silent host, a deployment, a storm, a cooperative pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.catalog.codes import Confidence
from spark_jobs.knowledge.causes import CAUSE_BY_CODE
from spark_jobs.transforms.evidence import evidence_of, row_id
from spark_jobs.transforms.groups.outage_attribution import Loss, owed_to_outages
from spark_jobs.transforms.groups.rates import causes_of
from spark_jobs.transforms.groups.restarts import rolling_restarts, scale_outs
from spark_jobs.transforms.groups.silent_hosts import SilentHost, silent_hosts
from spark_jobs.transforms.groups.storms import Rhythm, Unit, beats, client_of, rhythm_of, storms

Row = Mapping[str, Any]


@dataclass
class _Incident:
    kind: str
    rebalances: list[Row]
    outage: Row | None = None
    planned: bool = False
    host: SilentHost | None = None
    rhythm: Rhythm | None = None
    is_scale_out: bool = False


@dataclass(frozen=True)
class _Told:
    """What every explanation may say: how many rebalances the window holds, and the place of each in its chain.

    `chains`: the chain that a rebalance belongs to, by rebalance id: the ids of its links in order.
    """

    total: int
    chains: Mapping[str, Sequence[str]]


def group_incidents(
    rebalances: Iterable[Row],
    outages: Sequence[Row],
    moves: Sequence[Row],
    losses: Mapping[str, Sequence[Loss]] | None = None,
    roster: Iterable[Row] = (),
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Every rebalance in exactly one incident.

    Takes: rows of gold.rebalances with their costs, broker_outages and coordinator_moves of one cluster, when each
    group's partition of `__consumer_offsets` lost its leader (coordinators.losses_of_groups), and who was in the groups
    (rebalances.roster).
    Gives: rows of gold.incidents, and the incident of each rebalance id.
    Keeps: the rebalance counts of the incidents add up to the rebalances.
    """
    by_group: dict[str, list[Row]] = defaultdict(list)
    for rebalance in sorted(rebalances, key=lambda r: (r["started_at"], r["rebalance_id"])):
        by_group[rebalance["group_id"]].append(rebalance)
    incidents: list[_Incident] = []
    shared: dict[str, _Incident] = {}
    settled: set[str] = set()
    for group_id, own in sorted(by_group.items()):
        moved = [(m["moved_at"], m["outage_id"]) for m in moves if m["group_id"] == group_id and m["outage_id"]]
        owed = owed_to_outages(own, outages, [*moved, *(losses or {}).get(group_id, ())])
        for row in (r for r in own if r["rebalance_id"] in owed):
            outage = owed[row["rebalance_id"]]
            incident = _Incident("broker_outage", [], outage, planned=outage["planned"])
            shared.setdefault(outage["outage_id"], incident).rebalances.append(row)
        settled |= owed.keys()
    incidents.extend(shared.values())
    for host in silent_hosts([r for own in by_group.values() for r in own if r["rebalance_id"] not in settled], roster):
        incidents.append(_Incident("host_silent", list(host.rebalances), host=host))
        settled |= {r["rebalance_id"] for r in host.rebalances}
    for _, own in sorted(by_group.items()):
        incidents.extend(_incidents_of_group([r for r in own if r["rebalance_id"] not in settled]))
    told = _Told(sum(map(len, by_group.values())), _chains(by_group.values()))
    rows = [_row(i, told) for i in incidents]
    of = {r["rebalance_id"]: row["incident_id"] for i, row in zip(incidents, rows, strict=True) for r in i.rebalances}
    return sorted(rows, key=lambda r: (r["started_at"], r["incident_id"])), of


def _incidents_of_group(rebalances: Sequence[Row]) -> list[_Incident]:
    units = _units(rebalances)
    grown = scale_outs(units)
    found = []
    for places in rolling_restarts(units):
        found.append(_Incident("rolling_restart", [r for n in places for r in units[n]], planned=True))
    units = _without(units, found)
    for places in storms(units):
        stormy = [units[n] for n in places]
        found.append(_Incident("storm", [r for u in stormy for r in u], rhythm=rhythm_of(stormy)))
    units = _without(units, found)
    return [*found, *(_small_incident(u, u[0]["rebalance_id"] in grown) for u in units)]


def _without(units: Sequence[Unit], incidents: Sequence[_Incident]) -> list[Unit]:
    taken = {r["rebalance_id"] for i in incidents for r in i.rebalances}
    return [u for u in units if u[0]["rebalance_id"] not in taken]


def _units(rebalances: Sequence[Row]) -> Sequence[Unit]:
    """A cooperative follow-up belongs to the rebalance before it; every other rebalance stands for itself."""
    units: list[list[Row]] = []
    for rebalance in rebalances:
        if rebalance["cause"] == "cooperative_followup" and units:
            units[-1].append(rebalance)
        else:
            units.append([rebalance])
    return units


def _small_incident(unit: Unit, is_scale_out: bool) -> _Incident:
    kind = "coordinator_move" if unit[0]["cause"] == "coordinator_moved" else "single"
    return _Incident("cooperative_pair" if len(unit) > 1 else kind, list(unit), is_scale_out=is_scale_out)


def _chains(groups: Iterable[Sequence[Row]]) -> dict[str, Sequence[str]]:
    """The chain of each rebalance that restarted one of the same window, or was restarted by one."""
    chains: dict[str, list[str]] = {}
    for rows in groups:
        for row in rows:
            chain = chains.get(row["follows"] or "", [])
            chain.append(row["rebalance_id"])
            chains[row["rebalance_id"]] = chain
    return {i: chain for i, chain in chains.items() if len(chain) > 1}


def _row(incident: _Incident, told: _Told) -> dict[str, Any]:
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
        "confidence": _confidence(incident, lead),
        "fingerprint": incident.rhythm.fingerprint if incident.rhythm else None,
        "outage_id": incident.outage["outage_id"] if incident.outage else None,
        "partition_seconds": _cost(rebalances),
        "explanation": _explain(incident, rebalances, lead, told),
        "advice": CAUSE_BY_CODE[lead["cause"]].advice,
        "evidence": evidence_of(e for r in rebalances for e in r["evidence"][:3]),
    }


def _leading(rebalances: Sequence[Row], kind: str) -> Row:
    """The rebalance whose cause stands for the incident: in a storm the most frequent of those that drive it, on a
    silent host the surest, in an outage the first whose cause is known, else the first."""
    if kind == "host_silent":
        return min(rebalances, key=lambda r: list(Confidence).index(r["confidence"]))
    if kind != "storm":
        known = (r for r in rebalances if r["cause"] != "unknown")
        return next(known, rebalances[0]) if kind == "broker_outage" else rebalances[0]
    driving = beats(_units(rebalances))
    counts = Counter(r["cause"] for r in driving)
    cause = min(counts, key=lambda c: (-counts[c], c))
    return next(r for r in driving if r["cause"] == cause)


def _confidence(incident: _Incident, lead: Row) -> str:
    """As sure as the verdict that leads; what one member of a silent host proves is likely for the others."""
    return "likely" if incident.host and lead["confidence"] == "certain" else str(lead["confidence"])


def _cost(rebalances: Sequence[Row]) -> float | None:
    """What its rebalances cost, as far as that is known of any."""
    known = [r["partition_seconds"] for r in rebalances if r["partition_seconds"] is not None]
    return round(sum(known), 3) if known else None


def _explain(incident: _Incident, rebalances: Sequence[Row], lead: Row, told: _Told) -> str:
    return _says(incident, rebalances, lead, told.total) + _told_of_chains(rebalances, told.chains)


def _says(incident: _Incident, rebalances: Sequence[Row], lead: Row, total: int) -> str:
    count, group = len(rebalances), rebalances[0]["group_id"]
    listed = causes_of(rebalances)
    if incident.kind == "broker_outage" and incident.outage is not None:
        groups = len({r["group_id"] for r in rebalances})
        return (
            f"Broker {incident.outage['broker']}, away from {incident.outage['down_at']:%H:%M:%S} on, accounts for"
            f" {count} of {total} rebalances, in {groups} group{'s' if groups > 1 else ''} ({listed})."
        )
    if incident.host is not None:
        return f"{incident.host.says()} {count} rebalances ({listed})."
    if incident.kind == "rolling_restart":
        members = len({client_of(r) for r in rebalances if r["cause"] in ("member_left", "member_rejoined")})
        return f"{members} members of group '{group}' were restarted one after another: {count} rebalances."
    if incident.kind == "storm":
        return f"Group '{group}' rebalanced {count} times: {listed}.{_rhythm(incident)}"
    says = str(lead["explanation"])
    if incident.is_scale_out:
        says += f" A scale-out: from {lead['members_before']} members to {lead['members_after']}, and nobody left."
    return f"{says} The cooperative follow-up belongs to it." if incident.kind == "cooperative_pair" else says


def _rhythm(incident: _Incident) -> str:
    return f" {incident.rhythm.says}" if incident.rhythm else ""


def _told_of_chains(rebalances: Sequence[Row], chains: Mapping[str, Sequence[str]]) -> str:
    """The longest chain that its rebalances belong to, and what they are of it."""
    here = [r["rebalance_id"] for r in rebalances]
    chain = max((chains[i] for i in here if i in chains), key=len, default=())
    if not chain:
        return ""
    whole = f"a chain of {len(chain)}, each begun before the one before it was in use"
    if len(here) == 1:
        return f" It is number {chain.index(here[0]) + 1} in {whole}."
    return f" It {'holds' if {*chain} <= {*here} else 'is part of'} {whole}."
