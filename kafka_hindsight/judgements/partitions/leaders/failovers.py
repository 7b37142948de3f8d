"""Changes of leaders: their kind and cause, whether an operator requested them, and the time without a leader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from operator import attrgetter

from kafka_hindsight.catalog.codes import NOBODY, Confidence, FailoverKind, OutageKind, WitnessKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, LeadershipGap, LeaderSpan, Quote
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, on_failed_disk
from kafka_hindsight.judgements.brokers.controllers import active_at
from kafka_hindsight.judgements.partitions.incarnations import Commit, Incarnation, Partition
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import (
    FAILOVER_RULINGS,
    PREFERRED,
    UNCLEAN,
    LeaderChange,
    epochs_between,
    gap_between,
    hides_leaders,
)
from kafka_hindsight.judgements.partitions.leaders.leader_spans import leader_spans
from kafka_hindsight.judgements.partitions.leaderships import Leadership, leaderships_of
from kafka_hindsight.judgements.partitions.replicas.losses import Loss, loss_of
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, Reason, one_after_another, span
from kafka_hindsight.judgements.reasoning.clock_errors import apart
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.rulings import Verdict, verdict_of
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, MS, NEVER
from kafka_hindsight.shared.grouping import runs, with_neighbours
from kafka_hindsight.shared.instants import earliest, latest
from kafka_hindsight.shared.timelines import NO_SLACK, Interval, Timeline
from kafka_hindsight.shared.windows import Window


@dataclass(frozen=True)
class _Loss:
    """The loss of the last leader.

    `at`: the instant as shown; `by`: the first proof that it led no more; `led_until`: the last that it led, or lived.
    """

    at: datetime | None = None
    by: datetime | None = None
    led_until: datetime | None = None


def leaderless_of(changes: Sequence[LeaderChange], clocks_apart: timedelta) -> BoundedInterval[bool]:
    """How long a partition had no leader: from the change that took it to the one that gave the next, mostly the same.

    The value says whether both ends are shown, by clocks that agree. The instant at which a leader crashed or fell
    silent is unknown: it lies between its own last line and the first failure to reach it, or its detection as down. A
    leader that was cut off may have served the clients that it still reached. `clocks_apart` separates the bounds.
    """
    took, gave, loss = changes[0], changes[-1], _loss_of(changes[-1])
    error = clocks_apart + CLOCK_SKEW if clocks_apart else NO_SLACK
    if gave.new == NOBODY:
        by = min(loss.by or gave.at, gave.at)
        start = min(loss.at or by, by)
        since = min(loss.led_until, start) - error if loss.led_until else None
        returned_at = _returned_at(gave, start)
        if returned_at:
            # It may lead again at once, and no line is at hand that would show it.
            return BoundedInterval(start, returned_at, span(by + error, returned_at), None, value=False)
        return BoundedInterval(start, None, span(by + error, None), span(since, None), value=False)
    start_line = gave.incarnation.leader_start(gave.new, gave.after.epoch)
    started_at = start_line.happened_at if start_line else None
    is_shown = bool(loss.at and (started_at or gave.after.is_exact))
    starts = (loss.at,) if is_shown else (took.at if took is not gave else None, loss.by if started_at else None)
    end = started_at if started_at and (loss.at or loss.by) else gave.at
    start = min(at for at in (*starts, end) if at)
    low = max(loss.by, start) + error if loss.by and started_at else None
    high = min(loss.led_until, start) - error if loss.led_until else None
    leads_by = started_at or _first_leading_at(gave.incarnation, gave.new, gave.at)
    possible = _between(high, leads_by)
    if possible is None and took is not gave:
        # Where epochs between them are not known, the last proof that the last leader led bounds the time.
        possible = _between(_loss_of(took).led_until or took.before.at, gave.at)
    return BoundedInterval(start, end, _between(low, end), possible, value=is_shown and not error)


def _returned_at(loss: LeaderChange, start: datetime) -> datetime | None:
    """The instant at which the last leader served again, where no line shows the loss of its leadership itself."""
    if loss.after.is_shown:
        return None
    outage = loss.context.outage_at(loss.last_leader, start)
    return outage.up_at if outage and outage.up_at and outage.up_at > start else None


def _between(start: datetime | None, end: datetime | None) -> Interval[None] | None:
    """A span, never of less than nothing: the clocks of two brokers may differ a little."""
    return Interval(min(start, end), end, None) if start and end else None


def _first_leading_at(incarnation: Incarnation, broker: int | None, since: datetime) -> datetime | None:
    """The instant of the first line of a broker, from another one on, that only leaders write."""
    line = incarnation.leading_lines(broker).first_since(since)
    return line.happened_at if line else None


def _loss_of(change: LeaderChange) -> _Loss:
    if change.last_leader is None:
        return _Loss()
    stopped_at = _stopped_at(change)
    outage = change.context.outage_at(change.last_leader, change.at)
    if outage is None and change.former == NOBODY and change.before.at:
        outage = change.context.outage_at(change.last_leader, change.before.at)
    sudden_outage = None if outage and outage.kind == OutageKind.CONTROLLED_SHUTDOWN else outage
    led_until = stopped_at if stopped_at and not sudden_outage else _last_leading_at(change, outage)
    # The first proof that the last leader led no more: its own line, its detection as down, or its process's end.
    ended_at = sudden_outage.unreachable_at if sudden_outage and sudden_outage.kind == OutageKind.CRASH else None
    by = earliest(ended_at, sudden_outage.detected_at if sudden_outage else None, stopped_at)
    return _Loss(sudden_outage.down_at if sudden_outage else stopped_at, by, led_until)


def _last_leading_at(change: LeaderChange, outage: BrokerOutage | None) -> datetime | None:
    """The last proof that the last leader led, or lived, before the partition lost it.

    Where it leads again after its return, its lines from then on show nothing of the time before.
    """
    lost_at = change.before.at if change.former == NOBODY else change.at
    last_line = change.incarnation.leading_lines(change.last_leader).last_until(lost_at or change.at)
    heard_at = outage.last_heard_at if outage else None
    return latest(last_line.happened_at if last_line else None, heard_at)


def _stopped_at(change: LeaderChange) -> datetime | None:
    """The instant at which the last leader wrote that it leads no more: it follows in a later epoch, or lost its disk.

    One that was away writes it after its return, when others have long shown the partition without a leader.
    """
    since = change.before.at - CLOCK_SKEW if change.before.at else LONG_AGO
    failures = change.context.disk_failures.between(since, change.at + CLOCK_SKEW)
    since_epoch = change.before.epoch - (change.former == NOBODY) + 1
    follows = change.incarnation.of_kind(Kind.FOLLOWER_STARTED)
    lines = [e for e in follows if e.leader_epoch is not None and since_epoch <= e.leader_epoch <= change.after.epoch]
    lines += [e for e in failures if change.partition in on_failed_disk(e)]
    stopped_at = earliest(*(e.happened_at for e in lines if e.broker == change.last_leader))
    lost_at = change.before.at if change.former == NOBODY else None
    return lost_at if stopped_at and lost_at and stopped_at - lost_at > CLOCK_SKEW else stopped_at


_ENDED = (OutageKind.CRASH, OutageKind.CONTROLLED_SHUTDOWN, OutageKind.FAILED_START)
"""Absences in which a broker's process had ended. One that the controller did not hear can have served all the time."""


