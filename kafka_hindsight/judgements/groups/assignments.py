"""Which partitions each member of a group was assigned, and when, by logs, records and readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.codes import GroupRecordType
from kafka_hindsight.catalog.rows import Event, GroupRecord, GroupSnapshot, MemberSnapshot, Quote, TopicPartition
from kafka_hindsight.judgements.groups.ownership import shows_holders
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_record, quote_snapshot
from kafka_hindsight.judgements.rebalances.recorded_holdings import Owned, in_turn
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.grouping import grouped

_BETWEEN, _HOLDS = "), ", "=Assignment(partitions=["


@dataclass(frozen=True)
class Assignment:
    """What every member of a classic group holds. `generation`: None where a reading shows it, which names none."""

    at: datetime
    generation: int | None
    members: frozenset[str]
    owners: Mapping[Owned, str]
    quote: Quote


def assignments_of(
    events: Iterable[Event],
    records: Iterable[GroupRecord],
    readings: Iterable[GroupSnapshot],
    member_snapshots: Iterable[MemberSnapshot],
) -> list[Assignment]:
    """The assignments of one classic group, in order of time, whatever shows them.

    Takes: the group's events; its rows of bronze.group_records, group_snapshots and member_snapshots.
    Gives: those of generations that a leader assigned (its own log), that the coordinator stored, and that a reading
        of a settled group shows.
    Edge case: each assignment is what one witness shows; the parts that several show are not put together.
    """
    found = [*_by_leaders(events), *_by_records(records), *_by_readings(readings, member_snapshots)]
    return sorted(found, key=lambda a: (a.at, a.generation is None, a.generation or 0))


def partitions_in(listed: str) -> frozenset[Owned]:
    """The partitions that a client's line lists: `orders-0, orders-1`."""
    names = (name.strip().rpartition("-") for name in listed.split(",") if name.strip())
    return frozenset((topic, int(number)) for topic, _, number in names if number.isdigit())


def _by_leaders(events: Iterable[Event]) -> Iterator[Assignment]:
    """Source: ConsumerCoordinator.onLeaderElected prints the whole assignment; it arrives only if the group syncs."""
    for event in events:
        if event.kind == Kind.CLIENT_ASSIGNMENT_FINISHED and event.detail:
            held = {member: partitions_in(partitions) for member, partitions in _members_in(event.detail)}
            yield _assignment(event.happened_at, event.generation, held, quote(event))


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
            held = {m.member_id: _owned(m.assignment) for m in record.members}
            if None not in held.values():
                says = f"generation {record.generation} is stored with {_count(held)} partitions"
                yield _assignment(record.written_at, record.generation, held, quote_record(record, says))


def _by_readings(readings: Iterable[GroupSnapshot], member_snapshots: Iterable[MemberSnapshot]) -> Iterator[Assignment]:
    members = grouped(member_snapshots, lambda m: m.snapshot_at)
    for reading in readings:
        at = reading.snapshot_at
        held = {m.member_id: _owned(m.assignment) for m in members.get(at, ())}
        if held and shows_holders(reading) and None not in held.values():
            says = f"group {reading.group_id}: {len(held)} members hold {_count(held)} partitions"
            yield _assignment(at, None, held, quote_snapshot(reading, says))


def _assignment(
    at: datetime, generation: int | None, held: Mapping[str, Iterable[Owned] | None], proof: Quote
) -> Assignment:
    owners = {owned: member for member in sorted(held) for owned in held[member] or ()}
    return Assignment(at, generation, frozenset(held), owners, proof)


def _owned(assignment: Sequence[TopicPartition] | None) -> frozenset[Owned] | None:
    return None if assignment is None else frozenset((a.topic, a.partition) for a in assignment)


def _count(held: Mapping[str, frozenset[Owned] | None]) -> int:
    return sum(len(owned or ()) for owned in held.values())
