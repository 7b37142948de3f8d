"""Values of Kafka's own layouts, and their bytes as brokers write them."""

from __future__ import annotations

import base64
import struct
from typing import Any

from hypothesis import strategies as st

from kafka_hindsight.kafka_records.wire import LENGTHS, NUMBERS, Field, Struct, VersionedStruct


def encode(layout: VersionedStruct, version: int, values: dict[str, Any]) -> bytes:
    """The bytes that `wire.read_versioned` reads back. Of tagged fields those that are there are written."""
    flexible = layout.flexible_from is not None and version >= layout.flexible_from
    return struct.pack(">h", version) + _struct(layout.struct, version, flexible, values)


def varint(number: int) -> bytes:
    """An unsigned varint."""
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)


def _length(count: int, flexible: bool, shape: str) -> bytes:
    return varint(count + 1) if flexible else struct.pack(shape, count)


def _struct(shape: Struct, version: int, flexible: bool, values: dict[str, Any]) -> bytes:
    written = [f for f in shape.fields if f.tag is None and f.since <= version]
    body = b"".join(_value(f, version, flexible, values[f.name]) for f in written)
    if not flexible:
        return body
    there = [
        (f.tag, _value(f, version, True, values[f.name]))
        for f in shape.fields
        if f.tag is not None and values[f.name] != f.default
    ]
    return body + varint(len(there)) + b"".join(varint(t) + varint(len(d)) + d for t, d in there)


def _value(field: Field, version: int, flexible: bool, value: Any) -> bytes:
    if field.many:
        if value is None:
            return _length(-1, flexible, ">i")
        one = Field(field.name, field.kind)
        return _length(len(value), flexible, ">i") + b"".join(_value(one, version, flexible, each) for each in value)
    if isinstance(field.kind, Struct):
        if not field.nullable:
            return _struct(field.kind, version, flexible, value)
        return varint(0) if value is None else varint(1) + _struct(field.kind, version, flexible, value)
    if field.kind in NUMBERS:
        return struct.pack(NUMBERS[field.kind], 0 if value is None else value)
    if field.kind == "uuid":
        return base64.urlsafe_b64decode(value + "==")
    if value is None:
        return _length(-1, flexible, LENGTHS[field.kind])
    data: bytes = value.encode() if field.kind == "string" else value
    return _length(len(data), flexible, LENGTHS[field.kind]) + data


def _numbers(kind: str) -> st.SearchStrategy[int]:
    bits = struct.calcsize(NUMBERS[kind]) * 8 - 1
    return st.integers(-(1 << bits), (1 << bits) - 1)


def values_of(shape: Struct, version: int) -> st.SearchStrategy[dict[str, Any]]:
    """Any values of the fields that a version has."""
    return st.fixed_dictionaries(
        {f.name: _of(f, version) if f.since <= version else st.just(f.default) for f in shape.fields}
    )


def _of(field: Field, version: int) -> st.SearchStrategy[Any]:
    if field.many:
        some: st.SearchStrategy[Any] = st.lists(_of(Field(field.name, field.kind), version), max_size=3)
    elif isinstance(field.kind, Struct):
        some = values_of(field.kind, version)
    elif field.kind in NUMBERS:
        some = _numbers(field.kind)
    elif field.kind == "uuid":
        some = st.binary(min_size=16, max_size=16).map(lambda b: base64.urlsafe_b64encode(b).decode().rstrip("="))
    else:
        some = st.text(max_size=8) if field.kind == "string" else st.binary(max_size=8)
    return st.none() | some if field.nullable else some