def _by_changes(start_row: Failover, *end_rows: Failover) -> Reason:
    """The reason by the change that took the leader, and the one that gave the next, if any."""
    quotes = [q for change in (start_row, *end_rows) for q in change.evidence]
    return Reason(start_row.failover_id, start_row.outage_id, start_row.explanation, start_row.confidence, quotes)


def shown_leaders(
    incarnation: Incarnation, leaders: Sequence[Interval[int]], context: ClusterContext
) -> list[Interval[int]]:
    """The leaders of a partition, the last one up to the instant from which no log at hand would show another.

    Each replica that lives writes that it leads, or which broker it follows: the log of one of them is enough.
    Source: ReplicaManager.makeLeaders, makeFollowers; in KRaft applyLocalLeadersDelta, applyLocalFollowersDelta.
    """
    if not leaders or leaders[-1].end is not None:
        return [*leaders]
    last = leaders[-1]
    brokers = (w.broker for w in context.witnesses if w.broker is not None)
    replicas = {*(incarnation.replicas_at(last.start) or brokers), last.value}
    if context.unseen_from(WitnessKind.LEADERS, replicas, last.start) is None:
        return [*leaders]
    shown_until = [_shows_leaders_until(replica, last.start, context) for replica in replicas]
    end = None if None in shown_until else latest(*shown_until)
    return [*leaders[:-1], *([replace(last, end=end)] if end is None or end > last.start else ())]


