"""The records of `__consumer_offsets` about groups and their members, decoded. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.kafka_records.group_record_layouts import (
    ASSIGNMENT,
    MEMBER_STATES,
    SUBSCRIPTION,
    TYPE_OF,
    GroupRecordLayout,
)
from kafka_hindsight.kafka_records.wire import Cursor, Malformed, read_struct, read_versioned

__all__ = ["GroupRecordLayout", "Malformed", "decode_group_record", "type_of"]

_EARLY = (
    " It may be the early access layout of Kafka 3.7, which later versions cannot read either. Needed: 3.8 or newer."
)
_EARLY_TYPES = (5, 8)


def type_of(key: bytes | None) -> GroupRecordLayout | None:
    """The type that a key names; None for a type that we do not read.

    Raises:
        Malformed: The key is too short to name a type.
    """
    return TYPE_OF.get(Cursor(key or b"", "key").number(">h", "record type"))


def decode_group_record(key: bytes, value: bytes | None) -> RowValues:
    """Decode a record of a known type.

    The subscription and assignment of a classic member are the client's own bytes. Where they do not follow the
    consumer protocol they are null, and the rest of the record is kept, as Kafka does.

    Returns:
        Columns of bronze.group_records: record_type, the key's fields, is_tombstone, and the value's fields; instants
        in milliseconds.

    Raises:
        Malformed: The record cannot be decoded.
    """
    record_type = type_of(key)
    if record_type is None:
        raise Malformed(f"Found: a record of type {key[:2].hex()}. Needed: a record of a group or its members.")
    cursor = Cursor(key, f"key of {record_type.name}")
    cursor.take(2, "record type")
    key_fields = read_struct(cursor, record_type.key, 0, flexible=False)
    cursor.ends()
    row: RowValues = {"record_type": record_type.name, **key_fields, "is_tombstone": value is None}
    if value is None:
        return row
    try:
        _, fields = read_versioned(record_type.value, value)
    except Malformed as problem:
        raise Malformed(f"{problem}{_EARLY if record_type.number in _EARLY_TYPES else ''}") from None
    return {**_plain(fields), **row}


def subscription_of(data: bytes) -> RowValues | None:
    """The topics, owned_partitions, generation and rack of a member's subscription; None where it cannot be decoded."""
    try:
        return read_versioned(SUBSCRIPTION, data)[1]
    except Malformed:
        return None


def assignment_of(data: bytes) -> list[RowValues] | None:
    """The partitions of a member's assignment; None where it cannot be decoded."""
    try:
        return _each(read_versioned(ASSIGNMENT, data)[1]["assigned"]) if data else []
    except Malformed:
        return None


def _plain(fields: Mapping[str, Any]) -> RowValues:
    """The value's fields as columns."""
    row = dict(fields)
    if "members" in row:
        is_consumer = row["protocol_type"] == "consumer"
        row["members"] = [_member(m, is_consumer) for m in row["members"]]
        row["state_at"] = row["state_at"] if row["state_at"] >= 0 else None
        row["protocol_type"] = row["protocol_type"] or None
    for name in ("assignment", "pending_revocation"):
        if name in row:
            row[name] = _each(row[name])
    if "member_state" in row:
        row["member_state"] = MEMBER_STATES.get(row["member_state"], "unknown")
    if "host" in row:
        row["host"] = _host(row["host"])
    if "subscription_pattern" in row:
        row["subscription_pattern"] = row["subscription_pattern"] or None
    if "classic" in row:
        classic = row.pop("classic")
        row["session_timeout_ms"] = classic and classic["session_timeout_ms"]
    return row


def _member(fields: Mapping[str, Any], is_consumer: bool) -> RowValues:
    subscription = subscription_of(fields["subscription"]) if is_consumer else None
    return {
        **fields,
        "host": _host(fields["host"]),
        "subscription": subscription and subscription["topics"],
        "assignment": assignment_of(fields["assignment"]) if is_consumer else None,
    }


def _each(by_topic: Sequence[Mapping[str, Any]]) -> list[RowValues]:
    """One row a partition, each with the name or the id of its topic."""
    return [
        {**{k: v for k, v in entry.items() if k != "partitions"}, "partition": partition}
        for entry in by_topic
        for partition in entry["partitions"]
    ]


def _host(text: str) -> str | None:
    """The address without the slash that Java prints before it."""
    return text.lstrip("/") or None
