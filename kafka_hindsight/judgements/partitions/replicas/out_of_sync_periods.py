"""Each time in which one broker was out of ISRs, over all its partitions, as one row.

Source: each leader judges its own followers by what they fetch from it (Partition.isFollowerOutOfSync). So a follower
that several leaders remove is slow itself; a leader that alone removes several followers is what they have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate
from operator import itemgetter

from kafka_hindsight.catalog.codes import Confidence, IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    IsrChange,
    IsrSpan,
    OutOfSyncCount,
    OutOfSyncPeriod,
    PartitionSnapshot,
)
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling, Unknown, verdict_of
from kafka_hindsight.knowledge.isr_advice import CALM_AFTER, CYCLES_WITHIN, REPLICA_LAG
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline, instants, timelines
from kafka_hindsight.shared.windows import Window, ms_between
from kafka_hindsight.shared.words import counted, duration

_WEAK = (OutOfSyncKind.REASSIGNMENT, OutOfSyncKind.UNKNOWN)


@dataclass(frozen=True)
class ReplicaAbsence:
    """The spans in which one broker was out of ISRs and that belong together, in order of time; see `merge_spans`.

    `outage`: the one behind it; `followers_removed`: those that its only leader removed about then, with no other
    leader removing them.
    """

    spans: Sequence[IsrSpan]
    outage: BrokerOutage | None = None
    followers_removed: frozenset[int] = frozenset()

    @property
    def broker(self) -> int:
        return self.spans[0].broker

    @cached_property
    def kind(self) -> OutOfSyncKind:
        """The cause of its first shrink; a moved replica and an unknown cause give way to any other."""
        causes = [s.shrink_cause or OutOfSyncKind.UNKNOWN for s in self.spans]
        return next((c for c in causes if c not in _WEAK), causes[0])

    @cached_property
    def by_partition(self) -> dict[tuple[str, int], list[IsrSpan]]:
        return grouped(self.spans, lambda s: (s.topic, s.partition))

    @cached_property
    def ended_at(self) -> datetime | None:
        """The instant at which the broker was back in every ISR; None while it is not."""
        end = max(s.out_of_sync_until or NEVER for s in self.spans)
        return None if end == NEVER else end

    @cached_property
    def observed_until(self) -> datetime | None:
        """The instant up to which the logs would show its return, where no partition is shown without it at the end."""
        lasting = [s.observed_until for s in self.spans if s.out_of_sync_until is None]
        return None if None in lasting else max((at for at in lasting if at), default=None)

    @property
    def slow_spans(self) -> list[IsrSpan]:
        return [s for s in self.spans if s.shrink_cause == OutOfSyncKind.SLOW]

    @cached_property
    def removed_by(self) -> list[int]:
        return sorted({s.removed_by_leader for s in self.slow_spans if s.removed_by_leader is not None})

    @cached_property
    def outage_ids(self) -> list[str]:
        """The outages in it, each once, in order of the shrinks."""
        return list(dict.fromkeys(s.outage_id for s in self.spans if s.outage_id))

    @cached_property
    def records_behind(self) -> int | None:
        return max((s.records_behind for s in self.spans if s.records_behind is not None), default=None)

    @cached_property
    def time_out(self) -> str:
        if self.ended_at is None:
            return "and the logs do not show whether it came back" if self.observed_until else "and is not back in all"
        ends = accumulate((s.out_of_sync_until or NEVER for s in self.spans), max)
        has_gaps = any(end < after.happened_at for end, after in zip(ends, self.spans[1:], strict=False))
        return f"{'again and again ' if has_gaps else ''}for {duration(self.ended_at - self.spans[0].happened_at)}"

    @property
    def partitions(self) -> str:
        return counted(len(self.by_partition), "partition")

    @property
    def leaders(self) -> str:
        return f"Leader{'s' if len(self.removed_by) > 1 else ''} {', '.join(map(str, self.removed_by))}"

    @property
    def behind(self) -> str:
        return f", up to {self.records_behind} records behind" if self.records_behind else ""


def is_of(kind: OutOfSyncKind) -> Predicate[ReplicaAbsence]:
    """A predicate: the period is of the kind, and its own broker is the suspect."""
    sentence = f"The first shrink with a known cause has the cause `{kind}`."
    return with_sentence(sentence, lambda case: Proof(facts={"suspect": case.broker}) if case.kind is kind else None)


def outage_is_judged(case: ReplicaAbsence) -> Proof | None:
    """The outage is as sure as its own row says."""
    return Proof(confidence=case.outage.confidence if case.outage else Confidence.LIKELY)


def points_to_no_broker(case: ReplicaAbsence) -> Proof | None:
    """That points to no broker."""
    return Proof(facts={"suspect": None})


def several_leaders_removed_it(case: ReplicaAbsence) -> Proof | None:
    """More than one leader removed the broker."""
    return proof_if(len(case.removed_by) > 1)


def its_leader_removed_others_too(case: ReplicaAbsence) -> Proof | None:
    """Within a minute its only leader removed other followers too, which no other leader removed."""
    leader = next(iter(case.removed_by), None)
    return Proof(words={"leader": leader}, facts={"suspect": leader}) if len(case.followers_removed) > 1 else None


_OUT = "Broker {broker} was out of the ISR of {partitions} {time_out}"
_SLOW = (
    f"{_OUT}, alive, but too slow to keep up with its leaders. {{leaders}} removed it{{behind}}: it had not caught up"
    " for replica.lag.time.max.ms (30 s by default). "
)
_SHRINKS = "The cause of the shrinks: gold.isr_changes.shrink_cause"
_LAG = "Partition.isFollowerOutOfSync; ReplicaManager looks at every follower each half of replica.lag.time.max.ms"

OUT_OF_SYNC_RULINGS: tuple[Ruling[ReplicaAbsence], ...] = (
    Certain(
        OutOfSyncKind.OUTAGE,
        f"{_OUT}, because it was away.",
        proof=(is_of(OutOfSyncKind.OUTAGE), outage_is_judged),
        source=_SHRINKS,
        cases=("crash-2.8 broker 1 01:52:31.810", "slow-4.1 broker 1 15:36:56.383"),
    ),
    Likely(
        OutOfSyncKind.DISK,
        f"{_OUT}, because its log directory failed.",
        proof=(is_of(OutOfSyncKind.DISK),),
        source=_SHRINKS,
        cases=("disk-4.3 broker 2 11:57:10.498", "disk-4.3 broker 3 11:57:45.041"),
    ),
    Likely(
        OutOfSyncKind.NOT_AUTHENTICATED,
        f"{_OUT}, because it could not authenticate with its leaders.",
        proof=(is_of(OutOfSyncKind.NOT_AUTHENTICATED),),
        source=_SHRINKS,
        cases=("made: one leader refuses its follower", "slow-4.1 broker 1 15:36:56.383"),
    ),
    Likely(
        OutOfSyncKind.REASSIGNMENT,
        "Broker {broker} left the ISR of {partitions}, because its replicas were moved to other brokers.",
        proof=(is_of(OutOfSyncKind.REASSIGNMENT), points_to_no_broker),
        source=_SHRINKS,
        cases=("cancelled-4.1 broker 1 15:35:14.780", "cancelled-4.1 broker 1 15:36:13.214"),
    ),
    Likely(
        OutOfSyncKind.SLOW,
        f"{_SLOW}Several leaders removed it: broker {{broker}} itself is slow.",
        proof=(is_of(OutOfSyncKind.SLOW), several_leaders_removed_it),
        source=_LAG,
        cases=("made: two leaders remove one follower", "slow-4.1 broker 1 15:36:56.383"),
    ),
    Likely(
        OutOfSyncKind.SLOW,
        f"{_SLOW}Leader {{leader}}, and no other, removed several followers at the same time: that leader is slow.",
        proof=(is_of(OutOfSyncKind.SLOW), its_leader_removed_others_too),
        source=_LAG,
        cases=("made: one leader removes two followers", "slow-4.1 broker 1 15:36:56.383"),
    ),
    Possible(
        OutOfSyncKind.SLOW,
        f"{_SLOW}Only one leader removed it: broker {{broker}}, that leader, or the network between them is slow.",
        proof=(is_of(OutOfSyncKind.SLOW),),
        source=_LAG,
        cases=("slow-4.1 broker 1 15:36:56.383", "made: two leaders remove one follower"),
    ),
    Unknown(
        OutOfSyncKind.UNKNOWN,
        f"{_OUT}; the evidence does not show why.",
        proof=(points_to_no_broker,),
        source=_SHRINKS,
        cases=("preferred-2.8 broker 2 01:53:08.842", "crash-2.8 broker 1 01:52:31.810"),
    ),
)
"""By the kind of the period; among those that lagged, the surest first."""


_SAME_TIME = 2 * REPLICA_LAG
"""A slow leader removes its followers within this: it looks at them every half of replica.lag.time.max.ms."""

_MOST_TOPICS = 10


def shrink_spans(changes: Sequence[IsrChange]) -> list[IsrSpan]:
    """The shrinks among rows of gold.isr_changes, each with its end: slim enough to read a whole cluster's at once.

    There is evidence only for the first and the last of a topic's shrinks of one broker and cause, and for each that
    begins when none before it lasts: it may begin a period.
    """
    returns = {_key(c, c.happened_at): c for c in changes if c.change == IsrChangeKind.EXPAND}
    shrinks = (c for c in changes if c.change == IsrChangeKind.SHRINK)
    return _thinned(_span(c, returns.get(_key(c, c.out_of_sync_until))) for c in shrinks)


_OF_CHANGE = {f.name for f in fields(IsrSpan)} & {f.name for f in fields(IsrChange)} - {"evidence"}


def _thinned(spans: Iterable[IsrSpan]) -> list[IsrSpan]:
    """The spans, with evidence at the ends of those of one topic, broker and cause."""
    thinned: list[IsrSpan] = []
    for own in grouped(spans, lambda s: (s.topic, s.broker, s.shrink_cause, s.outage_id)).values():
        ordered = sorted(own, key=_place)
        last = max(ordered, key=lambda s: (s.out_of_sync_until or NEVER, *_place(s)))
        first_ids = {id(together[0]) for together in merge_spans(ordered, timedelta())}
        thinned += [s if s is last or id(s) in first_ids else replace(s, evidence=[]) for s in ordered]
    return thinned


def _span(change: IsrChange, back: IsrChange | None) -> IsrSpan:
    columns = {name: getattr(change, name) for name in _OF_CHANGE}
    evidence = [*change.evidence, *(back.evidence if back else ())]
    return IsrSpan(**columns, is_back=back is not None, isr_size=len(change.isr_after or ()), evidence=evidence)


def _key(change: IsrChange, at: datetime | None) -> tuple[object, ...]:
    return change.topic, change.partition, change.broker, at


def _place(span: IsrSpan) -> tuple[datetime, str, int]:
    return span.happened_at, span.topic, span.partition


def rebuild_out_of_sync_periods(
    spans: Iterable[IsrSpan], outages: Iterable[BrokerOutage], window: Window
) -> list[OutOfSyncPeriod]:
    """Rows of gold.out_of_sync_periods: each time that a broker was out of ISRs, over all partitions, once.

    `spans` are those of one cluster, with look-ahead, in any order. Every span belongs to exactly one period, and the
    periods of one broker do not overlap, whatever the blocks of partitions in which the spans were judged. Spans with
    one cause and less than ten minutes between are one period. Those of two outages are two, unless the broker went
    down again before it was back.
    """
    by_broker = sorted(grouped(_thinned(spans), lambda s: s.broker).items())
    periods = [ReplicaAbsence(merged) for _, own in by_broker for merged in merge_spans(own)]
    outage_by_id = {o.outage_id: o for o in outages}
    # By leader, each time that it, and no other in the same period, removed a follower because the follower lagged.
    alone = ((p.removed_by[0], span) for p in periods if len(p.removed_by) == 1 for span in p.slow_spans)
    removals = timelines(alone, lambda r: r[0], lambda r: r[1].happened_at)
    outages_of = ((p, outage_by_id.get(next(iter(p.outage_ids), ""))) for p in periods)
    cases = (ReplicaAbsence(p.spans, outage, _followers_removed(p, removals)) for p, outage in outages_of)
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


def _followers_removed(period: ReplicaAbsence, removals: Mapping[int, Timeline[tuple[int, IsrSpan]]]) -> frozenset[int]:
    """The followers that the leaders of a period removed about then."""
    start, end = period.spans[0].happened_at - _SAME_TIME, period.spans[-1].happened_at + _SAME_TIME
    by_leader = (removals[leader] for leader in period.removed_by if leader in removals)
    return frozenset(span.broker for own in by_leader for _, span in own.between(start, end))


def _row(period: ReplicaAbsence, window_end: datetime) -> OutOfSyncPeriod:
    first, verdict = period.spans[0], verdict_of(OUT_OF_SYNC_RULINGS, period)
    flaps = len(period.spans) - len(period.by_partition)
    out_ms: Counter[str] = Counter()
    for span in period.spans:
        end = span.out_of_sync_until or span.observed_until or window_end
        out_ms[span.topic] += ms_between(span.happened_at, max(end, span.happened_at))
    return OutOfSyncPeriod(
        cluster=first.cluster,
        out_of_sync_period_id=row_id(first.cluster, "isr_lapse", first.broker, first.happened_at),
        broker=first.broker,
        started_at=first.happened_at,
        ended_at=period.ended_at,
        observed_until=period.observed_until,
        kind=period.kind,
        outage_id=next(iter(period.outage_ids), None),
        suspected_broker=verdict.facts["suspect"],
        removed_by_leader=period.removed_by,
        partitions=len(period.by_partition),
        partitions_out=sum(any(s.out_of_sync_until is None for s in own) for own in period.by_partition.values()),
        shrinks=len(period.spans),
        expands=sum(s.is_back for s in period.spans),
        flaps=flaps,
        cycles=max(map(_cycles, period.by_partition.values())),
        partition_ms=sum(out_ms.values()),
        records_behind=period.records_behind,
        worst_topics=sorted(out_ms, key=lambda t: (-out_ms[t], t))[:_MOST_TOPICS],
        confidence=verdict.confidence,
        explanation=f"{verdict.sentence}{_repetitions(period, flaps)}",
        advice=period.kind.noun.advice,
        evidence=evidence_of(q for s in period.spans for q in s.evidence),
    )


def _cycles(spans: Sequence[IsrSpan]) -> int:
    """The most of one partition's shrinks that were followed by a return, within half an hour."""
    starts = instants(s.happened_at for s in spans if s.is_back)
    return max((len(starts.between(at - CYCLES_WITHIN, at)) for at in starts), default=0)


def _repetitions(period: ReplicaAbsence, flaps: int) -> str:
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
    replicas = ((broker, p) for p in partition_snapshots if p.isr is not None for broker in p.replicas or ())
    hosted = grouped(replicas, lambda h: (h[1].cluster, h[1].snapshot_at, h[0], h[1].snapshot_id))
    counts = []
    for (cluster, at, broker, _), own in sorted(hosted.items(), key=itemgetter(0)):
        missing = sum(broker not in (p.isr or ()) for _, p in own)
        text = f"broker {broker} is missing from the ISR of {missing} of its partitions"
        evidence = [quote_snapshot(own[0][1], text)]
        counts.append(
            OutOfSyncCount(cluster=cluster, snapshot_at=at, broker=broker, partitions_out=missing, evidence=evidence)
        )
    return counts
