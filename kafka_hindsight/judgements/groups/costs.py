"""The cost of rebalances: the partitions that stop, times how long; the times without a consumer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from kafka_hindsight.catalog.codes import Confidence, Outcome, Protocol, RebalanceKind, UnavailabilityKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GroupRecord, LogSpan, Quote, Rebalance, Unavailability
from kafka_hindsight.judgements.groups.assignments import (
    Assignment,
    Assignments,
    CoordinatorAssignments,
    Witnesses,
    assignor_of,
    assignors_in,
    kind_of,
    partitions_in,
)
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, ledger_row, span
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.judgements.rebalances.records import PartitionKey, in_turn, recorded_holdings
from kafka_hindsight.shared.durations import MS, SAME_ACT
from kafka_hindsight.shared.grouping import with_neighbours
from kafka_hindsight.shared.timelines import Interval, Timeline, by_instant, instants, intervals

_MOVES = (Kind.CLIENT_ASSIGNED, Kind.CLIENT_REVOKED, Kind.CLIENT_LOST)


@dataclass(frozen=True)
class Stop:
    """The partitions that one rebalance stopped: how many, and how many of them stayed with their member (`unmoved`).

    None: not known. `before`, `after`: who held what. `least_seconds`: the partition-seconds in which no member can
    have consumed.
    """

    partitions: int | None = None
    unmoved: int | None = None
    kind: RebalanceKind | None = None
    assignor: str | None = None
    before: Assignment | None = None
    after: Assignment | None = None
    least_seconds: float | None = None

    @property
    def is_eager(self) -> bool | None:
        """Whether every member gave back everything; None where that is not known."""
        return None if self.kind is None else self.kind == RebalanceKind.EAGER

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The evidence of who held what."""
        return tuple(a.quote for a in (self.before, self.after) if a is not None)


def price(rebalances: Sequence[Rebalance], stops: Mapping[str, Stop]) -> list[Rebalance]:
    """The rebalances with the bounds of their `partition_seconds`, null where duration or partitions are not known."""
    rows = []
    for rebalance in rebalances:
        stop = stops[rebalance.rebalance_id]
        most = cost_of(rebalance, stop.partitions)
        least = None if most is None or stop.least_seconds is None else min(round(stop.least_seconds, 3), most)
        rows.append(replace(rebalance, partition_seconds=most, partition_seconds_low=least))
    return rows


def cost_of(rebalance: Rebalance, partitions: int | None) -> float | None:
    """The partition-seconds that it costs at most when this many partitions stop while a rebalance runs."""
    if rebalance.duration_ms is None or partitions is None:
        return None
    return float(round(partitions * rebalance.duration_ms / 1000, 3))


def stops_of(rebalances: Sequence[Rebalance], witnesses: Witnesses) -> dict[str, Stop]:
    """The partitions that each rebalance of one group stopped, by rebalance id.

    An eager assignor stops all partitions of the group. A cooperative one stops those that got another owner, or whose
    owner had gone: a member reads what it gives back until it has synced, so that it stops in the follow-up. Under
    KIP-848 those stop whose owner changed while members went over to the epoch.

    A member consumes until a heartbeat's answer names the rebalance, and an eager one gives everything back before it
    joins again. So the partitions of an eager group stand at least from the end of its join phase on.
    Source: KIP-429, KIP-848; ConsumerCoordinator.onJoinPrepare and onJoinComplete.
    """
    ordered = sorted(rebalances, key=turn_of)
    classic = [r for r in ordered if r.protocol == Protocol.CLASSIC]
    stops = _stops_of_epochs([r for r in ordered if r.protocol != Protocol.CLASSIC], witnesses)
    if not classic:
        return stops
    assignments = Assignments(witnesses)
    assignors = assignors_in(witnesses)
    has_follow_ups = any(r.cause.noun.is_follow_up for r in classic)
    current, since = None, None
    for rebalance, following in pairwise([*classic, None]):
        assert rebalance is not None
        before = current or assignments.before(rebalance, since)
        after = assignments.after(rebalance, following.started_at if following else None)
        assignor = assignor_of(rebalance, assignors)
        stop = Stop(None, None, kind_of(rebalance, assignor, has_follow_ups), assignor, before, after)
        stops[rebalance.rebalance_id] = _with_counts(rebalance, stop, assignments.most)
        if rebalance.outcome in (Outcome.COMPLETED, Outcome.EMPTIED):
            current, since = after, rebalance.ended_at
    return stops