def _shows_leaders_until(replica: int, since: datetime, context: ClusterContext) -> datetime | None:
    """The instant from which the logs of a replica could not show another leader, or it was away; None: never."""
    away = (outage.down_at for outage in context.outages_begun(replica, since, None))
    return earliest(context.unseen_from(WitnessKind.LEADERS, [replica], since), *away)


def known_leaders(
    incarnation: Incarnation, leaderships: Sequence[Leadership], gaps: Sequence[LeadershipGap | None]
) -> list[Interval[int]]:
    """The leaders of a partition, each with the time in which no line at hand shows another one.

    `gaps`: what is missing between each leadership and the next. Before a gap that may hide another leader one is known
    up to the last ISR committed in its epoch.
    """
    leaders = []
    for (_, now, after), gap in zip(with_neighbours(leaderships), [*gaps, None], strict=False):
        if now.leader == NOBODY or now.at is None:
            continue
        end = after.at if after else incarnation.gone_at
        if hides_leaders(gap) or (after is not None and after.at is None):
            end = max((c.at for c in incarnation.commits if c.leader_epoch == now.epoch), default=now.at)
        if end is None or end > now.at:
            leaders.append(Interval(now.at, end, now.leader))
    return leaders


def _since_first_mention(
    incarnation: Incarnation, leaderships: Sequence[Leadership], context: ClusterContext
) -> Iterator[BoundedInterval[Reason]]:
    """The time without a leader that the first line or two readings about a partition show, up to its first leader.

    The deletion of a topic takes the leaders of its partitions too; no election fails then.
    Source: ReplicaStateMachine.doRemoveReplicasFromIsr, PartitionStateMachine.doElectLeaderForPartitions.
    """
    first = leaderships[0] if leaderships else None
    readings = incarnation.readings.within(None, first.at if first else None)
    if len(readings) > 1 and readings[0].leader is readings[1].leader is None:
        row = readings[0]
        since, is_exact, isr = row.snapshot_at, True, tuple(row.isr or ())
        quotes: tuple[Quote, ...] = (quote_snapshot(row, f"{row.topic}-{row.partition} has no leader"),)
    elif first and first.leader == NOBODY and first.at:
        since, is_exact, isr, quotes = first.at, first.is_exact, first.isr or (), first.quotes
    else:
        return
    led_at = next((leader.at for leader in leaderships if leader.leader != NOBODY and leader.at), None)
    with_leader = readings.first_after(since, lambda state: state.leader is not None)
    end = earliest(led_at, with_leader.snapshot_at if with_leader else None)
    failures = [e for e in incarnation.of_kind(Kind.PARTITION_STATE_FAILED) if e.happened_at >= since]
    outage = next(filter(None, (context.outage_at(replica, since) for replica in isr)), None)
    confidence = Confidence.POSSIBLE if not is_exact else Confidence.CERTAIN if failures else Confidence.LIKELY
    why = Reason(
        None,
        outage.outage_id if outage else None,
        "The first evidence of the partition shows it without a leader; when it lost its leader is not known.",
        confidence,
        [*quotes, *map(quote, failures[:1])],
    )
    proven = span(since, end) if is_exact else None
    yield BoundedInterval(since, end, proven, None, why)


