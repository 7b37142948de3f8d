"""Lines out of what transports wrapped around them: each with who wrote it, and when it passed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from kafka_hindsight.knowledge.envelopes import OBJECTS, ORIGINS, OTLP, PREFIXES
from kafka_hindsight.knowledge.model import JsonEnvelope
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.json_records import as_json, field, instant_of, may_hold, object_in, record_in
from kafka_hindsight.logs.pattern_clocks import ISO, instant_at

JSON_RECORD = "json"
"""Stands for objects that are records themselves."""

ANY = ("colours",)
"""Envelopes that few of the lines may be in."""

_PARTS = ("docker",)
"""Objects whose line goes on in the next one where it does not end with LF."""

_ESCAPE = b"\x1b["
_COLOUR = re.compile(rb"\x1b\[[0-9;]{0,20}m")
_LABEL = re.compile(r'(\w{1,100})="((?:[^"\\]|\\.){0,400})"')
_ODD = re.compile(r"[^\w./@:-]+")
_WHO = ("labels", "host", "from")
_NAMES_OF_RESOURCES = ("k8s.container.name", "container.name", "host.name", "service.name")
"""What a resource of OpenTelemetry's says of who wrote its records, beside the pod: the first that is there."""


@dataclass(slots=True)
class Line:
    """A line while it is taken out of envelopes.

    `seen` is the physical line of the file with which it came whole, `physical` how many it was. `at` is the instant,
    and `origin` who wrote it, as envelopes say it. `is_record`: it was a record of JSON, written here as Kafka's own
    layout has it, and `at` is its instant. `is_part`: it goes on in the next one of its origin. `held` is the object
    that it is, where an envelope holds one instead of text.
    """

    text: bytes
    seen: int
    physical: int = 1
    at: int = NO_INSTANT
    origin: str = ""
    is_record: bool = False
    is_part: bool = False
    held: dict[str, Any] | None = None


Peel = Callable[[Line], Sequence[Line]]
"""What takes a line out of an envelope. Gives: the lines inside, mostly the same one; none where it is not in it."""


def lines_in(data: bytes, seen: int) -> list[Line]:
    """The lines of bytes that end with LF. Takes: how many physical lines came before them."""
    return [Line(text, n) for n, text in enumerate(data.split(b"\n")[:-1], seen + 1)]


class Chain:
    """Envelopes around one another, the outermost first; parts of lines wait until the rest has come."""

    def __init__(self, names: Iterable[str]) -> None:
        self.peels = [(PEELS[name], dict[str, Line]()) for name in names]
        self.count = 0

    def lines(self, outer: Iterable[Line]) -> list[Line]:
        """The lines inside of physical lines, which change; what is in no envelope comes as it is.

        `count` is how many lines were in the innermost of the envelopes.
        """
        lines = list(outer)
        for peel, waiting in self.peels:
            self.count = 0
            lines = [whole for line in lines for whole in self._peeled(peel, waiting, line)]
        for line in lines:
            if line.held is not None:
                line.text = as_json(line.held).encode()
        return lines

    def _peeled(self, peel: Peel, waiting: dict[str, Line], line: Line) -> Iterator[Line]:
        inside = peel(line)
        self.count += len(inside)
        for part in inside:
            if before := waiting.pop(part.origin, None) if waiting else None:
                part.text, part.physical = before.text + part.text, before.physical + part.physical
            if part.is_part:
                waiting[part.origin] = part
            else:
                yield part
        if not inside:
            yield line

    def rest(self) -> list[Line]:
        """The parts of lines whose rest never came."""
        found = [line for _, waiting in self.peels for line in waiting.values()]
        for _, waiting in self.peels:
            waiting.clear()
        return found


