"""Records of `__consumer_offsets` about committed offsets, decoded by hand: they come by the million.

Source: OffsetCommitKey.json, OffsetCommitValue.json of Kafka 4.3. Standard library only.
"""

from __future__ import annotations

import base64
import struct
from typing import NamedTuple

from kafka_hindsight.kafka_records.wire import Cursor, Field, Struct, VersionedStruct, read_struct, read_versioned

COMMIT_KEY = Struct((Field("group_id", "string"), Field("topic", "string"), Field("partition", "int32")))
COMMIT = VersionedStruct(
    "OffsetCommitValue",
    newest=4,
    flexible_from=4,
    struct=Struct(
        (
            Field("offset", "int64"),
            Field("leader_epoch", "int32", since=3, default=-1),
            Field("metadata", "string"),
            Field("committed_at", "int64"),
            Field("topic_id", "uuid", tag=0),
        )
    ),
)
EXPIRING_COMMIT = VersionedStruct(
    "OffsetCommitValue",
    newest=1,
    struct=Struct((*(f for f in COMMIT.struct.fields if f.tag is None), Field("expires_at", "int64", since=1))),
)
"""Versions 0 and 1: version 1 alone says when the commit expires."""

_TYPES = (b"\x00\x00", b"\x00\x01")
_WITH_EXPIRY, _WITH_EPOCH, _FLEXIBLE = 1, 3, 4
_SHORTEST = 20
_MORE = 0x80
"""The bit of a varint's byte that says that another byte follows."""

_LENGTH, _NUMBER = struct.Struct(">h").pack, struct.Struct(">i").pack
_OFFSET_AND_LENGTH = struct.Struct(">qh").unpack_from
_WITH_EPOCH_AND_LENGTH = struct.Struct(">qih").unpack_from
offset_and_epoch = struct.Struct(">qi").unpack_from
_TOPIC_ID = b"\x01\x00\x10"
"""How the tagged fields of version 4 begin where the topic's id is the only one: it takes 16 bytes."""

PLAIN_SIZE, PLAIN_VERSION = 42, _FLEXIBLE
"""The size and version of a value without metadata whose one tagged field, of 16 bytes, is the topic's id."""

_TAGS = frozenset((b"\x00", _TOPIC_ID))

Commit = tuple[int, int, bool]
"""The committed offset, the leader epoch (-1: the client sent none), and whether metadata came with it."""


class CommitKey(NamedTuple):
    """Whose offset was committed."""

    group_id: str
    topic: str
    partition: int


def is_commit(key: bytes) -> bool:
    """Whether a record is about a committed offset."""
    return key[:2] in _TYPES


def decode_commit_key(key: bytes) -> CommitKey:
    """Decode the key of a commit. Raises: Malformed."""
    cursor = Cursor(key, "key of offset_commit")
    cursor.take(2, "record type")
    fields = read_struct(cursor, COMMIT_KEY, 0, flexible=False)
    cursor.ends()
    return CommitKey(**fields)


def encode_commit_key(key: CommitKey) -> bytes:
    """The key of a commit as brokers write it."""
    group, topic = key.group_id.encode(), key.topic.encode()
    parts = _TYPES[-1], _LENGTH(len(group)), group, _LENGTH(len(topic)), topic, _NUMBER(key.partition)
    return b"".join(parts)


def decode_commit(value: bytes) -> Commit:
    """Decode the value of a commit. Its metadata are a client's own bytes: they are not kept.

    Raises:
        Malformed: The value cannot be decoded.
    """
    if len(value) >= _SHORTEST and not value[0]:
        version = value[1]
        if version == _FLEXIBLE:
            length, at = value[14], 15  # of the metadata, and one
            if length >= _MORE and value[15] < _MORE:
                length, at = length & 0x7F | value[15] << 7, 16
            end = at + length + 7
            if length and value[end : end + 3] in _TAGS and len(value) == end + 1 + 18 * value[end]:
                return *offset_and_epoch(value, 2), length > 1
        elif version == _WITH_EPOCH:
            offset, epoch, length = _WITH_EPOCH_AND_LENGTH(value, 2)
            if length >= 0 and len(value) == 24 + length:
                return offset, epoch, length > 0
        elif version < _WITH_EPOCH:
            offset, length = _OFFSET_AND_LENGTH(value, 2)
            if length >= 0 and len(value) == length + (28 if version == _WITH_EXPIRY else 20):
                return offset, -1, length > 0
    return _by_layout(value)


def topic_id_of(value: bytes) -> str | None:
    """The id of the topic in the decoded value of a commit, as Kafka writes it; None where it has none."""
    if value[1] != _FLEXIBLE or value[-19:-16] != _TOPIC_ID:
        return None
    return base64.urlsafe_b64encode(value[-16:]).decode().rstrip("=")


def _by_layout(value: bytes) -> Commit:
    """Decode what is laid out in a rarer way, or say what is wrong with it."""
    is_old = value[:1] == b"\x00" and value[1:2] <= bytes([_WITH_EXPIRY])
    _, fields = read_versioned(EXPIRING_COMMIT if is_old else COMMIT, value)
    return fields["offset"], fields["leader_epoch"], bool(fields["metadata"])
