"""Replicas that cut their logs: what went, and whether committed records went with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_hindsight.catalog.codes import TruncationVerdict
from kafka_hindsight.catalog.rows import Event, Failover
from kafka_hindsight.catalog.rows import Truncation as TruncationRow
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch
from kafka_hindsight.judgements.partitions.incarnations import Partition, by_partition, lives_of
from kafka_hindsight.judgements.partitions.readings import PartitionReadings, Readings, TopicReadings
from kafka_hindsight.judgements.partitions.replicas.losses import LOSS_KINDS
from kafka_hindsight.judgements.partitions.replicas.truncation_rulings import (
    TRUNCATION_RULINGS,
    Cut,
    Truncation,
    cuts_of,
)
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.judgements.reasoning.timelines import by_instant
from kafka_hindsight.shared.durations import CLOCK_SKEW
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted


def rebuild_truncations(
    events: Iterable[Event],
    readings: Readings,
    failovers: Iterable[Failover],
    terms: Sequence[ControllerEpoch],
    window: Window,
) -> list[TruncationRow]:
    """Rows of gold.truncations: one for each time that a replica cut its log, in order.

    Takes: silver.events of at least LOSS_KINDS and topic_deleted, of whole topics, with look-back. No committed record
    is reported lost where every leader since came from the ISR.
    """
    read, led = TopicReadings.of(readings), by_partition(failovers)
    return [
        _row(key, case)
        for key, incarnations in sorted(lives_of(events, LOSS_KINDS, terms).items())
        for case in _cases(key, incarnations, read[key], led[key])
        if window.holds(case.cut.first.happened_at)
    ]


def _cases(
    key: Partition, lives: Iterable[Sequence[Event]], readings: PartitionReadings, failovers: Iterable[Failover]
) -> Iterator[Truncation]:
    """The cuts of one partition, each with what is known of its incarnation: leader epochs start again in each. The
    first may be older than its first line.
    """
    led = by_instant(failovers)
    for i, lines in enumerate(lives):
        start = lines[0].happened_at - CLOCK_SKEW if i else None
        for cut in cuts_of(lines):
            yield Truncation(key[1], cut, lines, readings.within(start, None), led.within(start, None))


def _row(key: Partition, case: Truncation) -> TruncationRow:
    cluster, topic, partition = key
    cut, verdict = case.cut, judge(TRUNCATION_RULINGS, case)
    failover: Failover | None = verdict.facts.get("failover")
    follows, at = cut.follows, cut.first.happened_at
    leader = _leader(cut, failover)
    quotes = [quote(e) for e in ([follows] if follows else []) + [*cut.lines]]
    return TruncationRow(
        cluster=cluster,
        truncation_id=row_id(cluster, "truncation", topic, partition, cut.broker, at),
        topic=topic,
        partition=partition,
        broker=cut.broker,
        happened_at=at,
        leader=leader,
        leader_epoch=follows.leader_epoch if follows else None,
        is_whole=cut.is_whole,
        log_end_before=cut.log_end,
        truncated_to=cut.to,
        records_cut=cut.records,
        high_watermark=verdict.facts.get("high_watermark"),
        failover_id=failover.failover_id if failover else None,
        outage_id=failover.outage_id if failover else None,
        verdict=TruncationVerdict(verdict.code),
        confidence=verdict.confidence,
        explanation=f"{_describe(cut, leader)} {verdict.sentence}",
        evidence=evidence_of([*quotes, *verdict.evidence, *(failover.evidence[:2] if failover else ())]),
    )


def _leader(cut: Cut, failover: Failover | None) -> int | None:
    """The leader that the replica followed."""
    if cut.follows is None or cut.follows.leader is not None:
        return cut.follows.leader if cut.follows else None
    return failover.leader_to if failover and failover.epoch_to == cut.follows.leader_epoch else None


def _describe(cut: Cut, leader: int | None) -> str:
    following = "" if leader is None else f" as it followed broker {leader}"
    if cut.is_whole:
        return f"Broker {cut.broker} dropped its whole log{following}, and fetches it again from offset {cut.to}."
    if cut.records is None:
        return f"Broker {cut.broker} cut its log back to offset {cut.to}{following}."
    records = counted(cut.records, "record")
    return f"Broker {cut.broker} cut {records} off its log, back to offset {cut.to}{following}."
