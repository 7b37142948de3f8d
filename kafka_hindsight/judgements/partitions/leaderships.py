"""The leaders of one partition, epoch by epoch: what many witnesses show of one epoch becomes one leadership."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice, pairwise
from operator import attrgetter

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, PartitionSnapshot, Quote
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, known_at, on_failed_disk
from kafka_hindsight.judgements.brokers.controllers import speaks_for_cluster
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.partition_readings import PartitionReadings
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_snapshot
from kafka_hindsight.shared.durations import CLOCK_SKEW, NEVER
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.windows import broker_ids

# The order in which witnesses count: the leader, or the node that made it; followers; readings, whose leader and epoch
# may stem from two moments.
_FIRST_HAND, _SECOND_HAND, _READING = 0, 1, 2
_LEADER, _FOLLOWER = (Kind.LEADER_STARTED,), (Kind.FOLLOWER_STARTED, Kind.LEADERSHIP_KEPT, Kind.LEADER_AND_ISR_RECEIVED)

_ELR = re.compile(r"(?<!\w)elr: \[[\d, ]*\] -> \[([\d, ]*)\]")
_WITH_ELR = (Kind.UNCLEAN_PARTITION_CHANGE, Kind.PARTITION_CHANGED)


@value_class(slots=True)
class LeadershipWitness:
    """One witness of one leadership. `is_late` marks a witness that only repeats what had happened long before."""

    epoch: int
    leader: int
    at: datetime | None
    rank: int
    is_late: bool
    isr: tuple[int, ...] | None
    elr: tuple[int, ...]
    quote: Quote


@value_class()
class Leadership:
    """One leader epoch. `at` is None where only later epochs prove it.

    `is_exact` says that a witness saw it begin, `is_shown` that one names the leader, even if later; `step_quotes`
    prove an epoch before it that was only a step of the same election.
    """

    epoch: int
    leader: int
    at: datetime | None
    is_exact: bool
    isr: tuple[int, ...] | None
    elr: tuple[int, ...]
    quotes: tuple[Quote, ...]
    is_shown: bool = True
    step_quotes: tuple[Quote, ...] = ()


def leaderships_of(incarnation: Incarnation, context: ClusterContext) -> list[Leadership]:
    """The leaderships of one partition, by epoch: one for each, however many witnesses it has.

    Between two epochs that witnesses show, nothing is added but the lack of a leader, where a reading shows it or no
    other replica could have led. Instants do not fall as epochs rise: the clocks of two brokers may differ a little.
    """
    in_lines = grouped((s for e in incarnation.events for s in _sightings_in_line(e, context)), lambda s: s.epoch)
    by_epoch = grouped(_sightings_in_readings(incarnation.readings), lambda s: s.epoch) | in_lines
    leaderships = [_merge(by_epoch[epoch]) for epoch in sorted(by_epoch)]
    with_gaps: list[Leadership] = []
    for _, before, after in with_neighbours(leaderships):
        with_gaps += [before, *islice(_losses(before, after, incarnation, context), 1)]
    without_steps: list[Leadership] = []
    step_quotes: tuple[Quote, ...] = ()
    for former, now, following in with_neighbours(with_gaps):
        if now.leader == NOBODY and _is_step(former, now, following, incarnation, context):
            step_quotes = now.quotes
            continue
        without_steps.append(replace(now, step_quotes=step_quotes))
        step_quotes = ()
    return _dated(without_steps, context)


def _dated(leaderships: Iterable[Leadership], context: ClusterContext) -> list[Leadership]:
    """The leaderships, each with its instant; those without one wait for the next that has one."""
    dated: list[Leadership] = []
    waiting: list[Leadership] = []
    last_at: datetime | None = None
    for now in leaderships:
        waiting.append(now)
        if now.at is None:
            continue
        for leadership in waiting:
            before = dated[-1] if dated else None
            at = now.at if leadership is now else _began_by(before, leadership, now, now.at, context)
            if at is not None:
                at = last_at = max(at, last_at or at)
            dated.append(replace(leadership, at=at))
        waiting.clear()
    return [*dated, *waiting]


def _began_by(
    before: Leadership | None, now: Leadership, later: Leadership, later_at: datetime, context: ClusterContext
) -> datetime | None:
    """The instant by which a leadership began that only later ones prove: the former leader was detected as down.

    Where its leader leads in the next epoch too, it began no later than that.
    """
    if before is None or before.at is None:
        return None
    outage = context.outage_of_leader(before.leader, before.at, later_at) if before.leader != now.leader else None
    if outage:
        return min(known_at(outage), later_at)
    return later_at if later.leader == now.leader and later.epoch == now.epoch + 1 else None


def _merge(sightings: list[LeadershipWitness]) -> Leadership:
    best = min(sightings, key=lambda s: (s.rank, s.at is None, s.is_late))
    same = [s for s in sightings if s.leader == best.leader]
    dated = sorted((s for s in same if s.at is not None), key=attrgetter("at"))
    by_rank = sorted(dated, key=lambda s: s.rank)
    return Leadership(
        epoch=best.epoch,
        leader=best.leader,
        at=dated[0].at if dated else None,
        is_exact=any(not s.is_late for s in dated),
        isr=next((s.isr for s in by_rank if s.isr is not None), None),
        elr=tuple(sorted({b for s in same for b in s.elr})),
        quotes=tuple(s.quote for s in dated[:1] + (by_rank[:2] or same[:1])),
    )


def _sightings_in_line(event: Event, context: ClusterContext) -> Iterator[LeadershipWitness]:
    epoch, leader = event.leader_epoch, event.broker if event.kind in _LEADER else event.leader
    if epoch is None or leader is None:
        return
    before, epoch_before = event.previous_leader, event.previous_leader_epoch
    # A follower's line repeats under "previous" the state it has just taken: that proves nothing.
    if before is not None and epoch_before is not None and 0 <= epoch_before < epoch:
        yield LeadershipWitness(epoch_before, before, None, _SECOND_HAND, True, None, (), quote(event))
    yield LeadershipWitness(
        epoch,
        leader,
        event.happened_at,
        _SECOND_HAND if event.kind in _FOLLOWER else _FIRST_HAND,
        _is_late(event, context),
        broker_ids(event.isr),
        eligible_in(event) or (),
        quote(event),
    )


def eligible_in(event: Event) -> tuple[int, ...] | None:
    """The eligible leader replicas that a change of a partition leaves; None where it leaves them as they were."""
    elr = _ELR.search(event.detail or "") if event.kind in _WITH_ELR else None
    return broker_ids(elr[1]) or () if elr else None


def _is_late(event: Event, context: ClusterContext) -> bool:
    """Whether the writer only repeats old changes: a standby controller, or a broker that loads its partitions.

    A committed change that names no leader belongs to an epoch that had begun long before. So does the line of a broker
    whose role stayed as it was.
    """
    if event.kind == Kind.LEADERSHIP_KEPT:
        return True
    if event.kind in (Kind.PARTITION_CREATED, Kind.UNCLEAN_PARTITION_CHANGE):
        return not speaks_for_cluster(context.controller_epochs, event)
    if event.kind == Kind.PARTITION_CHANGED:
        return event.previous_leader_epoch == event.leader_epoch
    if event.kind in _LEADER and (event.previous_leader_epoch or 0) >= 0:
        return False
    return event.kind in (*_LEADER, *_FOLLOWER) and context.has_just_returned(event.broker, event.happened_at)


def _sightings_in_readings(readings: PartitionReadings) -> Iterator[LeadershipWitness]:
    """The leaderships that readings show: only pairs of leader and epoch that two readings agree on."""
    for before, row in pairwise(readings.without_repeats()):
        leader, epoch = row.leader, row.leader_epoch
        if leader is not None and epoch is not None and (leader, epoch) == (before.leader, before.leader_epoch):
            shows = f"{row.topic}-{row.partition}: leader {leader}, leader epoch {epoch}"
            quotation = quote_snapshot(before, shows)
            yield LeadershipWitness(epoch, leader, before.snapshot_at, _READING, True, _isr_of(before), (), quotation)


def _isr_of(reading: PartitionSnapshot) -> tuple[int, ...] | None:
    return tuple(reading.isr) if reading.isr is not None else None


def _is_step(
    former: Leadership | None,
    now: Leadership,
    following: Leadership | None,
    incarnation: Incarnation,
    context: ClusterContext,
) -> bool:
    """Whether a lack of a leader is only a step of one election: a replica in sync could take over at once.

    A new ZooKeeper controller first removes dead brokers from all partitions, which leaves a partition without a leader
    but not without replicas in sync, and elects one of these next.
    Source: KafkaController.onControllerFailover, ReplicaStateMachine.startup before PartitionStateMachine.startup.
    """
    removed_broker = former.leader if former and former.epoch + 1 == now.epoch else None
    removals = incarnation.of_kind(Kind.REPLICA_REMOVED_FROM_ISR)
    dead = {removed_broker, *(e.node for e in removals if e.leader_epoch == now.epoch)}
    others = {*(now.isr or ())} - dead
    if removed_broker is not None and following and following.leader in others:
        return True
    return context.uses_zookeeper and any(now.at is None or context.outage_at(r, now.at) is None for r in others)


def _losses(
    before: Leadership, after: Leadership | None, incarnation: Incarnation, context: ClusterContext
) -> Iterator[Leadership]:
    """The lack of a leader between two leaderships, or after the last one, that no line shows.

    A reading shows the partition without a leader while the leader was away: readings lag a little behind the brokers,
    so the reading alone is not enough. Or the only replica lost its disk, or was away until it led again, or to the end
    of what is known, so that no other could lead. A leader that begins again in the same epoch was never replaced: no
    controller lived that could raise the epoch.
    Source: KRaft prints no line of that (ReplicationControlManager.handleDirectoriesOffline, handleBrokerFenced).
    LogManager.handleLogDirFailure halts a broker before it reports its last directory. A controller that loses a leader
    raises the epoch: ReplicaStateMachine.doRemoveReplicasFromIsr, PartitionChangeBuilder.
    """
    leader, since, until = before.leader, before.at, after.at if after else None
    has_room = after is None or (until is not None and after.epoch >= before.epoch + 2)
    if leader == NOBODY or since is None or not has_room:
        return

    def lost(at: datetime, quotes: Iterable[Quote], isr: tuple[int, ...] | None = None) -> Iterator[Leadership]:
        if after or not _begins_again(before, incarnation, at):
            yield Leadership(before.epoch + 1, NOBODY, max(since, at), False, isr, (), tuple(quotes), is_shown=False)

    for row in incarnation.readings.where(lambda state: state.leader is None):
        at = row.snapshot_at
        outage = context.outage_at(leader, at) if since < at < (until or NEVER) else None
        if outage:
            quotation = quote_snapshot(row, f"{row.topic}-{row.partition} has no leader")
            yield from lost(min(known_at(outage), at), [quotation], _isr_of(row))
    failures = context.disk_failures.between(since, until or NEVER)
    own = (f for f in failures if f.broker == leader and incarnation.name in on_failed_disk(f))
    proofs = [(f.happened_at, [quote(f)]) for f in own]
    outage = context.outage_of_leader(leader, since, until)
    if outage:
        is_away = outage.detected_at is not None and outage.up_at is None and outage.down_at >= since
        if after.leader == leader if after else is_away:
            proofs.append((known_at(outage), outage.evidence[:2]))
    for at, quotes in proofs[:1]:
        if incarnation.replicas_at(at) == (leader,):
            yield from lost(at, quotes)


def _begins_again(before: Leadership, incarnation: Incarnation, at: datetime) -> bool:
    """Whether the leader says after an instant that it begins to lead in the same epoch."""
    starts = incarnation.leading_lines(before.leader).after(at + CLOCK_SKEW)
    return any(e.kind == Kind.LEADER_STARTED and e.leader_epoch == before.epoch for e in starts)
