"""What rebalances cost: partitions that are not read, times how long. Plain Python over one group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from kafka_hindsight.catalog.codes import Cause, Outcome, Protocol
from kafka_hindsight.catalog.rows import Event, GroupRecord, GroupSnapshot, MemberSnapshot, Quote, Rebalance
from kafka_hindsight.judgements.groups.assignments import Assignment, assignments_of, partitions_in
from kafka_hindsight.judgements.reasoning.timelines import Interval, Timeline, by_instant, intervals, timelines
from kafka_hindsight.judgements.rebalances.recorded_holdings import Owned, Span, in_turn, recorded_spans
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import SAME_ACT

_INCREMENTAL = re.compile(r"cooperative|^(?:sessioned|compatible|stream)$")
"""The protocols under which members keep what does not move: of consumers (KIP-429), of Kafka Connect (KIP-415:
ConnectProtocolCompatibility) and of Kafka Streams (KAFKA-8179: StreamsPartitionAssignor.supportedProtocols)."""

_MOVES = (Kind.CLIENT_ASSIGNED, Kind.CLIENT_REVOKED, Kind.CLIENT_LOST)


@dataclass(frozen=True)
class Stop:
    """The partitions that one rebalance stopped, and of them those `kept`, which came back to the member they had.

    None: not known. `is_eager`: every member gave back everything; None where no evidence names the assignor.
    """

    stopped: int | None = None
    kept: int | None = None
    is_eager: bool | None = None
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class Witnesses:
    """What shows who held what in one group.

    Its events; its rows of bronze.group_records, group_snapshots (as `readings`) and member_snapshots.
    """

    events: Sequence[Event] = ()
    records: Sequence[GroupRecord] = ()
    readings: Sequence[GroupSnapshot] = ()
    members: Sequence[MemberSnapshot] = ()


def price(rebalances: Sequence[Rebalance], stops: Mapping[str, Stop]) -> list[Rebalance]:
    """The rebalances with `partition_seconds`, null where duration or partitions are not known."""
    return [replace(r, partition_seconds=cost_of(r, stops[r.rebalance_id].stopped)) for r in rebalances]


def cost_of(rebalance: Rebalance, partitions: int | None) -> float | None:
    """What it costs that so many partitions stop while a rebalance runs, in partition-seconds."""
    if rebalance.duration_ms is None or partitions is None:
        return None
    return float(round(partitions * rebalance.duration_ms / 1000, 3))


def stops_of(rebalances: Sequence[Rebalance], witnesses: Witnesses) -> dict[str, Stop]:
    """What each rebalance of one group stopped, by rebalance id.

    Takes: rows of gold.rebalances of one group.
    Gives: all partitions of the group where its assignor is eager; where it is cooperative those that got another
        owner, or whose owner had gone: what a member gives back it reads until it has synced, so that it stops in
        the follow-up. Under KIP-848 those whose owner changed while members went over to the epoch.
    Source: KIP-429, KIP-848; ConsumerCoordinator.onJoinPrepare and onJoinComplete.
    """
    ordered = sorted(rebalances, key=lambda r: (r.started_at, r.rebalance_id))
    classic = [r for r in ordered if r.protocol == Protocol.CLASSIC]
    stops = _stops_of_epochs([r for r in ordered if r.protocol != Protocol.CLASSIC], witnesses)
    if not classic:
        return stops
    known = _Assignments(assignments_of(witnesses.events, witnesses.records, witnesses.readings, witnesses.members))
    assignors = _assignors(witnesses)
    has_follow_ups = any(r.cause == Cause.COOPERATIVE_FOLLOWUP for r in classic)
    held, since = None, None
    for rebalance, following in pairwise([*classic, None]):
        assert rebalance is not None
        before = held or known.before(rebalance, since)
        after = known.after(rebalance, following.started_at if following else None)
        is_eager = _is_eager(rebalance, assignors, has_follow_ups)
        stops[rebalance.rebalance_id] = _stop(before, after, is_eager, known.most)
        if rebalance.outcome in (Outcome.COMPLETED, Outcome.EMPTIED):
            held, since = after, rebalance.ended_at
    return stops


def _stop(before: Assignment | None, after: Assignment | None, is_eager: bool | None, most: int | None) -> Stop:
    known = [a for a in (before, after) if a is not None]
    quotes = tuple(a.quote for a in known)
    if is_eager:
        return Stop(len({p for a in known for p in a.owners}) or most, _kept(before, after), True, quotes)
    if is_eager is None or before is None or after is None:
        return Stop(None, None, is_eager, quotes)
    return Stop(_moved(before, after), 0, False, quotes)


def _moved(before: Assignment, after: Assignment) -> int:
    """How many partitions got another owner, or lost one that had gone."""
    given = {p for p, member in after.owners.items() if before.owners.get(p) != member}
    left = {p for p, member in before.owners.items() if member not in after.members}
    return len(given | left)


def _kept(before: Assignment | None, after: Assignment | None) -> int | None:
    """How many partitions came back to the member that they had."""
    if before is None or after is None:
        return None
    return sum(after.owners.get(p) == member for p, member in before.owners.items())


class _Assignments:
    """The known assignments of a classic group, by generation: None for those that readings show."""

    def __init__(self, known: Sequence[Assignment]) -> None:
        self._of = timelines(known, lambda a: a.generation, lambda a: a.at)
        self.most = max((len(a.owners) for a in known), default=None)

    def _in(self, generation: int | None) -> Timeline[Assignment]:
        return self._of.get(generation) or Timeline((), at=lambda a: a.at)

    def before(self, rebalance: Rebalance, since: datetime | None) -> Assignment | None:
        """What held when a rebalance began for which no earlier one shows it; nothing in a group's first one."""
        at = rebalance.started_at
        if rebalance.from_generation == 0:
            return _nothing(at, 0, rebalance)
        last = (self._in(g).last_before(at) for g in (rebalance.from_generation, None))
        held = [a for a in last if a is not None and (since is None or a.at > since)]
        return max(held, key=lambda a: (a.at, a.generation is None), default=None)

    def after(self, rebalance: Rebalance, until: datetime | None) -> Assignment | None:
        """What a rebalance led to: the assignment of its generation, or what a reading shows before the next one."""
        end = rebalance.ended_at
        if end is None or rebalance.outcome not in (Outcome.COMPLETED, Outcome.EMPTIED):
            return None
        if rebalance.outcome == Outcome.EMPTIED:
            return _nothing(end, rebalance.to_generation, rebalance)
        first = (
            self._in(rebalance.to_generation).first_since(rebalance.started_at - SAME_ACT),
            self._in(None).first_after(end + SAME_ACT),
        )
        held = [a for a in first if a is not None and (until is None or a.at < until)]
        return min(held, key=lambda a: (a.at, a.generation is None), default=None)


