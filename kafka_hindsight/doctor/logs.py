"""Estimate what an audit reads of a folder of logs from a sample of each file, in seconds and without Spark.

`python -m kafka_hindsight.doctor.logs VARIABLE PLACE [PATTERN]` prints JSON for `hindsight doctor`.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX
from kafka_hindsight.lake.landing import is_there
from kafka_hindsight.logs.file_bytes import Bytes, InMemory, open_bytes, unpacked
from kafka_hindsight.logs.forms import innermost, misfit_of, sampled
from kafka_hindsight.logs.found_files import Found, files_at, first_bytes, is_archive
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.proposals import Proposal, proposal_of
from kafka_hindsight.logs.reading import RecordReading, read_record, template
from kafka_hindsight.logs.text_records import records_of
from kafka_hindsight.logs.unwrapping import wrapped_as
from kafka_hindsight.settings.config import is_source, masked
from kafka_hindsight.shared import words
from kafka_hindsight.shared.exits import BadInput, sentences_of
from kafka_hindsight.sources.declarations import Period, SourceFails, source_at

SAMPLE_BYTES = 2 * 1024 * 1024
"""Bytes that are read of a file, at most."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes that are read of all files, at most, the same of each: some ten seconds."""

MOST_FILES = 400
SHAPES = 3
LINES_OF_SOURCE = 10
FEW = 0.5
"""The least share of events among events and unparsed lines. Below it, something is wrong with the layout."""

_EMPTY, _UNKNOWN = "empty", "unknown layout."

CheckWords = tuple[str, str, str]
"""State, subject and text, as `hindsight doctor` prints them."""


@dataclass
class Sample:
    """The counts of the files of one form."""

    files: int = 0
    fates: Counter[LineFate] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    advice: str = ""
    is_whole: bool = True

    def add(self, file: LogSample) -> None:
        """Count the lines of one more file."""
        self.files += 1
        self.is_whole &= file.is_whole
        for reading, lines in file.readings:
            self.fates[reading.fate] += lines
            if reading.fate is LineFate.UNPARSED:
                self.shapes[template(reading.message)] += lines

    def checks(self, variable: str, form: str) -> Iterator[CheckWords]:
        """The checks of these files."""
        if form == _EMPTY:
            yield "later", variable, f"{words.counted(self.files, 'file')} without a line"
            return
        events, unread = self.fates[LineFate.EVENT], self.fates[LineFate.UNPARSED]
        is_good = events > 0 and events >= FEW * (events + unread) and not self.advice
        shapes = "".join(
            f"\n{count} could not be read: {shape[:200]}" for shape, count in self.shapes.most_common(SHAPES)
        )
        size = words.counted(self.fates.total(), "line") + ("" if self.is_whole else " at their beginnings")
        yield (
            "good" if is_good else "missing",
            variable,
            f"{words.counted(self.files, 'file')}: {form.removesuffix('.')}. {size}: {events:,} are events,"
            f" {self.fates[LineFate.IGNORED]:,} are of no use, {unread:,} could not be read,"
            f" {self.fates[LineFate.QUARANTINED]:,} are broken.{shapes}{self.advice}",
        )