def _while_away(
    incarnation: Incarnation, leader: Interval[int], changes: Timeline[LeaderChange], context: ClusterContext
) -> Iterator[BoundedInterval[Reason]]:
    """While the leader was away, and no other replica can have taken over.

    No line shows it where no controller was there to take the leadership from it, as where all brokers stop: in
    ZooKeeper mode the last one is the controller. Each new leader raises the epoch, so one that leads again in the next
    epoch at the latest was followed by no other; nor was one whose other replicas were all away. Otherwise one may have
    taken over, whether a line at hand shows it or not. Source: PartitionLeaderElectionAlgorithms,
    PartitionChangeBuilder.electLeader.
    """
    for outage in context.outages_begun(leader.value, leader.start, leader.end):
        end = outage.up_at and _first_leading_at(incarnation, leader.value, outage.up_at - CLOCK_SKEW)
        if outage.kind not in _ENDED or _has_moved(changes, outage, end):
            continue
        if end and _leads_on(incarnation, outage, end):
            yield _absence(outage, end)
            continue
        replicas = incarnation.replicas_at(outage.down_at) or ()
        away = [context.outage_between(r, outage.down_at, end) for r in replicas if r != leader.value]
        all_away = [outage, *filter(None, away)]
        since, returned_at = max(o.down_at for o in all_away), earliest(*(o.up_at for o in all_away))
        is_shown = returned_at is None or (end and since < min(returned_at, end))
        if replicas and None not in away and is_shown:
            time = _absence(outage, end).within(since, None)
            proven = time.proven and span(time.proven.start, earliest(time.proven.end, returned_at))
            yield replace(time, proven=proven)


def _leads_on(incarnation: Incarnation, outage: BrokerOutage, since: datetime) -> bool:
    """Whether a leader that is back leads in the epoch in which it led before, or in the next one."""
    before = [e.leader_epoch for e in incarnation.events_by_time.within(None, outage.down_at)]
    starts = incarnation.of_kind(Kind.LEADER_STARTED).within(since, None)
    epoch = next((e.leader_epoch for e in starts if e.broker == outage.broker), None)
    return epoch is not None and epoch - max((e for e in before if e is not None), default=NOBODY) <= 1


def _absence(outage: BrokerOutage, end: datetime | None) -> BoundedInterval[Reason]:
    """A time without a leader from the begin of its absence on, with the bounds of that."""
    start = outage.down_at if end is None else min(outage.down_at, end)
    by, since = outage.unreachable_at or outage.detected_at, start if end is None else None
    if end and outage.away_low_ms is not None:
        by = max(start, end - outage.away_low_ms * MS)
    if end and outage.away_high_ms is not None:
        since = min(start, end - outage.away_high_ms * MS)
    sentence = f"Broker {outage.broker}, its leader, {noun_of(outage).verb}, and no other broker took over."
    loss = Reason(None, outage.outage_id, sentence, outage.confidence, outage.evidence)
    return BoundedInterval(start, end, span(by, end), span(since, end), loss)


def _has_moved(changes: Timeline[LeaderChange], outage: BrokerOutage, end: datetime | None) -> bool:
    """Whether the broker lost its leadership from the begin of its absence on, up to when it led again."""
    first, last = outage.down_at - CLOCK_SKEW, end + CLOCK_SKEW if end else NEVER
    return any(c.last_leader == outage.broker for c in changes.between(first, last))


_BY_OPERATOR = ("AdminClientTriggered", "ZkTriggered")
_ELECTIONS = {FailoverKind.PREFERRED_ELECTION: PREFERRED, FailoverKind.UNCLEAN_ELECTION: UNCLEAN}
"""The kinds of elections that can be requested, each with what lines call them."""


