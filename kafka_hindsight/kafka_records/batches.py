"""Record batches as Kafka lays them in a segment: magic 2, checked by their CRC-32C. Standard library only.

Source: DefaultRecordBatch, DefaultRecord of kafka-clients; KIP-98.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

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

_TRANSACTIONAL, _CONTROL, _CODEC = 0x10, 0x20, 0x07
_MORE = 0x80
"""The bit of a varint's byte that says that another byte follows."""

_NULL = 1
"""The length -1 as a varint: there is no key, or no value."""

_COMMITTED = 1
"""The type of the control record that ends a committed transaction. Source: ControlRecordType."""

_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


Record = tuple[int, int, bytes | None, bytes | None]
"""One record: its offset, the instant that its writer gave it, in milliseconds, its key and its value. There may be
millions of them: a class would take longer."""


@dataclass(frozen=True)
class RecordBatch:
    """Records that were written at once. `end`: the byte after the batch."""

    end: int
    base_offset: int
    next_offset: int
    leader_epoch: int
    is_control: bool
    records: tuple[Record, ...]


Checksum = Callable[[bytes], int]
Unpack = Callable[[str, bytes], bytes]
"""What unpacks the records of a batch, by the name of its codec. Raises: Malformed."""


def batches(
    data: bytes, start: int = 0, checksum: Checksum | None = None, unpack: Unpack | None = None
) -> Iterator[RecordBatch]:
    """The whole batches from a byte on. Data that end within a batch are not an error: it may still be written.

    Args:
        data: The bytes of a segment.
        start: The byte where the first one begins.
        checksum: A faster `crc32c`.
        unpack: Unpacks the records of a batch that is packed.

    Raises:
        Malformed: A batch differs from its head, or is packed and nothing unpacks it.
    """
    at = start
    while (end := _end(data, at)) is not None:
        yield _batch(data, at, end, checksum or crc32c, unpack)
        at = end


def uncommitted(segments: Iterable[bytes]) -> set[int]:
    """The base offsets of batches whose transaction was aborted, or had not ended, in the segments of one partition.

    A segment is looked at up to the first batch that differs from its head.
    """
    open_batches: dict[int, list[int]] = {}
    aborted_batches: set[int] = set()
    for data in segments:
        with suppress(Malformed):
            for base, attributes, producer, batch in _transactional(data):
                if not attributes & _CONTROL:
                    open_batches.setdefault(producer, []).append(base)
                elif control_type(batch().records[0][2]) != _COMMITTED:
                    aborted_batches.update(open_batches.pop(producer, ()))
                else:
                    open_batches.pop(producer, None)
    return aborted_batches.union(*open_batches.values())


def _transactional(data: bytes) -> Iterator[tuple[int, int, int, Callable[[], RecordBatch]]]:
    """The batches of transactions, undecoded: base offset, attributes, producer, and how to decode it."""
    at = 0
    while (end := _end(data, at)) is not None:
        base, _ = _PREFIX.unpack_from(data, at)
        head = _REST.unpack_from(data, at + _PREFIX.size)
        if head[3] & _TRANSACTIONAL:
            yield base, head[3], head[7], partial(_batch, data, at, end, crc32c, None)
        at = end


def control_type(key: bytes | None) -> int:
    """The type of a control record, by its key. Raises: Malformed."""
    cursor = Cursor(key or b"", "key of a control record")
    cursor.take(2, "version")
    return cursor.number(">h", "type")


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


def _batch(data: bytes, at: int, end: int, checksum: Checksum, unpack: Unpack | None) -> RecordBatch:
    base, _ = _PREFIX.unpack_from(data, at)
    epoch, _, crc, attributes, last_delta, first_ms, _, _, _, _, count = _REST.unpack_from(data, at + _PREFIX.size)
    actual_crc = checksum(data[at + _CHECKED_FROM : end])
    if actual_crc != crc:
        raise Malformed(f"Byte {at}: the batch at offset {base} has checksum {actual_crc:08x}. Needed: {crc:08x}.")
    body, codec = data[at + _HEAD : end], attributes & _CODEC
    if codec:
        if unpack is None or codec >= len(_CODECS):
            name = dict(enumerate(_CODECS)).get(codec, "an unknown codec")
            raise Malformed(f"Byte {at}: the batch at offset {base} is packed with {name}. Needed: none.")
        body = unpack(_CODECS[codec], body)
    records = _plain_records(body, base, first_ms, count)
    if records is None:
        cursor = Cursor(body, f"batch at offset {base}")
        records = tuple(_record(cursor, base, first_ms) for _ in range(count))
        cursor.ends()
    return RecordBatch(end, base, base + last_delta + 1, epoch, bool(attributes & _CONTROL), records)


def _plain_records(body: bytes, base: int, first_ms: int, count: int) -> tuple[Record, ...] | None:
    """Records without headers, read as fast as Python can; None where they do not fill the body exactly.

    Numbers of one and two bytes, which almost all are, are read here: a call for each would take twice as long.
    """
    records, at = list[Record](), 0
    keep = records.append
    try:
        for _ in range(count):
            size = body[at]
            if size < _MORE:
                at += 1
            else:
                size, at = _varint(body, at)
            end = at + (size >> 1)
            delta_ms = body[at + 1]
            if delta_ms < _MORE:
                at += 2
            else:
                delta_ms, at = _varint(body, at + 1)
            delta = body[at]
            if delta < _MORE:
                at += 1
            else:
                delta, at = _varint(body, at)
            size = body[at]
            if size < _MORE:
                at += 1
            else:
                size, at = _varint(body, at)
            if size & 1:
                key, has_sizes = None, size == _NULL
            else:
                begin, at, has_sizes = at, at + (size >> 1), True
                key = body[begin:at]
            size = body[at]
            if size < _MORE:
                at += 1
            else:
                size, at = _varint(body, at)
            if size & 1:
                value, has_sizes = None, has_sizes and size == _NULL
            else:
                begin, at = at, at + (size >> 1)
                value = body[begin:at]
            if not has_sizes or body[at] or at + 1 != end:
                return None
            instant = first_ms + (delta_ms >> 1 ^ -(delta_ms & 1))
            keep((base + (delta >> 1 ^ -(delta & 1)), instant, key, value))
            at = end
    except IndexError:
        return None
    return tuple(records) if at == len(body) else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A varint as it is written, its sign in the last bit, and the byte after it."""
    byte, value, shift = data[at], 0, 0
    while byte >= _MORE:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        byte = data[at]
    return value | byte << shift, at + 1


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
    return offset, at_ms, key, value


def _bytes(cursor: Cursor, name: str) -> bytes | None:
    size = cursor.zigzag(f"length of {name}")
    return None if size == -1 else cursor.take(size, name)


def crc32c(data: bytes) -> int:
    """The checksum of a batch. Source: RFC 3720, appendix B.4; Crc32C of kafka-clients."""
    crc, table = 0xFFFFFFFF, CRC_TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _shifted(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRC_TABLE = tuple(_shifted(byte) for byte in range(256))
"""What a byte of the checksum becomes when it is shifted out."""
