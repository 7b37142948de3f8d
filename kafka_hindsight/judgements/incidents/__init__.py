"""Everything that happened in a window as one list of incidents, each thing once, the most harmful first."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from kafka_hindsight.catalog.codes import Confidence, Harm, IncidentKind, Intent, Protocol
from kafka_hindsight.catalog.rows import BrokerOutage, Incident, Quote, Unavailability
from kafka_hindsight.judgements.incidents.happenings import Happening, headline_of
from kafka_hindsight.judgements.reasoning.evidence import by_weight, evidence_of, ranks_of, row_id
from kafka_hindsight.judgements.reasoning.intents import Declaration, beginning_of, declaration_of
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.settings.maintenance import MaintenanceWindow
from kafka_hindsight.shared.timelines import Interval
from kafka_hindsight.shared.windows import Window

_SUBJECTS = 3
"""So many topics, groups or brokers get a command of their own."""


@dataclass(frozen=True)
class IncidentList:
    """The incidents of a window, and the one that each outage, group incident, failover and interval belongs to.

    The keys of `of_outage` and the like are the ids of these parts. Of truncations only those of the window count.
    """

    incidents: Sequence[Incident]
    of_outage: dict[str, str]
    of_groups: dict[str, str]
    of_failover: dict[str, str]
    of_unavailability: dict[str, Incident]
    of_truncation: dict[str, str]
    of_jump: dict[str, str]
    maintenance: Sequence[MaintenanceWindow]

    def name(self, outages: Iterable[BrokerOutage]) -> list[BrokerOutage]:
        """Absences with the incident that each belongs to."""
        return [replace(o, incident_id=self.of_outage.get(o.outage_id)) for o in outages]

    def name_unavailability(self, rows: Iterable[Unavailability]) -> list[Unavailability]:
        """Intervals in which something could not be used, with the incident of each and that incident's intent.

        One without an incident has the intent that maintenance windows give its own beginning.
        """
        linked = []
        for row in rows:
            incident = self.of_unavailability.get(row.unavailability_id)
            beginning = Interval(row.earliest_start_at or row.started_at, row.started_at, None)
            intent = incident.intent if incident else declaration_of([beginning], self.maintenance).intent
            linked.append(replace(row, incident_id=incident.incident_id if incident else None, intent=intent))
        return linked


def judge_incidents(
    cluster: str, window: Window, happenings: Iterable[Happening], maintenance: Sequence[MaintenanceWindow] = ()
) -> IncidentList:
    """One list of incidents of every kind, by harm, then by its size, then by time: that place is the `harm_rank`.

    Each outage and each rebalance is part of exactly one incident. Maintenance windows never change a rank.
    """
    rows = [(happening, _row(cluster, happening, maintenance)) for happening in happenings]
    inside = sorted((row for _, row in rows if window.holds(row.started_at)), key=_rank)
    return IncidentList(
        [replace(row, harm_rank=place) for place, row in enumerate(inside, 1)],
        {o.outage_id: row.incident_id for h, row in rows for o in h.outages},
        {i.incident_id: row.incident_id for h, row in rows for i in h.of_groups},
        {f.failover_id: row.incident_id for h, row in rows for f in h.failovers},
        {u.unavailability_id: row for h, row in rows for u in h.unavailability},
        {t.truncation_id: row.incident_id for h, row in rows for t in h.truncations},
        {j.jump_id: row.incident_id for h, row in rows for j in h.jumps},
        maintenance,
    )


def _rank(row: Incident) -> tuple[object, ...]:
    return (
        list(Harm).index(row.harm or Harm.ROUTINE),
        -max(row.records_lost_low or 0, row.records_lost_high or 0),
        -(row.records_skipped_low or 0),
        bool(row.is_over),
        -(row.offline_ms or 0),
        -(row.partitions_offline or 0),
        -(row.refusing_ms or 0),
        -(row.partitions_refusing or 0),
        -(row.failover_count or 0),
        -(row.partition_seconds or 0.0),
        -row.rebalance_count,
        row.started_at,
        row.incident_id,
    )


def _row(cluster: str, happening: Happening, maintenance: Sequence[MaintenanceWindow]) -> Incident:
    harm, leaderless = happening.harm, happening.leaderless
    declaration = _declaration(happening, maintenance)
    losses, first = happening.records_lost, next(iter(happening.of_groups), None)
    outage_ids = [*(o.outage_id for o in happening.outages), *(i.first_outage_id for i in happening.of_groups)]
    protocols = {i.protocol for i in happening.of_groups}
    costs = [i.partition_seconds for i in happening.of_groups if i.partition_seconds is not None]
    row = Incident(
        cluster=cluster,
        incident_id=_id(happening),
        kind=happening.kind,
        intent=declaration.intent,
        declared_until=declaration.window.end if declaration.window else None,
        harm=harm,
        headline=headline_of(happening),
        started_at=min(happening.begins),
        ended_at=happening.ended_at,
        is_over=happening.is_over,
        group_ids=happening.groups,
        rebalance_count=sum(i.rebalance_count for i in happening.of_groups),
        protocol=next(iter(protocols)) if len(protocols) == 1 else None,
        cause=first.cause if first else None,
        confidence=_confidence(happening),
        fingerprint=first.fingerprint if first else None,
        first_outage_id=next(iter(outage_ids), None),
        brokers=happening.brokers,
        topics=happening.topics,
        failover_count=len(happening.failovers),
        partitions_offline=leaderless.count,
        partitions_still_offline=len(leaderless.still),
        offline_ms=leaderless.longest_ms,
        offline_partition_seconds=leaderless.total_ms / 1000,
        partitions_refusing=happening.refusing.count,
        refusing_ms=happening.refusing.longest_ms,
        records_lost_low=losses.low if losses else None,
        records_lost_high=losses.high if losses else None,
        records_skipped_low=happening.skipped.low if happening.jumps else None,
        records_skipped_high=happening.skipped.high if happening.jumps else None,
        records_read_again_low=happening.read_again.low if happening.jumps else None,
        records_read_again_high=happening.read_again.high if happening.jumps else None,
        partition_seconds=round(sum(costs), 3) if costs else None,
        explanation=" ".join(dict.fromkeys(filter(None, (*_explanations(happening), declaration.sentence)))),
        advice=" ".join(dict.fromkeys(filter(None, _advice(happening, harm)))),
        evidence=evidence_of(*ranks_of(_quotes(happening))),
    )
    # An incident that happens again has the same kind, the same cause, and the same brokers or groups at its origin.
    kinds, began = sorted({o.kind for o in happening.outages}), row.brokers or row.group_ids
    recurrence_id = row_id("recurrence", row.cluster, row.kind, row.cause or "", *kinds, *began)
    of_groups = (command for i in happening.of_groups for command in i.commands or ())
    commands = dict.fromkeys((*_commands(row, harm), *(of_groups if not happening.outages else ())))
    return replace(row, commands=[*commands], recurrence_id=recurrence_id)


def _id(happening: Happening) -> str:
    """The id of an incident. One of groups alone keeps its id; for any other the ids of its parts make it."""
    if happening.is_of_groups:
        return happening.of_groups[0].incident_id
    parts = (
        *(o.outage_id for o in happening.outages),
        *(p.out_of_sync_period_id for p in happening.periods),
        *(f.failover_id for f in happening.failovers if not happening.outages),
        *(t.truncation_id for t in happening.truncations if not happening.outages),
        *(f"controller epoch {c.epoch} from {c.happened_at.isoformat()}" for c in happening.controllers),
        *(u.unavailability_id for u in happening.intervals_alone),
        *(s.stall_id for s in happening.stalls),
        *(j.jump_id for j in happening.jumps if not happening.of_groups),
    )
    return row_id("incident", happening.kind, *parts)


def _declaration(happening: Happening, maintenance: Sequence[MaintenanceWindow]) -> Declaration:
    if happening.is_of_groups and happening.of_groups[0].intent == Intent.DECLARED:
        return Declaration(Intent.DECLARED)
    began_at = min(happening.begins)
    beginnings = [beginning_of(o) for o in happening.outages] or [Interval(began_at, began_at, None)]
    return declaration_of(beginnings, maintenance)


def _confidence(happening: Happening) -> Confidence:
    """The confidence of the incident's origin, of several absences the least one; no more than that of its harm."""
    h = happening
    others = (h.controllers, h.stalls, h.unavailability, h.jumps)
    parts = (h.outages, h.of_groups, h.periods, h.failovers, h.truncations, *others)
    rows: Iterable[Any] = chain(next(filter(None, parts), ()), h.lossy)
    return Confidence.least([*(row.confidence for row in rows), *(sums.confidence for sums in h.claimed)])


