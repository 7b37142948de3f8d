"""Estimate what an audit reads of a folder of logs from a sample of each file, in seconds and without Spark.

`python -m kafka_hindsight.cli.doctor_logs VARIABLE PLACE [PATTERN]` prints JSON for `hindsight doctor`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX
from kafka_hindsight.logs.archives import first_bytes, is_archive
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import cut
from kafka_hindsight.logs.detection import records, sampled
from kafka_hindsight.logs.file_bytes import Bytes, open_bytes, unpacked
from kafka_hindsight.logs.forms import Form, every_layout, misfit_of
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.pieces import Way, look, ranges_of
from kafka_hindsight.logs.reading import Reading, read_record, template
from kafka_hindsight.logs.unwrapping import Unwrapped, wrapped_as
from kafka_hindsight.shared import words

SAMPLE_BYTES = 1024 * 1024
MOST_FILES = 400
SHAPES = 3
FEW = 0.5
"""The least share of events among events and unparsed lines. Below it, something is wrong with the layout."""

_EMPTY = "empty"

Check = tuple[str, str, str]
"""State, subject and text, as `hindsight doctor` prints them."""


@dataclass
class Sample:
    """The counts of the files of one form."""

    files: int = 0
    fates: Counter[LineFate] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)

    def add(self, readings: Sequence[Reading]) -> None:
        """Count one more file."""
        self.files += 1
        self.fates.update(r.fate for r in readings)
        self.shapes.update(template(r.message) for r in readings if r.fate is LineFate.UNPARSED)

    def checks(self, variable: str, form: str) -> Iterator[Check]:
        """The checks of these files."""
        if form == _EMPTY:
            yield "later", variable, f"{words.counted(self.files, 'file')} without a line"
            return
        events, unread = self.fates[LineFate.EVENT], self.fates[LineFate.UNPARSED]
        is_good = events > 0 and events >= FEW * (events + unread)
        shapes = "".join(f"\n{count} unparsed: {shape[:200]}" for shape, count in self.shapes.most_common(SHAPES))
        yield (
            "good" if is_good else "missing",
            variable,
            f"{words.counted(self.files, 'file')}: {form.removesuffix('.')}. In a sample of"
            f" {words.counted(self.fates.total(), 'record')}: {events:,} events,"
            f" {self.fates[LineFate.IGNORED]:,} noise, {unread:,} unparsed.{shapes}",
        )


def look_at(variable: str, place: str, pattern: str | None) -> list[Check]:
    """The checks of a local folder, one for each form of file."""
    root = Path(place).resolve()
    if not root.exists():
        return [("missing", variable, f"{place}: nothing is there. What to do: check the path.")]
    files = [root] if root.is_file() else [p for p in sorted(root.rglob("*")) if p.is_file()]
    if not files:
        return [("missing", variable, f"{place} holds no file. What to do: check the path.")]
    logs = [p for p in files if p == root or _is_log(p.name)]
    if not logs:
        return [("missing", variable, f"{place} holds no log by its name. What to do: name the files in GLOB.")]
    samples: dict[str, Sample] = {}
    for content in islice(chain.from_iterable(map(_files, logs)), MOST_FILES):
        form, readings = _sample(content, pattern)
        samples.setdefault(form, Sample()).add(readings)
    return [check for form, sample in sorted(samples.items()) for check in sample.checks(variable, form)]


def _is_log(name: str) -> bool:
    is_other = GC_LOG_REGEX.fullmatch(name) or SEGMENT_REGEX.fullmatch(name) or name.startswith((".", "_"))
    return (LOG_NAME_REGEX.fullmatch(name) is not None or is_archive(name)) and not is_other


def _files(path: Path) -> Iterator[Bytes]:
    """The file, or the beginnings of the logs in an archive."""
    content = open_bytes(path.as_uri(), path.stat().st_size)
    if not is_archive(path.name):
        yield content
        return
    for name, data in first_bytes(content, SAMPLE_BYTES):
        if _is_log(name.rpartition("/")[2]):
            yield unpacked(Beginning(data), name, len(data))


def _sample(content: Bytes, pattern: str | None) -> tuple[str, list[Reading]]:
    """The form of a file, and the readings of its first records."""
    data = content.between(0, SAMPLE_BYTES)
    if not data.strip():
        return _EMPTY, []
    form = wrapped_as(data, pattern)
    if not form.is_plain:
        texts = list(unwrapped_records(data, form, pattern))
        layouts = sorted({name for name, _ in texts if name})
        wrapped = f"in {' in '.join(reversed(form.envelopes))}: " if form.envelopes else ""
        order = ", the newest line first" if form.is_newest_first else ""
        return f"{wrapped}{', '.join(layouts)}{order}", _readings(texts)
    lines, layouts_found = sampled(data), form.others
    readings = _readings(list(records(lines, layouts_found)))
    if all(r.fate is LineFate.UNPARSED for r in readings) and readings:
        return f"unknown layout. {misfit_of(lines, pattern)}", readings
    return layouts_found[0] if layouts_found != PLAIN else "Kafka's own layout", readings


def _readings(texts: Sequence[tuple[str | None, str]]) -> list[Reading]:
    return [read_record(layout, text) for layout, text in texts]


class Beginning(Bytes):
    """The first bytes of a file."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def between(self, begin: int, end: int) -> bytes:
        return self.data[begin:end]


def unwrapped_records(data: bytes, form: Form, pattern: str | None) -> Iterator[tuple[str | None, str]]:
    """The records of the beginning of a wrapped file, each with its layout."""
    names = every_layout(pattern)
    unwrapped = Unwrapped(Beginning(data), len(data), form, pattern)
    way, clock = Way(names, unwrapped.sources), Clock("UTC")
    text = unwrapped.between(0, 2 * len(data) + SAMPLE_BYTES)
    for part in ranges_of([look(text, 0, 0, len(text), clock, way)]):
        for row in cut(text, part, clock, None, way).to_pylist():
            yield names[row["layout"]] if row["layout"] >= 0 else None, row["text"]


if __name__ == "__main__":
    print(json.dumps(look_at(sys.argv[1], sys.argv[2], next(iter(sys.argv[3:]), None))))
