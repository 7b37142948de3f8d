"""Files of JSON lines as other programs write them, read with the declared types."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.table_model import Column, ColumnType, ListOf, Scalar
from kafka_hindsight.logs.file_bytes import CHUNK, Bytes
from kafka_hindsight.logs.reading import QUOTED

_BITS = {Scalar.INT: 31, Scalar.BIGINT: 63}
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?", re.ASCII)


DAMAGED = (
    "Its file has other bytes than were landed: it is damaged. Bring it back from a copy of the lake, or remove it."
)


class LandedLine(NamedTuple):
    """A line, and the file in which it landed, None for a line of SNAPSHOTS; whether that file is damaged."""

    text: str
    landed_as: str | None = None
    is_damaged: bool = False


def landed_lines(content: Bytes) -> Iterator[str]:
    """The lines of a file that are not blank, as far as it can be unpacked."""
    for block in landed_blocks(content):
        yield from lines_of(block)


def landed_blocks(content: Bytes, size: int = CHUNK) -> Iterator[bytes]:
    """The whole lines of a file, some `size` bytes at once, as far as it can be unpacked."""
    at, tail = 0, b""
    while data := content.between(at, at + size):
        at += len(data)
        lines, end, rest = data.rpartition(b"\n")
        if end:
            yield tail + lines
            tail = rest
        else:
            tail += data
    if tail.strip():
        yield tail


def lines_of(block: bytes) -> Iterator[str]:
    """The lines of a block that are not blank."""
    return (line.removesuffix(b"\r").decode(errors="replace") for line in block.split(b"\n") if line.strip())


def value_of(text: str) -> Any:
    """The JSON value of a line; numbers that are not whole stay text. Raises: ValueError if it is not JSON."""
    try:
        return json.loads(text, parse_float=str, parse_constant=_refused)
    except RecursionError as deep:
        raise ValueError("It is nested too deep.") from deep


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")


def columns_of(value: Any, columns: Sequence[Column]) -> dict[str, Any]:
    """The columns of a JSON object; null if one is missing or of another type."""
    fields = value if isinstance(value, dict) else {}
    return {name: reader(fields.get(name)) for name, reader in _fields(tuple(columns))}


@cache
def _fields(columns: tuple[Column, ...]) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(column.name, reader_of(column.kind)) for column in columns]


def reader_of(kind: ColumnType) -> Callable[[Any], Any]:
    """The function that reads a JSON value of a type, and gives null for another type. Text takes any value."""
    match kind:
        case Scalar.STRING:
            return _text
        case Scalar.BOOLEAN:
            return lambda value: value if value is True or value is False else None
        case Scalar.INT | Scalar.BIGINT:
            most = 1 << _BITS[kind]
            return lambda value: value if type(value) is int and -most <= value < most else None
        case Scalar.TIMESTAMP:
            return instant_in
        case Scalar():
            return lambda value: None
        case ListOf():
            item = reader_of(kind.item)
            return lambda value: [item(each) for each in value] if isinstance(value, list) else None
    fields = _fields(kind.COLUMNS)
    return lambda value: {name: reader(value.get(name)) for name, reader in fields} if isinstance(value, dict) else None


def whole_number(text: str | None, kind: Scalar) -> int | None:
    """The number in a text; None if it is not a number of that type."""
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if -(1 << _BITS[kind]) <= number < 1 << _BITS[kind] else None


def instant_in(value: Any) -> datetime | None:
    """The instant in a text of ISO 8601, in UTC if it names no zone; None if it is not an instant."""
    if not isinstance(value, str) or not _DATED.fullmatch(value.strip()):
        return None
    try:
        at = datetime.fromisoformat(value.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def refused_lines(lines: Sequence[tuple[str, str]], cluster: str, source: str) -> list[dict[str, Any]]:
    """Rows of quality.quarantine for broken lines, each with a sentence that says why; equal lines once.

    They have no instant, so that no later run over the same window removes them.
    """
    rows = {
        row_id(cluster, source, text): {
            "cluster": cluster,
            "source": source,
            "line_count": 1,
            "row": text[:QUOTED],
            "sentences": [sentence],
        }
        for text, sentence in lines
    }
    return [{"quarantine_id": key, **row} for key, row in rows.items()]


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if type(value) is int:
        return str(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode(errors="replace").decode()
