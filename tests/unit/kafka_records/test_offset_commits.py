"""Commits decoded by hand: what their layouts say, for every version, real bytes, and bytes that nobody meant."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_hindsight.kafka_records.offset_commits import (
    COMMIT,
    COMMIT_KEY,
    EXPIRING_COMMIT,
    CommitKey,
    decode_commit,
    decode_commit_key,
    encode_commit_key,
    is_commit,
    topic_id_of,
)
from kafka_hindsight.kafka_records.wire import Cursor, Malformed, VersionedStruct, read_struct, read_versioned
from tests.support.nights import RECORDS
from tests.support.wire_bytes import encode, values_of

NAMES = st.text(max_size=20).filter(lambda text: text.isprintable())
REAL = [
    (base64.b64decode(line["key"]), None if line["value"] is None else base64.b64decode(line["value"]))
    for line in map(json.loads, (RECORDS / "internal_topics.jsonl").read_text().splitlines())
]


def layout_of(version: int) -> VersionedStruct:
    return EXPIRING_COMMIT if version <= 1 else COMMIT


@st.composite
def commits(draw: st.DrawFn) -> tuple[bytes, dict[str, Any]]:
    """A value of any version, with metadata of any length."""
    version = draw(st.integers(0, 4))
    fields = draw(values_of(layout_of(version).struct, version))
    fields["metadata"] = draw(st.sampled_from(("", "m", "é")) | NAMES) * draw(st.sampled_from((1, 1, 63, 64, 130, 900)))
    if COMMIT.newest > version > 1 or (version == COMMIT.newest and draw(st.booleans())):
        fields["topic_id"] = None
    return encode(layout_of(version), version, fields), fields


@given(commits())
def test_commit_is_decoded_as_its_layout_says(drawn: tuple[bytes, dict[str, Any]]) -> None:
    value, fields = drawn
    assert read_versioned(layout_of(value[1]), value)[1] == fields
    assert decode_commit(value) == (fields["offset"], fields["leader_epoch"], fields["metadata"] != "")
    assert topic_id_of(value) == fields.get("topic_id")


@given(commits(), st.data())
def test_commit_that_is_cut_or_goes_on_is_refused(drawn: tuple[bytes, dict[str, Any]], data: st.DataObject) -> None:
    value, _ = drawn
    cut = value[: data.draw(st.integers(0, len(value) - 1))]
    for wrong in (cut, value + b"\0"):
        with pytest.raises(Malformed, match=r"needed|needs|found|version|left over|null"):
            decode_commit(wrong)


@given(st.integers(-2, 6), st.binary(max_size=60))
@example(3, bytes(12) + b"\xff\xff" + bytes(8))
@example(2, bytes(8) + b"\x80\x00" + bytes(8 + 0x8000))
def test_noise_is_refused_or_decoded_as_its_layout_says(version: int, noise: bytes) -> None:
    value = version.to_bytes(2, signed=True) + noise
    try:
        offset, epoch, _ = decode_commit(value)
    except Malformed:
        with pytest.raises(Malformed):
            read_versioned(layout_of(version), value)
        return
    assert offset == int.from_bytes(noise[:8], signed=True)
    assert epoch == (int.from_bytes(noise[8:12], signed=True) if version >= 3 else -1)


def test_metadata_need_not_be_text() -> None:
    value = encode(COMMIT, 4, {"offset": 7, "leader_epoch": 1, "metadata": "m", "committed_at": 5, "topic_id": None})
    assert decode_commit(value.replace(b"m", b"\xff")) == (7, 1, True)


@given(NAMES, NAMES, st.integers(0, 2**31 - 1), st.sampled_from((b"\0\0", b"\0\1")))
def test_key_of_commit_is_read_as_its_layout_says(group: str, topic: str, partition: int, number: bytes) -> None:
    key = number + encode_commit_key(CommitKey(group, topic, partition))[2:]
    assert is_commit(key)
    assert decode_commit_key(key) == (group, topic, partition)
    assert read_struct(Cursor(key[2:], "key"), COMMIT_KEY, 0, flexible=False)["topic"] == topic
    with pytest.raises(Malformed):
        decode_commit_key(key + b"\0")


def test_captured_commits_are_decoded_as_their_layouts_say() -> None:
    real = [(key, value) for key, value in REAL if is_commit(key)]
    assert (len(real), sum(value is None for _, value in real)) == (61, 6)
    for key, value in real:
        assert encode_commit_key(decode_commit_key(key)) == key
        if value is not None:
            fields = read_versioned(layout_of(value[1]), value)[1]
            assert decode_commit(value) == (fields["offset"], fields["leader_epoch"], fields["metadata"] != "")
            assert topic_id_of(value) == fields["topic_id"]
