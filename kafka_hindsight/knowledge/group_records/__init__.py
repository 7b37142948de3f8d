"""The records of `__consumer_offsets`: what a key and a value say of a group and its members. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_hindsight.knowledge.group_records.layouts import ASSIGNMENT, MEMBER_STATES, SUBSCRIPTION, TYPE_OF, RecordType
from kafka_hindsight.knowledge.wire import Cursor, Malformed, read, read_struct

__all__ = ["Malformed", "RecordType", "decode", "type_of"]

_EARLY = (
    " It may be the early access layout of Kafka 3.7, which later versions cannot read either. Needed: 3.8 or newer."
)
_EARLY_TYPES = (5, 8)

Row = dict[str, Any]


def type_of(key: bytes | None) -> RecordType | None:
    """The type that a key names; None where we read no record of it.

    Raises: Malformed where the key is too short to name one.
    """
    return TYPE_OF.get(Cursor(key or b"", "key").number(">h", "record type"))


def decode(key: bytes, value: bytes | None) -> Row:
    """What a record of a known type says, by the names of the columns of bronze.group_records.

    Gives: record_type, the fields of the key, is_tombstone, and those of the value; instants in milliseconds.
    Raises: Malformed.
    Edge case: a subscription or assignment of a classic member is the client's own bytes; where they are none of the
        consumer protocol's, they are null and the rest of the record stands, as it does for Kafka.
    """
    record_type = type_of(key)
    if record_type is None:
        raise Malformed(f"Found: a record of type {key[:2].hex()}. Needed: a record of a group or its members.")
    cursor = Cursor(key, f"key of {record_type.name}")
    cursor.take(2, "record type")
    named = read_struct(cursor, record_type.key, 0, flexible=False)
    cursor.ends()
    row: Row = {"record_type": record_type.name, **named, "is_tombstone": value is None}
    if value is None:
        return row
    try:
        _, found = read(record_type.value, value)
    except Malformed as wrong:
        raise Malformed(f"{wrong}{_EARLY if record_type.number in _EARLY_TYPES else ''}") from None
    return {**_plain(found), **row}


def subscription_of(data: bytes) -> Row | None:
    """What a member's subscription says: topics, owned_partitions, generation, rack; None where it is none."""
    try:
        return read(SUBSCRIPTION, data)[1]
    except Malformed:
        return None


def assignment_of(data: bytes) -> list[Row] | None:
    """The partitions that a member's assignment names; None where it is none."""
    try:
        return _each(read(ASSIGNMENT, data)[1]["assigned"]) if data else []
    except Malformed:
        return None


def _plain(found: Mapping[str, Any]) -> Row:
    """The value's fields as columns."""
    row = dict(found)
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


def _member(found: Mapping[str, Any], is_consumer: bool) -> Row:
    said = subscription_of(found["subscription"]) if is_consumer else None
    return {
        **found,
        "host": _host(found["host"]),
        "subscription": said and said["topics"],
        "assignment": assignment_of(found["assignment"]) if is_consumer else None,
    }


def _each(by_topic: Sequence[Mapping[str, Any]]) -> list[Row]:
    """One row a partition, each with the name or the id of its topic."""
    return [
        {**{k: v for k, v in entry.items() if k != "partitions"}, "partition": partition}
        for entry in by_topic
        for partition in entry["partitions"]
    ]


def _host(text: str) -> str | None:
    """The address without the slash that Java prints before it."""
    return text.lstrip("/") or None
