"""The judgement of what followed from absences of brokers: their cost, restarts, and periods of trouble."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.brokers.outage_effects import (
    add_impact,
    add_rebalances,
    explain_outages,
    rebuild_rolling_restarts,
)
from kafka_hindsight.judgements.groups.coordinators import losses_of_groups
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import rebuild_out_of_sync_periods
from kafka_hindsight.judgements.reasoning.evidence import unquoted
from kafka_hindsight.judgements.reasoning.intents import declare
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import BROKERS, FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS, READINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table


@dataclass(frozen=True)
class Aftermath:
    """The outages with what each cost, restarts, periods, and the rebalances of all groups as incidents."""

    outages: list[rows.BrokerOutage]
    restarts: list[rows.RollingRestart]
    out_of_sync_periods: list[rows.OutOfSyncPeriod]
    group_incidents: list[rows.Incident]
    group_links: list[rows.IncidentLink]


def judge_aftermath(
    outages: list[rows.BrokerOutage],
    failovers: list[rows.Failover],
    isr_spans: list[rows.IsrSpan],
    out_of_sync: list[rows.OutOfSyncCount],
    moves: list[rows.CoordinatorMove],
    led_before: list[rows.PartitionSnapshot],
    rebalances: list[rows.Rebalance],
    stays: list[rows.MemberStay],
    scope: Scope,
    facts: WindowFacts,
) -> Aftermath:
    """The effects of each outage, and what the rows of a whole cluster show together."""
    away = add_impact(declare(outages, scope.maintenance), failovers, isr_spans, moves, led_before, out_of_sync)
    in_window = [r for r in rebalances if scope.window.holds(r.started_at)]
    losses = losses_of_groups((r.group_id for r in in_window), failovers, facts.offsets_partitions)
    of_groups, incident_of = group_incidents(in_window, away, moves, losses, stays)
    failures = {r.rebalance_id: r.cause for r in in_window if r.cause.noun.family.noun.is_failure}
    away = add_rebalances(away, of_groups)
    brokers = {r.broker for part in (outages, isr_spans, out_of_sync) for r in part}
    restarts, restart_of = rebuild_rolling_restarts(away, isr_spans, brokers)
    away = explain_outages(away, restart_of)
    return Aftermath(
        away,
        restarts,
        rebuild_out_of_sync_periods(isr_spans, away, scope.window),
        of_groups,
        [
            rows.IncidentLink(part_id=part, incident_id=incident, failure=failures.get(part))
            for part, incident in incident_of.items()
        ],
    )


def led_before_outages(readings: pa.Table, facts: WindowFacts) -> pa.Table:
    """Keep the last reading before each absence of a broker: it shows which partitions the broker led."""
    at = readings["snapshot_at"]
    return readings.filter(pc.is_in(at, pa.array(sorted(facts.read_before_outages), at.type)))


FAILOVERS = each(unquoted, PARTITIONS.output("failovers"))
"""The failovers without their evidence."""

AFTERMATH = Judgement(
    "aftermath",
    (judge_aftermath,),
    ("cluster",),
    {
        "outages": BROKERS.output("outages"),
        "failovers": FAILOVERS,
        "isr_spans": PARTITIONS.output("isr_spans"),
        "out_of_sync": READINGS.output("out_of_sync"),
        "moves": each(unquoted, GROUPS.output("moves")),
        "led_before": each(led_before_outages, lake_table("bronze.partition_snapshots")),
        "rebalances": GROUPS.output("rebalances"),
        "stays": GROUPS.output("stays"),
    },
    needs=(FACTS,),
)
