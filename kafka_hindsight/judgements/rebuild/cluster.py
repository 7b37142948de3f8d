"""The judgement of the cluster as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import IncidentKind
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.judgements.brokers.aftermath import (
    add_impact,
    add_rebalances,
    explain_outages,
    rebuild_rolling_restarts,
)
from kafka_hindsight.judgements.brokers.broker_settings import settings_of
from kafka_hindsight.judgements.brokers.observed import cut_to
from kafka_hindsight.judgements.findings import Facts, judge_each, judge_findings
from kafka_hindsight.judgements.groups.coordinators import losses_of_groups
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from kafka_hindsight.judgements.incidents import Found, judge_incidents
from kafka_hindsight.judgements.incidents.happenings import has_failed
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance_periods
from kafka_hindsight.judgements.partitions.replicas.loss_simulations import Reading, simulate_losses
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import rebuild_out_of_sync_periods
from kafka_hindsight.judgements.reasoning.intents import declare
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.shared.absences import is_lost, is_orderly
from kafka_hindsight.shared.durations import OUTAGE_SHADOW
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

R = TypeVar("R")


@dataclass(frozen=True)
class ClusterHistory:
    """Incidents and findings, and what each outage cost: what takes a whole cluster's rows at once."""

    outages: list[rows.BrokerOutage]
    restarts: list[rows.RollingRestart]
    out_of_sync_periods: list[rows.OutOfSyncPeriod]
    imbalance_periods: list[rows.ImbalancePeriod]
    incidents: list[rows.Incident]
    incident_links: list[rows.IncidentLink]
    loss_simulations: list[rows.LossSimulation]
    findings: list[rows.Finding]
    firings: list[rows.RuleFiring]


def judge_cluster(
    clusters: list[rows.Cluster],
    outages: list[rows.BrokerOutage],
    failovers: list[rows.Failover],
    controllers: list[rows.ControllerChange],
    isr_spans: list[rows.IsrSpan],
    out_of_sync: list[rows.OutOfSyncCount],
    moves: list[rows.CoordinatorMove],
    led_before: list[rows.PartitionSnapshot],
    rebalances: list[rows.Rebalance],
    gaps: list[rows.GenerationGap],
    leadership_gaps: list[rows.LeadershipGap],
    missing_logs: list[rows.MissingBrokerLog],
    unobserved: list[rows.UnobservedSpan],
    stays: list[rows.MemberStay],
    imbalance: list[rows.LeaderImbalance],
    truncations: list[rows.Truncation],
    unavailability: list[rows.Unavailability],
    lag: list[rows.LagVerdict],
    member_settings: list[rows.MemberSetting],
    coverage: list[rows.Coverage],
    unanswered: list[rows.GroupSnapshot],
    partial: list[rows.SnapshotReading],
    last_partitions: list[rows.PartitionSnapshot],
    last_brokers: list[rows.BrokerSnapshot],
    last_groups: list[rows.GroupSnapshot],
    settings: list[rows.Event],
    scope: Scope,
    facts: WindowFacts,
) -> ClusterHistory:
    """What happened to the cluster as a whole. Takes: `clusters`, its one row, so that a quiet window is judged too."""
    window = scope.window
    away = add_impact(declare(outages, scope.maintenance), failovers, isr_spans, moves, led_before, out_of_sync)
    judged = _inside(window, rebalances, lambda r: r.started_at)
    losses = losses_of_groups((r.group_id for r in judged), failovers, facts.offsets_partitions)
    of_groups, incident_of = group_incidents(judged, away, moves, losses, stays)
    away = add_rebalances(away, of_groups)
    brokers = {r.broker for found in (outages, isr_spans, out_of_sync) for r in found}
    restarts, restart_of = rebuild_rolling_restarts(away, isr_spans, brokers)
    away = explain_outages(away, restart_of)
    out_of_sync_periods = rebuild_out_of_sync_periods(isr_spans, away, window)
    imbalance_periods = rebuild_imbalance_periods(imbalance, failovers)
    listed = judge_incidents(
        scope.cluster,
        Found(
            of_groups,
            away,
            failovers,
            truncations,
            out_of_sync_periods,
            unavailability,
            lag,
            controllers,
            {r.rebalance_id for r in judged if has_failed(r.cause)},
            window=window,
            spans=isr_spans,
            group_incident_of=incident_of,
        ),
        scope.maintenance,
    )
    unused = listed.name_unavailability(unavailability)
    reading = Reading(
        partitions=sorted(last_partitions, key=lambda p: (p.topic, p.partition)),
        brokers=last_brokers,
        group_ids=[g.group_id for g in last_groups],
        settings=settings_of(settings),
    )
    found = Facts(
        cluster=scope.cluster,
        starts_at=window.start,
        rebalances=[replace(r, incident_id=incident_of[r.rebalance_id]) for r in judged],
        incidents=of_groups,
        failovers=_inside(window, failovers, lambda f: f.happened_at),
        unavailability=_inside(window, unused, lambda u: u.started_at),
        imbalance=[r for r in imbalance if r.over_threshold],
        imbalance_periods=imbalance_periods,
        truncations=_inside(window, truncations, lambda t: t.happened_at),
        lag_verdicts=lag,
        gaps=_inside(window, gaps, lambda g: g.seen_at),
        leadership_gaps=_inside(window, leadership_gaps, lambda g: g.seen_at),
        unheard=cut_to(window, missing_logs),
        unobserved=cut_to(window, unobserved),
        coverage=coverage,
        unanswered=unanswered,
        partial=partial,
        settings=member_settings,
        outages=away,
        lost_brokers=[
            *(o for o in away if o.down_at < window.start and o.up_at is None),
            *filter(is_lost, _inside(window, away, lambda o: o.down_at)),
        ],
        restarts=_inside(window, restarts, lambda r: r.started_at),
        out_of_sync_periods=out_of_sync_periods,
        isr_spans=isr_spans,
        partitions=reading.partitions,
        brokers=reading.brokers,
        broker_settings=reading.settings,
        judged_at=reading.at if reading.partitions else window.end - timedelta.resolution,
    )
    parts = {r: listed.of_groups[i] for r, i in incident_of.items()} | listed.of_failover
    return ClusterHistory(
        listed.name(away),
        restarts,
        out_of_sync_periods,
        imbalance_periods,
        list(listed.incidents),
        [
            *(rows.IncidentLink(part_id=part, incident_id=i) for part, i in parts.items()),
            *(
                rows.IncidentLink(part_id=u.unavailability_id, incident_id=u.incident_id, intent=u.intent)
                for u in unused
            ),
        ],
        simulate_losses(reading),
        judge_findings(found),
        back_test(found, window),
    )


