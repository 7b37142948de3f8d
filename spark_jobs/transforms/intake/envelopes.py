"""Lines out of what transports wrapped around them: each with who wrote it, and when it passed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from spark_jobs.knowledge.envelopes import OBJECTS, OTLP, PREFIXES
from spark_jobs.knowledge.json_layouts import JSON_LAYOUTS
from spark_jobs.knowledge.model import JsonEnvelope, JsonLayout

JSON_RECORD = "json"
"""Stands for objects that are records themselves."""

NAMES = (*(e.name for e in PREFIXES), *(e.name for e in OBJECTS), OTLP, JSON_RECORD)
"""The envelopes in the order in which they are tried."""

_DECODE = json.JSONDecoder().decode
_COLOUR = re.compile(rb"\x1b\[[0-9;]{0,20}m")
_LABEL = re.compile(r'(\w{1,100})="((?:[^"\\]|\\.){0,400})"')
_PAIR = re.compile(r'([\w.]{1,100})=("(?:[^"\\]|\\.)*+"|[^\s"]*+)')
_ORIGIN = re.compile(r"[^\w./@:-]+")
_REGEXES = {e.name: re.compile(e.regex.encode(), re.DOTALL) for e in PREFIXES if e.regex}
_OBJECTS = {e.name: e for e in OBJECTS}
_PARTS = ("docker",)
"""Objects whose line goes on in the next one where it does not end with LF."""


class Inner(NamedTuple):
    """A line out of an envelope: who wrote it, empty where nothing says so; `at` as the envelope has it.

    `is_part`: the line goes on in the next one of the same origin. `physical`: the physical lines that it was.
    `is_record`: it was a record of JSON, written here as Kafka's own layout has it, and `at` is its instant.
    """

    line: bytes
    origin: str = ""
    at: Any = None
    is_part: bool = False
    physical: int = 1
    is_record: bool = False


Peel = Callable[[bytes], list[Inner] | None]
"""Takes a line out of one envelope; None where the line is not in it."""


def peel_of(name: str) -> Peel:
    """What takes a line out of an envelope."""
    if name == "colours":
        return _without_colours
    if name in _REGEXES:
        return _without_prefix(name)
    if name in _OBJECTS:
        return partial(_out_of_object, _OBJECTS[name])
    return _out_of_otlp if name == OTLP else _record_of_json


class Chain:
    """Envelopes around one another, the outermost first; parts of lines wait until the rest has come."""

    def __init__(self, names: Sequence[str]) -> None:
        self.peels = [peel_of(name) for name in names]
        self.waiting: list[dict[str, Inner]] = [{} for _ in names]

    def lines(self, line: bytes) -> Iterable[Inner]:
        """The lines inside of a physical line; what is in no envelope comes as it is."""
        found: Iterable[Inner] = (Inner(line),)
        for peel, waiting in zip(self.peels, self.waiting, strict=True):
            found = [inner for outer in found for inner in _next(peel, waiting, outer)]
        return found

    def rest(self) -> Iterator[Inner]:
        """The parts of lines whose rest never came."""
        for waiting in self.waiting:
            yield from waiting.values()
            waiting.clear()


def _next(peel: Peel, waiting: dict[str, Inner], outer: Inner) -> Iterable[Inner]:
    """What is inside of a line, with what the envelope around it said."""
    inside = peel(outer.line)
    if inside is None:
        return (outer,)
    is_bare = outer.at is None and outer.physical == 1 and not outer.origin
    if is_bare and not waiting and len(inside) == 1 and not inside[0].is_part:
        return inside
    return list(_joined(inside, waiting, outer))


def _joined(inside: Iterable[Inner], waiting: dict[str, Inner], outer: Inner) -> Iterator[Inner]:
    """Lines with the parts of them that came before."""
    count = outer.physical
    for inner in inside:
        origin, at = inner.origin or outer.origin, outer.at if inner.at is None else inner.at
        before = waiting.pop(origin, None)
        line = inner.line if before is None else before.line + inner.line
        whole = Inner(line, origin, at, inner.is_part, count + (before.physical if before else 0), inner.is_record)
        count = 0
        if inner.is_part:
            waiting[origin] = whole
        else:
            yield whole


def micros_of(at: Any) -> int | None:
    """The microseconds of an instant as envelopes have it: text of ISO, or a number of seconds or smaller units."""
    if isinstance(at, str) and not at.replace(".", "", 1).isdigit():
        return _iso_micros(at)
    try:
        number = float(at)
    except (TypeError, ValueError):
        return None
    while number >= _FAR:
        number /= 1_000
    return round(number * 1_000_000) if number > 0 else None


_FAR = 20_000_000_000
"""No log is of the year 2603: a greater number counts in milliseconds, microseconds or nanoseconds."""
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")


@cache
def _second_of(day: str, clock: str, zone: str | None) -> int | None:
    try:
        at = datetime.fromisoformat(f"{day}T{clock}{'+00:00' if zone in (None, 'Z') else zone}")
    except ValueError:
        return None
    return int(at.astimezone(UTC).timestamp())


def _iso_micros(text: str) -> int | None:
    told = _ISO.match(text)
    second = _second_of(told[1], told[2], told[4]) if told else None
    if told is None or second is None:
        return None
    return second * 1_000_000 + int((told[3] or "").ljust(6, "0")[:6])


def _without_colours(line: bytes) -> list[Inner] | None:
    return [Inner(_COLOUR.sub(b"", line))] if b"\x1b[" in line else None


def _without_prefix(name: str) -> Peel:
    regex = _REGEXES[name]
    has_at, has_part = "at" in regex.groupindex, "part" in regex.groupindex
    who = [regex.groupindex[n] for n in ("labels", "host", "from") if n in regex.groupindex]

    def peel(line: bytes) -> list[Inner] | None:
        told = regex.fullmatch(line)
        if told is None:
            return None
        origin = _written_by(tuple(map(told.group, who))) if who else ""
        at = told["at"].decode() if has_at and told["at"] else None
        return [Inner(told["line"] or b"", origin, at, has_part and told["part"] == b"P")]

    return peel


@lru_cache(maxsize=4096)
def _written_by(parts: tuple[bytes | None, ...]) -> str:
    names = [part.decode(errors="replace") for part in parts if part]
    if names and names[0].startswith("{"):
        told = dict(_LABEL.findall(names[0]))
        names = [told[n] for n in ("pod", "container") if n in told] or [told.get("instance", "")]
    return _named("/".join(n for n in names if n))


def _named(origin: str) -> str:
    return _ORIGIN.sub("_", origin).strip("/")


def _object(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        told = _DECODE(line.decode(errors="replace"))
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def field(told: Any, path: str) -> Any:
    """What an object holds at a path: its own field of that name, else one field inside of another."""
    if not isinstance(told, dict):
        return None
    value = told.get(path)
    if value is not None or "." not in path:
        return value
    outer, _, inner = path.partition(".")
    return field(told.get(outer), inner)


def _out_of_object(envelope: JsonEnvelope, line: bytes) -> list[Inner] | None:
    told = _object(line)
    if told is None or not told.keys() >= envelope.needed:
        return None
    text = field(told, envelope.line)
    inside = _text_of(field(told, envelope.otherwise) if text is None and envelope.otherwise else text)
    at = next((told[name] for name in envelope.at if name in told), None)
    is_part = envelope.name in _PARTS and not inside.endswith("\n")
    return [Inner(inside.removesuffix("\n").encode(errors="replace"), _origin_of(told, envelope.origin), at, is_part)]


def _text_of(value: Any) -> str:
    """A line as text. Edge case: journald writes bytes that are not UTF-8 as numbers; an object may be an envelope."""
    if isinstance(value, list):
        return bytes(n for n in value if isinstance(n, int) and 0 <= n < 256).decode(errors="replace")
    return value if isinstance(value, str) else json.dumps(value)


@lru_cache(maxsize=1024)
def _possible(names: tuple[str, ...], paths: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Those paths that an object with these fields can have."""
    there = frozenset(names)
    return tuple(several for several in paths if all(p in there or p.partition(".")[0] in there for p in several))


