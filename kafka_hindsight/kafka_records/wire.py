"""How Kafka lays a struct out in bytes: a schema is data, and one reader reads them all.

Source: the generated message classes of kafka-clients; KIP-482 for flexible versions and tagged fields.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NUMBERS: Mapping[str, str] = {"bool": ">?", "int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q"}
LENGTHS: Mapping[str, str] = {"string": ">h", "bytes": ">i"}
KINDS: Sequence[str] = (*NUMBERS, "uuid", *LENGTHS)


class Malformed(ValueError):
    """The bytes cannot be decoded. The text says what was found and what was needed."""


@dataclass(frozen=True)
class Field:
    """One field of a struct. `kind` is a name of KINDS or a Struct; `many`: an array of it.

    `since`: the first version that has it. `tag`: it is a tagged field of flexible versions, `default` where absent.
    """

    name: str
    kind: str | Struct
    many: bool = False
    nullable: bool = False
    since: int = 0
    tag: int | None = None
    default: Any = None


@dataclass(frozen=True)
class Struct:
    """Fields in the order in which they are written."""

    fields: tuple[Field, ...]


@dataclass(frozen=True)
class VersionedStruct:
    """A struct behind a version number. From `flexible_from` on, lengths are varints and tagged fields follow.

    `is_open`: newer versions may be read as the newest known one, and the bytes after it are ignored.
    """

    name: str
    newest: int
    struct: Struct
    flexible_from: int | None = None
    is_open: bool = False


class Cursor:
    """A place in some bytes; `what` names them in errors.

    Each method raises Malformed where the bytes do not fit: it never reads beyond their end.
    """

    def __init__(self, data: bytes, what: str) -> None:
        self.data = data
        self.what = what
        self.at = 0

    @property
    def remaining(self) -> int:
        """The number of bytes that follow."""
        return len(self.data) - self.at

    def take(self, count: int, name: str) -> bytes:
        """Read the next bytes."""
        if count < 0 or count > self.remaining:
            raise Malformed(f"{self.what}: {name} needs {count} bytes at byte {self.at}; found {self.remaining}.")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, format_: str, name: str) -> int:
        """Read a signed number, big endian."""
        value: int = struct.unpack(format_, self.take(struct.calcsize(format_), name))[0]
        return value

    def varint(self, name: str, bits: int = 32) -> int:
        """Read an unsigned varint."""
        value = 0
        for n in range(-(-bits // 7)):
            byte = self.take(1, name)[0]
            value |= (byte & 0x7F) << (7 * n)
            if byte < 0x80:
                return value
        raise Malformed(f"{self.what}: {name} is a varint that goes on; needed at most {bits} bits.")

    def zigzag(self, name: str, bits: int = 32) -> int:
        """Read a signed varint of a batch's record. Source: ByteUtils.readVarint, readVarlong."""
        value = self.varint(name, bits)
        return (value >> 1) ^ -(value & 1)

    def length(self, flexible: bool, format_: str, name: str) -> int | None:
        """Read the length of the next string, byte field or array; None for null."""
        count = self.varint(name) - 1 if flexible else self.number(format_, name)
        if count < -1 or count > self.remaining:
            raise Malformed(f"{self.what}: {name} says that it holds {count}; found {self.remaining} bytes after it.")
        return None if count == -1 else count

    def ends(self) -> None:
        """Check that no bytes follow."""
        if self.remaining:
            raise Malformed(f"{self.what}: {self.remaining} bytes are left over after its last field; needed none.")


def read_versioned(layout: VersionedStruct, data: bytes) -> tuple[int, dict[str, Any]]:
    """Read a version number and the struct behind it.

    Raises:
        Malformed: The version is not known, or the bytes do not fit it.
    """
    cursor = Cursor(data, layout.name)
    version = cursor.number(">h", "version")
    if version < 0 or (version > layout.newest and not layout.is_open):
        raise Malformed(f"{layout.name} has version {version}; needed 0 to {layout.newest}.")
    struct_version = min(version, layout.newest)
    flexible = layout.flexible_from is not None and struct_version >= layout.flexible_from
    fields = read_struct(cursor, layout.struct, struct_version, flexible)
    if not layout.is_open:
        cursor.ends()
    return version, fields


def read_struct(cursor: Cursor, shape: Struct, version: int, flexible: bool) -> dict[str, Any]:
    """Read the fields of a struct by name; fields that the version lacks have their default."""
    values = {f.name: f.default for f in shape.fields}
    for field in shape.fields:
        if field.tag is None and version >= field.since:
            values[field.name] = _value(cursor, field, version, flexible)
    if flexible:
        values |= _tagged(cursor, shape, version)
    return values


def _tagged(cursor: Cursor, shape: Struct, version: int) -> dict[str, Any]:
    fields = {f.tag: f for f in shape.fields if f.tag is not None}
    values: dict[str, Any] = {}
    for _ in range(cursor.varint("count of tagged fields")):
        tag = cursor.varint("tag")
        payload = cursor.take(cursor.varint("size of a tagged field"), "tagged field")
        if tag in fields:
            inner = Cursor(payload, f"{cursor.what}, {fields[tag].name}")
            values[fields[tag].name] = _value(inner, fields[tag], version, flexible=True)
            inner.ends()
    return values


def _value(cursor: Cursor, field: Field, version: int, flexible: bool) -> Any:
    if not field.many:
        return _one(cursor, field, version, flexible)
    count = cursor.length(flexible, ">i", field.name)
    if count is None:
        return _null(cursor, field)
    element = Field(field.name, field.kind)
    return [_one(cursor, element, version, flexible) for _ in range(count)]


def _one(cursor: Cursor, field: Field, version: int, flexible: bool) -> Any:
    if isinstance(field.kind, Struct):
        if field.nullable and not _is_there(cursor, field):
            return None
        return read_struct(cursor, field.kind, version, flexible)
    if field.kind in NUMBERS:
        return cursor.number(NUMBERS[field.kind], field.name)
    if field.kind == "uuid":
        return base64.urlsafe_b64encode(cursor.take(16, field.name)).decode().rstrip("=")
    count = cursor.length(flexible, LENGTHS[field.kind], field.name)
    if count is None:
        return _null(cursor, field)
    return _READ[field.kind](cursor, cursor.take(count, field.name), field)


def _is_there(cursor: Cursor, field: Field) -> bool:
    """Whether a nullable struct follows: as a tagged field it says so in a varint, else in a signed byte."""
    return cursor.varint(field.name) == 1 if field.tag is not None else cursor.number(">b", field.name) == 1


def _null(cursor: Cursor, field: Field) -> None:
    if not field.nullable:
        raise Malformed(f"{cursor.what}: {field.name} is null at byte {cursor.at}; needed a value.")


def _text(cursor: Cursor, data: bytes, field: Field) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Malformed(f"{cursor.what}: {field.name} is not UTF-8 at its byte {error.start}; needed text.") from None


_READ: Mapping[str, Callable[[Cursor, bytes, Field], Any]] = {"string": _text, "bytes": lambda _, data, __: data}
