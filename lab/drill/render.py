"""Logs written in another layout: what Kafka would have written with another pattern in its settings.

`python -m lab.drill.render LOGS NEW --layout strimzi --envelopes compose,docker` writes a folder of logs again.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from kafka_hindsight.knowledge.json_layouts import OF_CLASSES
from kafka_hindsight.knowledge.layouts import APACHE, LOG_NAME_REGEX
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS
from kafka_hindsight.shared.exits import BadInput
from tools.plain_reader import PlainRecord, read_line, split, text_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

THREAD = "kafka-request-handler-3"
LEVEL = re.compile(r"\[[^\]]*\] ([A-Z]+) ")
_WORD = re.compile(r"%(-?\d*)(?:[.]\d+)?(pid|property|logger|[dptcFLXxm]|n)((?:\{[^}]*\})*)")

CRI_PART = 150
"""Characters after which a line is cut in parts: few, so that some are."""


def in_pattern(record: PlainRecord, pattern: str) -> str:
    """A record of Apache's layout as a pattern lays it out; its stack trace follows as ever."""
    at: datetime = record.happened_at  # type: ignore[assignment]
    level = LEVEL.match(record.text)
    words = {
        "d": f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}",
        "p": level[1] if level else "INFO",
        "t": THREAD,
        "c": record.logger or "",
        "logger": abbreviated(record.logger or ""),
        "F": "Kafka.java",
        "L": "66",
        "pid": "1",
        "property": "shop",
        "X": "",
        "x": "[]",
        "m": record.message,
        "n": trace_of(record),
    }

    def text_of_word(word: re.Match[str]) -> str:
        value = words[word[2]]
        if word[2] == "p" and "=" in word[3]:
            value = dict(re.findall(r"(\w+)=(\w+)", word[3]))[value]
        if word[2] == "c" and word[3] == "{1}":
            value = value.rpartition(".")[2]
        width = int(word[1] or 0)
        return value.ljust(-width) if width < 0 else value.rjust(width)

    return _WORD.sub(text_of_word, pattern)


def trace_of(record: PlainRecord) -> str:
    """The lines after the line that names the logger."""
    ends = f"{record.message} ({record.logger})"
    return record.text[record.text.index(ends) + len(ends) :] if ends in record.text else ""


def abbreviated(logger: str) -> str:
    """A logger's name as logback shortens it: the first letters of its packages."""
    *packages, name = logger.split(".")
    return ".".join([*(p[0] for p in packages), name])


Wrap = Callable[[str, datetime, str], str]
"""Takes a line, when it passed and who wrote it; gives it as a transport writes it."""


def _cri(line: str, at: datetime, _: str) -> str:
    if len(line) <= CRI_PART:
        return f"{_nanos(at)} stdout F {line}"
    first, rest = line[:CRI_PART], line[CRI_PART:]
    return f"{_nanos(at)} stdout P {first}\n{_cri(rest, at, '')}"


def _docker(line: str, at: datetime, _: str) -> str:
    fields = {"stream": "stdout", "time": _nanos(at)}
    if len(line) <= CRI_PART:
        return json.dumps({"log": f"{line}\n", **fields})
    return f"{json.dumps({'log': line[:CRI_PART], **fields})}\n{_docker(line[CRI_PART:], at, '')}"


def _nanos(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}123Z"


def _iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _otlp(line: str, at: datetime, source: str) -> str:
    pod = [{"key": "k8s.pod.name", "value": {"stringValue": source}}]
    record = {"timeUnixNano": str(int(at.timestamp()) * 10**9), "body": {"stringValue": line}}
    scopes = [{"logRecords": [record]}]
    return json.dumps({"resourceLogs": [{"resource": {"attributes": pod}, "scopeLogs": scopes}]})


WRAPS: dict[str, Wrap] = {
    "colours": lambda line, at, source: f"\x1b[32m{line}\x1b[0m",
    "cri": _cri,
    "docker": _docker,
    "kubectl-prefix": lambda line, at, source: f"[pod/{source}/kafka] {line}",
    "timestamps": lambda line, at, source: f"{_nanos(at)} {line}",
    "cloudwatch-tail": lambda line, at, source: f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00 {source} {line}",
    "compose": lambda line, at, source: f"{source}  | {line}",
    "fluentd": lambda line, at, source: f"{at:%Y-%m-%dT%H:%M:%S}+00:00\t{source}\t{json.dumps({'log': line})}",
    "fluentd-stdout": lambda line, at, source: (
        f"{at:%Y-%m-%d %H:%M:%S}.0 +0000 {source}: {json.dumps({'message': line})}"
    ),
    "stern": lambda line, at, source: f"{source} kafka {line}",
    "stern-namespaces": lambda line, at, source: f"prod {source} kafka {line}",
    "journald": lambda line, at, source: f"{at:%Y-%m-%dT%H:%M:%S}+0000 host-1 {source}[123]: {line}",
    "rfc3164": lambda line, at, source: f"<30>{at:%b %d %H:%M:%S} host-1 {source}[123]: {line}",
    "rfc5424": lambda line, at, source: f"<134>1 {_iso(at)} host-1 {source} 123 - - {line}",
    "loki": lambda line, at, source: f'{at:%Y-%m-%dT%H:%M:%SZ} {{app="kafka", pod="{source}"}} {line}',
    "loki-json": lambda line, at, source: json.dumps({"labels": {"pod": source}, "line": line, "timestamp": _iso(at)}),
    "fluent-bit": lambda line, at, source: json.dumps(
        {
            "date": at.timestamp(),
            "log": line,
            "stream": "stdout",
            "kubernetes": {"pod_name": source, "container_name": "kafka"},
        }
    ),
    "filebeat": lambda line, at, source: json.dumps(
        {"@timestamp": _iso(at), "host": {"name": source}, "log": {"file": {"path": "/v/kafka.log"}}, "message": line}
    ),
    "vector": lambda line, at, source: json.dumps(
        {"file": "/v/kafka.log", "host": source, "message": line, "source_type": "file", "timestamp": _iso(at)}
    ),
    "logstash": lambda line, at, source: json.dumps(
        {"@timestamp": _iso(at), "@version": "1", "host": source, "path": "/v/kafka.log", "message": line}
    ),
    "elasticsearch": lambda line, at, source: json.dumps(
        {"_index": "logs", "_id": "1", "_source": json.loads(WRAPS["filebeat"](line, at, source))}
    ),
    "gelf": lambda line, at, source: json.dumps(
        {"version": "1.1", "host": source, "short_message": line, "timestamp": at.timestamp()}
    ),
    "journald-json": lambda line, at, source: json.dumps(
        {
            "__REALTIME_TIMESTAMP": str(int(at.timestamp()) * 10**6),
            "_HOSTNAME": "host-1",
            "_SYSTEMD_UNIT": f"{source}.service",
            "MESSAGE": line,
        }
    ),
    "otlp": _otlp,
}
"""The envelopes by name."""