def requested_by_operator(kind: FailoverKind, change: LeaderChange) -> bool | None:
    """Whether a person or a tool requested the change; None where it is not known, or cannot be requested.

    No task of Kafka's own reassigns replicas. A controller in ZooKeeper mode names the trigger of each election, and
    does not print an unclean one that no request triggers. One of KRaft reports the elections of its own tasks since
    3.9, and prints nothing of those that are requested; one that has just become active commits what a task of the
    former one elected. Both elect an unclean leader by themselves when they detect the last leader as down.
    Source: KIP-455; KafkaController.onReplicaElection; ReplicationControlManager.electLeaders, handleBrokerFenced,
    generateLeaderAndIsrUpdates; QuorumController.maybeScheduleNextBalancePartitionLeaders.
    """
    if kind not in _ELECTIONS:
        return True if kind is FailoverKind.REASSIGNMENT else None
    context, at, election_lines = change.context, change.at, change.elections(_ELECTIONS[kind])
    if any(e.detail in _BY_OPERATOR for e in election_lines):
        return True
    if any(e.detail or e.kind == Kind.PERIODIC_ELECTION for e in election_lines):
        return False
    is_logged = change.after.is_exact and context.has_controller_log_at(at)
    if kind is FailoverKind.UNCLEAN_ELECTION:
        outage = context.outage_at(change.last_leader, at)
        is_just_detected = outage and outage.detected_at and abs(at - outage.detected_at) <= CLOCK_SKEW
        if is_just_detected or (context.uses_zookeeper and is_logged):
            return False
    are_reported = bool(context.reported_tasks.intersection(_ELECTIONS[kind]))
    has_new_controller = any(abs(at - epoch.since) <= CLOCK_SKEW for epoch in context.controller_epochs)
    is_foreign = is_logged and are_reported and not (context.uses_zookeeper or has_new_controller)
    return True if is_foreign else None


@dataclass(frozen=True)
class LeaderHistory:
    """Rows of gold.failovers and of quality.leadership_gaps; the known leaders, and the times without a leader.

    `spans`: who led each partition, and its replicas, from change to change.
    """

    failovers: list[Failover]
    gaps: list[LeadershipGap]
    spans: list[LeaderSpan]
    leaders: defaultdict[Partition, list[Interval[int]]]
    leaderless: defaultdict[Partition, list[BoundedInterval[Reason]]]


def rebuild_leaders(incarnations: Iterable[Incarnation], context: ClusterContext, window: Window) -> LeaderHistory:
    """One row for each partition and leader epoch where the leader really changed, and one for each gap, in order.

    Within one incarnation of a partition, the leader of one row is the leader that the next one comes from, or a gap
    leads to its epoch. Each epoch that a row skips is marked by a gap. Epochs and instants do not fall. A line that is
    printed again, by another broker or after a start, adds no row. A creation is not a failover.
    """
    history = LeaderHistory([], [], [], defaultdict(list), defaultdict(list))
    for incarnation in incarnations:
        leaderships = leaderships_of(incarnation, context)
        steps = list(leader_changes_of(incarnation, leaderships, context))
        history.gaps.extend(gap for _, gap in steps if gap and window.holds(gap.seen_at))
        changes = [(change, gap) for change, gap in steps if change is not None and window.holds(change.at)]
        losses: list[BoundedInterval[Reason]] = []
        for own in runs(changes, lambda before, now: before[-1][0].new == now[0].former == NOBODY):
            both = [change for change, _ in own]
            # The change that took the leader is bounded by the clocks of both.
            errors = [max(map(_clocks_apart, both[n:])) for n in range(len(both))]
            times = [leaderless_of(both, error) for error in errors]
            failovers = [_row(*step, leaderless) for step, leaderless in zip(own, times, strict=True)]
            history.failovers.extend(failovers)
            time = times[0]
            is_shown = len(own) > 1 or time.value or time.proven or time.possible
            if is_shown if time.end else own[-1] is changes[-1]:
                reason = _by_changes(*failovers)
                if errors[0] and time.end and not _ms(time.proven):
                    # Clocks that differ by more than the time show that there was none as well.
                    reason = replace(reason, confidence=reason.confidence.at_most(Confidence.POSSIBLE))
                losses.append(BoundedInterval(time.start, time.end, time.proven, time.possible, reason))
        losses += _since_first_mention(incarnation, leaderships, context)
        leaders = known_leaders(incarnation, leaderships, [gap for _, gap in steps])
        leaders_in_logs = shown_leaders(incarnation, leaders, context)
        history.spans.extend(leader_spans(incarnation, leaderships, [change for change, _ in steps], leaders_in_logs))
        changes_by_time = Timeline((change for change, _ in changes), attrgetter("at"))
        for leader in leaders:
            losses += _while_away(incarnation, leader, changes_by_time, context)
        history.leaders[incarnation.key] += leaders_in_logs
        lasting = (loss for loss in losses if loss.start <= (incarnation.gone_at or NEVER))
        history.leaderless[incarnation.key] += (_until_gone(loss, incarnation, context) for loss in lasting)
    history.leaderless.update({key: [*one_after_another(losses)] for key, losses in history.leaderless.items()})
    return history


