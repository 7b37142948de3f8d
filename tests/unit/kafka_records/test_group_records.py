"""Records of __consumer_offsets: real bytes of four Kafkas, and bytes that nobody meant."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.catalog.codes import GroupRecordType, MemberState
from kafka_hindsight.kafka_records import group_record_values
from kafka_hindsight.kafka_records.group_record_layouts import ASSIGNMENT, SUBSCRIPTION, TYPES
from kafka_hindsight.kafka_records.group_record_layouts import MEMBER_STATES as STATES
from kafka_hindsight.kafka_records.group_record_values import Malformed, decode_group_record, type_of
from kafka_hindsight.kafka_records.wire import Cursor, Field, Struct, VersionedStruct, read_versioned
from tests.support.wire_bytes import encode, values_of, varint

CAPTURED = [
    json.loads(line) for line in (Path(__file__).parents[2] / "excerpts/group_records.jsonl").read_text().splitlines()
]
LAYOUTS = [t.value for t in TYPES] + [SUBSCRIPTION, ASSIGNMENT]


def bytes_of(sample: dict[str, Any]) -> tuple[bytes, bytes | None]:
    return bytes.fromhex(sample["key"]), None if sample["value"] is None else bytes.fromhex(sample["value"])


@st.composite
def written(draw: st.DrawFn) -> tuple[VersionedStruct, int, dict[str, Any]]:
    layout = draw(st.sampled_from(LAYOUTS))
    version = draw(st.integers(0, layout.newest))
    return layout, version, draw(values_of(layout.struct, version))


@given(written())
def test_group_record_survives_round_trip(what: tuple[VersionedStruct, int, dict[str, Any]]) -> None:
    layout, version, values = what
    assert read_versioned(layout, encode(layout, version, values)) == (version, values)


@given(written(), st.data())
def test_truncated_group_record_is_refused(
    what: tuple[VersionedStruct, int, dict[str, Any]], data: st.DataObject
) -> None:
    whole = encode(*what)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(Malformed, match=r"needs|says|null|varint|version"):
        read_versioned(what[0], cut)


@given(st.sampled_from(TYPES), st.integers(-2, 6), st.binary(max_size=200))
def test_random_value_bytes_are_refused_in_sentence_or_read(record_type: Any, version: int, noise: bytes) -> None:
    key = struct.pack(">hh", record_type.number, 1) + b"g" + (b"\0\1m" if len(record_type.key.fields) == 2 else b"")
    try:
        row = decode_group_record(key, struct.pack(">h", version) + noise)
    except Malformed as wrong:
        assert "need" in str(wrong) or "found" in str(wrong)
    else:
        assert row["group_id"] == "g"


@given(st.binary(max_size=40), st.none() | st.binary(max_size=40))
def test_random_key_bytes_are_refused_or_read(key: bytes, value: bytes | None) -> None:
    try:
        assert decode_group_record(key, value)["record_type"] in set(GroupRecordType)
    except Malformed as wrong:
        assert str(wrong)


@pytest.mark.parametrize("count", (0x7FFFFFFF, -2))
def test_length_beyond_record_is_refused(count: int) -> None:
    head = struct.pack(">hh", 3, 0) + struct.pack(">i", 1) + struct.pack(">hhq", -1, -1, 0)
    with pytest.raises(Malformed, match=f"members says that it holds {count}"):
        decode_group_record(struct.pack(">hh", 2, 1) + b"g", head + struct.pack(">i", count))


def test_record_types_states_and_columns_match_catalog() -> None:
    assert [t.name for t in TYPES] == list(GroupRecordType)
    assert (*STATES.values(), "unknown") == tuple(MemberState)
    named = {name for sample in CAPTURED for name in decode_group_record(*bytes_of(sample))}
    assert named - set(GROUP_RECORDS.column_names) == {"topics", "version", "resolved_at"}


@pytest.mark.parametrize("kafka", ("2.8.2", "3.9.2", "4.1.2", "4.3.1"))
def test_captured_group_records_are_read(kafka: str) -> None:
    rows = [(decode_group_record(*bytes_of(s)), s) for s in CAPTURED if s["kafka"] == kafka]
    assert rows
    for row, sample in rows:
        assert {name: row[name] for name in sample["says"]} == sample["says"]


def test_captures_have_every_record_type_and_tombstones() -> None:
    rows = [decode_group_record(*bytes_of(s)) for s in CAPTURED]
    assert {r["record_type"] for r in rows} == set(GroupRecordType)
    buried = {r["record_type"] for r in rows if r["is_tombstone"]}
    assert {"group_metadata", "consumer_group_current_member_assignment"} <= buried


def test_early_access_layouts_of_3_7_are_refused() -> None:
    """Sources: ConsumerGroupMemberMetadataValue and ConsumerGroupCurrentMemberAssignmentValue of 3.7, made bytes."""
    member = bytes.fromhex("0005 0001 67 0001 6d".replace(" ", ""))
    metadata = bytes.fromhex("0000 00 00 0263 0268 0202 74 00 000493e0 00 01 00".replace(" ", ""))
    current = bytes.fromhex("0000 00000008 00000007 00000008 01 01 01 00 0000 01 00".replace(" ", ""))
    for key, value in ((member, metadata), (b"\0\x08" + member[2:], current)):
        with pytest.raises(Malformed, match=r"early access layout of Kafka 3\.7"):
            decode_group_record(key, value)


def test_foreign_subscription_bytes_are_null() -> None:
    assert group_record_values.subscription_of(b"\xff") is None
    assert group_record_values.assignment_of(b"\0\1\0") is None
    newer = encode(SUBSCRIPTION, 3, {"topics": ["t"], "user_data": None, "owned_partitions": [], "generation": 4,
                                     "rack": None})  # fmt: skip
    later = struct.pack(">h", 9) + newer[2:] + b"what later versions add"
    assert (group_record_values.subscription_of(later) or {})["topics"] == ["t"]


@pytest.mark.parametrize(("number", "name"), ((1, None), (3, "consumer_group_metadata"), (11, None), (24, None)))
def test_record_type_is_recognised_by_first_two_key_bytes(number: int, name: str | None) -> None:
    key = struct.pack(">h", number) + b"whatever follows"
    record_type = type_of(key)
    assert (record_type.name if record_type else None) == name
    with pytest.raises(Malformed, match="a record of a group or its members" if name is None else "key of"):
        decode_group_record(key, b"")


@given(st.integers(-(2**63), 2**63 - 1))
@example(64)
@example(-65)
def test_signed_varint_survives_round_trip(number: int) -> None:
    written = varint((number << 1) ^ (number >> 63))
    cursor = Cursor(written, "a number")
    assert cursor.zigzag("number", 64) == number
    cursor.ends()


@given(st.integers(0, 2**32 - 1))
def test_unsigned_varint_survives_round_trip(number: int) -> None:
    cursor = Cursor(varint(number), "a number")
    assert cursor.varint("number") == number
    cursor.ends()


def test_null_for_required_value_is_refused() -> None:
    needed = VersionedStruct("a record", 0, Struct((Field("name", "string"),)), None)
    with pytest.raises(Malformed, match="name is null at byte 4; needed a value"):
        read_versioned(needed, struct.pack(">hh", 0, -1))
