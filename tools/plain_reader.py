"""A reader of log files in plain Python: for notebooks and lessons, and for tests of the ingest."""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kafka_hindsight.catalog.codes import LineFate, Origin
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.knowledge.layouts import (
    APACHE,
    LAYOUTS,
    LOG_NAME_REGEX,
    SEGMENT_REGEX,
    class_of,
    folder_of,
    source_of,
)
from kafka_hindsight.knowledge.model import Layout
from kafka_hindsight.knowledge.patterns import RELEVANT_CLASSES
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.envelope_lines import JSON_RECORD, EnvelopeLine, record_of_json
from kafka_hindsight.logs.forms import DATED, best_of, sampled
from kafka_hindsight.logs.heads import PLAIN, head_of, pattern_heads
from kafka_hindsight.logs.layout_names import layout_within
from kafka_hindsight.logs.reading import (
    RecordReading,
    broker_of_folder,
    broker_of_line,
    fields_of,
    logger_and_message,
    quotation,
    read_record,
)
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import of_micros

Fields = dict[str, Any]
"""The columns of an event while it is read."""

_HEADS = tuple((layout, re.compile(layout.head, re.ASCII)) for layout in LAYOUTS)
_RECORD_OF_JSON = replace(APACHE, name=layout_within((JSON_RECORD,), APACHE.name))
_EVENT_COLUMNS = tuple(c for c in EVENTS.column_names if c != "knowledge_version")


@dataclass
class PlainRecord:
    """One log record; `layout` is None for the text before a file's first head."""

    source: str
    text: str
    layout: Layout | None
    happened_at: datetime | None
    logger: str | None
    message: str
    line_id: str = ""
    order: int = 0

    @cached_property
    def reading(self) -> RecordReading:
        """Its fate, and the pattern that claims it."""
        name = self.layout.name if self.layout else None
        return read_record(name, self.text, self.line_count, is_dated=self.happened_at is not None)

    @property
    def line_count(self) -> int:
        """Physical lines."""
        return self.text.count("\n") + 1


@dataclass
class Leftovers:
    """The records that are not events, and how much was read.

    Attributes:
        unparsed: Records that matter and that no pattern claims.
        ignored: Records by logger that carry nothing of use.
        noise: Records by logger that matter and are known to carry nothing of use.
        repeats: Records that another file of the same broker holds too.
        records: All records.
        lines: All physical lines.
    """

    unparsed: list[PlainRecord] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    noise: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    records: int = 0
    lines: int = 0


def read_logs(folder: Path | str, origin: str, cluster: str = "cluster") -> tuple[list[Event], Leftovers]:
    """Read every log below a folder on this machine, in memory.

    Args:
        folder: A folder with a folder for each broker, or for each client.
        origin: Whose logs they are: `broker` or `client`.
        cluster: The name that the events carry.

    Returns:
        Rows of silver.events without `knowledge_version`, log by log in the order of its files; and what became no
        event. Records are events, unparsed, ignored, noise or repeats: their numbers add up. The same words of one
        broker at one instant are one event, whichever of its files hold them. A gzip file is unpacked; an archive is
        not read.

    Raises:
        BadInput: There is no such folder, or the origin is another word.
    """
    root = Path(folder)
    if origin not in (Origin.BROKER, Origin.CLIENT):
        raise BadInput(f"The origin is {origin!r}. Needed: broker or client, whose logs the folder holds.")
    if not root.is_dir():
        raise BadInput(f"{root} is not a folder. Needed: a folder with logs on this machine. Check the path.")
    events: list[Event] = []
    utterances: set[tuple[Any, ...]] = set()
    leftovers = Leftovers()
    for source, paths in _files_by_source(root).items():
        claimed: list[tuple[PlainRecord, Fields]] = []
        for record in _records_of_source(cluster, source, paths):
            leftovers.records += 1
            leftovers.lines += record.line_count
            if event := event_of(record, cluster, origin):
                claimed.append((record, event))
            elif record.reading.fate is LineFate.IGNORED:
                logger = record.logger or ""
                (leftovers.noise if class_of(logger) in RELEVANT_CLASSES else leftovers.ignored)[logger] += 1
            else:
                leftovers.unparsed.append(record)
        if origin == Origin.BROKER:
            _name_writers(source, [event for _, event in claimed])
        for record, event in claimed:
            utterance = (_writer(event), record.happened_at, record.text)
            if utterance in utterances:
                leftovers.repeats += 1
            else:
                utterances.add(utterance)
                events.append(Event.of(event))
    signed = {(e.happened_at, e.text) for e in events if e.origin == Origin.BROKER and e.broker is not None}
    unsigned = (e for e in events if e.origin == Origin.BROKER and e.broker is None)
    copies = {e.line_id for e in unsigned if (e.happened_at, e.text) in signed}
    leftovers.repeats += len(copies)
    return [e for e in events if e.line_id not in copies], leftovers


def _name_writers(source: str, events: list[Fields]) -> None:
    """Give lines that name no broker the only one that others of the log name; where none does, that of its folder."""
    brokers = {event["broker"] for event in events} - {None}
    writer = broker_of_folder(source)
    if brokers:
        writer = brokers.pop() if len(brokers) == 1 else None
    for event in events:
        event["broker"] = writer if event["broker"] is None else event["broker"]


def _writer(event: Fields) -> tuple[Any, ...]:
    """The writer of an event: a broker, whichever file it is in; or a client, which is its file."""
    source = event["source"]
    if event["origin"] == Origin.CLIENT:
        return "client", source
    return "broker", event["broker"] if event["broker"] is not None else folder_of(source)


