"""Rows of gold.unavailability, whatever could not be used."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.codes import Confidence, Intent, UnavailabilityKind
from kafka_hindsight.catalog.rows import Quote, Unavailability
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.words import bounded

_SENTENCES = {
    UnavailabilityKind.NO_LEADER: "{subject} had no leader",
    UnavailabilityKind.ACKS_ALL_REFUSED: "{subject} refused writes with acks=all",
    UnavailabilityKind.ACKS_ALL_HUNG: "Writes with acks=all to {subject} waited",
    UnavailabilityKind.NO_CONSUMER: "Group {subject} consumed nothing",
}


def ledger_row(
    kind: UnavailabilityKind,
    subject: tuple[str, str] | tuple[str, str, int],
    interval: BoundedInterval[Any],
    logs_end: datetime,
    why: str,
    confidence: Confidence,
    quotes: Iterable[Quote],
    failover_id: str | None = None,
    rebalance_id: str | None = None,
    outage_id: str | None = None,
) -> Unavailability:
    """One row of gold.unavailability.

    Args:
        kind: What could not be done.
        subject: The cluster with a group, or with a topic and a partition.
        interval: From when to when.
        logs_end: The last line of any broker: until then what has no end was not over.
        why: What caused it, in a sentence.
        confidence: The most that the evidence allows; `likely` at most where no proof shows that it lasted at all.
        quotes: The evidence.
        failover_id, rebalance_id: What began it.
        outage_id: The outage behind it.
    """
    cluster, *names = subject
    low, high, possible = interval.low(logs_end), interval.high, interval.possible
    subject_name = "-".join(map(str, names))
    columns: dict[str, Any] = dict(zip(("topic", "partition") if len(names) > 1 else ("group_id",), names, strict=True))
    identity = failover_id or rebalance_id or interval.start
    lasted = f"from {interval.start:%H:%M:%S} on, and that was not over when the logs end"
    if interval.end is not None:
        length = bounded(low / MS, None if high is None else high / MS)
        lasted = f"for {length}" if length else "for a time that no evidence bounds"
    return Unavailability(
        cluster=cluster,
        unavailability_id=row_id(cluster, "unavailability", kind, *names, identity),
        kind=kind,
        started_at=interval.start,
        ended_at=interval.end,
        earliest_start_at=min(possible.start, interval.start) if possible else None,
        latest_end_at=max(possible.end, interval.end) if possible and possible.end and interval.end else None,
        low_ms=low // MS,
        high_ms=None if high is None else high // MS,
        failover_id=failover_id,
        rebalance_id=rebalance_id,
        outage_id=outage_id,
        intent=Intent.UNKNOWN,
        confidence=confidence if low else confidence.at_most(Confidence.LIKELY),
        explanation=f"{_SENTENCES[kind].format(subject=subject_name)} {lasted}. {why}",
        evidence=evidence_of(quotes),
        **columns,
    )