def wrapped(text: str, at: datetime, source: str, wraps: Sequence[str]) -> str:
    """The lines of a record in envelopes, the innermost first."""
    for name in wraps:
        text = "\n".join(WRAPS[name](line, at, source) for line in text.split("\n"))
    return text


def in_json(record: PlainRecord, layout: str) -> str:
    """A record of Apache's layout as an object of JSON."""
    at: datetime = record.happened_at  # type: ignore[assignment]
    level = LEVEL.match(record.text)
    names = {layout.name: layout for layout in OF_CLASSES}[layout]
    millis = int(at.timestamp()) * 1_000 + at.microsecond // 1_000
    instants = {
        "instant": {"epochSecond": millis // 1_000, "nanoOfSecond": millis % 1_000 * 1_000_000},
        "timeMillis": millis,
    }
    fields = {
        names.at: instants.get(names.at, _iso(at)),
        names.level: level[1] if level else "INFO",
        names.logger: record.logger,
        names.message: record.message,
        names.trace: trace_of(record).lstrip("\n") or None,
    }
    return json.dumps({name: value for name, value in fields.items() if value is not None})


def render(text: str, layout: str, wraps: Sequence[str], source: str) -> str:
    """A log of Apache's layout in another one and in envelopes, the innermost first.

    Lines without a layout and librdkafka's lines stay as they are, inside the envelopes.
    """
    patterns = {each.name: each.pattern for each in PATTERN_LAYOUTS}
    objects = {each.name for each in OF_CLASSES}
    at, lines = EPOCH, list[str]()
    for record in (read_line(part) for part in split(text)):
        at = record.happened_at or at
        text = record.text
        if record.layout is APACHE and record.logger and record.happened_at and layout != APACHE.name:
            text = in_json(record, layout) if layout in objects else in_pattern(record, patterns.get(layout, layout))
        lines.append(wrapped(text, at, source, wraps) + "\n")
    return "".join(lines)


def render_folder(origin: Path, to: Path, layout: str, wraps: Sequence[str]) -> list[Path]:
    """Write every log below a folder again below another. Returns the new files.

    Raises BadInput for an unknown envelope or layout, and where the other folder exists.
    """
    layouts = [
        APACHE.name,
        *(each.name for each in PATTERN_LAYOUTS),
        *(each.name for each in OF_CLASSES),
    ]
    if layout not in layouts and "%" not in layout:
        raise BadInput(f"{layout!r} is not a layout. Needed: a pattern of log4j, or one of {', '.join(layouts)}.")
    if unknown := [name for name in wraps if name not in WRAPS]:
        raise BadInput(f"{unknown[0]!r} is not an envelope. Needed: one of {', '.join(WRAPS)}.")
    if to.exists():
        raise BadInput(f"{to} is there already. Needed: the name of a new folder.")
    files = []
    for path in sorted(p for p in origin.rglob("*") if p.is_file() and LOG_NAME_REGEX.fullmatch(p.name)):
        place = to / path.relative_to(origin).with_name(path.name.removesuffix(".gz"))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(render(text_of(path), layout, wraps, path.parent.name), encoding="utf-8", newline="")
        files.append(place)
    return files


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m lab.drill.render",
        description="Write logs again in another layout and in envelopes.",
    )
    parser.add_argument("logs", type=Path, help="the folder, in Kafka's layout")
    parser.add_argument("to", type=Path, help="a new folder")
    parser.add_argument("--layout", default="apache", help="a layout that is known by name, or a pattern of log4j")
    parser.add_argument("--envelopes", default="", help="names with commas between them, the innermost first")
    options = parser.parse_args(arguments)
    envelopes = [name.strip() for name in options.envelopes.split(",") if name.strip()]
    try:
        print(f"{len(render_folder(options.logs, options.to, options.layout, envelopes))} files in {options.to}")
    except BadInput as problem:
        parser.error(" ".join(problem.sentences))


if __name__ == "__main__":
    main()