def _inside(window: Window, found: Iterable[R], at: Callable[[R], datetime]) -> list[R]:
    """The rows that begin in a window."""
    return [row for row in found if window.holds(at(row))]


def back_test(facts: Facts, window: Window) -> list[rows.RuleFiring]:
    """Rows of quality.rule_firings: every rule that is applied, whether it fired or not.

    Keeps: what fired is what the findings say, each group by itself, and what they leave out as rolling restarts.
    """
    findings = grouped(judge_each(facts), lambda f: f.rule_id)
    known = {(f.rule_id, f.subject) for own in findings.values() for f in own}
    others = (f for f in judge_each(replace(facts, incidents=())) if (f.rule_id, f.subject) not in known)
    suppressed = grouped(others, lambda f: f.rule_id)
    firings = []
    for rule in RULES:
        shown, left_out = findings.get(rule.rule_id, []), suppressed.get(rule.rule_id, [])
        fired = [*shown, *left_out]
        firings.append(
            rows.RuleFiring(
                cluster=facts.cluster,
                rule_id=rule.rule_id,
                window_from=window.start,
                window_to=window.end,
                fired=len(fired),
                fired_in_restarts=sum(is_in_restart(f, facts) for f in shown) + len(left_out),
                suppressed=len(left_out),
                first_at=min((f.first_at for f in fired), default=None),
                last_at=max((f.last_at for f in fired), default=None),
            )
        )
    return firings


def is_in_restart(finding: Finding, facts: Facts) -> bool:
    """Whether all that a finding is about lies within one restart that affected its subject."""
    orderly = {o.outage_id: o for o in facts.outages if is_orderly(o)}
    kind, subject = finding.subject_kind, finding.subject
    restarts = [
        (i.started_at, i.ended_at or finding.last_at)
        for i in facts.incidents
        if kind == "group" and subject in i.group_ids
        if i.kind == IncidentKind.ROLLING_RESTART or i.first_outage_id in orderly
    ]
    restarts += [
        (o.down_at, (o.up_at or finding.last_at) + OUTAGE_SHADOW)
        for o in orderly.values()
        if kind == "partition" or (kind, subject) == ("broker", str(o.broker))
    ]
    return any(start <= finding.first_at and finding.last_at <= end for start, end in restarts)
