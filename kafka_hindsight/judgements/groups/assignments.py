"""The assignments of a group: who held what in which generation, by each witness, and by which assignor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.codes import GroupRecordType, Outcome, RebalanceKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import (
    Event,
    GroupRecord,
    GroupSnapshot,
    MemberSnapshot,
    Quote,
    Rebalance,
    TopicPartition,
)
from kafka_hindsight.judgements.groups.ownership import shows_holders
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_record, quote_snapshot
from kafka_hindsight.judgements.rebalances.records import PartitionKey, in_turn
from kafka_hindsight.knowledge.assignors import is_cooperative, is_eager
from kafka_hindsight.shared.durations import SAME_ACT
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline, timelines


@dataclass(frozen=True)
class Witnesses:
    """The evidence of who held what in one group. `readings`: its rows of bronze.group_snapshots."""

    events: Sequence[Event] = ()
    records: Sequence[GroupRecord] = ()
    readings: Sequence[GroupSnapshot] = ()
    members: Sequence[MemberSnapshot] = ()


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


def readings_of(
    readings: Iterable[GroupSnapshot], member_snapshots: Iterable[MemberSnapshot]
) -> Iterator[tuple[GroupSnapshot, Assignment | None]]:
    """The readings that show a group, each with its assignment; None where it had none, or was between two.

    A reading in which a member's assignment is missing shows nothing.
    """
    members = grouped(member_snapshots, lambda m: m.snapshot_at)
    for reading in readings:
        at = reading.snapshot_at
        holdings = {m.member_id: _partitions_of(m.assignment) for m in members.get(at, ())}
        if not holdings or not shows_holders(reading):
            yield reading, None
        elif None not in holdings.values():
            says = f"group {reading.group_id}: {len(holdings)} members hold {_count(holdings)} partitions"
            yield reading, _assignment(at, None, holdings, quote_snapshot(reading, says))


def _assignment(
    at: datetime, generation: int | None, holdings: Mapping[str, Iterable[PartitionKey] | None], proof: Quote
) -> Assignment:
    owners = {partition: member for member in sorted(holdings) for partition in holdings[member] or ()}
    return Assignment(at, generation, frozenset(holdings), owners, proof)


def _partitions_of(assignment: Sequence[TopicPartition] | None) -> frozenset[PartitionKey] | None:
    return None if assignment is None else frozenset((a.topic, a.partition) for a in assignment)


def _count(holdings: Mapping[str, frozenset[PartitionKey] | None]) -> int:
    return sum(len(partitions or ()) for partitions in holdings.values())


class Assignments:
    """The assignments of a classic group by generation; those of readings, which show settled groups, under None.

    Each assignment is what one witness shows; the parts that several show are not put together.
    """

    def __init__(self, witnesses: Witnesses) -> None:
        assignments = [*_by_leaders(witnesses.events), *_by_records(witnesses.records)]
        assignments += [a for _, a in readings_of(witnesses.readings, witnesses.members) if a is not None]
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
    return Assignment(at, generation, frozenset(), {}, max(rebalance.evidence, key=lambda q: q.happened_at))


class CoordinatorAssignments:
    """The assignments of a KIP-848 group at an instant, by the records in which its coordinator keeps each member's.

    A member still holds what it has to give back.
    """

    def __init__(self, records: Iterable[GroupRecord]) -> None:
        kind = GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT
        of_members = [r for r in in_turn(records) if r.record_type == kind]
        self.since = of_members[0].written_at if of_members else None
        self._by_member = timelines(of_members, lambda r: r.member_id or "", lambda r: r.written_at)

    def before(self, at: datetime, rebalance: Rebalance) -> Assignment | None:
        """The assignment just before an instant; None where no record reaches back so far."""
        if rebalance.from_generation == 0:
            return _empty_assignment(at, 0, rebalance)
        if self.since is None or self.since >= at:
            return None
        return self._at(at, rebalance.from_generation, [t.last_before(at) for t in self._by_member.values()])

    def after(self, at: datetime, rebalance: Rebalance) -> Assignment | None:
        """The assignment from an instant on; None where no record reaches back so far."""
        if self.since is None or self.since > at:
            return None
        return self._at(at, rebalance.to_generation, [t.last_until(at) for t in self._by_member.values()])

    def _at(self, at: datetime, generation: int | None, newest: Sequence[GroupRecord | None]) -> Assignment | None:
        records = [r for r in newest if r is not None and not r.is_tombstone]
        holdings = {
            r.member_id or "": [
                (p.topic or p.topic_id, p.partition) for p in (*(r.assignment or ()), *(r.pending_revocation or ()))
            ]
            for r in records
        }
        last = max((r for r in newest if r is not None), key=lambda r: r.written_at, default=None)
        if last is None:
            return None
        says = f"epoch {generation}: {len(holdings)} members hold {sum(map(len, holdings.values()))} partitions"
        return _assignment(at, generation, holdings, quote_record(last, says))


def assignors_in(witnesses: Witnesses) -> Timeline[tuple[datetime, str]]:
    """The assignors that the group used, with the time of each witness.

    A client's configuration is a list of offers, not a choice.
    """
    configured = Kind.CLIENT_CONFIGURED
    by_lines = [(e.happened_at, e.assignor) for e in witnesses.events if e.assignor and e.kind != configured]
    by_records = [(r.written_at, r.protocol) for r in witnesses.records if r.protocol]
    by_readings = [(r.snapshot_at, r.assignor) for r in witnesses.readings if r.assignor]
    return Timeline(sorted([*by_lines, *by_records, *by_readings]), at=lambda pair: pair[0])


def assignor_of(rebalance: Rebalance, assignors: Timeline[tuple[datetime, str]]) -> str | None:
    """The generation's assignor: the last known by its end, else the first known after it."""
    if not len(assignors):
        return None
    end = (rebalance.ended_at or rebalance.started_at) + SAME_ACT
    return (assignors.last_until(end) or assignors.values[0])[1]


def kind_of(rebalance: Rebalance, assignor: str | None, has_follow_ups: bool) -> RebalanceKind | None:
    """How much the members gave back; None where no evidence names the assignor, or where it is not known.

    A follow-up, which a group has under cooperative assignors alone, shows the kind of a group without a witness of its
    assignor.
    """
    if rebalance.protocol.has_epochs:
        return RebalanceKind.SERVER_SIDE
    if is_cooperative(assignor) or (assignor is None and has_follow_ups):
        return RebalanceKind.COOPERATIVE
    return RebalanceKind.EAGER if is_eager(assignor) else None
