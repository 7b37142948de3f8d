"""The folders of a run's logs. New lines of a source land in the lake first, each once, as files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from kafka_hindsight.knowledge.layouts import source_of
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.claims import hold_source
from kafka_hindsight.lake.landing import landing_folder
from kafka_hindsight.logs.files import LogPlace
from kafka_hindsight.logs.unwrapping import divisions
from kafka_hindsight.settings.config import DATED, is_dated, is_source
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.declarations import Loss, Period, Source, name_of, source_at

LOGS = "logs"
"""The folder of landed logs: a folder for each source, and beside it the file of its position."""

BATCH_BYTES = 64 * 1024 * 1024
"""Bytes of lines in memory before they are written as files."""

_REACHES = (200, 2_000)
"""Lines before the end of a batch in which its last record is searched; no stack trace of Kafka is as long."""

_STAMP = "%Y%m%d-%H%M%S"
_NAME = re.compile(r"[.](\d{8}-\d{6})-(\d{6,})[.]zst$")
"""The end of a landed file's name: digits, as in the names of rotated logs."""

LinesByLog = dict[str, list[bytes]]


@dataclass(frozen=True)
class Checkpoint:
    """The state of reading a source, kept as JSON beside its folder.

    Attributes:
        batches: The number of batches that landed.
        position: The position after the last one.
        held: By log, the lines of the last instant, whose record may go on in the next batch.
        read_at: The instant of the run that read the source last.
        losses: What the source did not give any more in the last weeks: log, size, sentence, since and until.
    """

    batches: int = 0
    position: Any = None
    held: Mapping[str, Sequence[str]] = field(default_factory=dict)
    read_at: str | None = None
    losses: Sequence[Mapping[str, Any]] = ()


def land(source: Source, folder: str, period: Period, to_end: bool, pattern: str | None = None) -> tuple[int, int]:
    """Land the new lines of a source as files of whole records: `<log>.<instant>-<batch>.zst`.

    A file counts once the position after it is written. Files that a killed run left are removed and read again.

    Args:
        source: The source.
        folder: The folder of its files in the lake.
        period: From when on to read a source that was never read, and the instant of this run.
        to_end: Whether the last record of each log lands now, instead of waiting for the next run.
        pattern: The layout of the lines, if it is not a known one.

    Returns:
        The number of new lines, and how many of them came late. Late lines have files of their own, so that the others
        stay in order.
    """
    place = f"{folder}.json"
    checkpoint = _read_position(place)
    _remove_later_files(folder, checkpoint)
    lines, late = _open_lines(checkpoint), LinesByLog()
    fresh, size, count, late_count = set[str](), 0, 0, 0
    for batch in source.new(checkpoint.position, period):
        for line in batch.lines:
            name = log_of(line.log)
            if line.is_late:
                late.setdefault(name, []).append(line.text)
            else:
                lines.setdefault(name, []).append(line.text)
                fresh.add(name)
            size += len(line.text)
        count += len(batch.lines)
        late_count += sum(line.is_late for line in batch.lines)
        losses = [*checkpoint.losses, *(_during(loss, checkpoint, period) for loss in batch.losses)]
        checkpoint = replace(checkpoint, position=batch.position, losses=losses)
        if size >= BATCH_BYTES:
            checkpoint = _keep(folder, period, checkpoint, lines, late, set(lines), pattern)
            lines, late, size = _open_lines(checkpoint), {}, 0
    end = replace(checkpoint, read_at=period.until.isoformat(), losses=_recent(checkpoint.losses, period.until))
    _keep(folder, period, end, lines, late, set() if to_end else fresh, pattern)
    return count, late_count


def _open_lines(checkpoint: Checkpoint) -> LinesByLog:
    return {log: [_bytes(text) for text in open_lines] for log, open_lines in checkpoint.held.items()}


def _during(loss: Loss, checkpoint: Checkpoint, period: Period) -> Mapping[str, Any]:
    """A loss, with the time in which its lines were written at the latest, and the run that found it."""
    return {
        **loss._asdict(),
        "since": checkpoint.read_at or period.since.isoformat(),
        "until": period.until.isoformat(),
    }


def _recent(losses: Sequence[Mapping[str, Any]], now: datetime) -> list[Mapping[str, Any]]:
    """The losses that a window which may still be judged again can meet."""
    oldest = (now - timedelta(days=2 * LATE_DAYS)).isoformat()
    return [loss for loss in losses if loss["until"] >= oldest]


def losses_in(lake: str, place: LogPlace) -> Sequence[Mapping[str, Any]]:
    """The lines that a source did not give any more in the last weeks. A folder loses nothing in this way."""
    if not is_source(place.root):
        return ()
    return _read_position(f"{landed_folder(lake, place)}.json").losses


def landed_folder(lake: str, place: LogPlace) -> str:
    """The folder in which the lines of a source land."""
    return f"{landing_folder(lake, LOGS)}/{place.origin}s/{name_of(place.root)}"


