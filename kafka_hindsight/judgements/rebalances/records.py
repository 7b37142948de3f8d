"""What the coordinator wrote into `__consumer_offsets`, as events of its group: they show more of who was there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.codes import GroupRecordType, Origin
from kafka_hindsight.catalog.rows import Event, GroupRecord
from kafka_hindsight.catalog.rows.structs import RecordedMember
from kafka_hindsight.judgements.reasoning.evidence import quote_record
from kafka_hindsight.judgements.rebalances.recorded_holdings import in_turn

RECORDED = "member_recorded"
"""A member as a record names it: its client, host and time-outs; with a generation where the one before was stored
too, so that a member which is new in it came with it."""

REACHED = "member_reached"
"""How far a KIP-848 member is: its epoch and state; no state where it is gone."""

STORED = "generation_stored"
"""A generation was written: its leader's assignment has arrived."""

BURIED = "group_buried"
"""The group's metadata were deleted: by an operator, or because it was empty for long. Its generations restart."""


def events_of_records(records: Iterable[GroupRecord], since: datetime) -> list[Event]:
    """Events out of rows of bronze.group_records of one group.

    Takes: `since`, the start of the look-back: what was written before it still held then, and is dated so.
    """
    found: list[Event] = []
    before: GroupRecord | None = None
    for record in in_turn(records):
        kind = record.record_type
        if kind == GroupRecordType.GROUP_METADATA:
            found += _generation(record, before, since)
            before = record
        elif kind == GroupRecordType.CONSUMER_GROUP_MEMBER_METADATA and not record.is_tombstone:
            found.append(_event(record, RECORDED, since, f"member {record.member_id}", **_settings(record)))
        elif kind == GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT:
            found.append(_reached(record, since))
    return found


def _generation(record: GroupRecord, before: GroupRecord | None, since: datetime) -> Iterator[Event]:
    if record.is_tombstone:
        yield _event(record, BURIED, since, "the metadata of the group are deleted")
        return
    generation = record.generation
    if record.members:
        says = f"generation {generation} is stored"
        yield _event(record, STORED, since, says, generation=generation, leader_member_id=record.leader)
    follows = generation == 1 or (before is not None and before.generation == (generation or 0) - 1)
    for member in record.members or ():
        yield _event(
            record,
            RECORDED,
            since,
            f"generation {generation}: member {member.member_id}",
            assignor=record.protocol,
            generation=generation if follows else None,
            **_settings(member),
        )


def _reached(record: GroupRecord, since: datetime) -> Event:
    member = record.member_id
    if record.is_tombstone:
        return _event(record, REACHED, since, f"member {member} is gone", member_id=member)
    epoch, state = record.member_epoch, record.member_state
    says = f"member {member} has reached epoch {epoch}, {state}"
    return _event(record, REACHED, since, says, member_id=member, generation=epoch, state=state)


def _settings(member: GroupRecord | RecordedMember) -> dict[str, Any]:
    """What a record shows of one member; a time-out that is not set is null."""
    return {
        "member_id": member.member_id,
        "client_id": member.client_id,
        "instance_id": member.instance_id,
        "host": member.host,
        "session_timeout_ms": member.session_timeout_ms,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "detail": " ".join(member.subscription or ()) or None,
    }


def _event(record: GroupRecord, kind: str, since: datetime, says: str, **fields: Any) -> Event:
    quoted = quote_record(record, says)
    return Event(
        line_id=quoted.line_id,
        source=quoted.source,
        text=quoted.text,
        cluster=record.cluster,
        origin=Origin.RECORD,
        happened_at=max(record.written_at, since),
        order=record.record_offset,
        kind=kind,
        pattern_id="",
        group_id=record.group_id,
        **fields,
    )
