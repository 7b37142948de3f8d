"""Lines taken out of the envelopes of transports, with their writers and times; records that are JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from kafka_hindsight.knowledge.envelopes import OBJECTS, ORIGINS, OTLP, PREFIXES
from kafka_hindsight.knowledge.json_layouts import JSON_LAYOUTS
from kafka_hindsight.knowledge.model import JsonEnvelope, JsonLayout
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.heads import ISO, instant_at

_DECODE = json.JSONDecoder().decode
_FAR = 20_000_000_000
"""Seconds up to the year 2603: a greater number counts in milliseconds, microseconds or nanoseconds."""

_FURTHEST = 1e25
_NUMBER = re.compile(r"[0-9]{1,20}([.][0-9]{1,20})?")
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


def json_micros(value: Any) -> int:
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
    fields = json_object or _pairs(text)
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
        return json_micros(at)
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


JSON_RECORD = "json"
"""Stands for objects that are records themselves."""

ANY = ("colours",)
"""Envelopes that may wrap only a few of the lines."""

_PARTS = ("docker",)
"""Envelopes whose line continues in the next object where it does not end with LF."""

_ESCAPE = b"\x1b["
_COLOUR = re.compile(rb"\x1b\[[0-9;]{0,20}m")
_LABEL = re.compile(r'(\w{1,100})="((?:[^"\\]|\\.){0,400})"')
_ODD = re.compile(r"[^\w./@:-]+")
_WHO = ("labels", "namespace", "host", "from")
_NAMES_OF_RESOURCES = ("k8s.container.name", "container.name", "host.name", "service.name")
"""Attributes of an OpenTelemetry resource that name the writer, beside the pod: the first that exists."""


@dataclass(slots=True)
class EnvelopeLine:
    """A line while it is taken out of envelopes.

    `line_number` is the physical line of the file that completed it, `physical` how many physical lines it was. `at`
    and `origin` are its instant and its writer, as envelopes show them. `is_record`: it was a record of JSON, written
    here in Kafka's own layout, and `at` is the record's instant. `is_part`: it continues in the next line of its
    origin. `nested` is the JSON object that an envelope holds instead of text.
    """

    text: bytes
    line_number: int
    physical: int = 1
    at: int = NO_INSTANT
    origin: str = ""
    is_record: bool = False
    is_part: bool = False
    nested: dict[str, Any] | None = None


Peel = Callable[[EnvelopeLine], Sequence[EnvelopeLine]]
"""A function that takes a line out of an envelope. It returns the lines inside; none where the line is not in it."""


def lf_lines(data: bytes, lines_before: int) -> list[EnvelopeLine]:
    """The lines of bytes that end with LF."""
    return [EnvelopeLine(text, n) for n, text in enumerate(data.split(b"\n")[:-1], lines_before + 1)]


class Chain:
    """Nested envelopes, the outermost first. A part of a line waits until its line is complete."""

    def __init__(self, names: Iterable[str]) -> None:
        self.peels = [(PEELS[name], dict[str, EnvelopeLine]()) for name in names]
        self.count = 0

    def lines(self, outer: Iterable[EnvelopeLine]) -> list[EnvelopeLine]:
        """The lines inside physical lines, which change in place. A line without an envelope stays as it is.

        Afterwards `count` is how many lines were in the innermost envelope.
        """
        lines = list(outer)
        for peel, waiting in self.peels:
            self.count = 0
            lines = [whole for line in lines for whole in self._peeled(peel, waiting, line)]
        for line in lines:
            if line.nested is not None:
                line.text = as_json(line.nested).encode()
        return lines

    def _peeled(self, peel: Peel, waiting: dict[str, EnvelopeLine], line: EnvelopeLine) -> Iterator[EnvelopeLine]:
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

    def unfinished(self) -> list[EnvelopeLine]:
        """The lines that were never completed. They are removed."""
        lines = [line for _, waiting in self.peels for line in waiting.values()]
        for _, waiting in self.peels:
            waiting.clear()
        return lines


def split(lines: Iterable[EnvelopeLine]) -> Iterator[EnvelopeLine]:
    """Split lines at LF, except records. The first of the new lines has the physical lines."""
    for line in lines:
        if line.is_record or b"\n" not in line.text:
            yield line
            continue
        first, *others = line.text.split(b"\n")
        line.text = first
        yield line
        yield from (EnvelopeLine(text, line.line_number, 0, line.at, line.origin) for text in others)


def _without_colours(line: EnvelopeLine) -> Sequence[EnvelopeLine]:
    """Remove colours. An incomplete colour stays. Source: ECMA-48, 8.3.117."""
    if _ESCAPE not in line.text:
        return ()
    line.text = _COLOUR.sub(b"", line.text)
    return (line,)


def _without_prefix(regex: re.Pattern[bytes], line: EnvelopeLine) -> Sequence[EnvelopeLine]:
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
    return _clean_name("/".join(n for n in names if n))


@lru_cache(maxsize=4096)
def _clean_name(origin: str) -> str:
    """A name with only those characters that a source may have."""
    return _ODD.sub("_", origin).strip("/")


def _or_before(at: int, line: EnvelopeLine) -> int:
    return line.at if at == NO_INSTANT else at


def _out_of_object(envelope: JsonEnvelope, line: EnvelopeLine) -> Sequence[EnvelopeLine]:
    """Take a line out of an object that has it in a field."""
    fields = line.nested or object_in(line.text)
    if fields is None:
        return ()
    for path in envelope.has:
        if field(fields, path) is None:
            return ()
    value = field(fields, envelope.line)
    if value is None and envelope.otherwise:
        value = field(fields, envelope.otherwise)
    if value is None:
        return ()
    is_object = envelope.is_around_objects and isinstance(value, dict)
    text = b"" if is_object else _text(value)
    line.text, line.nested = text.removesuffix(b"\n"), value if is_object else None
    line.is_part = envelope.name in _PARTS and not text.endswith(b"\n")
    for path in envelope.at:
        if (at := field(fields, path)) is not None:
            line.at = _or_before(json_micros(at), line)
            break
    if envelope.has_origin:
        line.origin = _clean_name(origin_of(fields)) or line.origin
    return (line,)


def _text(value: Any) -> bytes:
    """A field's value as text. journald writes bytes that are not UTF-8 as a list of numbers."""
    if isinstance(value, list):
        value = bytes(n for n in value if isinstance(n, int) and 0 <= n < 256).decode(errors="replace")
    return (value if isinstance(value, str) else as_json(value)).encode(errors="replace")


