"""Records of programs' own logging libraries: what varies in them has fields of its own, which follow the message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from kafka_hindsight.knowledge.json_layouts import JSON_LAYOUTS
from kafka_hindsight.knowledge.model import JsonLayout
from kafka_hindsight.logs.json_fields import field, object_in

LAYOUTS = tuple(layout for layout in JSON_LAYOUTS if layout.program)

_FIRST = b"time="
_PAIR = re.compile(r'([\w.]{1,100})=("(?:[^"\\]|\\.)*+"|[^\s"]*+)')
_LOOKED_AT = 200

_WORDS = (
    (_FIRST,),
    *([f'"{word}"'.encode() for word in (each.logger, each.message, each.at, each.only) if word] for each in LAYOUTS),
)
"""What records of each kind hold: their first word, or names of fields."""


class Said(NamedTuple):
    """What one record says; `at` as it has it."""

    logger: str
    message: str
    level: str
    trace: str | None
    at: str


def is_said_in(lines: Sequence[bytes]) -> bool:
    """Whether one of some lines is such a record. They are decoded where the words are there that each has."""
    data = b"\n".join(lines)
    return any(all(word in data for word in words) for words in _WORDS) and any(map(_said, lines))


def said_in(texts: pa.Array) -> list[Said | None]:
    """What each line says that is such a record; nothing at all where the first lines show none."""
    if not is_said_in(texts.slice(0, _LOOKED_AT).to_pylist()):
        return []
    return [_said(text) for text in texts.to_pylist()]


def _said(text: bytes) -> Said | None:
    told = object_in(text) or _pairs(text)
    return next((said for layout in LAYOUTS if (said := _by(layout, told))), None) if told else None


def _pairs(text: bytes) -> dict[str, Any] | None:
    """The fields of a record that begins with its time and names each: `time=... level=INFO msg="joined" group=g`."""
    if not text.startswith(_FIRST):
        return None
    found = _PAIR.findall(text.decode(errors="replace"))
    return {name: _unquoted(value) if value.startswith('"') else value for name, value in found}


def _unquoted(value: str) -> str:
    """A value as it was before it was quoted. Edge case: where JSON knows no such string, the quotes alone go."""
    try:
        return str(json.loads(value))
    except ValueError:
        return value.strip('"')


def _by(layout: JsonLayout, told: Mapping[str, Any]) -> Said | None:
    logger, message, at = _logger_of(told, layout), field(told, layout.message), field(told, layout.at)
    if logger is None or not isinstance(message, str) or not isinstance(at, (str, int, float)):
        return None
    level, trace = field(told, layout.level), field(told, layout.trace)
    after = _after(told, layout.placed) if layout.beside is not None else ""
    shown_level = level.upper() if isinstance(level, str) else "INFO"
    return Said(logger, message + after, shown_level, trace if isinstance(trace, str) else None, str(at))


def _logger_of(told: Mapping[str, Any], layout: JsonLayout) -> str | None:
    """The logger of a record. Edge case: a name without packages is a program's own, and stands for nothing."""
    named = field(told, layout.logger) if layout.logger else layout.program
    if not isinstance(named, str) or layout.only not in ("", named):
        return None
    return layout.program if layout.only or "." not in named else named


def _after(told: Mapping[str, Any], placed: frozenset[str]) -> str:
    """What follows a message: `; name: value, name: value`. A value that could be taken for several is quoted."""
    found = [f"{name}: {_shown(value)}" for name, value in told.items() if name not in placed]
    return "; " + ", ".join(found) if found else ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and ", " not in value else json.dumps(value)


def columns_of(said: Sequence[Said | None]) -> dict[str, pa.Array]:
    """What lines say, a column for each part."""
    return {
        name: pa.array([getattr(each, name) if each else None for each in said], pa.string()) for name in Said._fields
    }
