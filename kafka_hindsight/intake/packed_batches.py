"""Packed record batches: the codecs of Kafka, by those of Arrow."""

from __future__ import annotations

import pyarrow as pa

from kafka_hindsight.kafka_records.wire import Malformed

_LARGEST = 256 * 1024 * 1024
"""The most bytes that one batch may unpack to: a broker takes batches of some MiB, which pack a hundredfold at most."""

_BLOCKS, _HEAD = b"\x82SNAPPY\x00", 16
"""How a stream of snappy-java begins, and the size of its head. Source: SnappyCodec."""

_SIZE = 4


def unpacked(codec: str, data: bytes) -> bytes:
    """The records of a batch that is packed with a codec of Kafka: gzip, snappy, lz4 or zstd. Raises: Malformed."""
    try:
        content = _snappy(data) if codec == "snappy" else _streamed(codec, data)
    except (pa.ArrowException, OSError, ValueError, IndexError) as damage:
        raise Malformed(f"A batch that is packed with {codec} cannot be unpacked: {damage}") from damage
    if len(content) > _LARGEST:
        raise Malformed(f"Found a batch that unpacks to more than {_LARGEST} bytes.")
    return content


def _streamed(codec: str, data: bytes) -> bytes:
    with pa.input_stream(pa.py_buffer(data), compression=codec) as stream:
        return bytes(stream.read(_LARGEST + 1))


def _snappy(data: bytes) -> bytes:
    """The content of one block, or of the blocks of snappy-java, each behind its size."""
    if not data.startswith(_BLOCKS):
        return _block(data)
    blocks, at = list[bytes](), _HEAD
    while at < len(data):
        size = int.from_bytes(data[at : at + _SIZE], "big")
        blocks.append(_block(data[at + _SIZE : at + _SIZE + size]))
        at += _SIZE + size
    return b"".join(blocks)


def _block(data: bytes) -> bytes:
    """The content of a block, which begins with its size as a varint."""
    size, shift, at = 0, 0, 0
    while True:
        byte = data[at]
        size |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    if size > _LARGEST:
        raise ValueError(f"a block of {size} bytes")
    return bytes(pa.decompress(data, decompressed_size=size, codec="snappy"))