def _until_gone(
    loss: BoundedInterval[Reason], incarnation: Incarnation, context: ClusterContext
) -> BoundedInterval[Reason]:
    """The time without a leader within its incarnation.

    Where that ended it, and logs of the time before were not read, the partition may have had a leader meanwhile: it
    had none up to the last line before them, and may have had none up to the end.
    """
    inside, gone_at = loss.within(None, incarnation.gone_at), incarnation.gone_at
    if gone_at is None or inside.end != gone_at or loss.end == gone_at or inside.proven is None:
        return inside
    until = context.read_times.until(inside.proven.start, gone_at)
    return replace(inside, end=until, proven=span(inside.proven.start, until))


def _clocks_apart(change: LeaderChange) -> timedelta:
    """By how much the clocks may differ that time a change: those of both leaders and of the controller."""
    controller = active_at(change.context.controller_epochs, change.at)
    return apart(change.context.clocks, (change.new, change.last_leader, controller), change.at)


def leader_changes_of(
    incarnation: Incarnation, leaderships: Sequence[Leadership], context: ClusterContext
) -> Iterator[tuple[LeaderChange | None, LeadershipGap | None]]:
    """Each step from one leadership of a partition to the next: a change of leader, a gap in the epochs, or both."""
    last_leader: int | None = None
    for before, after in pairwise(leaderships):
        last_leader = last_leader if before.leader == NOBODY else before.leader
        at = _happened_at(before, after, context)
        gap = gap_between(before, after, at or after.quotes[0].happened_at, incarnation, context)
        if before.leader == after.leader or at is None:
            yield None, gap
            continue
        isr, is_last = _isr_before(after, at, incarnation.commits, _shows_commits(before, incarnation, at, context))
        yield LeaderChange(incarnation, before, after, at, last_leader, isr, is_last, context), gap
        last_leader = None if hides_leaders(gap) else last_leader


def _happened_at(before: Leadership, after: Leadership, context: ClusterContext) -> datetime | None:
    """The instant at which a witness saw it; without one, that at which the former leader was detected as down."""
    if after.at is None or after.is_exact or before.at is None:
        return after.at
    outage = context.outage_of_leader(before.leader, before.at, after.at)
    detected_at = outage.detected_at if outage else None
    return detected_at if detected_at and before.at <= detected_at <= after.at else after.at


