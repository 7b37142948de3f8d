"""Each time in which one broker was out of ISRs, over all its partitions, as one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    IsrChange,
    IsrSpan,
    OutOfSyncCount,
    OutOfSyncPeriod,
    PartitionSnapshot,
)
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_rulings import OUT_OF_SYNC_RULINGS, Period, PeriodCase
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.judgements.reasoning.timelines import Timeline, instants, timelines
from kafka_hindsight.knowledge.isr import CALM_AFTER, CYCLES_WITHIN, OUT_OF_SYNC_ADVICE, REPLICA_LAG
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, elapsed_ms
from kafka_hindsight.shared.words import counted

_SAME_TIME = 2 * REPLICA_LAG
"""A slow leader removes its followers within this: it looks at them every half of replica.lag.time.max.ms."""

_MOST_TOPICS = 10

Removals = Mapping[int, Timeline[tuple[int, IsrSpan]]]
"""By leader, each time that it removed a follower because the follower lagged."""


def spans_of(changes: Sequence[IsrChange]) -> list[IsrSpan]:
    """The shrinks among rows of gold.isr_changes, each with its end: slim enough to read a whole cluster's at once.

    There is evidence only for the first and the last of a topic's shrinks of one broker and cause, and for each that
    begins when none before it lasts: it may begin a period.
    """
    returns = {_key(c, c.happened_at): c for c in changes if c.change == IsrChangeKind.EXPAND}
    shrinks = (c for c in changes if c.change == IsrChangeKind.SHRINK)
    return _thinned(_span(c, returns.get(_key(c, c.out_of_sync_until))) for c in shrinks)


def _thinned(spans: Iterable[IsrSpan]) -> list[IsrSpan]:
    """The spans, with evidence at the ends of those of one topic, broker and cause."""
    thinned: list[IsrSpan] = []
    for own in grouped(spans, lambda s: (s.topic, s.broker, s.shrink_cause, s.outage_id)).values():
        ordered = sorted(own, key=_place)
        last = max(ordered, key=lambda s: (s.out_of_sync_until or NEVER, *_place(s)))
        begun = {id(together[0]) for together in merge_spans(ordered, timedelta())}
        thinned += [s if s is last or id(s) in begun else replace(s, evidence=[]) for s in ordered]
    return thinned


def _span(change: IsrChange, back: IsrChange | None) -> IsrSpan:
    return IsrSpan(
        cluster=change.cluster,
        topic=change.topic,
        partition=change.partition,
        broker=change.broker,
        happened_at=change.happened_at,
        out_of_sync_until=change.out_of_sync_until,
        is_back=back is not None,
        shrink_cause=change.shrink_cause,
        outage_id=change.outage_id,
        removed_by_leader=change.removed_by_leader,
        records_behind=change.records_behind,
        isr_size=len(change.isr_after or ()),
        evidence=[*change.evidence, *(back.evidence if back else ())],
    )


def _key(change: IsrChange, at: datetime | None) -> tuple[object, ...]:
    return change.topic, change.partition, change.broker, at


def _place(span: IsrSpan) -> tuple[datetime, str, int]:
    return span.happened_at, span.topic, span.partition


def rebuild_out_of_sync_periods(
    spans: Iterable[IsrSpan], outages: Iterable[BrokerOutage], window: Window
) -> list[OutOfSyncPeriod]:
    """Rows of gold.out_of_sync_periods: each time that a broker was out of ISRs, over all partitions, once.

    Takes: the spans of one cluster, with look-ahead. Every span belongs to exactly one period; the periods of one
    broker do not overlap; whatever the order of the spans, and the blocks of partitions in which they were judged.
    Edge case: spans with one cause and less than ten minutes between are one period; those of two outages are two,
    unless the broker went down again before it was back.
    """
    by_broker = sorted(grouped(_thinned(spans), lambda s: s.broker).items())
    periods = [Period(merged) for _, own in by_broker for merged in merge_spans(own)]
    known = {o.outage_id: o for o in outages}
    removals = _removals(periods)
    cases = (PeriodCase(p, known.get(next(iter(p.outage_ids), "")), _followers_removed(p, removals)) for p in periods)
    rows = [_row(case, window.end) for case in cases]
    return sorted((r for r in rows if window.holds(r.started_at)), key=lambda r: (r.started_at, r.broker))


def merge_spans(spans: Iterable[IsrSpan], calm: timedelta = CALM_AFTER) -> list[list[IsrSpan]]:
    """The spans of one broker, those of one period together, in order. `calm` at most lies between two of one cause."""
    periods: list[list[IsrSpan]] = []
    until = NEVER
    for span in sorted(spans, key=_place):
        end, last = span.out_of_sync_until or NEVER, periods[-1][-1] if periods else span
        is_one_cause = (last.shrink_cause, last.outage_id) == (span.shrink_cause, span.outage_id)
        if periods and (span.happened_at <= until or (is_one_cause and span.happened_at - until <= calm)):
            periods[-1].append(span)
            until = max(until, end)
        else:
            periods.append([span])
            until = end
    return periods


def _removals(periods: Iterable[Period]) -> Removals:
    """Those of followers that no other leader removed in the same period."""
    alone = ((period.leaders[0], span) for period in periods if len(period.leaders) == 1 for span in period.slow_spans)
    return timelines(alone, lambda r: r[0], lambda r: r[1].happened_at)


def _followers_removed(period: Period, removals: Removals) -> frozenset[int]:
    """The followers that the leaders of a period removed about then."""
    start, end = period.spans[0].happened_at - _SAME_TIME, period.spans[-1].happened_at + _SAME_TIME
    removed = (removals[leader] for leader in period.leaders if leader in removals)
    return frozenset(span.broker for own in removed for _, span in own.between(start, end))


def _row(case: PeriodCase, window_end: datetime) -> OutOfSyncPeriod:
    period, first = case.period, case.period.spans[0]
    verdict = judge(OUT_OF_SYNC_RULINGS, case)
    flaps = len(period.spans) - len(period.partitions)
    out_ms: Counter[str] = Counter()
    for span in period.spans:
        out_ms[span.topic] += elapsed_ms(span.happened_at, span.out_of_sync_until or max(window_end, span.happened_at))
    return OutOfSyncPeriod(
        cluster=first.cluster,
        out_of_sync_period_id=row_id(first.cluster, "isr_lapse", first.broker, first.happened_at),
        broker=first.broker,
        started_at=first.happened_at,
        ended_at=period.ended_at,
        kind=period.kind,
        outage_id=next(iter(period.outage_ids), None),
        suspected_broker=verdict.facts["suspect"],
        removed_by_leader=period.leaders,
        partitions=len(period.partitions),
        partitions_out=sum(any(s.out_of_sync_until is None for s in own) for own in period.partitions.values()),
        shrinks=len(period.spans),
        expands=sum(s.is_back for s in period.spans),
        flaps=flaps,
        cycles=max(map(_cycles, period.partitions.values())),
        partition_ms=sum(out_ms.values()),
        records_behind=period.records_behind,
        worst_topics=sorted(out_ms, key=lambda t: (-out_ms[t], t))[:_MOST_TOPICS],
        confidence=verdict.confidence,
        explanation=f"{verdict.sentence}{_repetitions(period, flaps)}",
        advice=OUT_OF_SYNC_ADVICE[period.kind],
        evidence=evidence_of(q for s in period.spans for q in s.evidence),
    )


def _cycles(spans: Sequence[IsrSpan]) -> int:
    """The most of one partition's shrinks that were followed by a return, within half an hour."""
    starts = instants(s.happened_at for s in spans if s.is_back)
    return max((len(starts.between(at - CYCLES_WITHIN, at)) for at in starts), default=0)