def _with_counts(rebalance: Rebalance, stop: Stop, most: int | None) -> Stop:
    """The stop with the partitions that stood; `most`: the most that the group ever had."""
    before, after = stop.before, stop.after
    if stop.is_eager:
        unmoved = None
        if before is not None and after is not None:
            unmoved = sum(after.owners.get(p) == member for p, member in before.owners.items())
        partitions = len({p for a in (before, after) if a is not None for p in a.owners}) or most
        was_idle = before is not None and not before.owners
        all_stopped_at = rebalance.started_at if was_idle else rebalance.joined_at
        least = _least_seconds(rebalance, partitions, all_stopped_at)
        return replace(stop, partitions=partitions, unmoved=unmoved, least_seconds=least)
    if stop.is_eager is None or before is None or after is None:
        return stop
    transfers = {p for p, member in after.owners.items() if before.owners.get(p) != member}
    orphans = {p for p, member in before.owners.items() if member not in after.members}
    partitions = len(transfers | orphans)
    # Who goes while it runs consumes until then, at most to the end of the join phase.
    has_more_leavers = rebalance.contributors or rebalance.outcome == Outcome.EMPTIED
    all_stopped_at = rebalance.joined_at if has_more_leavers else rebalance.started_at
    least = _least_seconds(rebalance, partitions, all_stopped_at)
    return replace(stop, partitions=partitions, unmoved=0, least_seconds=least)


def _least_seconds(rebalance: Rebalance, partitions: int | None, all_stopped_at: datetime | None) -> float | None:
    """The partition-seconds from the instant at which all partitions stood to the end."""
    if partitions is None or rebalance.ended_at is None:
        return None
    if all_stopped_at is None:
        return 0.0
    return partitions * max((rebalance.ended_at - all_stopped_at).total_seconds(), 0)


def _stops_of_epochs(rebalances: Sequence[Rebalance], witnesses: Witnesses) -> dict[str, Stop]:
    """The stops under KIP-848: by the coordinator's records where it has them, else by the members' own logs.

    An epoch has an end only where every member is witnessed, so that what no log shows did not move.
    """
    if not rebalances:
        return {}
    holdings, assignments = _Holdings(witnesses.records), CoordinatorAssignments(witnesses.records)
    assignors = assignors_in(Witnesses(readings=[r for r in witnesses.readings if r.type == Protocol.CONSUMER]))
    moves = by_instant(e for e in witnesses.events if e.kind in _MOVES)
    stops = {}
    for r in rebalances:
        partitions, least = None, None
        if r.ended_at is not None and holdings.since and holdings.since <= r.started_at + SAME_ACT:
            partitions = holdings.count_changes(r.started_at, r.ended_at)
        elif r.ended_at is not None and (holdings.since or len(moves)):
            inside = moves.between(r.started_at, r.ended_at)
            idle_times = _idle_seconds(inside, r.started_at, r.ended_at)
            partitions, least = len(idle_times), sum(idle_times.values(), 0.0)
        stops[r.rebalance_id] = Stop(
            partitions,
            None if partitions is None else 0,
            RebalanceKind.SERVER_SIDE,
            assignor_of(r, assignors),
            assignments.before(r.started_at, r),
            None if r.ended_at is None else assignments.after(r.ended_at, r),
            least,
        )
    return stops


def _idle_seconds(moves: Iterable[Event], start: datetime, end: datetime) -> dict[PartitionKey, float]:
    """The seconds in which each partition that moved had no owner.

    They last from the line of the member that gave it back, else from the start, as its owner had gone; up to the line
    of the member that got it, else to the end.
    """
    given_back: dict[PartitionKey, datetime] = {}
    received: dict[PartitionKey, datetime] = {}
    for event in moves:
        for partition in partitions_in(event.detail or ""):
            if event.kind == Kind.CLIENT_ASSIGNED:
                received[partition] = event.happened_at
            else:
                given_back.setdefault(partition, event.happened_at)
    return {p: max((received.get(p, end) - given_back.get(p, start)).total_seconds(), 0) for p in given_back | received}


class _Holdings:
    """The holder of each partition of a group, by the coordinator's records.

    `since`: the first record; None where no record shows a holder.
    """

    def __init__(self, records: Sequence[GroupRecord]) -> None:
        spans = recorded_holdings(in_turn(records))
        self.since = min(r.written_at for r in records) if spans else None
        self._spans = intervals(spans, lambda s: s.partition, lambda s: Interval(s.since, s.until, s))
        edges = [(at, s.partition) for s in spans for at in (s.since, s.until) if at is not None]
        self._edges = Timeline(edges, at=lambda edge: edge[0])

    def count_changes(self, start: datetime, end: datetime) -> int:
        """How many partitions have another holder after an instant than just before an earlier one."""
        changed = {partition for _, partition in self._edges.between(start, end)}
        count = 0
        for partition in changed:
            before = [i.value for i in self._spans[partition].at(start) if i.start < start][-1:]
            after = [i.value for i in self._spans[partition].at(end) if i.end is None or i.end > end][-1:]
            count += [s.member.member_id for s in before] != [s.member.member_id for s in after]
        return count


_REMOVALS = (Kind.GROUP_DEAD, Kind.GROUPS_DELETED, Kind.GROUP_BURIED)


