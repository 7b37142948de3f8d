"""Record batches as Kafka lays them in a segment: magic 2, checked by their CRC-32C. Standard library only.

Source: DefaultRecordBatch, DefaultRecord of kafka-clients; KIP-98.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_hindsight.kafka_records.wire import Cursor, Malformed

_PREFIX = struct.Struct(">qi")
"""Base offset, and the length of what follows."""

_REST = struct.Struct(">ibIhiqqqhii")
"""Leader epoch, magic, CRC, attributes, last offset delta, first and last instant, producer, its epoch, first sequence,
count of records."""

_MAGIC_AT = 16
_CHECKED_FROM = 21
_HEAD = _PREFIX.size + _REST.size
_MAGIC = 2
_LARGEST = 16 * 1024 * 1024
"""KRaft ends a batch at 8 MiB (KafkaRaftClient.MAX_BATCH_SIZE_BYTES): a much larger number is not a batch's length."""

_CONTROL, _CODEC = 0x20, 0x07
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True)
class Record:
    """One record, with the instant its writer gave it, in milliseconds."""

    offset: int
    at_ms: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True)
class RecordBatch:
    """Records that were written at once. `end`: the byte after the batch."""

    end: int
    base_offset: int
    next_offset: int
    leader_epoch: int
    is_control: bool
    records: tuple[Record, ...]


def batches(data: bytes, start: int = 0) -> Iterator[RecordBatch]:
    """The whole batches from a byte on. Data that end within a batch are not an error: it may still be written.

    Raises:
        Malformed: A batch differs from its head.
    """
    at = start
    while (end := _end(data, at)) is not None:
        yield _batch(data, at, end)
        at = end


def _end(data: bytes, at: int) -> int | None:
    """The byte after the batch that begins at a byte; None where the batch is not whole."""
    available = len(data) - at
    if available > _MAGIC_AT and data[at + _MAGIC_AT] != _MAGIC:
        raise Malformed(f"Byte {at}: found a batch of magic {data[at + _MAGIC_AT]}. Needed: {_MAGIC}.")
    if available < _PREFIX.size:
        return None
    length = _PREFIX.unpack_from(data, at)[1]
    if not _REST.size <= length <= _LARGEST:
        raise Malformed(f"Byte {at}: found a batch of {length} bytes. Needed: {_REST.size} to {_LARGEST}.")
    end: int = at + _PREFIX.size + length
    return end if end <= len(data) else None


def _batch(data: bytes, at: int, end: int) -> RecordBatch:
    base, _ = _PREFIX.unpack_from(data, at)
    epoch, _, crc, attributes, last_delta, first_ms, _, _, _, _, count = _REST.unpack_from(data, at + _PREFIX.size)
    checksum = crc32c(data[at + _CHECKED_FROM : end])
    if checksum != crc:
        raise Malformed(f"Byte {at}: the batch at offset {base} has checksum {checksum:08x}. Needed: {crc:08x}.")
    if attributes & _CODEC:
        name = dict(enumerate(_CODECS)).get(attributes & _CODEC, "an unknown codec")
        raise Malformed(f"Byte {at}: the batch at offset {base} is packed with {name}. Needed: none, as KRaft writes.")
    cursor = Cursor(data[at + _HEAD : end], f"batch at offset {base}")
    records = tuple(_record(cursor, base, first_ms) for _ in range(count))
    cursor.ends()
    return RecordBatch(end, base, base + last_delta + 1, epoch, bool(attributes & _CONTROL), records)


def _record(cursor: Cursor, base: int, first_ms: int) -> Record:
    size = cursor.zigzag("record length")
    inner = Cursor(cursor.take(size, "record"), cursor.what)
    inner.take(1, "attributes")
    at_ms = first_ms + inner.zigzag("instant", bits=64)
    offset = base + inner.zigzag("offset")
    key, value = _bytes(inner, "key"), _bytes(inner, "value")
    for _ in range(inner.zigzag("count of headers")):
        _bytes(inner, "header key")
        _bytes(inner, "header value")
    inner.ends()
    return Record(offset, at_ms, key, value)


def _bytes(cursor: Cursor, name: str) -> bytes | None:
    size = cursor.zigzag(f"length of {name}")
    return None if size == -1 else cursor.take(size, name)


def crc32c(data: bytes) -> int:
    """The checksum of a batch. Source: RFC 3720, appendix B.4; Crc32C of kafka-clients."""
    crc, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _shifted(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE = tuple(_shifted(byte) for byte in range(256))
