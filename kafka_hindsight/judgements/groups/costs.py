"""The cost of rebalances: the partitions that stop, times how long; the assignments; the times without a consumer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from kafka_hindsight.catalog.codes import Confidence, GroupRecordType, Outcome, Protocol, UnavailabilityKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import (
    Event,
    GroupRecord,
    GroupSnapshot,
    LogSpan,
    MemberSnapshot,
    Quote,
    Rebalance,
    TopicPartition,
    Unavailability,
)
from kafka_hindsight.judgements.groups.ownership import shows_holders
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, ledger_row, span
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_record, quote_snapshot
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.judgements.rebalances.records import PartitionKey, in_turn, recorded_holdings
from kafka_hindsight.shared.durations import MS, SAME_ACT
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.timelines import Interval, Timeline, by_instant, instants, intervals, timelines

_BETWEEN, _HOLDS = "), ", "=Assignment(partitions=["


@dataclass(frozen=True)
class Assignment:
    """The partitions of each member of a classic group. `generation`: None for a reading, which names none."""

    at: datetime
    generation: int | None
    members: frozenset[str]
    owners: Mapping[PartitionKey, str]
    quote: Quote


def partitions_in(text: str) -> frozenset[PartitionKey]:
    """The partitions in a client's line: `orders-0, orders-1`."""
    names = (name.strip().rpartition("-") for name in text.split(",") if name.strip())
    return frozenset((topic, int(number)) for topic, _, number in names if number.isdigit())


def _by_leaders(events: Iterable[Event]) -> Iterator[Assignment]:
    """Source: ConsumerCoordinator.onLeaderElected prints the whole assignment; it arrives only if the group syncs."""
    for event in events:
        if event.kind == Kind.CLIENT_ASSIGNMENT_FINISHED and event.detail:
            holdings = {member: partitions_in(partitions) for member, partitions in _members_in(event.detail)}
            yield _assignment(event.happened_at, event.generation, holdings, quote(event))


def _members_in(detail: str) -> Iterator[tuple[str, str]]:
    """Each member of a printed assignment and its partitions, in one pass: a client chooses its id, of any length."""
    text, at = f"{_BETWEEN}{detail[1:]}" if detail.startswith("{") else detail, 0
    while (holds := text.find(_HOLDS, at)) >= 0 and (ends := text.find("]", holds)) >= 0:
        begins = text.find(_BETWEEN, at, holds)
        if begins >= 0:
            yield text[begins + len(_BETWEEN) : holds], text[holds + len(_HOLDS) : ends]
        at = ends + 1


def _by_records(records: Iterable[GroupRecord]) -> Iterator[Assignment]:
    for record in in_turn(records):
        if record.record_type == GroupRecordType.GROUP_METADATA and record.members:
            holdings = {m.member_id: _partitions_of(m.assignment) for m in record.members}
            if None not in holdings.values():
                says = f"generation {record.generation} is stored with {_count(holdings)} partitions"
                yield _assignment(record.written_at, record.generation, holdings, quote_record(record, says))


def _by_readings(readings: Iterable[GroupSnapshot], member_snapshots: Iterable[MemberSnapshot]) -> Iterator[Assignment]:
    members = grouped(member_snapshots, lambda m: m.snapshot_at)
    for reading in readings:
        at = reading.snapshot_at
        holdings = {m.member_id: _partitions_of(m.assignment) for m in members.get(at, ())}
        if holdings and shows_holders(reading) and None not in holdings.values():
            says = f"group {reading.group_id}: {len(holdings)} members hold {_count(holdings)} partitions"
            yield _assignment(at, None, holdings, quote_snapshot(reading, says))


def _assignment(
    at: datetime, generation: int | None, holdings: Mapping[str, Iterable[PartitionKey] | None], proof: Quote
) -> Assignment:
    owners = {partition: member for member in sorted(holdings) for partition in holdings[member] or ()}
    return Assignment(at, generation, frozenset(holdings), owners, proof)


def _partitions_of(assignment: Sequence[TopicPartition] | None) -> frozenset[PartitionKey] | None:
    return None if assignment is None else frozenset((a.topic, a.partition) for a in assignment)


def _count(holdings: Mapping[str, frozenset[PartitionKey] | None]) -> int:
    return sum(len(partitions or ()) for partitions in holdings.values())


