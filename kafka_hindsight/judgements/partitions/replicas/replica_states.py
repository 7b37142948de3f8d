"""The known states of partitions over time: ISR, leader, settings and replicas; and the risks that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from kafka_hindsight.catalog.codes import NOBODY, IsrChangeKind, WitnessKind
from kafka_hindsight.catalog.rows import Failover, IsrChange, PartitionRisk, PartitionSnapshot, Quote
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, known_at
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, Course, Setting, at_instant
from kafka_hindsight.judgements.partitions.incarnations import ISR_KINDS, Commit, Incarnation, Partition, by_partition
from kafka_hindsight.judgements.partitions.leaderships import eligible_in
from kafka_hindsight.judgements.partitions.partition_readings import PartitionReadings
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, Reason
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.knowledge.broker_settings import MIN_ISR, UNCLEAN
from kafka_hindsight.knowledge.witness_loggers import ISR_LOGGER
from kafka_hindsight.shared.durations import CATCHING_UP, MS, NEVER
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, instants
from kafka_hindsight.shared.windows import Window, broker_ids

_AFTER_CATCHING_UP = CATCHING_UP + timedelta.resolution

_NO_INSTANTS = instants(())

_NEAR = 4
"""More commits than these do not come within seconds of a reading."""


@value_class()
class KnownIsr:
    """An ISR that a line or a reading shows; one that no line explains is doubtful.

    `has_eligible`: evidence shows eligible leader replicas (KIP-966), which could lead without loss.
    """

    at: datetime
    isr: frozenset[int]
    quote: Quote
    is_commit: bool = True
    version: int | None = None
    leader_epoch: int | None = None
    is_doubtful: bool = False
    has_eligible: bool = False


def known_isrs(
    commits: Sequence[Commit],
    readings: PartitionReadings,
    until: datetime,
    unanswered: Timeline[datetime] = _NO_INSTANTS,
    versions: Mapping[int, datetime] = MappingProxyType({}),
    unseen_from: Callable[[KnownIsr], datetime | None] = lambda _: None,
) -> list[Interval[KnownIsr]]:
    """The known ISRs of one incarnation of a partition, in order of time and without overlap, until its evidence ends.

    Where an observation contradicts an ISR, the ISR is known up to the last observation that confirms it; between the
    two none is known. A reading takes seconds and brokers learn late, so a reading may show what was just before or
    comes just after. Between two commits whose versions leave room for a third no ISR is known but the first one, until
    `versions` have the next: the instants of the first lines that name each version, with its ISR or without.
    `unanswered`: the instants at which a leader asked for another ISR, and nothing shows whether it was
    written. From then on it is known only where the next observation shows the same.
    `unseen_from`: the instant after an observation from which no log at hand would show another ISR. From then on it is
    known only where the versions leave no room for one.
    """
    observations = _observations(commits, readings)
    isrs = []
    for _, now, after in with_neighbours(observations):
        end = after.at if after else until
        asked_at = unanswered.first_after(now.at)
        if after is None or not _leave_no_room(now, after):
            end = earliest(end, unseen_from(now)) or end
        if asked_at and asked_at < end and not (after and (after.isr == now.isr or _is_next(now, after))):
            isrs.append(Interval(now.at, asked_at, now))
        elif now.at < end and (after is None or _follows(now, after)):
            isrs.append(Interval(now.at, end, now))
        elif now.version is not None and now.at < (next_at := versions.get(now.version + 1, now.at)) < end:
            isrs.append(Interval(now.at, next_at, now))
    return isrs


def _observations(commits: Sequence[Commit], readings: PartitionReadings) -> list[KnownIsr]:
    """The observations in order of time, without readings that only lag behind the lines or run ahead."""
    committed = _in_time(commits)
    readings_that_count = readings.without_repeats(
        at for o in committed for at in (o.at - CATCHING_UP, o.at, o.at + _AFTER_CATCHING_UP)
    )
    in_readings = [
        KnownIsr(r.snapshot_at, frozenset(r.isr), _quote(r), False) for r in readings_that_count if r.isr is not None
    ]
    merged: list[KnownIsr] = []
    commit_count = 0
    for observed in sorted([*committed, *in_readings], key=lambda o: (o.at, not o.is_commit)):
        if observed.is_commit:
            commit_count += 1
            merged.append(observed)
        elif merged and observed.isr == merged[-1].isr:
            merged.append(replace(merged[-1], at=observed.at))
        elif not _is_lag(observed, committed[max(0, commit_count - _NEAR) : commit_count + _NEAR]):
            merged.append(replace(observed, is_doubtful=commit_count > 0))
    return merged


def _in_time(commits: Iterable[Commit]) -> list[KnownIsr]:
    """Commits as observations. Their order counts, not the clocks of the brokers that log them."""
    observed: list[KnownIsr] = []
    has_eligible = False
    for commit in commits:
        at = max(commit.at, observed[-1].at) if observed else commit.at
        eligible = eligible_in(commit.line)
        has_eligible = has_eligible if eligible is None else bool(eligible)
        isr, line = frozenset(commit.isr), quote(commit.line)
        observed.append(KnownIsr(at, isr, line, True, commit.version, commit.leader_epoch, has_eligible=has_eligible))
    return observed


def _is_lag(reading: KnownIsr, around: Sequence[KnownIsr]) -> bool:
    """Whether the reading shows a state that a commit within seconds of it ended or started."""
    starts = [o.at for o in around if o.isr == reading.isr]
    ends = [after.at for now, after in pairwise(around) if now.isr == reading.isr]
    return any(abs(at - reading.at) <= CATCHING_UP for at in (*starts, *ends))


def _follows(now: KnownIsr, after: KnownIsr) -> bool:
    """Whether no other ISR can have been between the two."""
    if now.isr == after.isr:
        return now.version is None or after.version is None or after.version <= now.version + 1
    if now.is_doubtful or not after.is_commit:
        return False
    if now.version is None or after.version is None:
        # A whole epoch lies between the two: each election may change the ISR, and so may the leader.
        return now.leader_epoch is None or after.leader_epoch is None or after.leader_epoch <= now.leader_epoch + 1
    return _is_next(now, after)


def _leave_no_room(now: KnownIsr, after: KnownIsr) -> bool:
    """Whether the versions of the two show that no other ISR was between them."""
    return now.version is not None and after.version is not None and after.version <= now.version + 1


def _is_next(now: KnownIsr, after: KnownIsr) -> bool:
    """Whether the versions of the two leave no room for another one."""
    return now.version is not None and after.version == now.version + 1


def _quote(reading: PartitionSnapshot) -> Quote:
    text = f"{reading.topic}-{reading.partition}: isr {reading.isr}, replicas {reading.replicas}"
    return quote_snapshot(reading, text)


@value_class()
class ReplicaState:
    """The state of a partition while nothing changes: ISR, number of replicas, settings, and leader.

    `leader` is -1 where it has none, and None where it is not known.
    """

    known_isr: KnownIsr
    replicas: int | None
    min_isr: Setting | None
    unclean: Setting | None
    leader: int | None

    @cached_property
    def least(self) -> int | None:
        """How many must be in sync for acks=all to write.

        Source: Partition.effectiveMinIsr (since 3.7; before, a setting above the replicas refused every write).
        """
        minimum = self.min_isr.number if self.min_isr else None
        return None if minimum is None or self.replicas is None else min(minimum, self.replicas)

    @property
    def isr_size(self) -> int:
        return len(self.known_isr.isr)

    @property
    def quotes(self) -> tuple[Quote, ...]:
        return (self.known_isr.quote, *(s.quote for s in (self.min_isr, self.unclean) if s))

    def is_under_replicated(self) -> bool:
        return self.replicas is not None and self.isr_size < self.replicas

    def is_under_min_isr(self) -> bool:
        return self.least is not None and self.isr_size < self.least

    def is_at_min_isr(self) -> bool:
        return self.least is not None and self.isr_size == self.least

    def is_alone(self) -> bool:
        return self.isr_size == 1 and self.leader != NOBODY and not self.known_isr.has_eligible

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
class ReplicaHistory:
    """The known history of one partition.

    `replicas`: how many it had, each number at an instant that shows it; `leaders`: the known leaders; `leaderless`:
    the times without a leader.
    """

    key: Partition
    isrs: Intervals[KnownIsr]
    replicas: Timeline[tuple[datetime, int]]
    min_isr: Course
    unclean: Course
    leaders: Intervals[int]
    leaderless: Sequence[BoundedInterval[Reason]]

    @cached_property
    def leaderless_intervals(self) -> Intervals[None]:
        """The times without a leader, as the evidence shows them best."""
        return Intervals(Interval(i.start, i.end, None) for i in self.leaderless)

    def replicas_at(self, at: datetime) -> int | None:
        """How many replicas it had, by the last evidence before an instant, else by the first after it."""
        count = self.replicas.last_until(at) or self.replicas.first_since(at)
        return count[1] if count else None

    def states(self, window: Window) -> Intervals[ReplicaState]:
        """Its states in the window."""
        return self._all_states.clip(window.start, window.end)

    @cached_property
    def _all_states(self) -> Intervals[ReplicaState]:
        """The known ISRs, split where anything else changes."""
        cuts = {at for course in (self.min_isr, self.unclean, self.replicas) for at, _ in course}
        cuts |= {at for i in (*self.leaders, *self.leaderless_intervals) for at in (i.start, i.end) if at is not None}
        in_order = instants(cuts)
        return Intervals(
            Interval(piece.start, piece.end, self._state(piece.value, piece.start))
            for interval in self.isrs
            for piece in interval.split(in_order)
        )

    def _state(self, known_isr: KnownIsr, at: datetime) -> ReplicaState:
        settings = at_instant(self.min_isr, at), at_instant(self.unclean, at)
        return ReplicaState(known_isr, self.replicas_at(at), *settings, self._leader_from(at))

    def _leader_from(self, at: datetime) -> int | None:
        """The leader from an instant on: -1 where it has none, None where it is not known."""
        if any(gap.end != at for gap in self.leaderless_intervals.at(at)):
            return NOBODY
        return next((leader.value for leader in reversed(self.leaders.at(at)) if leader.end != at), None)


def histories_of(
    incarnations: Iterable[Incarnation],
    leaders: Mapping[Partition, Sequence[Interval[int]]],
    leaderless: Mapping[Partition, Sequence[BoundedInterval[Reason]]],
    settings: BrokerSettings,
    logs_end: datetime,
    context: ClusterContext,
) -> list[ReplicaHistory]:
    """The history of each partition, by topic and partition.

    The last known ISR holds until the logs end, or those that would show another.

    `leaders` and `leaderless`: each partition's known leaders and its times without one. `logs_end`: the instant of the
    last line of any broker.
    """
    incarnations_of = grouped(incarnations, lambda i: i.key)
    keys = sorted({*incarnations_of, *leaderless})
    courses = {
        topic: (settings.course_of_topic(topic, MIN_ISR), settings.course_of_topic(topic, UNCLEAN))
        for topic in {k[1] for k in keys}
    }
    histories = []
    for key in keys:
        own, own_leaders = incarnations_of.get(key, ()), Intervals(leaders.get(key, ()))
        isrs, replicas = Intervals(_isrs_of(own, own_leaders, logs_end, context)), _replica_counts(own)
        histories.append(ReplicaHistory(key, isrs, replicas, *courses[key[1]], own_leaders, leaderless.get(key, ())))
    return histories


def _isrs_of(
    incarnations: Iterable[Incarnation], leaders: Intervals[int], logs_end: datetime, context: ClusterContext
) -> Iterator[Interval[KnownIsr]]:
    """The known ISRs of all incarnations of a partition."""

    def unseen_from(observed: KnownIsr) -> datetime | None:
        """The instant from which no log at hand would show another ISR.

        A leader writes its own changes to its own logger. What a controller changes, where it detects a broker of the
        ISR as down, a leader says to the state change logger alone.
        """
        read_until = context.read_times.until(observed.at, NEVER)
        unread_from = None if read_until == NEVER else read_until
        last = [leader.value for leader in leaders.at(observed.at) if leader.end is None]
        unseen = partial(context.unseen_from, WitnessKind.IN_SYNC, last or observed.isr, observed.at)
        if not unseen():
            return unread_from
        outages = (context.outage_between(broker, observed.at, None) for broker in observed.isr)
        return earliest(unread_from, unseen(ISR_LOGGER), *(max(known_at(o), observed.at) for o in outages if o))

    for own in incarnations:
        # What the last line itself shows holds for a moment after it: a state that it ended was over by then.
        until = own.gone_at or max([logs_end, *(r.snapshot_at for r in own.readings[-1:])]) + timedelta.resolution
        readings = own.readings.within(None, until + timedelta.resolution)
        yield from known_isrs(own.commits, readings, until, instants(own.unanswered), _versions_of(own), unseen_from)


def _versions_of(incarnation: Incarnation) -> dict[int, datetime]:
    """The instant of the first line that names each partition epoch."""
    lines = (e for e in reversed(incarnation.events) if e.partition_epoch is not None)
    return {e.partition_epoch: e.happened_at for e in lines if e.partition_epoch is not None}


def _replica_counts(incarnations: Iterable[Incarnation]) -> Timeline[tuple[datetime, int]]:
    counts = []
    for own in incarnations:
        lists = [
            (e.happened_at, broker_ids(e.replicas) or ()) for e in own.events if e.replicas and e.kind in ISR_KINDS
        ]
        rows = own.readings.without_repeats(at for at, _ in lists)
        lists += [(r.snapshot_at, tuple(r.replicas)) for r in rows if r.replicas]
        counts += [(at, len(set(replicas))) for at, replicas in lists]
    return Timeline(sorted(counts), lambda count: count[0])


def bound_shrinks(
    changes: Iterable[IsrChange], histories: Iterable[ReplicaHistory], logs_end: datetime
) -> list[IsrChange]:
    """The changes of the ISRs; a shrink without an end says up to when the logs at hand would show one."""
    isrs_of = {history.key: history.isrs for history in histories}
    return [
        replace(row, observed_until=_observed_until(row, isrs_of[row.cluster, row.topic, row.partition], logs_end))
        if row.change is IsrChangeKind.SHRINK and row.out_of_sync_until is None
        else row
        for row in changes
    ]


def _observed_until(shrink: IsrChange, isrs: Intervals[KnownIsr], logs_end: datetime) -> datetime | None:
    """The end of the last known ISR, where that is before the logs end."""
    known = isrs.between(shrink.happened_at, max(shrink.happened_at, logs_end))
    end = max((isr.end or NEVER for isr in known), default=shrink.happened_at)
    return None if end >= logs_end else end


def rebuild_risks(
    histories: Iterable[ReplicaHistory],
    failovers: Iterable[Failover],
    logs_end: datetime,
    window: Window,
    read_times: ReadTimes = ALL_READ,
) -> list[PartitionRisk]:
    """Rows of gold.partition_risks: one for each partition that risked anything, in order.

    Each time lies within the window, and the times of two windows that touch add up to those of both together.
    `read_times`: the times in which logs were read.
    """
    failovers_of = by_partition(failovers, "happened_at")
    rows = (_row(history, failovers_of[history.key], logs_end, window, read_times) for history in histories)
    return [row for row in rows if row]


def _row(
    history: ReplicaHistory, failovers: Sequence[Failover], logs_end: datetime, window: Window, read_times: ReadTimes
) -> PartitionRisk | None:
    """The row of one partition for the window; None where it risked nothing."""
    states, seen_until = history.states(window), min(max(logs_end, window.start), window.end)

    def until_logs_end(spans: Iterable[Interval[None] | None]) -> Intervals[None]:
        closed = (Interval(s.start, s.end or seen_until, None) for s in spans if s)
        return Intervals(closed).clip(window.start, window.end).union()

    def ms(spans: Intervals[Any]) -> int:
        return spans.total(window.start, window.end) // MS

    def risky_ms(holds: Callable[[ReplicaState], bool], is_known: bool) -> int | None:
        return ms(Intervals(s for s in states if holds(s.value))) if is_known else None

    proven = (i.proven for i in history.leaderless if i.proven)
    leaderless = until_logs_end(
        i if i.end else replace(i, end=read_times.until(min(i.start, seen_until), seen_until)) for i in proven
    )
    # Not known where no evidence bounds one of the elections.
    is_bounded = all(f.leader_to == NOBODY or f.leaderless_high_ms is not None for f in failovers)
    at_most = until_logs_end(i.possible or i.proven for i in history.leaderless) if is_bounded else None
    risky = [s for s in states if s.value.is_risky()]
    elections = [f for f in failovers if f.leader_to != NOBODY and window.holds(f.happened_at)]
    losses = [f for f in failovers if f.leader_to == NOBODY]
    unrecorded = (i for i in history.leaderless if i.value.failover_id is None and _meets(i, window))
    ends = (at for span in (*risky, *(at_most or leaderless)) for at in (span.start, span.end) if at is not None)
    instants = [*(f.happened_at for f in elections), *(min(at, seen_until) for at in ends)]
    if not instants:
        return None
    min_isr = states.intervals[-1].value.min_isr if states else at_instant(history.min_isr, window.end)
    knows_replicas = any(s.value.replicas is not None for s in states)
    knows_least = any(s.value.least is not None for s in states)
    return PartitionRisk(
        cluster=history.key[0],
        topic=history.key[1],
        partition=history.key[2],
        window_from=window.start,
        window_to=window.end,
        replication_factor=history.replicas_at(window.end),
        min_insync_replicas=min_isr.number if min_isr else None,
        elections=len(elections),
        leaderless_low_ms=ms(leaderless),
        leaderless_high_ms=None if at_most is None else ms(at_most),
        under_replicated_ms=risky_ms(ReplicaState.is_under_replicated, knows_replicas),
        under_min_isr_ms=risky_ms(ReplicaState.is_under_min_isr, knows_least),
        at_min_isr_ms=risky_ms(ReplicaState.is_at_min_isr, knows_least),
        one_from_offline_ms=risky_ms(ReplicaState.is_one_from_offline, knows_replicas),
        one_from_unclean_ms=risky_ms(ReplicaState.is_one_from_unclean, knows_replicas),
        worst_isr_size=min((s.value.isr_size for s in states), default=None),
        first_at=min(instants),
        last_at=max(instants),
        known_ms=ms(states),
        evidence=evidence_of(
            [
                *(q for s in risky for q in s.value.quotes),
                *(f.evidence[0] for f in (*elections, *losses)),
                *(q for i in unrecorded for q in i.value.quotes),
            ]
        ),
    )


def _meets(leaderless: BoundedInterval[Reason], window: Window) -> bool:
    return leaderless.start < window.end and (leaderless.end is None or leaderless.end > window.start)
