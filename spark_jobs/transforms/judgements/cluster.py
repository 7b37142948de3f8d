"""The judgement of the cluster as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from spark_jobs.catalog import rows
from spark_jobs.transforms.backtest import back_test
from spark_jobs.transforms.brokers.broker_settings import settings_of
from spark_jobs.transforms.brokers.cluster_restarts import rebuild_rolling_restarts
from spark_jobs.transforms.brokers.impacts import add_impact, add_rebalances, explain_outages
from spark_jobs.transforms.brokers.missing_broker_logs import named_within
from spark_jobs.transforms.brokers.unobserved import unobserved_within
from spark_jobs.transforms.findings import Facts, judge_findings
from spark_jobs.transforms.groups.coordinators import losses_of_groups
from spark_jobs.transforms.groups.incidents import group_incidents
from spark_jobs.transforms.incidents import Found, judge_incidents
from spark_jobs.transforms.judgement import Judgement, made, table
from spark_jobs.transforms.judgements import inputs as prepare
from spark_jobs.transforms.judgements.brokers import BROKERS, FACTS
from spark_jobs.transforms.judgements.groups import GROUPS
from spark_jobs.transforms.judgements.partitions import PARTITIONS
from spark_jobs.transforms.judgements.readings import GROUP_READINGS, READINGS
from spark_jobs.transforms.judgements.shared_sources import SETTINGS
from spark_jobs.transforms.leaders.imbalance_periods import rebuild_imbalance_periods
from spark_jobs.transforms.replicas.loss_simulations import Reading, simulate_losses
from spark_jobs.transforms.replicas.out_of_sync_periods import rebuild_out_of_sync_periods
from spark_jobs.transforms.scope import Scope, WindowFacts
from spark_jobs.transforms.windows import Window

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
    risks: list[rows.PartitionRisk],
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
    away = add_impact(outages, failovers, isr_spans, moves, led_before, out_of_sync)
    judged = _inside(window, rebalances, lambda r: r.started_at)
    losses = losses_of_groups((r.group_id for r in judged), failovers, facts.offsets_partitions)
    of_groups, incident_of = group_incidents(judged, away, moves, losses, stays)
    away = add_rebalances(away, of_groups)
    brokers = {r.broker for found in (outages, isr_spans, out_of_sync) for r in found}
    restarts, restart_of = rebuild_rolling_restarts(away, isr_spans, brokers)
    away = explain_outages(away, restart_of)
    out_of_sync_periods = rebuild_out_of_sync_periods(isr_spans, away, window)
    imbalance_periods = rebuild_imbalance_periods(imbalance, failovers)
    told = judge_incidents(
        scope.cluster,
        Found(window, of_groups, away, failovers, truncations, out_of_sync_periods, isr_spans, risks, lag, controllers),
    )
    reading = Reading(
        partitions=sorted(last_partitions, key=lambda p: (p.topic, p.partition)),
        brokers=last_brokers,
        group_ids=[g.group_id for g in last_groups],
        settings=settings_of(settings),
    )
    found = Facts(
        cluster=scope.cluster,
        rebalances=[replace(r, incident_id=incident_of[r.rebalance_id]) for r in judged],
        incidents=of_groups,
        failovers=_inside(window, failovers, lambda f: f.happened_at),
        imbalance=[r for r in imbalance if r.over_threshold],
        imbalance_periods=imbalance_periods,
        truncations=_inside(window, truncations, lambda t: t.happened_at),
        lag_verdicts=lag,
        gaps=_inside(window, gaps, lambda g: g.seen_at),
        leadership_gaps=_inside(window, leadership_gaps, lambda g: g.seen_at),
        unheard=named_within(missing_logs, window),
        unobserved=unobserved_within(unobserved, window),
        coverage=coverage,
        unanswered=unanswered,
        partial=partial,
        settings=member_settings,
        outages=away,
        lost_brokers=[o for o in _inside(window, away, lambda o: o.down_at) if not o.planned],
        restarts=_inside(window, restarts, lambda r: r.started_at),
        out_of_sync_periods=out_of_sync_periods,
        isr_spans=isr_spans,
        partitions=reading.partitions,
        brokers=reading.brokers,
        broker_settings=reading.settings,
        judged_at=reading.at if reading.partitions else window.end - timedelta.resolution,
    )
    links = {r: told.of_groups[i] for r, i in incident_of.items()} | told.of_failover
    return ClusterHistory(
        told.name(away),
        restarts,
        out_of_sync_periods,
        imbalance_periods,
        list(told.incidents),
        [rows.IncidentLink(part_id=part, incident_id=i) for part, i in links.items()],
        simulate_losses(reading),
        judge_findings(found),
        back_test(found, window),
    )


def _inside(window: Window, found: Iterable[R], at: Callable[[R], datetime]) -> list[R]:
    """The rows that begin in a window."""
    return [row for row in found if window.holds(at(row))]


CLUSTER = Judgement(
    "cluster",
    judge_cluster,
    ("cluster",),
    {
        "clusters": table("internal.clusters", span=""),
        "outages": BROKERS.output("outages"),
        "failovers": made(
            prepare.evidence_where("kind IN ('offline', 'unclean_election', 'log_dir_failed')"),
            PARTITIONS.output("failovers"),
        ),
        "controllers": BROKERS.output("controller_changes"),
        "isr_spans": PARTITIONS.output("isr_spans"),
        "out_of_sync": READINGS.output("out_of_sync"),
        "moves": made(prepare.evidence_where("false"), GROUPS.output("moves")),
        "led_before": made(prepare.led_before_outages, table("bronze.partition_snapshots")),
        "rebalances": GROUPS.output("rebalances"),
        "gaps": GROUPS.output("gaps"),
        "leadership_gaps": made(prepare.rows_where("explained_by IS NULL"), PARTITIONS.output("leadership_gaps")),
        "missing_logs": BROKERS.output("missing_logs"),
        "unobserved": BROKERS.output("unobserved"),
        "stays": GROUPS.output("stays"),
        "imbalance": made(prepare.evidence_where("over_threshold"), READINGS.output("imbalance")),
        "truncations": made(
            prepare.rows_where("verdict <> 'nothing_committed_lost'"), PARTITIONS.output("truncations")
        ),
        "risks": made(prepare.rows_where("under_min_isr_ms > 0"), PARTITIONS.output("risks")),
        "lag": made(prepare.rows_where("status <> 'ok'"), GROUP_READINGS.output("lag")),
        "member_settings": GROUPS.output("settings"),
        "coverage": made(prepare.rows_where("unparsed + quarantined > 0"), table("quality.coverage", span="window")),
        "unanswered": made(prepare.rows_where("error IS NOT NULL"), table("bronze.group_snapshots", span="window")),
        "partial": made(
            prepare.rows_where("missing IS NOT NULL OR error IS NOT NULL"),
            table("bronze.snapshot_readings", span="window"),
        ),
        "last_partitions": made(prepare.last_reading, table("bronze.partition_snapshots", span="window")),
        "last_brokers": made(prepare.last_reading, table("bronze.broker_snapshots", span="window")),
        "last_groups": made(prepare.last_reading, table("bronze.group_snapshots", span="window")),
        "settings": made(prepare.last_settings, SETTINGS),
    },
    needs=(FACTS,),
)