def _nothing(at: datetime, generation: int | None, rebalance: Rebalance) -> Assignment:
    return Assignment(at, generation, frozenset(), {}, rebalance.evidence[-1])


def _assignors(witnesses: Witnesses) -> Timeline[tuple[datetime, str]]:
    """The assignors that the group was seen with.

    Edge case: what a client is configured with is a list of offers, not a choice.
    """
    configured = Kind.CLIENT_CONFIGURED
    by_lines = [(e.happened_at, e.assignor) for e in witnesses.events if e.assignor and e.kind != configured]
    by_records = [(r.written_at, r.protocol) for r in witnesses.records if r.protocol]
    by_readings = [(r.snapshot_at, r.assignor) for r in witnesses.readings if r.assignor]
    return Timeline(sorted([*by_lines, *by_records, *by_readings]), at=lambda seen: seen[0])


def _is_eager(rebalance: Rebalance, assignors: Timeline[tuple[datetime, str]], has_follow_ups: bool) -> bool | None:
    """Whether the generation's assignor is eager: the last one seen by its end, else the first one seen after it."""
    if len(assignors):
        end = (rebalance.ended_at or rebalance.started_at) + SAME_ACT
        return not _INCREMENTAL.search((assignors.last_until(end) or assignors.values[0])[1])
    return False if has_follow_ups else None


def _stops_of_epochs(rebalances: Sequence[Rebalance], witnesses: Witnesses) -> dict[str, Stop]:
    """KIP-848: by what the coordinator stored of its members where it did, else by the members' own logs.

    Edge case: an epoch has an end only where every member is witnessed, so that what no log shows did not move.
    """
    if not rebalances:
        return {}
    holdings = _Holdings(witnesses.records)
    moves = by_instant(e for e in witnesses.events if e.kind in _MOVES)
    return {r.rebalance_id: _stop_of_epoch(r.started_at, r.ended_at, holdings, moves) for r in rebalances}


def _stop_of_epoch(start: datetime, end: datetime | None, holdings: _Holdings, moves: Timeline[Event]) -> Stop:
    if end is None or not (holdings.since or len(moves)):
        return Stop(is_eager=False)
    if holdings.since and holdings.since <= start + SAME_ACT:
        return Stop(holdings.changed(start, end), 0, False)
    moved = {p for e in moves.between(start, end) for p in partitions_in(e.detail or "")}
    return Stop(len(moved), 0, False)


class _Holdings:
    """Who held each partition of a group, by what the coordinator stored.

    `since`: when its first record was written; None where no record shows a holder.
    """

    def __init__(self, records: Sequence[GroupRecord]) -> None:
        spans = recorded_spans(in_turn(records))
        self.since = min(r.written_at for r in records) if spans else None
        self._of = intervals(spans, lambda s: s.owned, lambda s: Interval(s.since, s.until, s))
        edges = [(at, s.owned) for s in spans for at in (s.since, s.until) if at is not None]
        self._edges = Timeline(edges, at=lambda edge: edge[0])

    def changed(self, start: datetime, end: datetime) -> int:
        """How many partitions have another holder after an instant than just before an earlier one."""
        touched = {owned for _, owned in self._edges.between(start, end)}
        return sum(self._holder_before(owned, start) != self._holder_after(owned, end) for owned in touched)

    def _holder_before(self, owned: Owned, instant: datetime) -> str | None:
        return _last(i.value for i in self._of[owned].at(instant) if i.start < instant)

    def _holder_after(self, owned: Owned, instant: datetime) -> str | None:
        return _last(i.value for i in self._of[owned].at(instant) if i.end is None or i.end > instant)


def _last(held: Iterable[Span]) -> str | None:
    last = next(reversed([*held]), None)
    return last.member.member_id if last else None
