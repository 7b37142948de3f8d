"""What is new in a source becomes files in the lake, each line once: folders as the ingest reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from kafka_hindsight.knowledge.layouts import source_of
from kafka_hindsight.lake import landing
from kafka_hindsight.logs.divisions import divisions
from kafka_hindsight.sources.model import Period, Source

LOGS = "logs"
"""What lands here: a folder for each source, and beside it the file of its position."""

BATCH_BYTES = 64 * 1024 * 1024
"""Bytes of lines that are held before they become files."""

_REACHES = (200, 2_000)
"""Lines before the end of a batch in which its last instant is looked for; no trace of Kafka's has as many."""

_STAMP = "%Y%m%d-%H%M%S"
_NAME = re.compile(r"[.](\d{8}-\d{6})-(\d{6,})[.]zst$")
"""How the name of a log's file ends: digits, as the names of rotated logs do."""

Lines = dict[str, list[bytes]]


@dataclass(frozen=True)
class Reached:
    """How far a source was read: the batches that landed, the position behind the last one, and by log the lines of
    the last instant, which may go on in the next one.
    """

    batches: int = 0
    position: Any = None
    held: Mapping[str, Sequence[str]] = field(default_factory=dict)


def land(source: Source, folder: str, period: Period, to_end: bool, pattern: str | None = None) -> int:
    """Lands what is new in a source as files of whole records below a folder: `<log>.<instant>-<batch>.zst`.

    Takes: `to_end`, whether last records are taken as they stand.
    Gives: how many lines came.
    Keeps: a file counts once the position behind it is written; what a killed reading left is removed, and read again.
    """
    place = f"{folder}.json"
    reached = _read(place)
    _remove_unreached(folder, reached)
    lines: Lines = {log: [_bytes(text) for text in held] for log, held in reached.held.items()}
    fresh, size, count = set[str](), 0, 0
    for batch in source.new(reached.position, period):
        for log, text in batch.lines:
            name = log_of(log)
            lines.setdefault(name, []).append(text)
            fresh.add(name)
            size += len(text)
        count += len(batch.lines)
        reached = Reached(reached.batches, batch.position, reached.held)
        if size >= BATCH_BYTES:
            reached = _keep(folder, period, reached, lines, set(lines), pattern)
            lines, size = {log: [_bytes(text) for text in held] for log, held in reached.held.items()}, 0
    _keep(folder, period, reached, lines, set() if to_end else fresh, pattern)
    return count


def log_of(log: str) -> str:
    """The name of a log's files, below the folder and before the instant: one that the ingest reads as a log.

    Keeps: no name leads out of the folder.
    """
    parts = [landing.safe_name(part) for part in source_of(log).split("/") if part.strip(".")] or ["unnamed"]
    return "/".join(parts) + ("" if parts[-1].endswith(".log") else ".log")


def _keep(
    folder: str, period: Period, before: Reached, lines: Lines, growing: set[str], pattern: str | None
) -> Reached:
    """Writes lines as files, then the position that follows them. Takes: the logs of which the last record waits."""
    ends = {log: _end(texts, pattern) if log in growing else len(texts) for log, texts in lines.items()}
    whole = {log: texts[: ends[log]] for log, texts in lines.items() if ends[log]}
    held = {log: [_text(line) for line in texts[ends[log] :]] for log, texts in lines.items() if ends[log] < len(texts)}
    number = before.batches + bool(whole)
    for log, texts in whole.items():
        packed = pa.Codec("zstd").compress(b"".join(text + b"\n" for text in texts), asbytes=True)
        landing.write_atomically(f"{folder}/{log}.{period.until.astimezone(UTC):{_STAMP}}-{number:06d}.zst", packed)
    after = Reached(number, before.position, held)
    landing.write_atomically(f"{folder}.json", json.dumps(vars(after), sort_keys=True) + "\n")
    return after


def _end(texts: Sequence[bytes], pattern: str | None) -> int:
    """How many lines come before the records of the last instant; all where no record begins near the end."""
    for reach in _REACHES:
        begin = max(len(texts) - reach, 0)
        found = divisions(texts[begin:], pattern)
        if found[1:] or not begin:
            break
    return begin + found[-1] if found else len(texts)


def _remove_unreached(folder: str, reached: Reached) -> None:
    for name in landing.files_below(folder):
        if (number := number_of(name)) is None or number > reached.batches:
            landing.remove(f"{folder}/{name}")


def number_of(name: str) -> int | None:
    """The number of the batch in a file's name; None for what a write left that was killed."""
    found = _NAME.search(name)
    return int(found[2]) if found else None


def landed_at(name: str) -> datetime | None:
    """The instant in a file's name: the end of the reading that brought it."""
    found = _NAME.search(name)
    return datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC) if found else None


def _read(place: str) -> Reached:
    try:
        return Reached(**json.loads(landing.read_text(place)))
    except FileNotFoundError:
        return Reached()


def _text(line: bytes) -> str:
    return line.decode(errors="surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