def split(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines of their own where a line holds LF, but for records. The first has the physical lines."""
    for line in lines:
        if line.is_record or b"\n" not in line.text:
            yield line
            continue
        first, *others = line.text.split(b"\n")
        line.text = first
        yield line
        yield from (Line(text, line.seen, 0, line.at, line.origin) for text in others)


def _without_colours(line: Line) -> Sequence[Line]:
    """Source: ECMA-48, 8.3.117. Edge case: what only looks like the beginning of a colour stays."""
    if _ESCAPE not in line.text:
        return ()
    line.text = _COLOUR.sub(b"", line.text)
    return (line,)


def _without_prefix(regex: re.Pattern[bytes], line: Line) -> Sequence[Line]:
    if not (match := regex.match(line.text)):
        return ()
    groups = match.groupdict()
    line.text, line.is_part = groups["line"] or b"", groups.get("part") == b"P"
    if at := groups.get("at"):
        line.at = _or_before(instant_at(at, ISO), line)
    line.origin = _name(tuple(groups[name] for name in _WHO if groups.get(name))) or line.origin
    return (line,)


@lru_cache(maxsize=4096)
def _name(parts: tuple[bytes, ...]) -> str:
    names = [part.decode(errors="replace") for part in parts]
    if names and names[0].startswith("{"):
        labels = dict(_LABEL.findall(names[0]))
        names = [labels[n] for n in ("pod", "container") if n in labels] or [labels.get("instance", "")]
    return _named("/".join(n for n in names if n))


@lru_cache(maxsize=4096)
def _named(origin: str) -> str:
    """A name in which nothing is that a source must not hold."""
    return _ODD.sub("_", origin).strip("/")


def _or_before(at: int, line: Line) -> int:
    return line.at if at == NO_INSTANT else at


def _out_of_object(envelope: JsonEnvelope, line: Line) -> Sequence[Line]:
    """A line out of an object that holds it in a field."""
    held = line.held or object_in(line.text)
    if held is None:
        return ()
    for path in envelope.has:
        if field(held, path) is None:
            return ()
    value = field(held, envelope.line)
    if value is None and envelope.otherwise:
        value = field(held, envelope.otherwise)
    if value is None:
        return ()
    is_object = envelope.is_around_objects and isinstance(value, dict)
    text = b"" if is_object else _text(value)
    line.text, line.held = text.removesuffix(b"\n"), value if is_object else None
    line.is_part = envelope.name in _PARTS and not text.endswith(b"\n")
    for path in envelope.at:
        if (at := field(held, path)) is not None:
            line.at = _or_before(instant_of(at), line)
            break
    if envelope.has_origin:
        line.origin = _named(origin_of(held)) or line.origin
    return (line,)


def _text(value: Any) -> bytes:
    """A line as text. Edge case: journald writes bytes that are not UTF-8 as numbers; an object may be an envelope."""
    if isinstance(value, list):
        value = bytes(n for n in value if isinstance(n, int) and 0 <= n < 256).decode(errors="replace")
    return (value if isinstance(value, str) else as_json(value)).encode(errors="replace")


def origin_of(held: Mapping[str, Any]) -> str:
    """Who wrote the line in an object, by the first fields that are all there."""
    for paths in _may_name(tuple(held)):
        names = [field(held, path) for path in paths]
        if all(isinstance(name, str) and name for name in names):
            return "/".join(names)
    return ""


@lru_cache(maxsize=4096)
def _may_name(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [paths for paths in ORIGINS if may_hold(names, paths)]


def _out_of_otlp(line: Line) -> Sequence[Line]:
    """The records of OpenTelemetry's object: a line may hold many."""
    held = line.held or object_in(line.text)
    found = list[Line]()
    for resource in _objects(field(held, "resourceLogs")):
        origin = _resource_name(resource) or line.origin
        for scope in _objects(resource.get("scopeLogs")):
            for record in _objects(scope.get("logRecords")):
                at = instant_of(record.get("timeUnixNano") or record.get("observedTimeUnixNano"))
                text = _shown(field(record, "body.stringValue")).encode(errors="replace").removesuffix(b"\n")
                physical = 0 if found else line.physical
                found.append(Line(text, line.seen, physical, _or_before(at, line), origin))
    return found


def _resource_name(resource: Mapping[str, Any]) -> str:
    """Who wrote the records of a resource: the pod, and what is named beside it."""
    attributes = {
        each.get("key"): name
        for each in _objects(field(resource, "resource.attributes"))
        if isinstance(each.get("key"), str) and (name := _shown(field(each, "value.stringValue")))
    }
    other = next((attributes[name] for name in _NAMES_OF_RESOURCES if name in attributes), "")
    return _named("/".join(filter(None, (attributes.get("k8s.pod.name"), other))))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else as_json(value)


def record_of_json(line: Line) -> Sequence[Line]:
    """An object that is a record itself, written as a line of Kafka's own layout."""
    record = record_in(line.text, line.held or object_in(line.text))
    if record is None:
        return ()
    line.at, text = record
    line.text, line.held, line.is_record = text.encode(errors="replace"), None, True
    return (line,)


PEELS: Mapping[str, Peel] = {
    "colours": _without_colours,
    **{e.name: partial(_without_prefix, re.compile(e.regex.encode(), re.DOTALL)) for e in PREFIXES},
    **{e.name: partial(_out_of_object, e) for e in OBJECTS},
    OTLP: _out_of_otlp,
    JSON_RECORD: record_of_json,
}
"""The envelopes, and what takes a line out of each, in the order in which they are tried."""
