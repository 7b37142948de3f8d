"""JSON objects that are records themselves, and the paths of their fields, with dots."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from kafka_hindsight.knowledge.json_layouts import JSON_LAYOUTS
from kafka_hindsight.knowledge.model import JsonLayout
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.heads import ISO, instant_at

_DECODE = json.JSONDecoder().decode
_FAR = 20_000_000_000
"""Seconds up to the year 2603: a greater number counts in milliseconds, microseconds or nanoseconds."""

_FURTHEST = 1e25
_NUMBER = re.compile(r"[0-9]{1,20}([.][0-9]{1,20})?(e[+][0-9]{2})?")
_ZAP = re.compile(
    r"(?P<ts>[^\t]{10,40})\t(?P<level>[A-Za-z]{4,6})\t(?:[^\t]*\t)?[^\t]+[.]go:\d+\t(?P<rest>.*)", re.DOTALL
)
_FIRST = b"time="
_PAIR = re.compile(r'([\w.]{1,100})=("(?>(?:[^"\\]|\\.)*)"|[^\s"]*+)')
_ORDERED = sorted(JSON_LAYOUTS, key=lambda layout: not layout.program)


def object_in(text: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, or None."""
    if not text.startswith(b"{"):
        return None
    try:
        value = _DECODE(text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def field(container: Any, path: str) -> Any:
    """The value of an object at a path: of its field with that name, else of a field inside another."""
    if not isinstance(container, dict):
        return None
    value = container.get(path)
    if value is not None or "." not in path:
        return value
    outer, _, inner = path.partition(".")
    return field(container.get(outer), inner)


def may_hold(names: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether an object with fields of these names may have a value at each of the paths."""
    return all(path in names or path.partition(".")[0] in names for path in paths)


def instant_of(value: Any) -> int:
    """The microseconds of an instant in an object: ISO text, or a number of seconds or smaller units."""
    if isinstance(value, str):
        return _of_number(float(value)) if _NUMBER.fullmatch(value) else instant_at(value.encode(errors="replace"), ISO)
    return _of_number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else NO_INSTANT


def _of_number(number: float) -> int:
    if not 0 < number < _FURTHEST:
        return NO_INSTANT
    while number >= _FAR:
        number /= 1_000
    return round(number * 1_000_000)


def record_in(text: bytes, json_object: Mapping[str, Any] | None) -> tuple[int, str] | None:
    """The instant and the text of a record, written in Kafka's own layout; None for a text that is not a record.

    `json_object` is the object of the text, if it is one.
    """
    fields = json_object or _pairs(text) or _columns(text)
    if not fields:
        return None
    for layout in _layouts_of(tuple(fields)):
        logger, message = _logger_of(fields, layout), field(fields, layout.message)
        at = _instant(fields, layout.at)
        if logger is None or not isinstance(message, str) or at == NO_INSTANT:
            continue
        level, trace = field(fields, layout.level), field(fields, layout.trace)
        level = level if isinstance(level, str) else "INFO"
        head = f"{_second(at // 1_000_000)},{at // 1_000 % 1_000:03d}] {level.upper() if layout.program else level} "
        after = _after(fields, layout.placed) if layout.beside is not None else ""
        below = f"\n{trace}" if isinstance(trace, str) and trace.strip() else ""
        return at, f"{head}{message}{after} ({logger}){below}".rstrip("\n")
    return None


@lru_cache(maxsize=4096)
def _layouts_of(names: tuple[str, ...]) -> list[JsonLayout]:
    """The layouts that an object with fields of these names may have: those of single programs first."""
    required = {layout: [path for path in (layout.logger, layout.message, layout.at) if path] for layout in _ORDERED}
    return [layout for layout, paths in required.items() if may_hold(names, paths)]


def _instant(fields: Mapping[str, Any], path: str) -> int:
    """The instant at a path. It may be an object of seconds and nanoseconds."""
    at = field(fields, path)
    if not isinstance(at, dict):
        return instant_of(at)
    seconds, nanos = at.get("epochSecond"), at.get("nanoOfSecond", 0)
    if not (isinstance(seconds, int) and isinstance(nanos, int) and 0 <= seconds < _FAR):
        return NO_INSTANT
    return seconds * 1_000_000 + nanos // 1_000


@lru_cache(maxsize=4096)
def _second(second: int) -> str:
    return f"[{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}"


def _pairs(text: bytes) -> dict[str, Any] | None:
    """The fields of a record of names and values: `time=... level=INFO msg="joined" group=g`."""
    if not text.startswith(_FIRST):
        return None
    pairs = _PAIR.findall(text.decode(errors="replace"))
    return {name: _unquoted(value) if value.startswith('"') else value for name, value in pairs}


def _columns(text: bytes) -> dict[str, Any] | None:
    """The fields of a line of zap's console: time, level, logger, caller, message and JSON, with tabs between them."""
    if b".go:" not in text or not (head := _ZAP.match(text.decode(errors="replace"))):
        return None
    message, _, context = head["rest"].rpartition("\t")
    fields = object_in(context.encode(errors="replace"))
    return {
        **(fields or {}),
        "ts": head["ts"],
        "level": head["level"],
        "msg": head["rest"] if fields is None else message,
    }


def _unquoted(value: str) -> str:
    """A value without its quotes and escapes. Where it is not a JSON string, only the quotes are removed."""
    try:
        return str(json.loads(value))
    except ValueError:
        return value.strip('"')


def _logger_of(fields: Mapping[str, Any], layout: JsonLayout) -> str | None:
    """The logger of a record. A name without packages is a program's own: the layout's `program` replaces it."""
    name = field(fields, layout.logger) if layout.logger else layout.program
    if not isinstance(name, str) or layout.only not in ("", name):
        return None
    return layout.program if layout.program and (layout.only or "." not in name) else name


def _after(fields: Mapping[str, Any], placed: frozenset[str]) -> str:
    """The other fields, to append to a message: `; name: value, name: value`. A value with a comma is quoted."""
    pairs = [f"{name}: {_quoted(value)}" for name, value in fields.items() if name not in placed]
    return "; " + ", ".join(pairs) if pairs else ""


def _quoted(value: Any) -> str:
    return value if isinstance(value, str) and ", " not in value else as_json(value)


def as_json(value: Any) -> str:
    """A value as JSON; no text for one that is nested too deeply."""
    try:
        return json.dumps(value)
    except RecursionError:
        return ""