def _repetitions(period: Period, flaps: int) -> str:
    """The sentences on other outages in the period, and on partitions that lost the broker again."""
    if period.kind is OutOfSyncKind.REASSIGNMENT:
        return ""
    is_outage, outages = period.kind is OutOfSyncKind.OUTAGE, len(period.outage_ids)
    again = "It went down again before it was back" if is_outage else "It was also away in that time"
    times = f", {outages} times" if outages > 1 else ""
    return (f" {again}{times}." if outages > is_outage else "") + (
        f" Partitions lost it again {counted(flaps, 'time')}." if flaps else ""
    )


def count_out_of_sync(partition_snapshots: Iterable[PartitionSnapshot]) -> list[OutOfSyncCount]:
    """One row for each broker of each reading, in order, that is a replica of any partition whose ISR is known."""
    known = ((broker, p) for p in partition_snapshots if p.isr is not None for broker in p.replicas or ())
    hosted = grouped(known, lambda h: (h[1].cluster, h[1].snapshot_at, h[0], h[1].snapshot_id))
    return [_count(key[2], [p for _, p in hosted[key]]) for key in sorted(hosted)]


def _count(broker: int, hosted: Sequence[PartitionSnapshot]) -> OutOfSyncCount:
    reading, missing = hosted[0], sum(broker not in (p.isr or ()) for p in hosted)
    shown = f"broker {broker} is missing from the ISR of {missing} of its partitions"
    return OutOfSyncCount(
        cluster=reading.cluster,
        snapshot_at=reading.snapshot_at,
        broker=broker,
        partitions_out=missing,
        evidence=[quote_snapshot(reading, shown)],
    )