def rebuild_group_stops(
    rebalances: Sequence[Rebalance],
    stops: Mapping[str, Stop],
    events: Iterable[Event],
    logs_end: datetime,
    log_spans: Sequence[LogSpan] = (),
    begins: Iterable[datetime] = (),
    read_times: ReadTimes = ALL_READ,
) -> list[Unavailability]:
    """Rows of gold.unavailability about one group: one from each stop of the whole group to its next assignment.

    `events` include those of the group's records; `logs_end` is the last line of any broker, `log_spans` are the spans
    of each broker's own log. `begins`: the instants at which the metadata of the cluster began again, and with them
    all groups. `read_times`: the times in which logs were read.
    """
    removals = instants([*(e.happened_at for e in events if e.kind in _REMOVALS), *begins])
    rows = []
    for chain, following in _chains(rebalances, stops):
        interval, first, last = _interval(chain, following), chain[0], chain[-1]
        removed_at = removals.first_after(interval.start)
        if removed_at and (interval.end is None or removed_at < interval.end):
            interval = _as_read(interval.within(None, removed_at), read_times)
        elif not _follow_on(chain):
            interval = _as_read(interval, read_times)
        has_end = last.outcome in (Outcome.COMPLETED, Outcome.EMPTIED)
        confidence = Confidence.CERTAIN if has_end else Confidence.LIKELY
        kind, subject = UnavailabilityKind.NO_CONSUMER, (first.cluster, first.group_id)
        quotes, rebalance_id = [*first.evidence, *last.evidence], first.rebalance_id
        why, shown_until = first.explanation, _shown_until(last, log_spans) or logs_end
        until = min(logs_end, shown_until)
        row = ledger_row(
            kind, subject, interval, until, why, confidence, quotes, rebalance_id=rebalance_id, read_times=read_times
        )
        rows.append(row)
    return rows


def _follow_on(chain: Sequence[Rebalance]) -> bool:
    """Whether the generations show that the group had no other assignment between these rebalances."""
    reached = [(r.to_generation or r.from_generation, after.from_generation) for r, after in pairwise(chain)]
    return all(before is not None and before == after for before, after in reached)


def _as_read(interval: BoundedInterval[None], read_times: ReadTimes) -> BoundedInterval[None]:
    """The interval as far as logs were read without a break: later the group may have had members."""
    proven, end = interval.proven, interval.end
    if proven is None or end is None:
        return interval
    until = read_times.until(min(proven.start, end), end)
    return interval if until == end else replace(interval, end=until, proven=span(proven.start, until))


def _shown_until(rebalance: Rebalance, log_spans: Iterable[LogSpan]) -> datetime | None:
    """The end of the coordinator's log that has a rebalance: a later one of the group would be in it.

    A group that moves is in the log of its next coordinator from then on.
    """
    at = rebalance.started_at
    own = (s.last_at for s in log_spans if s.broker == rebalance.coordinator and s.first_at <= at <= s.last_at)
    return max(own, default=None)


def _chains(
    rebalances: Sequence[Rebalance], stops: Mapping[str, Stop]
) -> Iterator[tuple[Sequence[Rebalance], Rebalance | None]]:
    """Rebalances in a row from a stop of the whole group to its next assignment, and the rebalance after them.

    A group that had no assignment before stops nothing. Under cooperative assignors, and where the coordinator assigns,
    members give back only what moves: such a group stops only where its last member goes.
    """
    ordered = sorted(rebalances, key=turn_of)
    chain: list[Rebalance] = []
    has_run = False
    for _, now, after in with_neighbours(ordered):
        has_run = has_run or bool(now.from_generation)
        if chain or (has_run and (now.outcome == Outcome.EMPTIED or stops[now.rebalance_id].is_eager)):
            chain.append(now)
        has_run = has_run or now.outcome == Outcome.COMPLETED
        is_over = now.outcome in (Outcome.COMPLETED, Outcome.UNFINISHED) or (now.protocol.has_epochs and chain[1:])
        if chain and (after is None or is_over):
            yield chain, after
            chain = []


def _interval(chain: Sequence[Rebalance], following: Rebalance | None) -> BoundedInterval[None]:
    """The time from the stop to the assignment.

    The members stop one after another, each when it learns of the rebalance, and all have stopped when the join phase
    ends. Where the coordinator assigns, the first member can consume before the last. The end of a rebalance that no
    evidence shows is not bounded, and where none follows it is not over.
    """
    first, last = chain[0], chain[-1]
    is_shown = last.outcome == Outcome.COMPLETED
    end = last.ended_at if is_shown else last.joined_at or last.started_at
    if following is None and not is_shown:
        end = None
    consumed_until: datetime | None = first.started_at
    is_last_gone = first.members_before == 1 or first.outcome == Outcome.EMPTIED
    if is_last_gone and first.cause.noun.is_silence:  # heartbeat or not, it can have consumed until its session expired
        session = first.session_timeout_ms
        consumed_until = None if session is None else first.started_at - session * MS
    stopped_at = next((at for at in map(_all_stopped_at, chain) if at), None)
    idle_until = last.started_at if end and last.protocol.has_epochs else end
    proven = None if last.outcome == Outcome.UNFINISHED else span(stopped_at, idle_until)
    possible = span(consumed_until, end) if is_shown or end is None else None
    return BoundedInterval(first.started_at, end, proven, possible, None)


def _all_stopped_at(rebalance: Rebalance) -> datetime | None:
    """The instant at which all members had stopped: they were gone, or had joined again; None if not known."""
    if rebalance.outcome == Outcome.EMPTIED:
        return rebalance.ended_at
    return None if rebalance.protocol.has_epochs else rebalance.joined_at