def _shows_commits(leadership: Leadership, incarnation: Incarnation, until: datetime, context: ClusterContext) -> bool:
    """Whether the leader's own logs are at hand up to the change: they show when it began to lead, and its commits."""
    start = incarnation.leader_start(leadership.leader, leadership.epoch)
    if start is None:
        return False
    outage = context.outage_between(leadership.leader, start.happened_at, until)
    ended_at = min(until, outage.last_heard_at or until) if outage else until
    return context.has_log_between(leadership.leader, start.happened_at, ended_at)


def _isr_before(
    after: Leadership, at: datetime, commits: Sequence[Commit], shows_commits: bool
) -> tuple[tuple[int, ...] | None, bool]:
    """The last ISR known before a leadership, and whether no other lies between.

    `shows_commits`: whether the former leader's log does; where no line names a version, nothing else proves it.
    """
    i = next((i for i, c in enumerate(commits) if c.leader_epoch is not None and c.leader_epoch >= after.epoch), None)
    if i is None:
        earlier = [c for c in commits if c.at < at]
        return (earlier[-1].isr, False) if earlier else (None, False)
    if i == 0:
        return None, False
    before, now = commits[i - 1], commits[i]
    if before.version is not None and now.version is not None:
        return before.isr, now.version == before.version + 1 and now.leader_epoch == after.epoch
    return before.isr, shows_commits and before.leader_epoch == after.epoch - 1


def _row(change: LeaderChange, gap: LeadershipGap | None, leaderless: BoundedInterval[bool]) -> Failover:
    cluster, topic, partition = change.incarnation.key
    number = change.incarnation.number
    verdict = _beside(gap, verdict_of(FAILOVER_RULINGS, change))
    kind = FailoverKind(verdict.code)
    loss: Loss | None = None
    if kind == FailoverKind.UNCLEAN_ELECTION and change.last_leader is not None:
        events, readings = change.incarnation.events, list(change.incarnation.readings)
        loss = loss_of(change.after, change.last_leader, change.isr_before or (), events, readings)
    replicas, isr_after = change.replicas, change.after.isr
    return Failover(
        cluster=cluster,
        failover_id=row_id(cluster, "failover", topic, partition, change.after.epoch, *((number,) if number else ())),
        topic=topic,
        partition=partition,
        happened_at=change.at,
        leader_from=change.former,
        leader_to=change.new,
        epoch_from=change.before.epoch,
        epoch_to=change.after.epoch,
        topic_incarnation=number,
        kind=kind,
        requested_by_operator=requested_by_operator(kind, change),
        leaderless_ms=_ms(leaderless) if leaderless.value and change.new != NOBODY else None,
        leaderless_low_ms=_ms(leaderless.proven),
        leaderless_high_ms=_ms(leaderless.possible),
        preferred_leader=replicas[0] if replicas else None,
        isr_before=sorted(change.isr_before) if change.isr_before is not None else None,
        isr_after=sorted(isr_after) if isr_after is not None else None,
        records_lost_low=loss.low if loss else None,
        records_lost_high=loss.high if loss else None,
        outage_id=verdict.facts.get("outage_id"),
        confidence=verdict.confidence,
        explanation=f"{verdict.sentence} Records lost: {loss.says}." if loss else verdict.sentence,
        evidence=evidence_of(loss.quotes if loss else (), verdict.evidence, change.after.quotes),
    )


def _ms(span: BoundedInterval[bool] | Interval[None] | None) -> int | None:
    return None if span is None or span.end is None else (span.end - span.start) // MS


def _beside(gap: LeadershipGap | None, verdict: Verdict) -> Verdict:
    """A verdict on a change, less sure where the gap before it may hide another change."""
    if gap is None or not hides_leaders(gap):
        return verdict
    # Another broker may have led last; that no broker leads now is right all the same.
    most = Confidence.LIKELY if verdict.code == FailoverKind.OFFLINE else Confidence.POSSIBLE
    skipped = epochs_between(gap.after_epoch, gap.next_epoch)
    sentence = f"{verdict.sentence} The leader in {skipped} is not known: no line shows it."
    return replace(verdict, sentence=sentence, confidence=verdict.confidence.at_most(most))
