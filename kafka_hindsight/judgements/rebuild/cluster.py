"""The judgement of the cluster as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FailoverKind, IncidentKind, LagStatus, Origin, TruncationVerdict
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.judgements.brokers.aftermath import (
    add_impact,
    add_rebalances,
    explain_outages,
    rebuild_rolling_restarts,
)
from kafka_hindsight.judgements.brokers.observed import cut_to
from kafka_hindsight.judgements.brokers.settings_at import settings_of
from kafka_hindsight.judgements.findings import Facts, judge_each, judge_findings
from kafka_hindsight.judgements.findings.access_findings import REFUSALS
from kafka_hindsight.judgements.groups.coordinators import losses_of_groups
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from kafka_hindsight.judgements.incidents import WindowHistory, judge_incidents
from kafka_hindsight.judgements.incidents.happenings import has_failed
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance_periods
from kafka_hindsight.judgements.partitions.replicas.loss_simulations import Reading, simulate_losses
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import rebuild_out_of_sync_periods
from kafka_hindsight.judgements.reasoning.intents import declare
from kafka_hindsight.judgements.rebuild.brokers import BROKERS, FACTS
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.judged_readings import GROUP_READINGS, READINGS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.judgements.rebuild.settings import SETTINGS, last_settings
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, narrowed, table, union
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.shared.absences import is_lost, is_orderly
from kafka_hindsight.shared.arrow_tables import among, as_scalar, ends, with_columns
from kafka_hindsight.shared.durations import OUTAGE_SHADOW
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

R = TypeVar("R")


@dataclass(frozen=True)
class ClusterHistory:
    """Incidents, findings and the cost of each outage: the results that need all rows of a cluster at once."""

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
    second_starts: list[rows.SecondStart],
    stays: list[rows.MemberStay],
    imbalance: list[rows.LeaderImbalance],
    truncations: list[rows.Truncation],
    unavailability: list[rows.Unavailability],
    lag: list[rows.LagVerdict],
    member_settings: list[rows.MemberSetting],
    coverage: list[rows.Coverage],
    namings: list[rows.Event],
    refusals: list[rows.Event],
    unanswered: list[rows.GroupSnapshot],
    partial: list[rows.SnapshotReading],
    last_partitions: list[rows.PartitionSnapshot],
    last_brokers: list[rows.BrokerSnapshot],
    last_groups: list[rows.GroupSnapshot],
    settings: list[rows.Event],
    scope: Scope,
    facts: WindowFacts,
) -> ClusterHistory:
    """The history of the cluster as a whole; a quiet window is judged too."""
    window = scope.window
    away = add_impact(declare(outages, scope.maintenance), failovers, isr_spans, moves, led_before, out_of_sync)
    in_window = _inside(window, rebalances, lambda r: r.started_at)
    losses = losses_of_groups((r.group_id for r in in_window), failovers, facts.offsets_partitions)
    of_groups, incident_of = group_incidents(in_window, away, moves, losses, stays)
    away = add_rebalances(away, of_groups)
    brokers = {r.broker for part in (outages, isr_spans, out_of_sync) for r in part}
    restarts, restart_of = rebuild_rolling_restarts(away, isr_spans, brokers)
    away = explain_outages(away, restart_of)
    out_of_sync_periods = rebuild_out_of_sync_periods(isr_spans, away, window)
    imbalance_periods = rebuild_imbalance_periods(imbalance, failovers)
    incident_list = judge_incidents(
        scope.cluster,
        WindowHistory(
            of_groups,
            away,
            failovers,
            truncations,
            out_of_sync_periods,
            unavailability,
            lag,
            controllers,
            {r.rebalance_id for r in in_window if has_failed(r.cause)},
            window=window,
            spans=isr_spans,
            group_incident_of=incident_of,
        ),
        scope.maintenance,
    )
    unused = incident_list.name_unavailability(unavailability)
    reading = Reading(
        partitions=sorted(last_partitions, key=lambda p: (p.topic, p.partition)),
        brokers=last_brokers,
        group_ids=[g.group_id for g in last_groups],
        settings=settings_of(settings),
    )
    rule_facts = Facts(
        cluster=scope.cluster,
        starts_at=window.start,
        rebalances=[replace(r, incident_id=incident_of[r.rebalance_id]) for r in in_window],
        incidents=of_groups,
        failovers=_inside(window, failovers, lambda f: f.happened_at),
        unavailability=_inside(window, unused, lambda u: u.started_at),
        imbalance_periods=imbalance_periods,
        truncations=_inside(window, truncations, lambda t: t.happened_at),
        lag_verdicts=lag,
        gaps=_inside(window, gaps, lambda g: g.seen_at),
        leadership_gaps=_inside(window, leadership_gaps, lambda g: g.seen_at),
        missing_logs=cut_to(window, missing_logs),
        unobserved=cut_to(window, unobserved),
        second_starts=_inside(window, second_starts, lambda s: s.happened_at),
        coverage=coverage,
        namings=namings,
        refusals=refusals,
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
    parts = {r: incident_list.of_groups[i] for r, i in incident_of.items()} | incident_list.of_failover
    return ClusterHistory(
        incident_list.name(away),
        restarts,
        out_of_sync_periods,
        imbalance_periods,
        list(incident_list.incidents),
        [
            *(rows.IncidentLink(part_id=part, incident_id=i) for part, i in parts.items()),
            *(
                rows.IncidentLink(part_id=u.unavailability_id, incident_id=u.incident_id, intent=u.intent)
                for u in unused
            ),
        ],
        simulate_losses(reading),
        judge_findings(rule_facts),
        back_test(rule_facts, window),
    )


def _inside(window: Window, values: Iterable[R], at: Callable[[R], datetime]) -> list[R]:
    """The rows that begin in a window."""
    return [value for value in values if window.holds(at(value))]


def back_test(facts: Facts, window: Window) -> list[rows.RuleFiring]:
    """Rows of quality.rule_firings: every rule that is applied, whether it fired or not.

    A rule fires with each of its findings, one for each group, and with those that a rolling restart suppressed.
    """
    findings = grouped(judge_each(facts), lambda f: f.rule_id)
    reported = {(f.rule_id, f.subject) for findings_of_rule in findings.values() for f in findings_of_rule}
    others = (f for f in judge_each(replace(facts, incidents=())) if (f.rule_id, f.subject) not in reported)
    suppressed = grouped(others, lambda f: f.rule_id)
    firings = []
    for rule in RULES:
        regular, left_out = findings.get(rule.rule_id, []), suppressed.get(rule.rule_id, [])
        fired = [*regular, *left_out]
        firings.append(
            rows.RuleFiring(
                cluster=facts.cluster,
                rule_id=rule.rule_id,
                window_from=window.start,
                window_to=window.end,
                fired=len(fired),
                fired_in_restarts=sum(is_in_restart(f, facts) for f in regular) + len(left_out),
                suppressed=len(left_out),
                first_at=min((f.first_at for f in fired), default=None),
                last_at=max((f.last_at for f in fired), default=None),
            )
        )
    return firings


def is_in_restart(finding: Finding, facts: Facts) -> bool:
    """Whether a finding lies within one restart that affected its subject."""
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


def with_evidence(rows: pa.Table, is_quoted: pa.ChunkedArray) -> pa.Table:
    """Keep evidence only in the rows that a finding quotes."""
    evidence = pc.if_else(pc.fill_null(is_quoted, False), rows["evidence"], pa.scalar([], rows["evidence"].type))
    return with_columns(rows, evidence=evidence)


_QUOTED_FAILOVERS = (FailoverKind.OFFLINE, FailoverKind.UNCLEAN_ELECTION, FailoverKind.LOG_DIR_FAILED)


def slim_failovers(failovers: pa.Table) -> pa.Table:
    """Keep evidence only of failovers that findings quote."""
    return with_evidence(failovers, among(failovers["kind"], _QUOTED_FAILOVERS))


def slim_moves(moves: pa.Table) -> pa.Table:
    """Keep no evidence of moves of coordinators."""
    return with_evidence(moves, pa.chunked_array([pa.array([False] * moves.num_rows, pa.bool_())]))


def slim_imbalance(imbalance: pa.Table) -> pa.Table:
    """Keep evidence of brokers over the threshold."""
    return with_evidence(imbalance, imbalance["over_threshold"])


def slim_unavailability(unavailability: pa.Table) -> pa.Table:
    """Keep evidence of refused writes with acks=all without an outage behind them."""
    is_refusal = pc.starts_with(unavailability["kind"], "acks_all")
    return with_evidence(unavailability, pc.and_(is_refusal, pc.is_null(unavailability["outage_id"])))


def unexplained(gaps: pa.Table) -> pa.Table:
    """Keep the gaps of leader epochs without an explanation."""
    return gaps.filter(pc.is_null(gaps["explained_by"]))


def lossy_truncations(truncations: pa.Table) -> pa.Table:
    """Keep the truncations that lost committed records, or may have."""
    return truncations.filter(pc.not_equal(truncations["verdict"], str(TruncationVerdict.NOTHING_COMMITTED_LOST)))


def bad_lag_verdicts(verdicts: pa.Table) -> pa.Table:
    """Keep the verdicts on lag that are not ok."""
    return verdicts.filter(pc.not_equal(verdicts["status"], str(LagStatus.OK)))


def incomplete_coverage(coverage: pa.Table) -> pa.Table:
    """Keep the logs with a line that could not be read."""
    return coverage.filter(pc.greater(pc.add(coverage["unparsed"], coverage["quarantined"]), 0))


def cluster_namings(events: pa.Table) -> pa.Table:
    """Keep the brokers' lines that name the cluster's id."""
    is_naming = pc.equal(events["kind"], str(Kind.CLUSTER_NAMED))
    return events.filter(pc.and_(is_naming, pc.equal(events["origin"], str(Origin.BROKER))))


def refused(events: pa.Table) -> pa.Table:
    """Keep the first and the last line about each that was refused or held back, and what it was refused."""
    lines = events.filter(among(events["kind"], REFUSALS))
    by = ("kind", "broker", "node", "client_id", "host", "detail", "group_id", "topic", "error")
    return ends(lines, by, ("happened_at", "source", "order"))


def unanswered(readings: pa.Table) -> pa.Table:
    """Keep the readings of groups that failed."""
    return readings.filter(pc.is_valid(readings["error"]))


def partial_readings(readings: pa.Table) -> pa.Table:
    """Keep the readings that failed or lack a part."""
    return readings.filter(pc.or_(pc.is_valid(readings["missing"]), pc.is_valid(readings["error"])))


def led_before_outages(readings: pa.Table, facts: WindowFacts) -> pa.Table:
    """Keep the last reading before each absence of a broker: it shows which partitions the broker led."""
    at = readings["snapshot_at"]
    return readings.filter(pc.is_in(at, pa.array(sorted(facts.read_before_outages), at.type)))


def last_reading(readings: pa.Table, facts: WindowFacts) -> pa.Table:
    """Keep the last reading of the window that shows partitions."""
    at = readings["snapshot_at"]
    return readings.filter(pc.equal(at, as_scalar(at, facts.last_read_at)))


UNAVAILABILITY = union(PARTITIONS.output("unavailability"), GROUPS.output("unavailability"))

CLUSTER = Judgement(
    "cluster",
    judge_cluster,
    ("cluster",),
    {
        "outages": BROKERS.output("outages"),
        "failovers": each(slim_failovers, PARTITIONS.output("failovers")),
        "controllers": BROKERS.output("controller_changes"),
        "isr_spans": PARTITIONS.output("isr_spans"),
        "out_of_sync": READINGS.output("out_of_sync"),
        "moves": each(slim_moves, GROUPS.output("moves")),
        "led_before": each(led_before_outages, table("bronze.partition_snapshots")),
        "rebalances": GROUPS.output("rebalances"),
        "gaps": GROUPS.output("gaps"),
        "leadership_gaps": each(unexplained, PARTITIONS.output("leadership_gaps")),
        "missing_logs": BROKERS.output("missing_logs"),
        "unobserved": BROKERS.output("unobserved"),
        "second_starts": BROKERS.output("second_starts"),
        "stays": GROUPS.output("stays"),
        "imbalance": each(slim_imbalance, READINGS.output("imbalance")),
        "truncations": each(lossy_truncations, PARTITIONS.output("truncations")),
        "unavailability": each(slim_unavailability, UNAVAILABILITY),
        "lag": each(bad_lag_verdicts, GROUP_READINGS.output("lag")),
        "member_settings": GROUPS.output("settings"),
        "coverage": each(incomplete_coverage, table("quality.coverage", span="window")),
        "namings": each(cluster_namings, table("silver.events", span="window")),
        "refusals": narrowed(refused, table("silver.events", span="window")),
        "unanswered": each(unanswered, table("bronze.group_snapshots", span="window")),
        "partial": each(partial_readings, table("bronze.snapshot_readings", span="window")),
        "last_partitions": each(last_reading, table("bronze.partition_snapshots", span="window")),
        "last_brokers": each(last_reading, table("bronze.broker_snapshots", span="window")),
        "last_groups": each(last_reading, table("bronze.group_snapshots", span="window")),
        "settings": narrowed(last_settings, SETTINGS),
    },
    needs=(FACTS,),
)