_INCREMENTAL = re.compile(r"cooperative|^(?:sessioned|compatible|stream)$")
"""The protocols under which members keep what does not move: of consumers (KIP-429), of Kafka Connect (KIP-415:
ConnectProtocolCompatibility) and of Kafka Streams (KAFKA-8179: StreamsPartitionAssignor.supportedProtocols)."""

_MOVES = (Kind.CLIENT_ASSIGNED, Kind.CLIENT_REVOKED, Kind.CLIENT_LOST)


@dataclass(frozen=True)
class Stop:
    """The partitions that one rebalance stopped: how many, and how many of them stayed with their member (`unmoved`).

    None: not known. `is_eager`: every member gave back everything; None where no evidence names the assignor.
    `least_seconds`: the partition-seconds in which no member can have consumed.
    """

    partitions: int | None = None
    unmoved: int | None = None
    is_eager: bool | None = None
    quotes: tuple[Quote, ...] = ()
    least_seconds: float | None = None


@dataclass(frozen=True)
class Witnesses:
    """The evidence of who held what in one group. `readings`: its rows of bronze.group_snapshots."""

    events: Sequence[Event] = ()
    records: Sequence[GroupRecord] = ()
    readings: Sequence[GroupSnapshot] = ()
    members: Sequence[MemberSnapshot] = ()


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
    assignments = _Assignments(witnesses)
    assignors = _assignors(witnesses)
    has_follow_ups = any(r.cause.noun.is_follow_up for r in classic)
    current, since = None, None
    for rebalance, following in pairwise([*classic, None]):
        assert rebalance is not None
        before = current or assignments.before(rebalance, since)
        after = assignments.after(rebalance, following.started_at if following else None)
        is_eager = _is_eager(rebalance, assignors, has_follow_ups)
        stops[rebalance.rebalance_id] = _stop(rebalance, before, after, is_eager, assignments.most)
        if rebalance.outcome in (Outcome.COMPLETED, Outcome.EMPTIED):
            current, since = after, rebalance.ended_at
    return stops


def _stop(
    rebalance: Rebalance, before: Assignment | None, after: Assignment | None, is_eager: bool | None, most: int | None
) -> Stop:
    assignments = [a for a in (before, after) if a is not None]
    quotes = tuple(a.quote for a in assignments)
    if is_eager:
        unmoved = None
        if before is not None and after is not None:
            unmoved = sum(after.owners.get(p) == member for p, member in before.owners.items())
        partitions = len({p for a in assignments for p in a.owners}) or most
        was_idle = before is not None and not before.owners
        all_stopped_at = rebalance.started_at if was_idle else rebalance.joined_at
        return Stop(partitions, unmoved, True, quotes, _least_seconds(rebalance, partitions, all_stopped_at))
    if is_eager is None or before is None or after is None:
        return Stop(None, None, is_eager, quotes)
    transfers = {p for p, member in after.owners.items() if before.owners.get(p) != member}
    orphans = {p for p, member in before.owners.items() if member not in after.members}
    partitions = len(transfers | orphans)
    # Who goes while it runs consumes until then, at most to the end of the join phase.
    has_more_leavers = rebalance.contributors or rebalance.outcome == Outcome.EMPTIED
    all_stopped_at = rebalance.joined_at if has_more_leavers else rebalance.started_at
    return Stop(partitions, 0, False, quotes, _least_seconds(rebalance, partitions, all_stopped_at))


def _least_seconds(rebalance: Rebalance, partitions: int | None, all_stopped_at: datetime | None) -> float | None:
    """The partition-seconds from the instant at which all partitions stood to the end."""
    if partitions is None or rebalance.ended_at is None:
        return None
    if all_stopped_at is None:
        return 0.0
    return partitions * max((rebalance.ended_at - all_stopped_at).total_seconds(), 0)


