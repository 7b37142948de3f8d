"""The judgement of incidents, and the links from each part to its incident."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Cause, TruncationVerdict
from kafka_hindsight.judgements.incidents import judge_incidents
from kafka_hindsight.judgements.incidents.happenings import gather, has_failed, lost_quorums, stalled_groups
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.aftermath import AFTERMATH, FAILOVERS
from kafka_hindsight.judgements.rebuild.brokers import BROKERS, FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.sources import Judgement, quoted_where, union, where, where_among


@dataclass(frozen=True)
class Incidents:
    """The incidents of a window, and the one that each part belongs to."""

    outages: list[rows.BrokerOutage]
    incidents: list[rows.Incident]
    links: list[rows.IncidentLink]


def judge_all_incidents(
    group_incidents: list[rows.Incident],
    outages: list[rows.BrokerOutage],
    failovers: list[rows.Failover],
    truncations: list[rows.Truncation],
    out_of_sync_periods: list[rows.OutOfSyncPeriod],
    unavailability: list[rows.Unavailability],
    stalls: list[rows.PartitionStall],
    controllers: list[rows.ControllerChange],
    failed_rebalances: list[rows.Rebalance],
    isr_spans: list[rows.IsrSpan],
    group_links: list[rows.IncidentLink],
    scope: Scope,
    facts: WindowFacts,
) -> Incidents:
    """Everything that happened to a cluster as one list; a quiet window is judged too."""
    incident_of = {link.part_id: link.incident_id for link in group_links if link.incident_id}
    happenings = gather(
        scope.window,
        group_incidents,
        outages,
        failovers,
        truncations,
        out_of_sync_periods,
        unavailability,
        isr_spans,
        {r.rebalance_id: r.cause for r in failed_rebalances if scope.window.holds(r.started_at)},
        incident_of,
        facts.groups.observed_to,
    )
    everything = [*happenings, *stalled_groups(stalls), *lost_quorums(controllers)]
    judged = judge_incidents(scope.cluster, scope.window, everything, scope.maintenance)
    of_rebalance = {part: judged.of_groups[incident] for part, incident in incident_of.items()}
    parts = of_rebalance | judged.of_failover | judged.of_truncation
    return Incidents(
        judged.name(outages),
        list(judged.incidents),
        [
            *(rows.IncidentLink(part_id=part, incident_id=incident) for part, incident in parts.items()),
            *(
                rows.IncidentLink(part_id=u.unavailability_id, incident_id=u.incident_id, intent=u.intent)
                for u in judged.name_unavailability(unavailability)
            ),
        ],
    )


def _is_origin(unavailability: pa.Table) -> pa.ChunkedArray:
    """Whether each row may be all that shows its incident, which then quotes it."""
    is_of_partition = pc.and_(pc.is_valid(unavailability["topic"]), pc.is_null(unavailability["outage_id"]))
    return pc.and_(is_of_partition, pc.is_null(unavailability["failover_id"]))


_FAILURES = [cause for cause in Cause if has_failed(cause)]

UNAVAILABILITY = union(PARTITIONS.output("unavailability"), GROUPS.output("unavailability"))

INCIDENTS = Judgement(
    "incidents",
    (judge_all_incidents,),
    ("cluster",),
    {
        "group_incidents": AFTERMATH.output("group_incidents"),
        "outages": AFTERMATH.output("outages"),
        "failovers": FAILOVERS,
        "truncations": where(
            lambda cuts: pc.not_equal(cuts["verdict"], str(TruncationVerdict.NOTHING_COMMITTED_LOST)),
            PARTITIONS.output("truncations"),
        ),
        "out_of_sync_periods": AFTERMATH.output("out_of_sync_periods"),
        "unavailability": quoted_where(_is_origin, UNAVAILABILITY),
        "stalls": GROUPS.output("stalls"),
        "controllers": BROKERS.output("controller_changes"),
        "failed_rebalances": where_among("cause", _FAILURES, GROUPS.output("rebalances")),
        "isr_spans": PARTITIONS.output("isr_spans"),
        "group_links": AFTERMATH.output("group_links"),
    },
    needs=(FACTS,),
)

LINKS = INCIDENTS.output("links")
"""The incident of each rebalance, failover, truncation and row of gold.unavailability: rows of IncidentLink."""
