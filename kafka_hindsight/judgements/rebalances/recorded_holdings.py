"""Who held which partition, by what the coordinator wrote into `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kafka_hindsight.catalog.codes import GroupRecordType
from kafka_hindsight.catalog.rows import GroupRecord, MemberSnapshot, Quote
from kafka_hindsight.catalog.rows.structs import RecordedMember
from kafka_hindsight.judgements.reasoning.evidence import quote_record

Owned = tuple[str, int]
Held = tuple[Owned, RecordedMember, int | None]


@dataclass
class Span:
    """One partition held by one member in one generation; `until` is None where no record shows an end."""

    owned: Owned
    member: RecordedMember | MemberSnapshot
    since: datetime
    generation: int | None
    until: datetime | None = None
    quotes: list[Quote] = field(default_factory=list)


def in_turn(records: Iterable[GroupRecord]) -> list[GroupRecord]:
    """Records as they were written. A group's records lie in one partition, so that offsets order equal instants."""
    return sorted(records, key=lambda r: (r.written_at, r.offsets_partition, r.record_offset))


def recorded_spans(records: Sequence[GroupRecord]) -> list[Span]:
    """What the records of one group say of who held what: each stored assignment holds until the next one.

    Takes: rows of bronze.group_records of one group, in turn.
    Gives: no span crosses two generations; under KIP-848 the generation is the member's epoch, and what it still has
        to give back is its own.
    Edge case: a member whose assignment is not in the format of the consumer protocol shows nothing. Rebalances that
        were cut short are not stored, and compaction removes superseded generations before they are read.
    """
    spans: list[Span] = []
    classic: dict[tuple[Owned, str], Span] = {}
    members: dict[str, dict[tuple[Owned, str], Span]] = {}
    known: dict[str, GroupRecord] = {}
    for record in records:
        kind, member = record.record_type, record.member_id or ""
        if kind == GroupRecordType.GROUP_METADATA:
            classic = _follow(spans, classic, record, _by_classic(record))
        elif kind == GroupRecordType.CONSUMER_GROUP_MEMBER_METADATA and not record.is_tombstone:
            known[member] = record
        elif kind == GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT:
            held = _by_member(record, known.get(member, record))
            members[member] = _follow(spans, members.get(member, {}), record, held)
    return spans


def _follow(
    spans: list[Span],
    open_: dict[tuple[Owned, str], Span],
    record: GroupRecord,
    held: Iterable[Held],
) -> dict[tuple[Owned, str], Span]:
    """The spans that are open after a record: what it newly names begins, what it no longer names ends."""
    at = record.written_at
    now: dict[tuple[Owned, str], Span] = {}
    for owned, member, generation in held:
        key = owned, member.member_id
        before = open_.pop(key, None)
        if before is not None and before.generation == generation:
            now[key] = before
            continue
        if before is not None:
            before.until = at
        says = f"generation {generation}: member {member.member_id} holds {owned[0]}-{owned[1]}"
        now[key] = Span(owned, member, at, generation, quotes=[quote_record(record, says)])
        spans.append(now[key])
    for span in open_.values():
        span.until = at
        span.quotes.append(quote_record(record, _ends(record, span)))
    return now


def _ends(record: GroupRecord, span: Span) -> str:
    what = "is deleted" if record.is_tombstone else "is written again"
    held = f"member {span.member.member_id} holds {span.owned[0]}-{span.owned[1]}"
    return f"{record.record_type} {what}: {held} no more"


def _by_classic(record: GroupRecord) -> Iterator[Held]:
    for member in record.members or ():
        for owned in member.assignment or ():
            yield (owned.topic, owned.partition), member, record.generation


def _by_member(record: GroupRecord, known: GroupRecord) -> Iterator[Held]:
    member = RecordedMember(member_id=record.member_id or "", client_id=known.client_id, host=known.host)
    for owned in (*(record.assignment or ()), *(record.pending_revocation or ())):
        yield (owned.topic or owned.topic_id, owned.partition), member, record.member_epoch