def look_at(variable: str, place: str, pattern: str | None) -> list[CheckWords]:
    """The checks of a place, one for each form of file, and one for each copy."""
    try:
        logs = [_first_lines(place)] if is_source(place) else _logs(place)
    except BadInput as problem:
        return [("missing", variable, sentence) for sentence in problem.sentences]
    except (OSError, SourceFails) as problem:
        reason = masked(sentences_of(problem)[0])
        return [("missing", variable, f"{masked(place)}: {reason}. What to do: check the path, and the rights there.")]
    size = min(SAMPLE_BYTES, MOST_BYTES // len(logs))
    files = [_sample(log, size, pattern) for log in logs]
    samples, misread = defaultdict[str, Sample](Sample), [file for file in files if file.is_misread]
    for file in files:
        if not file.is_misread:
            samples[file.form].add(file)
    proposal = _proposal_for(misread)
    for file in misread:
        again = _sample(file.log, size, proposal.pattern) if isinstance(proposal, Proposal) else file
        if isinstance(proposal, Proposal) and again.events > file.events:
            reach = f"{proposal.read:,} of {proposal.dated:,} lines with a date"
            sample = samples[f"{_UNKNOWN} The pattern below reads {reach}"]
            sample.advice = _advice(variable, place, proposal)
            sample.add(again)
        else:
            is_unknown = isinstance(proposal, str) and file.form.startswith(_UNKNOWN)
            samples[f"{file.form} {proposal}" if is_unknown else file.form].add(file)
    return [
        *(check for form, sample in sorted(samples.items()) for check in sample.checks(variable, form)),
        *_copies(variable, files),
    ]


def _logs(place: str) -> list[Log]:
    """The logs of a folder or a URI. Raises: BadInput if there are none."""
    files = [f for f in files_at(place) if not f.why_not] if is_there(place) else None
    is_one = files is not None and len(files) == 1 and not Path(place).is_dir()
    chosen = [f for f in files or () if is_one or _is_log(f.name.rpartition("/")[2])]
    if logs := [*islice(chain.from_iterable(map(_logs_in, chosen)), MOST_FILES)]:
        return logs
    lack = "nothing is there" if files is None else "it holds no log by its name" if files else "it holds no file"
    raise BadInput(f"{masked(place)}: {lack}. What to do: {'name the files in GLOB' if files else 'check the path'}.")


def _logs_in(file: Found) -> Iterator[Log]:
    """The file, or the beginnings of the logs in an archive."""
    content = open_bytes(file.uri, file.size)
    if not is_archive(file.name):
        yield Log(file.name, content)
        return
    for name, data in first_bytes(content, SAMPLE_BYTES + 1):
        if _is_log(name.rpartition("/")[2]):
            yield Log(f"{file.name}/{name}", unpacked(InMemory(data), name, len(data)))


def _first_lines(place: str) -> Log:
    """The first lines of a source since an hour ago. Raises: BadInput, SourceFails."""
    now = datetime.now(UTC)
    batches = source_at(place).new(None, Period(now - timedelta(hours=1), now))
    lines = islice((line.text for batch in batches for line in batch.lines), LINES_OF_SOURCE)
    return Log(place, InMemory(b"".join(line + b"\n" for line in lines)))


def _copies(variable: str, files: Sequence[LogSample]) -> Iterator[CheckWords]:
    """A check of each file whose beginning another one has too."""
    first = dict[Sequence[str], LogSample]()
    for file in files:
        before = first.setdefault(tuple(file.lines), file)
        if before is not file and file.readings:
            yield "later", variable, f"{file.log.name} begins as {before.log.name}: their events are judged once."


def _proposal_for(files: Sequence[LogSample]) -> Proposal | str:
    """The pattern for all files that are not understood, out of their envelopes or as they are."""
    pools = [[line for file in files for line in of(file.lines)] for of in (innermost, list)]
    proposals = [proposal_of(lines) for lines in pools]
    return next((each for each in proposals if isinstance(each, Proposal)), proposals[0])


def _advice(variable: str, place: str, proposal: Proposal) -> str:
    """The command that uses a pattern, and what to choose where the order of a date is open."""
    option, pattern = ("--client-logs", "--client-pattern") if variable == "CLIENT_LOGS" else ("--logs", "--pattern")
    command = f"hindsight audit {option} {shlex.quote(place)} {pattern} {shlex.quote(proposal.pattern)}"
    others = "".join(f"\nIf its days are wrong: {pattern} {shlex.quote(other)}" for other in proposal.others)
    return f"\nWhat to do: {command}{others}"


def _is_log(name: str) -> bool:
    is_other = GC_LOG_REGEX.fullmatch(name) or SEGMENT_REGEX.fullmatch(name) or name.startswith((".", "_"))
    return (LOG_NAME_REGEX.fullmatch(name) is not None or is_archive(name)) and not is_other


class Log(NamedTuple):
    """A log, by its name below the place."""

    name: str
    content: Bytes


@dataclass(frozen=True)
class LogSample:
    """A log, its form, some of its lines, and the readings of its first records with their physical lines."""

    log: Log
    form: str
    lines: Sequence[str] = ()
    readings: Sequence[tuple[RecordReading, int]] = ()
    is_whole: bool = True

    @property
    def events(self) -> int:
        """The records that are events."""
        return sum(r.fate is LineFate.EVENT for r, _ in self.readings)

    @property
    def is_misread(self) -> bool:
        """Whether most records that matter are not understood."""
        return self.events < FEW * sum(r.fate in (LineFate.EVENT, LineFate.UNPARSED) for r, _ in self.readings)


def _sample(log: Log, size: int, pattern: str | None) -> LogSample:
    """Read the whole records of a log's first bytes as an audit does."""
    data = log.content.between(0, size + 1)
    is_whole = len(data) <= size and not log.content.damage
    data = data if is_whole else data[: data.rfind(b"\n") + 1]
    if not data.strip():
        return LogSample(log, _EMPTY)
    form, lines = wrapped_as(data, pattern), sampled(data)
    records = [*records_of(data, form, pattern)][: None if is_whole else -1]
    layouts = sorted({name for name, *_ in records if name})
    readings = [(read_record(*record), record[2]) for record in records]
    if form.is_plain:
        name = "Kafka's own layout" if form.others == PLAIN else form.others[0]
        if readings and all(r.fate is LineFate.UNPARSED for r, _ in readings):
            name = f"{_UNKNOWN} {misfit_of(lines, pattern)}"
    else:
        wrapped = f"in {' in '.join(reversed(form.envelopes))}: " if form.envelopes else ""
        name = f"{wrapped}{', '.join(layouts)}{', the newest line first' if form.is_newest_first else ''}"
    return LogSample(log, name, lines, readings, is_whole)


if __name__ == "__main__":
    print(json.dumps(look_at(sys.argv[1], sys.argv[2], next(iter(sys.argv[3:]), None))))