class _Assignments:
    """The assignments of a classic group by generation; those of readings, which show settled groups, under None.

    Each assignment is what one witness shows; the parts that several show are not put together.
    """

    def __init__(self, witnesses: Witnesses) -> None:
        assignments = [*_by_leaders(witnesses.events), *_by_records(witnesses.records)]
        assignments += _by_readings(witnesses.readings, witnesses.members)
        assignments.sort(key=lambda a: (a.at, a.generation is None, a.generation or 0))
        self._by_generation = timelines(assignments, lambda a: a.generation, lambda a: a.at)
        self.most = max((len(a.owners) for a in assignments), default=None)

    def _in(self, generation: int | None) -> Timeline[Assignment]:
        return self._by_generation.get(generation) or Timeline((), at=lambda a: a.at)

    def before(self, rebalance: Rebalance, since: datetime | None) -> Assignment | None:
        """The assignment before a rebalance that follows no known one; an empty one before the first of a group."""
        at = rebalance.started_at
        if rebalance.from_generation == 0:
            return _empty_assignment(at, 0, rebalance)
        last = (self._in(g).last_before(at) for g in (rebalance.from_generation, None))
        later = (a for a in last if a is not None and (since is None or a.at > since))
        return max(later, key=lambda a: (a.at, a.generation is None), default=None)

    def after(self, rebalance: Rebalance, until: datetime | None) -> Assignment | None:
        """The result of a rebalance: the assignment of its generation, or of a reading before the next one."""
        end = rebalance.ended_at
        if end is None or rebalance.outcome not in (Outcome.COMPLETED, Outcome.EMPTIED):
            return None
        if rebalance.outcome == Outcome.EMPTIED:
            return _empty_assignment(end, rebalance.to_generation, rebalance)
        first = (
            self._in(rebalance.to_generation).first_since(rebalance.started_at - SAME_ACT),
            self._in(None).first_after(end + SAME_ACT),
        )
        earlier = (a for a in first if a is not None and (until is None or a.at < until))
        return min(earlier, key=lambda a: (a.at, a.generation is None), default=None)


def _empty_assignment(at: datetime, generation: int | None, rebalance: Rebalance) -> Assignment:
    return Assignment(at, generation, frozenset(), {}, rebalance.evidence[-1])


def _assignors(witnesses: Witnesses) -> Timeline[tuple[datetime, str]]:
    """The assignors that the group used, with the time of each witness.

    A client's configuration is a list of offers, not a choice.
    """
    configured = Kind.CLIENT_CONFIGURED
    by_lines = [(e.happened_at, e.assignor) for e in witnesses.events if e.assignor and e.kind != configured]
    by_records = [(r.written_at, r.protocol) for r in witnesses.records if r.protocol]
    by_readings = [(r.snapshot_at, r.assignor) for r in witnesses.readings if r.assignor]
    return Timeline(sorted([*by_lines, *by_records, *by_readings]), at=lambda pair: pair[0])


def _is_eager(rebalance: Rebalance, assignors: Timeline[tuple[datetime, str]], has_follow_ups: bool) -> bool | None:
    """Whether the generation's assignor is eager: the last known by its end, else the first known after it."""
    if len(assignors):
        end = (rebalance.ended_at or rebalance.started_at) + SAME_ACT
        return not _INCREMENTAL.search((assignors.last_until(end) or assignors.values[0])[1])
    return False if has_follow_ups else None


def _stops_of_epochs(rebalances: Sequence[Rebalance], witnesses: Witnesses) -> dict[str, Stop]:
    """The stops under KIP-848: by the coordinator's records where it has them, else by the members' own logs.

    An epoch has an end only where every member is witnessed, so that what no log shows did not move.
    """
    if not rebalances:
        return {}
    holdings = _Holdings(witnesses.records)
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
        unmoved = None if partitions is None else 0
        stops[r.rebalance_id] = Stop(partitions, unmoved, False, least_seconds=least)
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
) -> list[Unavailability]:
    """Rows of gold.unavailability about one group: one from each stop of the whole group to its next assignment.

    `events` include those of the group's records; `logs_end` is the last line of any broker, `log_spans` are the spans
    of each broker's own log. `begins`: the instants at which the metadata of the cluster began again, and with them
    all groups.
    """
    removals = instants([*(e.happened_at for e in events if e.kind in _REMOVALS), *begins])
    rows = []
    for chain, following in _chains(rebalances, stops):
        interval, first, last = _interval(chain, following), chain[0], chain[-1]
        removed_at = removals.first_after(interval.start)
        if removed_at:
            interval = interval.within(None, removed_at)
        has_end = last.outcome in (Outcome.COMPLETED, Outcome.EMPTIED)
        confidence = Confidence.CERTAIN if has_end else Confidence.LIKELY
        kind, subject = UnavailabilityKind.NO_CONSUMER, (first.cluster, first.group_id)
        quotes, rebalance_id = [*first.evidence, *last.evidence], first.rebalance_id
        why, shown_until = first.explanation, _shown_until(last, log_spans) or logs_end
        until = min(logs_end, shown_until)
        rows.append(ledger_row(kind, subject, interval, until, why, confidence, quotes, rebalance_id=rebalance_id))
    return rows


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
