"""What each partition risked in a window: without a leader, short of replicas, one failure from worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter
from typing import Any

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import Event, Failover, PartitionRisk, Quote
from kafka_hindsight.judgements.brokers.broker_settings import BrokerSettings, Course, Setting, at_instant
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Partition, by_partition, deletions_of, lives_of
from kafka_hindsight.judgements.partitions.readings import PartitionReadings, Readings, TopicReadings
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, commits_of
from kafka_hindsight.judgements.partitions.replicas.known_isrs import KnownIsr, known_isrs
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline, instants
from kafka_hindsight.knowledge.broker_settings import MIN_ISR, UNCLEAN
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.windows import Window, broker_ids

ReplicaCounts = Timeline[tuple[datetime, int]]
"""How many replicas a partition had, each number at an instant that shows it."""


@dataclass(frozen=True)
class _State:
    """What holds while nothing changes: the ISR, how many replicas there are, and the settings."""

    known: KnownIsr
    replicas: int | None
    min_isr: Setting | None
    unclean: Setting | None
    has_leader: bool

    @property
    def least(self) -> int | None:
        """How many must be in sync for acks=all to write.

        Source: Partition.effectiveMinIsr (since 3.7; before, a setting above the replicas refused every write).
        """
        minimum = self.min_isr.number if self.min_isr else None
        return None if minimum is None or self.replicas is None else min(minimum, self.replicas)

    @property
    def isr_size(self) -> int:
        """How many replicas are in sync."""
        return len(self.known.isr)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The evidence of the state."""
        return (self.known.quote, *(s.quote for s in (self.min_isr, self.unclean) if s))

    def is_under_replicated(self) -> bool:
        return self.replicas is not None and self.isr_size < self.replicas

    def is_under_min_isr(self) -> bool:
        return self.least is not None and self.isr_size < self.least

    def is_at_min_isr(self) -> bool:
        return self.least is not None and self.isr_size == self.least

    def is_alone(self) -> bool:
        return self.isr_size == 1 and self.has_leader and not self.known.has_eligible

    def may_elect_uncleanly(self) -> bool:
        return self.is_under_replicated() and self.unclean is not None and self.unclean.is_on

    def is_one_from_offline(self) -> bool:
        return self.is_alone() and not self.may_elect_uncleanly()

    def is_one_from_unclean(self) -> bool:
        return self.is_alone() and self.may_elect_uncleanly()

    def is_risky(self) -> bool:
        is_thin = self.is_under_replicated() or self.is_under_min_isr() or self.is_at_min_isr()
        return is_thin or self.is_alone()


@dataclass(frozen=True)
class _History:
    """What is known of one partition. `leaderless` surely, `may_be_leaderless` at most; None: no evidence bounds it."""

    key: Partition
    known: Intervals[KnownIsr]
    replicas: ReplicaCounts
    min_isr: Course
    unclean: Course
    failovers: Sequence[Failover]
    leaderless: Intervals[None]
    may_be_leaderless: Intervals[None] | None

    def replicas_at(self, at: datetime) -> int | None:
        """How many replicas it had, as shown last before an instant, else first after it."""
        counted = self.replicas.last_until(at) or self.replicas.first_since(at)
        return counted[1] if counted else None

    def states(self, window: Window) -> Intervals[_State]:
        """Its states in the window: the known ISRs, split where anything else changes."""
        cuts = {at for course in (self.min_isr, self.unclean, self.replicas) for at, _ in course}
        cuts |= {at for gap in self.leaderless for at in (gap.start, gap.end) if at is not None}
        in_order = instants(cuts)
        return Intervals(
            Interval(piece.start, piece.end, self._state(piece))
            for known in self.known.clip(window.start, window.end)
            for piece in known.split(in_order)
        )

    def _state(self, piece: Interval[KnownIsr]) -> _State:
        start = piece.start
        return _State(
            piece.value,
            self.replicas_at(start),
            at_instant(self.min_isr, start),
            at_instant(self.unclean, start),
            not any(gap.end != start for gap in self.leaderless.at(start)),
        )


def rebuild_risks(
    events: Iterable[Event],
    readings: Readings,
    failovers: Iterable[Failover],
    settings: BrokerSettings,
    context: ClusterContext,
    logs_end: datetime,
    window: Window,
) -> list[PartitionRisk]:
    """Rows of gold.partition_risks: one for each partition that risked anything.

    Takes: silver.events of at least ISR_KINDS and topic_deleted, of any number of whole topics, with look-back; rows
    of bronze.partition_snapshots and of gold.failovers of the same topics; the last line of any broker.
    Order: by topic and partition.
    Keeps: each time lies within the window, and the times of two windows that touch add up to those of both together.
    Edge case: the last known ISR holds until the logs end.
    """
    lines = list(events)
    read, led = TopicReadings.of(readings), by_partition(failovers, "happened_at")
    deleted = deletions_of(lines, context.controller_epochs)
    lives = lives_of(lines, ISR_KINDS, context.controller_epochs)
    keys = sorted({*lives, *read.partitions(), *led})
    courses = {
        topic: (settings.course_of_topic(topic, MIN_ISR), settings.course_of_topic(topic, UNCLEAN))
        for topic in {k[1] for k in keys}
    }
    rows = []
    for key in keys:
        own, ends = lives.get(key, []), [*deleted[key[:2]], logs_end]
        replicas, known = _replica_counts(own, read[key]), Intervals(_known(own, read[key], ends))
        history = _History(key, known, replicas, *courses[key[1]], led[key], *_leaderless(led[key], ends))
        risk = _Risk(history, window)
        rows += [_row(risk)] if risk.instants else []
    return rows