def log_of(log: str) -> str:
    """The name of a log's files without the instant: one that the ingest reads, and that stays in the folder."""
    parts = [landing.safe_name(part) for part in source_of(log).split("/") if part.strip(".")] or ["unnamed"]
    return "/".join(parts) + ("" if parts[-1].endswith(".log") else ".log")


def _keep(
    folder: str,
    period: Period,
    before: Checkpoint,
    lines: LinesByLog,
    late: LinesByLog,
    growing: set[str],
    pattern: str | None,
) -> Checkpoint:
    """Write lines as files, then the position after them. The last record of each log in `growing` waits."""
    ends = {log: _end(texts, pattern) if log in growing else len(texts) for log, texts in lines.items()}
    whole = {log: texts[: ends[log]] for log, texts in lines.items() if ends[log]}
    open_lines = {
        log: [_text(line) for line in texts[ends[log] :]] for log, texts in lines.items() if ends[log] < len(texts)
    }
    number = before.batches
    for files in filter(None, (late, whole)):
        number += 1
        for log, texts in files.items():
            packed = pa.Codec("zstd").compress(b"".join(text + b"\n" for text in texts), asbytes=True)
            landing.write_atomically(f"{folder}/{log}.{period.until.astimezone(UTC):{_STAMP}}-{number:06d}.zst", packed)
    after = replace(before, batches=number, held=open_lines)
    landing.write_json(f"{folder}.json", vars(after))
    return after


def _end(texts: Sequence[bytes], pattern: str | None) -> int:
    """The number of lines before the records of the last instant; all if no record begins near the end."""
    for reach in _REACHES:
        begin = max(len(texts) - reach, 0)
        starts = divisions(texts[begin:], pattern)
        if starts[1:] or not begin:
            break
    return begin + starts[-1] if starts else len(texts)


def _remove_later_files(folder: str, checkpoint: Checkpoint) -> None:
    for name in landing.files_below(folder):
        if (number := number_of(name)) is None or number > checkpoint.batches:
            landing.remove(f"{folder}/{name}")


def number_of(name: str) -> int | None:
    """The batch number in a file's name; None for a file that a killed write left."""
    match = _NAME.search(name)
    return int(match[2]) if match else None


def batch_landed_at(name: str) -> datetime | None:
    """The instant in a file's name: when the run that landed it read the source."""
    match = _NAME.search(name)
    return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) if match else None


def _read_position(place: str) -> Checkpoint:
    value = landing.read_json(place)
    return Checkpoint() if value is None else Checkpoint(**value)


def _text(line: bytes) -> str:
    return line.decode(errors="surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


_HOUR = timedelta(hours=1)

_USUAL = {"date": "%Y-%m-%d", "hour": "%H"}
"""Formats of days and hours in names, unless a placeholder has its own."""


def ready(place: LogPlace, settings: Settings) -> LogPlace:
    """The place with the folders of its files. The new lines of a source land first.

    Raises:
        BadInput: The source cannot work, or the place has dates and the run has no window.
        SourceFails: The source does not answer.
    """
    if is_source(place.root):
        return replace(place, folders=(_landed(place, settings),))
    return replace(place, folders=dated(place, settings)) if is_dated(place.root) else place


def _landed(place: LogPlace, settings: Settings) -> str:
    begin = settings.window_from or settings.run_at - timedelta(days=LATE_DAYS)
    period = Period(begin - timedelta(hours=settings.look_back_hours), settings.run_at)
    folder = landed_folder(settings.lake, place)
    with hold_source(settings.lake, f"{place.origin}-{name_of(place.root)}", settings.run_id):
        count, late = land(source_at(place.root), folder, period, settings.read_to_end, place.pattern)
    progress.say(f"{count:,} lines are new in {place.root}; {late:,} of them came late")
    return folder


def dated(place: LogPlace, settings: Settings) -> tuple[str, ...]:
    """The folders of the days or hours that a run reads: its window with look-back and look-ahead.

    A run that only collects has no window: it reads the look-back before now.

    Raises:
        BadInput: The run audits the whole input, which has no dates.
    """
    if settings.read_to_end and not settings.window_from:
        raise BadInput(
            f"{place} which has dates, and the run has no window. Needed: a window. Set FROM and TO, or name a"
            " place without dates."
        )
    first = (settings.window_from or settings.run_at) - timedelta(hours=settings.look_back_hours)
    last = settings.window_to + timedelta(hours=settings.look_ahead_hours) if settings.window_to else settings.run_at
    hour, folders = first.replace(minute=0, second=0, microsecond=0), dict[str, None]()
    while hour <= last:
        folders[_dated_name(place.root, hour)] = None
        hour += _HOUR
    return tuple(folders)


def _dated_name(root: str, hour: datetime) -> str:
    return DATED.sub(lambda match: f"{hour:{match[2] or _USUAL[match[1]]}}", root)