def _explanations(happening: Happening) -> Iterator[str]:
    h = happening
    controllers, alone = h.first_and_last_controllers, h.intervals_alone[:_SUBJECTS]
    rows: Iterable[Any] = chain(h.outages, h.periods, h.lossy, h.truncations, controllers, alone, h.of_groups, h.jumps)
    yield from (row.explanation for row in rows)
    if h.kind == IncidentKind.LEADERS_LOST:
        yield from (f.explanation for f in h.failovers)
    yield from (s.explanation for s in h.stalls)


def _advice(happening: Happening, harm: Harm) -> Iterator[str]:
    yield harm.noun.advice
    yield from (noun_of(o).advice for o in happening.outages)
    yield from (p.advice for p in happening.periods)
    if not happening.outages:
        yield from (i.advice for i in happening.of_groups)
    yield from (j.cause.noun.advice for j in happening.jumps if j.records_low)
    if happening.kind in ("leaders_lost", "log_cut"):
        yield Harm.PARTITIONS_OFFLINE.noun.advice


def _quotes(happening: Happening) -> Iterator[Sequence[Quote]]:
    """The evidence of losses and of the incident's origin, by kind; without an absence, of each change of a leader too.

    Each kind has the same share of the quotations, however many rows it has.
    """
    h = happening
    origins = (h.outages, h.periods, h.of_groups, h.stalls, h.first_and_last_controllers, h.intervals_alone, h.jumps)
    kinds: Iterable[Iterable[Any]] = (h.lossy, h.truncations, *origins, () if h.outages else h.failovers)
    yield from map(by_weight, kinds)


def _commands(row: Incident, harm: Harm) -> Iterator[str]:
    subjects = {"topic": row.topics or (), "group": row.group_ids, "broker": row.brokers or ()}
    tool = (row.protocol or Protocol.CLASSIC).noun.tool
    for command in harm.noun.commands:
        kind = next((name for name in subjects if f"{{{name}}}" in command), None)
        if kind is None:
            yield command
        else:
            names = (shlex.quote(str(s)) for s in subjects[kind][:_SUBJECTS])
            yield from (command.format(**{kind: name, "tool": tool}) for name in names)