def _known(
    lives: Sequence[Sequence[Event]], readings: PartitionReadings, ends: Sequence[datetime]
) -> Iterator[Interval[KnownIsr]]:
    """The known ISRs of all incarnations of a partition: each up to the next one.

    Takes: `ends`, when its topic was deleted, and when logs end.
    """
    logs_end = ends[-1]
    later_starts = [life[0].happened_at for life in lives[1:]]
    for life, first, end in zip(lives or [[]], [None, *later_starts], [*later_starts, None], strict=True):
        own = readings.within(first, end)
        start = life[0].happened_at if life else own[0].snapshot_at if own else logs_end
        deleted_at = next((at for at in ends[:-1] if at > start), None)
        until = deleted_at or end or max([logs_end, *(r.snapshot_at for r in own[-1:])])
        yield from known_isrs(commits_of(life), own.within(None, until + timedelta.resolution), until)


def _replica_counts(lives: Sequence[Sequence[Event]], readings: PartitionReadings) -> ReplicaCounts:
    listed = [(e.happened_at, broker_ids(e.replicas) or ()) for life in lives for e in life if e.replicas]
    telling = readings.telling(at for at, _ in listed)
    listed += [(r.snapshot_at, tuple(r.replicas)) for r in telling if r.replicas]
    return Timeline(sorted((at, len(set(replicas))) for at, replicas in listed), lambda count: count[0])


def _leaderless(
    failovers: Sequence[Failover], ends: Sequence[datetime]
) -> tuple[Intervals[None], Intervals[None] | None]:
    """When the partition surely had no leader, and when at most; None where no evidence bounds one of the elections.

    Takes: its failovers in order of time; when its topic was deleted and logs end.
    """
    low = _without_leader(failovers, ends, lambda f: f.leaderless_low_ms or 0)
    if any(f.leader_to != NOBODY and f.leaderless_high_ms is None for f in failovers):
        return low, None
    return low, _without_leader(failovers, ends, lambda f: max(f.leaderless_low_ms or 0, f.leaderless_high_ms or 0))


def _without_leader(
    failovers: Sequence[Failover], ends: Sequence[datetime], waited_ms: Callable[[Failover], int]
) -> Intervals[None]:
    gaps = []
    for failover, after in zip(failovers, [*failovers[1:], None], strict=False):
        at = failover.happened_at
        if failover.leader_to == NOBODY:
            until = after.happened_at if after else next((end for end in ends if end > at), at)
            gaps.append(Interval(at, until, None))
        else:
            gaps.append(Interval(at - waited_ms(failover) * MS, at, None))
    return Intervals(gaps).union()


@dataclass(frozen=True)
class _Risk:
    """What one partition risked in one window."""

    history: _History
    window: Window

    @cached_property
    def states(self) -> Intervals[_State]:
        return self.history.states(self.window)

    @cached_property
    def risky(self) -> list[Interval[_State]]:
        return [s for s in self.states if s.value.is_risky()]

    @cached_property
    def elections(self) -> list[Failover]:
        elected = (f for f in self.history.failovers if f.leader_to != NOBODY)
        return [f for f in elected if self.window.holds(f.happened_at)]

    @cached_property
    def instants(self) -> list[datetime]:
        """When anything began or ended that is a risk."""
        gaps = (self.history.may_be_leaderless or self.history.leaderless).clip(self.window.start, self.window.end)
        ends = (at for span in (*self.risky, *gaps) for at in (span.start, span.end) if at is not None)
        return [*(f.happened_at for f in self.elections), *ends]

    @property
    def quotes(self) -> Iterator[Quote]:
        for state in self.risky:
            yield from state.value.quotes
        lost = (f for f in self.history.failovers if f.leader_to == NOBODY)
        yield from (f.evidence[0] for f in (*self.elections, *lost))

    def min_isr(self) -> int | None:
        """The last known minimum."""
        at_end = at_instant(self.history.min_isr, self.window.end)
        last = self.states.intervals[-1].value.min_isr if self.states else at_end
        return last.number if last else None

    def ms(self, spans: Intervals[Any]) -> int:
        return spans.total(self.window.start, self.window.end) // MS

    def risky_ms(self, holds: Callable[[_State], bool], needs: Callable[[_State], int | None]) -> int | None:
        """How long a risk held; None where what it needs is never known."""
        is_known = any(needs(s.value) is not None for s in self.states)
        return self.ms(Intervals(s for s in self.states if holds(s.value))) if is_known else None


def _row(risk: _Risk) -> PartitionRisk:
    history, window = risk.history, risk.window
    replicas, least = attrgetter("replicas"), attrgetter("least")
    may_be_leaderless = history.may_be_leaderless
    return PartitionRisk(
        cluster=history.key[0],
        topic=history.key[1],
        partition=history.key[2],
        window_from=window.start,
        window_to=window.end,
        replication_factor=history.replicas_at(window.end),
        min_insync_replicas=risk.min_isr(),
        elections=len(risk.elections),
        leaderless_low_ms=risk.ms(history.leaderless),
        leaderless_high_ms=None if may_be_leaderless is None else risk.ms(may_be_leaderless),
        under_replicated_ms=risk.risky_ms(_State.is_under_replicated, replicas),
        under_min_isr_ms=risk.risky_ms(_State.is_under_min_isr, least),
        at_min_isr_ms=risk.risky_ms(_State.is_at_min_isr, least),
        one_from_offline_ms=risk.risky_ms(_State.is_one_from_offline, replicas),
        one_from_unclean_ms=risk.risky_ms(_State.is_one_from_unclean, replicas),
        worst_isr_size=min((s.value.isr_size for s in risk.states), default=None),
        first_at=min(risk.instants),
        last_at=max(risk.instants),
        known_ms=risk.ms(risk.states),
        evidence=evidence_of(risk.quotes),
    )
