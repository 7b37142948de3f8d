"""The records of `__consumer_offsets`: which member held which partition, and more events of the group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.codes import GroupRecordType, Origin
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GroupRecord, MemberSnapshot, Quote
from kafka_hindsight.catalog.rows.structs import RecordedMember
from kafka_hindsight.judgements.reasoning.evidence import quote_record

PartitionKey = tuple[str, int]
_Grant = tuple[PartitionKey, RecordedMember, int | None]
"""A partition that a record gives to a member, with the generation."""


@dataclass
class Holding:
    """One partition held by one member in one generation; `until` is None where no record shows an end."""

    partition: PartitionKey
    member: RecordedMember | MemberSnapshot
    since: datetime
    generation: int | None
    until: datetime | None = None
    quotes: list[Quote] = field(default_factory=list)


def in_turn(records: Iterable[GroupRecord]) -> list[GroupRecord]:
    """Records in the order of their writing. A group's records lie in one partition: offsets order equal instants."""
    return sorted(records, key=lambda r: (r.written_at, r.offsets_partition, r.record_offset))


def recorded_holdings(records: Sequence[GroupRecord]) -> list[Holding]:
    """The holdings that the records of one group, in turn, show: each stored assignment holds until the next one.

    Each one lies within one generation; under KIP-848 that is the member's epoch, and a member still holds what it has
    to give back. A member whose assignment is not in the format of the consumer protocol shows nothing. Rebalances that
    were cut short are not stored, and compaction removes superseded generations before they are read.
    """
    holdings: list[Holding] = []
    classic: dict[tuple[PartitionKey, str], Holding] = {}
    members: dict[str, dict[tuple[PartitionKey, str], Holding]] = {}
    metadata: dict[str, GroupRecord] = {}
    for record in records:
        kind, member = record.record_type, record.member_id or ""
        if kind == GroupRecordType.GROUP_METADATA:
            assigned = ((m, p) for m in record.members or () for p in m.assignment or ())
            grants = [((p.topic, p.partition), m, record.generation) for m, p in assigned]
            classic = _follow(holdings, classic, record, grants)
        elif kind == GroupRecordType.CONSUMER_GROUP_MEMBER_METADATA and not record.is_tombstone:
            metadata[member] = record
        elif kind == GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT:
            names = metadata.get(member, record)
            holder = RecordedMember(member_id=member, client_id=names.client_id, host=names.host)
            parts = (*(record.assignment or ()), *(record.pending_revocation or ()))
            grants = [((p.topic or p.topic_id, p.partition), holder, record.member_epoch) for p in parts]
            members[member] = _follow(holdings, members.get(member, {}), record, grants)
    return holdings


def _follow(
    holdings: list[Holding],
    open_: dict[tuple[PartitionKey, str], Holding],
    record: GroupRecord,
    grants: Iterable[_Grant],
) -> dict[tuple[PartitionKey, str], Holding]:
    """The holdings that are open after a record: new holdings begin, and those that it no longer names end."""
    at = record.written_at
    now: dict[tuple[PartitionKey, str], Holding] = {}
    for partition, member, generation in grants:
        key = partition, member.member_id
        before = open_.pop(key, None)
        if before is not None and before.generation == generation:
            now[key] = before
            continue
        if before is not None:
            before.until = at
        sentence = f"generation {generation}: member {member.member_id} holds {partition[0]}-{partition[1]}"
        now[key] = Holding(partition, member, at, generation, quotes=[quote_record(record, sentence)])
        holdings.append(now[key])
    for holding in open_.values():
        holding.until = at
        what = "is deleted" if record.is_tombstone else "is written again"
        sentence = f"member {holding.member.member_id} holds {holding.partition[0]}-{holding.partition[1]} no more"
        holding.quotes.append(quote_record(record, f"{record.record_type} {what}: {sentence}"))
    return now


def events_of_records(records: Iterable[GroupRecord], since: datetime) -> list[Event]:
    """Events out of rows of bronze.group_records of one group.

    `since` is the start of the look-back: a record from before still held then, and is dated so.
    """
    events: list[Event] = []
    before: GroupRecord | None = None
    for record in in_turn(records):
        kind = record.record_type
        if kind == GroupRecordType.GROUP_METADATA:
            events += _generation(record, before, since)
            before = record
        elif kind == GroupRecordType.CONSUMER_GROUP_MEMBER_METADATA and not record.is_tombstone:
            events.append(
                _event(record, Kind.MEMBER_RECORDED, since, f"member {record.member_id}", **_settings(record))
            )
        elif kind == GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT:
            epoch, state = (None, None) if record.is_tombstone else (record.member_epoch, record.member_state)
            sentence = "is gone" if record.is_tombstone else f"has reached epoch {epoch}, {state}"
            member = {"member_id": record.member_id, "generation": epoch, "state": state}
            events.append(_event(record, Kind.MEMBER_REACHED, since, f"member {record.member_id} {sentence}", **member))
    return events


def _generation(record: GroupRecord, before: GroupRecord | None, since: datetime) -> Iterator[Event]:
    if record.is_tombstone:
        yield _event(record, Kind.GROUP_BURIED, since, "the metadata of the group are deleted")
        return
    generation = record.generation
    if record.members:
        sentence = f"generation {generation} is stored"
        yield _event(
            record, Kind.GENERATION_STORED, since, sentence, generation=generation, leader_member_id=record.leader
        )
    follows = generation == 1 or (before is not None and before.generation == (generation or 0) - 1)
    generation_fields = {"assignor": record.protocol, "generation": generation if follows else None}
    for member in record.members or ():
        sentence = f"generation {generation}: member {member.member_id}"
        yield _event(record, Kind.MEMBER_RECORDED, since, sentence, **generation_fields, **_settings(member))


def _settings(member: GroupRecord | RecordedMember) -> dict[str, Any]:
    """The settings of one member in a record; a time-out that is not set is null."""
    names = ("member_id", "client_id", "instance_id", "host", "session_timeout_ms", "rebalance_timeout_ms")
    topics = " ".join(member.subscription or ()) or None
    return {name: getattr(member, name) for name in names} | {"detail": topics}


def _event(record: GroupRecord, kind: Kind, since: datetime, sentence: str, **fields: Any) -> Event:
    proof = quote_record(record, sentence)
    return Event(
        line_id=proof.line_id,
        source=proof.source,
        text=proof.text,
        cluster=record.cluster,
        origin=Origin.RECORD,
        happened_at=max(record.written_at, since),
        order=record.record_offset,
        kind=kind,
        pattern_id="",
        group_id=record.group_id,
        **fields,
    )
