"""The judgement of incidents, and the links from each part to its incident."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FailoverKind, Harm, JumpHarm, TruncationVerdict
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings
from kafka_hindsight.judgements.incidents import judge_incidents
from kafka_hindsight.judgements.incidents.happenings import gather, lost_quorums, stalled_groups
from kafka_hindsight.judgements.reasoning.evidence import unquoted
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.aftermath import AFTERMATH
from kafka_hindsight.judgements.rebuild.brokers import BROKERS, FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.offsets import OFFSETS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, quoted_where, union, where
from kafka_hindsight.knowledge.broker_settings import UNCLEAN
from kafka_hindsight.knowledge.durability_advice import Replication, prevention_of
from kafka_hindsight.measures.records_moved import records_moved
from kafka_hindsight.measures.unavailability_sums import NOTICED_MS
from kafka_hindsight.shared.arrow_tables import among
from kafka_hindsight.shared.grouping import grouped


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
    isr_spans: list[rows.IsrSpan],
    group_links: list[rows.IncidentLink],
    jumps: list[rows.OffsetJump],
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
        {link.part_id: link.failure for link in group_links if link.failure},
        incident_of,
        facts.groups.observed_to,
        jumps,
    )
    everything = [*happenings, *stalled_groups(stalls), *lost_quorums(controllers)]
    judged = judge_incidents(scope.cluster, scope.window, everything, scope.maintenance)
    of_rebalance = {part: judged.of_groups[incident] for part, incident in incident_of.items()}
    parts = of_rebalance | judged.of_failover | judged.of_truncation | judged.of_jump
    bills = {link.part_id: link for link in bills_of(jumps)}
    return Incidents(
        judged.name(outages),
        list(judged.incidents),
        [
            *(
                replace(bills.get(part, rows.IncidentLink(part_id=part)), incident_id=incident)
                for part, incident in parts.items()
            ),
            *(bill for part, bill in bills.items() if part not in parts),
            *(
                rows.IncidentLink(part_id=u.unavailability_id, incident_id=u.incident_id, intent=u.intent)
                for u in judged.name_unavailability(unavailability)
            ),
        ],
    )


def bills_of(jumps: Iterable[rows.OffsetJump]) -> Iterator[rows.IncidentLink]:
    """The records that each rebalance made its group read again or skip."""
    for rebalance_id, own in grouped(jumps, lambda j: j.rebalance_id).items():
        if rebalance_id is not None:
            again, skipped = (records_moved(own, h) for h in (JumpHarm.RECORDS_READ_AGAIN, JumpHarm.RECORDS_SKIPPED))
            yield rows.IncidentLink(
                part_id=rebalance_id,
                read_again_low=again.low,
                read_again_high=again.high,
                skipped_low=skipped.low,
                skipped_high=skipped.high,
            )


_HARMFUL = [kind for kind in FailoverKind if kind.noun.is_harmful]


def _is_quoted(failovers: pa.Table) -> pa.ChunkedArray:
    """Whether an incident may quote each failover: it is harmful, or clients noticed the time without a leader.

    An incident with an absence quotes only those that may have lost records. A restored leader names the absence after
    which it came back, which is not always the one that had taken it away.
    """
    lengths = (failovers[name] for name in ("leaderless_ms", "leaderless_low_ms", "leaderless_high_ms"))
    is_noticed = pc.greater_equal(pc.max_element_wise(*lengths), NOTICED_MS)
    is_restored = pc.equal(failovers["kind"], str(FailoverKind.LEADER_RESTORED))
    may_be_alone = pc.or_(pc.is_null(failovers["outage_id"]), is_restored)
    return pc.and_kleene(
        pc.or_kleene(among(failovers["kind"], _HARMFUL), is_noticed),
        pc.or_(may_be_alone, pc.is_valid(failovers["records_lost_low"])),
    )


def _is_origin(unavailability: pa.Table) -> pa.ChunkedArray:
    """Whether each row may be all that shows its incident, which then quotes it."""
    is_of_partition = pc.and_(pc.is_valid(unavailability["topic"]), pc.is_null(unavailability["outage_id"]))
    return pc.and_(is_of_partition, pc.is_null(unavailability["failover_id"]))


UNAVAILABILITY = union(PARTITIONS.output("unavailability"), GROUPS.output("unavailability"))

INCIDENTS = Judgement(
    "incidents",
    (judge_all_incidents,),
    ("cluster",),
    {
        "group_incidents": AFTERMATH.output("group_incidents"),
        "outages": AFTERMATH.output("outages"),
        "failovers": quoted_where(_is_quoted, PARTITIONS.output("failovers")),
        "truncations": where(
            lambda cuts: pc.not_equal(cuts["verdict"], str(TruncationVerdict.NOTHING_COMMITTED_LOST)),
            PARTITIONS.output("truncations"),
        ),
        "out_of_sync_periods": AFTERMATH.output("out_of_sync_periods"),
        "unavailability": quoted_where(_is_origin, UNAVAILABILITY),
        "stalls": GROUPS.output("stalls"),
        "controllers": BROKERS.output("controller_changes"),
        "isr_spans": each(unquoted, PARTITIONS.output("isr_spans")),
        "group_links": AFTERMATH.output("group_links"),
        "jumps": OFFSETS.output("jumps"),
    },
    needs=(FACTS,),
)

LINKS = INCIDENTS.output("links")
"""The incident of each rebalance, failover, truncation, jump and row of gold.unavailability: rows of IncidentLink."""


@dataclass(frozen=True)
class AdvisedIncidents:
    """The incidents of a window, with what would have prevented them as their topics are replicated."""

    incidents: list[rows.Incident]


def advise_incidents(
    judged_incidents: list[rows.Incident], risks: list[rows.PartitionRisk], scope: Scope, facts: WindowFacts
) -> AdvisedIncidents:
    """Leave out of the prevention what the topics of an incident have already."""
    topics = _replication(risks, facts.settings, scope.window.end)
    advised = []
    for row in judged_incidents:
        weakest = Replication.weakest(topics.get(topic, Replication()) for topic in row.topics or ())
        advised.append(replace(row, prevention=prevention_of(row.harm or Harm.ROUTINE, weakest) or None))
    return AdvisedIncidents(advised)


def _replication(risks: Iterable[rows.PartitionRisk], settings: BrokerSettings, at: datetime) -> dict[str, Replication]:
    """How each topic is replicated, as far as its partitions and its settings show."""
    replication = {}
    for topic, own in grouped(risks, lambda r: r.topic).items():
        unclean = settings.of_topic(topic, UNCLEAN, at)
        is_allowed = unclean.is_on if unclean else None
        partitions = (Replication(r.replication_factor, r.min_insync_replicas, is_allowed) for r in own)
        replication[topic] = Replication.weakest(partitions)
    return replication


def _is_unquoted(risks: pa.Table) -> pa.ChunkedArray:
    """No row: incidents quote none of these."""
    return pc.is_null(risks["evidence"])


ADVISED = Judgement(
    "advised_incidents",
    (advise_incidents,),
    ("cluster",),
    {
        "judged_incidents": INCIDENTS.output("incidents"),
        "risks": quoted_where(_is_unquoted, PARTITIONS.output("risks")),
    },
    needs=(FACTS,),
)
"""The incidents as they are published."""
