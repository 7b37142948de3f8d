"""What is known of a partition over time: its ISR, its leader, its settings and the number of its replicas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import Event, Quote
from kafka_hindsight.judgements.brokers.broker_settings import BrokerSettings, Course, Setting, at_instant
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Partition, deletions_of, lives_of
from kafka_hindsight.judgements.partitions.readings import PartitionReadings, Readings, TopicReadings
from kafka_hindsight.judgements.partitions.replicas.isr import ISR_KINDS, commits_of
from kafka_hindsight.judgements.partitions.replicas.known_isrs import KnownIsr, known_isrs
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline, instants
from kafka_hindsight.knowledge.broker_settings import MIN_ISR, UNCLEAN
from kafka_hindsight.shared.windows import Window, broker_ids

ReplicaCounts = Timeline[tuple[datetime, int]]
"""How many replicas a partition had, each number at an instant that shows it."""


@dataclass(frozen=True)
class State:
    """What holds while nothing changes: the ISR, how many replicas there are, the settings, and the leader.

    `leader` is -1 where it has none, and None where it is not known.
    """

    known: KnownIsr
    replicas: int | None
    min_isr: Setting | None
    unclean: Setting | None
    leader: int | None

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
        return self.isr_size == 1 and self.leader != NOBODY and not self.known.has_eligible

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
class History:
    """What is known of one partition.

    `leaders`: who led, where that is known; `leaderless`: when no broker led.
    """

    key: Partition
    known: Intervals[KnownIsr]
    replicas: ReplicaCounts
    min_isr: Course
    unclean: Course
    leaders: Intervals[int]
    leaderless: Sequence[BoundedInterval[Any]]

    @cached_property
    def without_leader(self) -> Intervals[None]:
        """When it had no leader, as the evidence shows it best."""
        return Intervals(Interval(i.start, i.end, None) for i in self.leaderless)

    def replicas_at(self, at: datetime) -> int | None:
        """How many replicas it had, as shown last before an instant, else first after it."""
        counted = self.replicas.last_until(at) or self.replicas.first_since(at)
        return counted[1] if counted else None

    def states(self, window: Window) -> Intervals[State]:
        """Its states in the window: the known ISRs, split where anything else changes."""
        cuts = {at for course in (self.min_isr, self.unclean, self.replicas) for at, _ in course}
        cuts |= {at for i in (*self.leaders, *self.without_leader) for at in (i.start, i.end) if at is not None}
        in_order = instants(cuts)
        return Intervals(
            Interval(piece.start, piece.end, self._state(piece))
            for known in self.known.clip(window.start, window.end)
            for piece in known.split(in_order)
        )

    def _state(self, piece: Interval[KnownIsr]) -> State:
        start = piece.start
        return State(
            piece.value,
            self.replicas_at(start),
            at_instant(self.min_isr, start),
            at_instant(self.unclean, start),
            self._leader_from(start),
        )

    def _leader_from(self, at: datetime) -> int | None:
        """The leader from an instant on: -1 where it has none, None where it is not known."""
        if any(gap.end != at for gap in self.without_leader.at(at)):
            return NOBODY
        return next((led.value for led in reversed(self.leaders.at(at)) if led.end != at), None)


def histories_of(
    events: Iterable[Event],
    readings: Readings,
    leaders: Mapping[Partition, Sequence[Interval[int]]],
    leaderless: Mapping[Partition, Sequence[BoundedInterval[Any]]],
    settings: BrokerSettings,
    context: ClusterContext,
    logs_end: datetime,
) -> list[History]:
    """What is known of each partition.

    Takes: silver.events of at least ISR_KINDS and topic_deleted, of any number of whole topics, with look-back; rows
    of bronze.partition_snapshots of the same topics; who led them, and when no broker did; the last line of any broker.
    Order: by topic and partition.
    Edge case: the last known ISR holds until the logs end.
    """
    lines = list(events)
    read = TopicReadings.of(readings)
    deleted = deletions_of(lines, context.controller_epochs)
    lives = lives_of(lines, ISR_KINDS, context.controller_epochs)
    keys = sorted({*lives, *read.partitions(), *leaderless})
    courses = {
        topic: (settings.course_of_topic(topic, MIN_ISR), settings.course_of_topic(topic, UNCLEAN))
        for topic in {k[1] for k in keys}
    }
    found = []
    for key in keys:
        own, ends = lives.get(key, []), [*deleted[key[:2]], logs_end]
        known, replicas = Intervals(_known(own, read[key], ends)), _replica_counts(own, read[key])
        led = Intervals(leaders.get(key, ()))
        found.append(History(key, known, replicas, *courses[key[1]], led, leaderless.get(key, ())))
    return found


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
