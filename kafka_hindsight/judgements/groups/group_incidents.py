"""Rebalances with one origin as one incident: an outage, a silent host, a deployment, a storm, a cooperative pair."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial

from kafka_hindsight.catalog.codes import Cause, Fingerprint, IncidentKind
from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove, Incident, MemberStay, Rebalance
from kafka_hindsight.judgements.groups.incident_rulings import INCIDENTS, Gathered
from kafka_hindsight.judgements.groups.outage_attribution import Loss, OutageLookup, attribute_to_outages
from kafka_hindsight.judgements.groups.rates import advice_on
from kafka_hindsight.judgements.groups.silent_hosts import find_silent_hosts
from kafka_hindsight.judgements.groups.storms import Storm, Unit, find_rolling_restarts, find_scale_outs, find_storms
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.shared.grouping import grouped

Chains = Mapping[str, tuple[Sequence[str], int]]
"""The chain that a rebalance belongs to, by rebalance id: the ids of its links in order, and its place among them."""


def group_incidents(
    rebalances: Iterable[Rebalance],
    outages: Sequence[BrokerOutage],
    moves: Iterable[CoordinatorMove],
    losses: Mapping[str, Sequence[Loss]] | None = None,
    roster: Iterable[MemberStay] = (),
) -> tuple[list[Incident], dict[str, str]]:
    """Every rebalance in exactly one incident.

    Takes: rows of one cluster; `losses`, when each group's partition of `__consumer_offsets` lost its leader.
    Gives: rows of gold.incidents, and the incident of each rebalance id.
    """
    by_group = grouped(_in_turn(rebalances), lambda r: r.group_id)
    gathered = partial(Gathered, total=sum(map(len, by_group.values())))
    lookup, moved = OutageLookup(outages), grouped((m for m in moves if m.outage_id), lambda m: m.group_id)
    outage_of: dict[str, BrokerOutage] = {}
    for group_id, own in by_group.items():
        lost = [(m.moved_at, m.outage_id or "") for m in moved.get(group_id, ())]
        outage_of |= attribute_to_outages(own, lookup, [*lost, *(losses or {}).get(group_id, ())])
    hit, others = _split(_in_turn(_flat(by_group.values())), outage_of)
    by_outage = grouped(hit, lambda r: outage_of[r.rebalance_id].outage_id)
    cases = [gathered(rows, outage=outage_of[rows[0].rebalance_id]) for rows in by_outage.values()]

    hosts = find_silent_hosts(others, roster)
    cases += [gathered(_in_turn(host.rebalances), host=host) for host in hosts]
    _, others = _split(others, {r.rebalance_id for r in _flat(host.rebalances for host in hosts)})
    for own in grouped(others, lambda r: r.group_id).values():
        cases += _cases_of_group(own, gathered)

    chains = _chains(by_group.values())
    rows = [(case, _row(case, chains)) for case in cases]
    incident_of = {r.rebalance_id: row.incident_id for case, row in rows for r in case.rebalances}
    return sorted((row for _, row in rows), key=lambda r: (r.started_at, r.incident_id)), incident_of


def _in_turn(rebalances: Iterable[Rebalance]) -> list[Rebalance]:
    return sorted(rebalances, key=lambda r: (r.started_at, r.rebalance_id))


def _split(rebalances: Iterable[Rebalance], ids: Container[str]) -> tuple[list[Rebalance], list[Rebalance]]:
    """The rebalances with one of the ids, and the others."""
    halves = grouped(rebalances, lambda r: r.rebalance_id in ids)
    return halves.get(True, []), halves.get(False, [])


def _cases_of_group(rebalances: Sequence[Rebalance], gathered: partial[Gathered]) -> list[Gathered]:
    """Deployments, then storms among what is left, then each of the rest for itself."""
    units = _units(rebalances)
    grown = find_scale_outs(units)
    restarts = find_rolling_restarts(units)
    cases = [gathered(_flat([units[n] for n in places]), is_rolling_restart=True) for places in restarts]
    units = _rest(units, restarts)
    storms = find_storms(units)
    for places in storms:
        storm = Storm(units[places.start : places.stop])
        cases.append(gathered(_flat(storm.units), storm=storm))
    return [*cases, *(gathered(u, is_scale_out=u[0].rebalance_id in grown) for u in _rest(units, storms))]


def _units(rebalances: Sequence[Rebalance]) -> list[Unit]:
    """A cooperative follow-up belongs to the rebalance before it; every other rebalance is a unit of its own."""
    units: list[list[Rebalance]] = []
    for rebalance in rebalances:
        if rebalance.cause == Cause.COOPERATIVE_FOLLOWUP and units:
            units[-1].append(rebalance)
        else:
            units.append([rebalance])
    return [*units]


def _flat(units: Iterable[Unit]) -> list[Rebalance]:
    return [r for unit in units for r in unit]


def _rest(units: Sequence[Unit], taken: Iterable[Iterable[int]]) -> list[Unit]:
    places = {n for found in taken for n in found}
    return [unit for n, unit in enumerate(units) if n not in places]


def _chains(groups: Iterable[Sequence[Rebalance]]) -> Chains:
    """The chain of each rebalance that restarted one of the same window, or was restarted by one."""
    chains: dict[str, list[str]] = {}
    places: dict[str, int] = {}
    for rebalance in _flat(groups):
        chain = chains.get(rebalance.follows or "", [])
        places[rebalance.rebalance_id] = len(chain)
        chain.append(rebalance.rebalance_id)
        chains[rebalance.rebalance_id] = chain
    return {i: (chain, places[i]) for i, chain in chains.items() if len(chain) > 1}


def _row(case: Gathered, chains: Chains) -> Incident:
    verdict = judge(INCIDENTS, case)
    first, advice = case.rebalances[0], case.leading.cause.advice
    if not (case.is_rolling_restart or case.outage):
        advice = advice_on(case.rebalances, advice)
    return Incident(
        cluster=first.cluster,
        incident_id=row_id("incident", verdict.code, *(r.rebalance_id for r in case.rebalances)),
        kind=IncidentKind(verdict.code),
        intent=case.intent,
        started_at=first.started_at,
        ended_at=case.ended_at,
        group_ids=sorted({r.group_id for r in case.rebalances}),
        rebalance_count=len(case.rebalances),
        cause=case.leading.cause,
        confidence=case.confidence,
        fingerprint=Fingerprint(case.fingerprint.code) if case.fingerprint else None,
        first_outage_id=case.outage.outage_id if case.outage else None,
        partition_seconds=case.cost,
        explanation=verdict.sentence + _in_chain(case.rebalances, chains),
        advice=advice,
        evidence=evidence_of(e for r in case.rebalances for e in r.evidence[:3]),
    )


def _in_chain(rebalances: Sequence[Rebalance], chains: Chains) -> str:
    """The longest chain that its rebalances belong to, and what they are of it."""
    here = [r.rebalance_id for r in rebalances if r.rebalance_id in chains]
    if not here:
        return ""
    chain, place = max((chains[i] for i in here), key=lambda found: len(found[0]))
    whole = f"a chain of {len(chain)} rebalances: each began before members could use the assignment of the one before"
    if len(rebalances) == 1:
        return f" It is number {place + 1} in {whole}."
    return f" It {'holds' if {*chain} <= {*here} else 'is part of'} {whole}."