def origin_of(fields: Mapping[str, Any]) -> str:
    """The writer of the line in an object: the first set of fields that all exist, joined by slashes."""
    for paths in _may_name(tuple(fields)):
        names = [field(fields, path) for path in paths]
        if all(isinstance(name, str) and name for name in names):
            return "/".join(names)
    return ""


@lru_cache(maxsize=4096)
def _may_name(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [paths for paths in ORIGINS if may_hold(names, paths)]


def _out_of_otlp(line: EnvelopeLine) -> Sequence[EnvelopeLine]:
    """The records of an OpenTelemetry object: one line may hold many."""
    fields = line.nested or object_in(line.text)
    records = list[EnvelopeLine]()
    for resource in _objects(field(fields, "resourceLogs")):
        origin = _resource_name(resource) or line.origin
        for scope in _objects(resource.get("scopeLogs")):
            for record in _objects(scope.get("logRecords")):
                at = json_micros(record.get("timeUnixNano") or record.get("observedTimeUnixNano"))
                text = _string(field(record, "body.stringValue")).encode(errors="replace").removesuffix(b"\n")
                physical = 0 if records else line.physical
                records.append(EnvelopeLine(text, line.line_number, physical, _or_before(at, line), origin))
    return records


def _resource_name(resource: Mapping[str, Any]) -> str:
    """The writer of a resource's records: the pod, and the first other attribute that names one."""
    attributes = {
        each.get("key"): name
        for each in _objects(field(resource, "resource.attributes"))
        if isinstance(each.get("key"), str) and (name := _string(field(each, "value.stringValue")))
    }
    other = next((attributes[name] for name in _NAMES_OF_RESOURCES if name in attributes), "")
    return _clean_name("/".join(filter(None, (attributes.get("k8s.pod.name"), other))))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else as_json(value)


def record_of_json(line: EnvelopeLine) -> Sequence[EnvelopeLine]:
    """Write an object that is a record itself as a line of Kafka's own layout."""
    record = record_in(line.text, line.nested or object_in(line.text))
    if record is None:
        return ()
    line.at, text = record
    line.text, line.nested, line.is_record = text.encode(errors="replace"), None, True
    return (line,)


PEELS: Mapping[str, Peel] = {
    "colours": _without_colours,
    **{e.name: partial(_without_prefix, re.compile(e.regex.encode(), re.DOTALL)) for e in PREFIXES},
    **{e.name: partial(_out_of_object, e) for e in OBJECTS},
    OTLP: _out_of_otlp,
    JSON_RECORD: record_of_json,
}
"""The envelopes and the function that takes a line out of each, in the order in which they are tried."""