def _origin_of(told: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]) -> str:
    for several in _possible(tuple(told), paths):
        values = [field(told, path) for path in several]
        if all(isinstance(value, str) and value for value in values):
            return _named("/".join(values))
    return ""


def _out_of_otlp(line: bytes) -> list[Inner] | None:
    told = _object(line)
    resources = told.get("resourceLogs") if told else None
    if not isinstance(resources, list):
        return None
    return [
        Inner(
            str(field(record, "body.stringValue") or "").removesuffix("\n").encode(errors="replace"),
            _resource(resource),
            record.get("timeUnixNano") or record.get("observedTimeUnixNano"),
        )
        for resource in resources
        for scope in resource.get("scopeLogs", ())
        for record in scope.get("logRecords", ())
    ]


def _resource(resource: Any) -> str:
    said = {a.get("key"): field(a, "value.stringValue") for a in field(resource, "resource.attributes") or ()}
    names = ("k8s.pod.name", "k8s.container.name", "container.name", "host.name", "service.name")
    told = [said[n] for n in names if said.get(n)]
    return _named("/".join(told[:2] if said.get(names[0]) else told[:1]))


def _record_of_json(line: bytes) -> list[Inner] | None:
    told = _object(line) or _pairs(line)
    if told is None:
        return None
    found = ((layout, _record(told, layout)) for layout in JSON_LAYOUTS)
    return next(([record] for _, record in found if record), None)


