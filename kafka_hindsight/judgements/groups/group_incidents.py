"""Rebalances with one origin as one incident: an outage, a silent host, a deployment, a storm, a cooperative pair."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from kafka_hindsight.catalog.codes import Cause, Fingerprint, IncidentKind, Outcome
from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove, Incident, MemberStay, Rebalance
from kafka_hindsight.judgements.groups.incident_rulings import INCIDENTS, Gathered, find_silent_hosts
from kafka_hindsight.judgements.groups.storms import (
    Storm,
    Unit,
    advice_on,
    client_of,
    find_rolling_restarts,
    find_scale_outs,
    find_storms,
)
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline, intervals
from kafka_hindsight.shared.durations import CATCHING_UP, OUTAGE_SHADOW, RETURN_WITHIN
from kafka_hindsight.shared.grouping import grouped

BROKER_INDUCED_CAUSES = frozenset((Cause.UNKNOWN, *(c for c in Cause if c.noun.is_broker_induced)))
"""What a member or a coordinator suffers when a broker goes, or what nothing else explains. A member that dies, leaves
or is too slow does so by itself."""

Loss = tuple[datetime, str]
"""When the group's partition of `__consumer_offsets` lost its leader, and the outage behind that."""


class OutageLookup:
    """The outages that can have begun a rebalance, by instant."""

    def __init__(self, outages: Sequence[BrokerOutage]) -> None:
        self._by_broker = intervals(outages, lambda o: o.broker, _felt)
        self._by_id = {o.outage_id: _felt(o) for o in outages}
        self._out_of_sync = Intervals(_out_of_sync(o) for o in outages)

    def behind(self, row: Rebalance, losses: Timeline[Loss]) -> BrokerOutage | None:
        """The outage that began the rebalance itself: of several, the one that began last."""
        if row.cause not in BROKER_INDUCED_CAUSES:
            return None
        at = row.started_at
        lost = {outage_id for _, outage_id in losses.near(at, OUTAGE_SHADOW)}
        hits = [self._by_id[i] for i in lost if i in self._by_id and self._by_id[i].holds(at)]
        if row.coordinator in self._by_broker:
            hits += self._by_broker[row.coordinator].at(at)
        if row.cause == Cause.STORAGE_ERROR:
            hits += self._out_of_sync.at(at)
        return max((hit.value for hit in hits), key=lambda o: (o.down_at, o.outage_id), default=None)


def _felt(outage: BrokerOutage) -> Interval[BrokerOutage]:
    """How long the groups that the broker coordinated may suffer from its outage."""
    end = outage.up_at or outage.detected_at or outage.down_at
    return Interval(outage.down_at, end + OUTAGE_SHADOW, outage)


def _out_of_sync(outage: BrokerOutage) -> Interval[BrokerOutage]:
    """How long a coordinator may have been unable to write because this broker was away, or not yet in sync again.

    Source: a write to `__consumer_offsets` fails where fewer than min.insync.replicas are in sync.
    """
    back = outage.isr_recovered_at or outage.up_at
    return Interval(outage.down_at, back and back + CATCHING_UP, outage)


def attribute_to_outages(
    rebalances: Sequence[Rebalance], outages: OutageLookup, losses: Iterable[Loss]
) -> dict[str, BrokerOutage]:
    """The outage behind each rebalance of one group, by rebalance id, for those that an outage began.

    Edge case: what restarts a rebalance that the outage cut short belongs to the outage too, and so does the return of
    a member whose session expired in it.
    """
    lost = Timeline(losses, at=lambda loss: loss[0])
    behind: dict[str, BrokerOutage] = {}
    cut: set[str] = set()
    gone: dict[str, tuple[datetime, BrokerOutage]] = {}
    for row in rebalances:
        outage = outages.behind(row, lost)
        if outage is None and row.follows in cut:
            outage = behind[row.follows]
        if outage is None and row.cause == Cause.MEMBER_REJOINED and client_of(row) in gone:
            expired_at, last = gone[client_of(row)]
            outage = last if row.started_at - expired_at <= RETURN_WITHIN else None
        if outage is None:
            continue
        behind[row.rebalance_id] = outage
        if row.outcome == Outcome.INTERRUPTED:
            cut.add(row.rebalance_id)
        if row.cause == Cause.HEARTBEAT_EXPIRED and client_of(row):
            gone[client_of(row)] = row.started_at, outage
    return behind


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
