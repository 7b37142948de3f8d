"""The judgement of the cluster as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FailoverKind, LagStatus, Origin, TruncationVerdict
from kafka_hindsight.judgements.brokers.aftermath import (
    add_impact,
    add_rebalances,
    explain_outages,
    rebuild_rolling_restarts,
)
from kafka_hindsight.judgements.brokers.observed import cut_to
from kafka_hindsight.judgements.brokers.settings_at import settings_of
from kafka_hindsight.judgements.findings import Facts, judge_findings
from kafka_hindsight.judgements.findings.access_findings import REFUSALS
from kafka_hindsight.judgements.groups.coordinators import losses_of_groups
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from kafka_hindsight.judgements.incidents import WindowHistory, judge_incidents
from kafka_hindsight.judgements.incidents.happenings import has_failed
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance_periods
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import rebuild_out_of_sync_periods
from kafka_hindsight.judgements.reasoning.intents import declare
from kafka_hindsight.judgements.rebuild.brokers import BROKERS, FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import SETTINGS
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS, READINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, Scope, Source, each, narrowed, table, union, where
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.arrow_tables import LAST, among, as_scalar, ends, with_columns
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
    findings: list[rows.Finding]


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
    rule_facts = Facts(
        cluster=scope.cluster,
        starts_at=window.start,
        rebalances=[replace(r, incident_id=incident_of[r.rebalance_id]) for r in in_window],
        incidents=of_groups,
        failovers=_inside(window, failovers, lambda f: f.happened_at),
        imbalance_periods=imbalance_periods,
        truncations=[
            t
            for t in truncations
            if window.holds(t.happened_at) and t.truncation_id not in incident_list.truncation_ids
        ],
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
        gone_brokers=[o for o in away if o.down_at < window.start and o.up_at is None],
        restarts=_inside(window, restarts, lambda r: r.started_at),
        out_of_sync_periods=out_of_sync_periods,
        isr_spans=isr_spans,
        partitions=sorted(last_partitions, key=lambda p: (p.topic, p.partition)),
        brokers=last_brokers,
        broker_settings=settings_of(settings),
        judged_at=last_partitions[0].snapshot_at if last_partitions else window.end - timedelta.resolution,
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
        judge_findings(rule_facts),
    )


def _inside(window: Window, values: Iterable[R], at: Callable[[R], datetime]) -> list[R]:
    """The rows that begin in a window."""
    return [value for value in values if window.holds(at(value))]


def quoted(condition: Callable[[pa.Table], pa.ChunkedArray], source: Source) -> Source:
    """Read rows with their evidence only where a condition holds: findings quote no others."""

    def slim(rows: pa.Table) -> pa.Table:
        evidence = rows["evidence"]
        is_quoted = pc.fill_null(condition(rows), False)
        return with_columns(rows, evidence=pc.if_else(is_quoted, evidence, pa.scalar([], evidence.type)))

    return each(slim, source)


_QUOTED_FAILOVERS = [kind for kind in FailoverKind if kind.noun.is_harmful]


def refused(events: pa.Table) -> pa.Table:
    """Keep the first and the last line about each that was refused or held back, and what it was refused."""
    lines = events.filter(among(events["kind"], REFUSALS))
    by = ("kind", "broker", "node", "client_id", "host", "detail", "group_id", "topic", "error")
    return ends(lines, by, ("happened_at", "source", "order"))


def led_before_outages(readings: pa.Table, facts: WindowFacts) -> pa.Table:
    """Keep the last reading before each absence of a broker: it shows which partitions the broker led."""
    at = readings["snapshot_at"]
    return readings.filter(pc.is_in(at, pa.array(sorted(facts.read_before_outages), at.type)))


def last_reading(readings: pa.Table, facts: WindowFacts) -> pa.Table:
    """Keep the last reading of the window that shows partitions."""
    at = readings["snapshot_at"]
    return readings.filter(pc.equal(at, as_scalar(at, facts.last_read_at)))


def last_settings(settings: pa.Table, scope: Scope, facts: WindowFacts) -> pa.Table:
    """Keep the newest report of each kind on each broker, topic and setting by the last reading of partitions.

    Without such a reading it is that by the end of the window. Each broker prints a topic's settings: one of them is
    enough.
    """
    at = facts.last_read_at or scope.window.end - timedelta.resolution
    earlier = settings.filter(pc.less_equal(settings["happened_at"], as_scalar(settings["happened_at"], at)))
    reporter = pc.if_else(pc.is_null(earlier["topic"]), earlier["broker"], None)
    by = ("cluster", "kind", "topic", "reporter", "node", "reason")
    newest = ends(with_columns(earlier, reporter=reporter), by, ("happened_at", "source", "order"), (LAST,))
    return newest.drop_columns(["reporter"])


UNAVAILABILITY = union(PARTITIONS.output("unavailability"), GROUPS.output("unavailability"))

CLUSTER = Judgement(
    "cluster",
    judge_cluster,
    ("cluster",),
    {
        "outages": BROKERS.output("outages"),
        "failovers": quoted(lambda f: among(f["kind"], _QUOTED_FAILOVERS), PARTITIONS.output("failovers")),
        "controllers": BROKERS.output("controller_changes"),
        "isr_spans": PARTITIONS.output("isr_spans"),
        "out_of_sync": READINGS.output("out_of_sync"),
        "moves": quoted(lambda moves: pa.nulls(moves.num_rows, pa.bool_()), GROUPS.output("moves")),
        "led_before": each(led_before_outages, table("bronze.partition_snapshots")),
        "rebalances": GROUPS.output("rebalances"),
        "gaps": GROUPS.output("gaps"),
        "leadership_gaps": where(lambda gaps: pc.is_null(gaps["explained_by"]), PARTITIONS.output("leadership_gaps")),
        "missing_logs": BROKERS.output("missing_logs"),
        "unobserved": BROKERS.output("unobserved"),
        "second_starts": BROKERS.output("second_starts"),
        "stays": GROUPS.output("stays"),
        "imbalance": quoted(lambda imbalance: imbalance["over_threshold"], READINGS.output("imbalance")),
        "truncations": where(
            lambda cuts: pc.not_equal(cuts["verdict"], str(TruncationVerdict.NOTHING_COMMITTED_LOST)),
            PARTITIONS.output("truncations"),
        ),
        "unavailability": quoted(
            lambda u: pc.and_(pc.starts_with(u["kind"], "acks_all"), pc.is_null(u["outage_id"])), UNAVAILABILITY
        ),
        "lag": where(lambda verdicts: pc.not_equal(verdicts["status"], str(LagStatus.OK)), GROUPS.output("lag")),
        "member_settings": GROUPS.output("settings"),
        "coverage": where(
            lambda logs: pc.greater(pc.add(logs["unparsed"], logs["quarantined"]), 0),
            table("quality.coverage", span="window"),
        ),
        "namings": where(
            lambda e: pc.and_(pc.equal(e["kind"], str(Kind.CLUSTER_NAMED)), pc.equal(e["origin"], str(Origin.BROKER))),
            table("silver.events", span="window"),
        ),
        "refusals": narrowed(refused, table("silver.events", span="window")),
        "unanswered": where(
            lambda readings: pc.is_valid(readings["error"]), table("bronze.group_snapshots", span="window")
        ),
        "partial": where(
            lambda readings: pc.or_(pc.is_valid(readings["missing"]), pc.is_valid(readings["error"])),
            table("bronze.snapshot_readings", span="window"),
        ),
        "last_partitions": each(last_reading, table("bronze.partition_snapshots", span="window")),
        "last_brokers": each(last_reading, table("bronze.broker_snapshots", span="window")),
        "settings": narrowed(last_settings, SETTINGS),
    },
    needs=(FACTS,),
)