def _pairs(line: bytes) -> dict[str, Any] | None:
    """The fields of a record that begins with its time and names each: `time=... level=INFO msg="joined" group=g`."""
    if not line.startswith(b"time="):
        return None
    text = line.decode(errors="replace")
    return {name: _unquoted(value) if value.startswith('"') else value for name, value in _PAIR.findall(text)}


def _unquoted(value: str) -> str:
    """A value as it was before it was quoted. Edge case: where JSON knows no such string, the quotes alone go."""
    try:
        return str(_DECODE(value))
    except ValueError:
        return value.strip('"')


def _logger_of(told: Mapping[str, Any], layout: JsonLayout) -> str | None:
    """The logger of a record. Edge case: a name without packages is a program's own, and stands for nothing."""
    named = field(told, layout.logger) if layout.logger else layout.program
    if not isinstance(named, str) or layout.only not in ("", named):
        return None
    return layout.program if layout.program and (layout.only or "." not in named) else named


def _fields_after(told: Mapping[str, Any], placed: frozenset[str]) -> str:
    """What follows a message: `; name: value, name: value`. A value that could be taken for several is quoted."""
    found = [f"{name}: {_shown(value)}" for name, value in told.items() if name not in placed]
    return "; " + ", ".join(found) if found else ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and ", " not in value else json.dumps(value)


def _record(told: Mapping[str, Any], layout: JsonLayout) -> Inner | None:
    logger, message, at = _logger_of(told, layout), field(told, layout.message), field(told, layout.at)
    if isinstance(at, dict) and "epochSecond" in at:
        at = at["epochSecond"] + at.get("nanoOfSecond", 0) / 1e9
    instant = micros_of(at)
    if logger is None or not isinstance(message, str) or instant is None:
        return None
    if layout.beside is not None:
        message += _fields_after(told, layout.placed)
    level, trace = field(told, layout.level), field(told, layout.trace)
    shown = datetime.fromtimestamp(instant // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    head = f"[{shown},{instant // 1000 % 1000:03d}] {level.upper() if isinstance(level, str) else 'INFO'}"
    text = f"{head} {message} ({logger})" + (f"\n{trace}" if isinstance(trace, str) and trace.strip() else "")
    return Inner(text.rstrip("\n").encode(errors="replace"), "", instant / 1e6, is_record=True)
