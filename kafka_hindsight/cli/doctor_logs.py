"""Estimate what an audit reads of a folder of logs from a sample of each file, in seconds and without Spark.

`python -m kafka_hindsight.cli.doctor_logs VARIABLE PLACE [PATTERN]` prints JSON for `hindsight doctor`.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX
from kafka_hindsight.logs.archives import first_bytes, is_archive
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import cut
from kafka_hindsight.logs.detection import records, sampled
from kafka_hindsight.logs.file_bytes import Bytes, open_bytes, unpacked
from kafka_hindsight.logs.forms import Form, every_layout, innermost, misfit_of
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.pieces import Way, look, ranges_of
from kafka_hindsight.logs.proposals import Proposal, proposal_of
from kafka_hindsight.logs.reading import Reading, read_record, template
from kafka_hindsight.logs.unwrapping import Unwrapped, wrapped_as
from kafka_hindsight.shared import words

SAMPLE_BYTES = 1024 * 1024
MOST_FILES = 400
SHAPES = 3
FEW = 0.5
"""The least share of events among events and unparsed lines. Below it, something is wrong with the layout."""

_EMPTY, _UNKNOWN = "empty", "unknown layout."

Check = tuple[str, str, str]
"""State, subject and text, as `hindsight doctor` prints them."""


@dataclass
class Sample:
    """The counts of the files of one form."""

    files: int = 0
    fates: Counter[LineFate] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    advice: str = ""

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
        is_good = events > 0 and events >= FEW * (events + unread) and not self.advice
        shapes = "".join(f"\n{count} unparsed: {shape[:200]}" for shape, count in self.shapes.most_common(SHAPES))
        yield (
            "good" if is_good else "missing",
            variable,
            f"{words.counted(self.files, 'file')}: {form.removesuffix('.')}. In a sample of"
            f" {words.counted(self.fates.total(), 'record')}: {events:,} events,"
            f" {self.fates[LineFate.IGNORED]:,} noise, {unread:,} unparsed.{shapes}{self.advice}",
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
    samples, misread = defaultdict[str, Sample](Sample), list[File]()
    for file in map(partial(_sample, pattern=pattern), islice(chain.from_iterable(map(_files, logs)), MOST_FILES)):
        if file.is_misread:
            misread.append(file)
        else:
            samples[file.form].add(file.readings)
    proposal = _proposal_for(misread)
    for file in misread:
        again = _sample(file.content, proposal.pattern) if isinstance(proposal, Proposal) else file
        if isinstance(proposal, Proposal) and again.events > file.events:
            sample = samples[f"unknown layout. {_proposal_says(proposal)}"]
            sample.advice = _advice(variable, place, proposal)
            sample.add(again.readings)
        else:
            is_unknown = isinstance(proposal, str) and file.form.startswith(_UNKNOWN)
            samples[f"{file.form} {proposal}" if is_unknown else file.form].add(file.readings)
    return [check for form, sample in sorted(samples.items()) for check in sample.checks(variable, form)]


def _proposal_for(files: Sequence[File]) -> Proposal | str:
    """The pattern for all files that are not understood, out of their envelopes or as they are."""
    pools = [[line for file in files for line in of(file.lines)] for of in (innermost, list)]
    proposals = [proposal_of(lines) for lines in pools]
    return next((each for each in proposals if isinstance(each, Proposal)), proposals[0])


def _proposal_says(proposal: Proposal) -> str:
    return f"The pattern below reads {proposal.read:,} of {proposal.dated:,} lines with a date"


def _advice(variable: str, place: str, proposal: Proposal) -> str:
    """The command that uses a pattern, and what to choose where the order of a date is open."""
    option, pattern = ("--client-logs", "--client-pattern") if variable == "CLIENT_LOGS" else ("--logs", "--pattern")
    command = f"hindsight audit {option} {shlex.quote(place)} {pattern} {shlex.quote(proposal.pattern)}"
    others = "".join(f"\nIf its days are wrong: {pattern} {shlex.quote(other)}" for other in proposal.others)
    return f"\nWhat to do: {command}{others}"


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


@dataclass(frozen=True)
class File:
    """A file, its form, some of its lines, and the readings of its first records."""

    content: Bytes
    form: str
    lines: Sequence[str] = ()
    readings: Sequence[Reading] = ()

    @property
    def events(self) -> int:
        """The records that are events."""
        return sum(r.fate is LineFate.EVENT for r in self.readings)

    @property
    def is_misread(self) -> bool:
        """Whether most records that matter are not understood."""
        return self.events < FEW * sum(r.fate in (LineFate.EVENT, LineFate.UNPARSED) for r in self.readings)


def _sample(content: Bytes, pattern: str | None) -> File:
    data = content.between(0, SAMPLE_BYTES)
    if not data.strip():
        return File(content, _EMPTY)
    form, lines = wrapped_as(data, pattern), sampled(data)
    if not form.is_plain:
        texts = list(unwrapped_records(data, form, pattern))
        layouts = sorted({name for name, _ in texts if name})
        wrapped = f"in {' in '.join(reversed(form.envelopes))}: " if form.envelopes else ""
        order = ", the newest line first" if form.is_newest_first else ""
        return File(content, f"{wrapped}{', '.join(layouts)}{order}", lines, _readings(texts))
    layouts_found = form.others
    readings = _readings(list(records(lines, layouts_found)))
    name = layouts_found[0] if layouts_found != PLAIN else "Kafka's own layout"
    if all(r.fate is LineFate.UNPARSED for r in readings) and readings:
        name = f"{_UNKNOWN} {misfit_of(lines, pattern)}"
    return File(content, name, lines, readings)


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