def event_of(record: PlainRecord, cluster: str, origin: str) -> Fields | None:
    """The event of a record, or None where no pattern claims it. Its broker is the one that the line itself names."""
    reading = record.reading
    if reading.pattern is None:
        return None
    return dict.fromkeys(_EVENT_COLUMNS) | {
        "line_id": record.line_id,
        "cluster": cluster,
        "origin": origin,
        "source": record.source,
        "happened_at": record.happened_at,
        "order": record.order,
        "broker": broker_of_line(reading.message) if origin == Origin.BROKER else None,
        "kind": reading.pattern.kind.value,
        "pattern_id": reading.pattern.pattern_id,
        "text": quotation(record.text),
        **{name: values[0] for name, values in fields_of(reading.pattern, [reading.groups]).items()},
    }


def read_line(text: str, source: str = "", layouts: Sequence[str] = ()) -> PlainRecord:
    """Read one record by the layout whose head it shows.

    Args:
        text: A head and the lines that follow it, such as a stack trace; without the last line's end.
        source: The log that holds it: its folder and name.
        layouts: Names of the layouts of its file, where they are known.

    Returns:
        The record; `reading.pattern` is the pattern that claims it, or None.
    """
    plain = next((_plain_record(layout, text, source) for layout, head in _HEADS if head.match(text)), None)
    if plain and plain.logger:
        return plain
    inside = EnvelopeLine(text.encode(), 0)
    if "\n" not in text and record_of_json(inside):
        line = inside.text.decode()
        logger, message = logger_and_message(_RECORD_OF_JSON.name, line)
        return replace(read_line(line, source), layout=_RECORD_OF_JSON, logger=logger, message=message)
    name = next((n for n in layouts or _layouts_of(text) if n not in PLAIN and head_of(n).match(text)), None)
    return (
        _record_of_pattern(name, text, source) if name else plain or PlainRecord(source, text, None, None, None, text)
    )


def _plain_record(layout: Layout, text: str, source: str) -> PlainRecord:
    """A record in Kafka's own layout, or in librdkafka's."""
    stamp = text[1:24].replace(",", ".") if layout is APACHE else text.split("|", 2)[1]
    return PlainRecord(source, text, layout, _instant(stamp, layout.is_epoch), *layout.cut(text))


def _layouts_of(text: str) -> Sequence[str]:
    """The layouts of a single record. Where it is not an event, a relevant logger shows its layout."""
    names = best_of([text])[0]
    return (
        names
        if names != PLAIN
        else [n for n in DATED if class_of(logger_and_message(n, text)[0] or "") in RELEVANT_CLASSES]
    )


def _record_of_pattern(name: str, text: str, source: str) -> PlainRecord:
    """A record whose layout is a pattern."""
    _, clocks, _ = pattern_heads(text.encode(), np.zeros(1, np.int64), name)
    at = of_micros(int(clocks[0])) if len(clocks) and clocks[0] != NO_INSTANT else None
    return PlainRecord(source, text, replace(APACHE, name=name), at, *logger_and_message(name, text))


def _instant(stamp: str, is_epoch: bool) -> datetime | None:
    """The instant in UTC; None where the head's digits are not a date."""
    try:
        if is_epoch:
            seconds, _, millis = stamp.partition(".")
            return datetime.fromtimestamp(int(seconds), UTC).replace(microsecond=int(millis) * 1000)
        return datetime.fromisoformat(stamp).replace(tzinfo=UTC)
    except ValueError:
        return None


def _files_by_source(root: Path) -> dict[str, list[Path]]:
    files: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(root.rglob("*")):
        if path.is_file() and LOG_NAME_REGEX.fullmatch(path.name) and not SEGMENT_REGEX.fullmatch(path.name):
            files[source_of(path.relative_to(root).as_posix())].append(path)
    return files


def _records_of_source(cluster: str, source: str, paths: Iterable[Path]) -> Iterator[PlainRecord]:
    """The records of one log, each once, with its files in the order of their instants."""
    files = sorted((list(_records_of_file(cluster, source, p)) for p in paths), key=_span)
    ranks: Counter[datetime | None] = Counter()
    line_ids: set[str] = set()
    for record in (r for file in files for r in file):
        if record.line_id not in line_ids:
            line_ids.add(record.line_id)
            record.order = ranks[record.happened_at]
            ranks[record.happened_at] += 1
            yield record


def _span(records: list[PlainRecord]) -> tuple[datetime, datetime]:
    instants = [r.happened_at for r in records if r.happened_at] or [datetime.max.replace(tzinfo=UTC)]
    return min(instants), max(instants)


def _records_of_file(cluster: str, source: str, path: Path) -> Iterator[PlainRecord]:
    twins: Counter[str] = Counter()
    whole = text_of(path)
    layouts = best_of(sampled(whole.encode()))[0]
    for text in split(whole, layouts):
        record = read_line(text, source, layouts)
        record.line_id = row_id(cluster, source, record.text, twins[record.text])
        twins[record.text] += 1
        yield record


def text_of(path: Path) -> str:
    """The text of a log, unpacked where it is a gzip file."""
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode(errors="replace")


def split(text: str, layouts: Sequence[str] = PLAIN) -> Iterator[str]:
    """Split a text into records: a head and everything up to the next head, or a JSON object. LF alone ends a line.

    It shares nothing with the ingest's own cutting, so that tests compare two readers.
    """
    if not text:
        return
    record: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        if record and (line.startswith(('{"', "time=")) or any(head_of(name).match(line) for name in layouts)):
            yield "\n".join(record)
            record = []
        record.append(line)
    yield "\n".join(record)
