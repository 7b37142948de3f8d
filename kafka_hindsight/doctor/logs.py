"""Estimate what an audit reads of a folder of logs from a sample of each file, in seconds and without Spark.

`python -m kafka_hindsight.doctor.logs VARIABLE PLACE PATTERN GLOB` prints JSON for `hindsight doctor`. PATTERN and GLOB
may be empty.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

import pyarrow as pa

from kafka_hindsight.catalog.codes import LineFate, Origin, WitnessKind
from kafka_hindsight.catalog.rows import ParsedHour
from kafka_hindsight.doctor.doctor_checks import CheckWords
from kafka_hindsight.intake.log_files import why_no_member, why_not_read
from kafka_hindsight.judgements.brokers.log_witnesses import find_witnesses
from kafka_hindsight.lake.landing import is_there
from kafka_hindsight.logs.event_batches import levels_and_loggers
from kafka_hindsight.logs.file_bytes import Bytes, InMemory, open_bytes, unpacked
from kafka_hindsight.logs.files import LogPlace
from kafka_hindsight.logs.forms import innermost, misfit_of, sampled
from kafka_hindsight.logs.found_files import Found, Judge, files_at, first_bytes, is_archive
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.proposals import Proposal, proposal_of
from kafka_hindsight.logs.reading import RecordReading, broker_of_line, read_record, template
from kafka_hindsight.logs.text_records import records_of
from kafka_hindsight.logs.unwrapping import wrapped_as
from kafka_hindsight.report.not_known import broker_names, missing_witnesses
from kafka_hindsight.settings.config import is_source, masked
from kafka_hindsight.shared import words
from kafka_hindsight.shared.exits import BadInput, sentences_of
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window
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

_WHOLE = Window(datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 1, tzinfo=UTC))
"""A time that stands for that of all lines of a sample: only their loggers and levels are judged."""

_EMPTY, _UNKNOWN = "empty", "unknown layout."


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
            f" {self.fates[LineFate.IGNORED]:,} are irrelevant, {unread:,} could not be read,"
            f" {self.fates[LineFate.QUARANTINED]:,} are broken.{shapes}{self.advice}",
        )


def look_at(variable: str, place: str, pattern: str | None, glob: str | None = None) -> list[CheckWords]:
    """The checks of a place.

    First what its brokers' logs could show, then one for each form of file, each copy, and each reason why files are
    left out.
    """
    reasons: Counter[str] = Counter()
    try:
        logs = [_first_lines(place)] if is_source(place) else _logs(place, pattern, glob, reasons)
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
        *(_witness_checks(files) if variable == "LOGS" and not is_source(place) else ()),
        *(check for form, sample in sorted(samples.items()) for check in sample.checks(variable, form)),
        *_copies(variable, files),
        *(("later", variable, f"{words.counted(n, 'file')} left out: {why}.") for why, n in reasons.most_common()),
    ]


def _logs(place: str, pattern: str | None, glob: str | None, reasons: Counter[str]) -> list[Log]:
    """The logs of a folder or a URI that an audit reads. `reasons` counts why the others are left out.

    Raises:
        BadInput: There are none.
    """
    if not is_there(place):
        raise BadInput(f"{masked(place)}: nothing is there. What to do: check the path.")
    log_place = LogPlace(place, "broker", "UTC", "LOGS", pattern)
    why_not = {file: why_not_read(file, log_place, glob) for file in files_at(place)}
    reasons.update(filter(None, why_not.values()))
    judge = partial(why_no_member, pattern=pattern, glob=glob)
    files = (file for file, reason in why_not.items() if not reason)
    if logs := [*islice(chain.from_iterable(_logs_in(file, judge) for file in files), MOST_FILES)]:
        return logs
    lack = "; ".join(f"{words.counted(n, 'file')} left out: {why}" for why, n in reasons.most_common())
    raise BadInput(f"{masked(place)}: it holds no log ({lack or 'it is empty'}). What to do: check the path.")


def _logs_in(file: Found, judge: Judge) -> Iterator[Log]:
    """The file, or the beginnings of the logs in an archive."""
    content = open_bytes(file.uri, file.size)
    if not is_archive(file.name):
        yield Log(file.name, content)
        return
    for name, data in first_bytes(content, SAMPLE_BYTES + 1):
        if not judge(name, partial(bytes, data)):
            yield Log(f"{file.name}/{name}", unpacked(InMemory(data), name, len(data)))


def _first_lines(place: str) -> Log:
    """The first lines of a source since an hour ago. Raises: BadInput, SourceFails."""
    now = datetime.now(UTC)
    batches = source_at(place).new(None, Period(now - timedelta(hours=1), now))
    lines = islice((line.text for batch in batches for line in batch.lines), LINES_OF_SOURCE)
    return Log(place, InMemory(b"".join(line + b"\n" for line in lines)))


def _witness_checks(files: Sequence[LogSample]) -> Iterator[CheckWords]:
    """Checks of what the brokers' logs can show, by what was read of them: as an audit says it of a window."""
    hours = [_as_hour(file) for file in files if file.readings]
    rows = find_witnesses("", hours, (), (), _WHOLE) if hours else []
    of_brokers = grouped(sorted(rows, key=lambda w: -1 if w.broker is None else w.broker), lambda w: w.broker)
    whole = [broker for broker, own in of_brokers.items() if not any(w.gap for w in own)]
    if whole:
        events = words.listed([kind.noun.events for kind in WitnessKind], last="or")
        yield "good", "LOGS", f"No logger is missing that would show {events} of {broker_names(whole)}."
    at_beginnings = "" if all(file.is_whole for file in files) else " Only the beginnings of files were read."
    for unknown in missing_witnesses(rows):
        yield "later", "LOGS", f"{unknown.sentence()} {unknown.advice}{at_beginnings}"


def _as_hour(file: LogSample) -> ParsedHour:
    """A log as if its lines were those of one hour, which is the whole time."""
    brokers = [
        b for reading, _ in file.readings if reading.pattern and (b := broker_of_line(reading.message)) is not None
    ]
    return ParsedHour(
        cluster="",
        source=file.log.name,
        origin=Origin.BROKER,
        hour_from=_WHOLE.start,
        hour_to=_WHOLE.end,
        records=len(file.readings),
        lines_in=0,
        events=0,
        ignored=0,
        unparsed=0,
        quarantined=0,
        first_at=_WHOLE.start,
        last_at=_WHOLE.end,
        lowest_broker=min(brokers, default=None),
        highest_broker=max(brokers, default=None),
        unnamed_events=0,
        loggers=list(file.loggers),
        parsed_as="",
    )


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
    has_heads: bool = True
    loggers: Sequence[str] = ()

    @property
    def events(self) -> int:
        """The records that are events."""
        return sum(r.fate is LineFate.EVENT for r, _ in self.readings)

    @property
    def is_misread(self) -> bool:
        """Whether no line begins like a log line, or most records that matter are not understood."""
        return not self.has_heads or self.events < FEW * sum(
            r.fate in (LineFate.EVENT, LineFate.UNPARSED) for r, _ in self.readings
        )


def _sample(log: Log, size: int, pattern: str | None) -> LogSample:
    """Read the whole records of a log's first bytes as an audit does."""
    data = log.content.between(0, size + 1)
    is_whole = len(data) <= size and not log.content.damage
    data = data if is_whole else data[: data.rfind(b"\n") + 1]
    if not data.strip():
        return LogSample(log, _EMPTY)
    form, lines = wrapped_as(data, pattern), sampled(data)
    records = [*records_of(data, form, pattern)]
    records = records if is_whole or len(records) == 1 else records[:-1]
    layouts = sorted({name for name, *_ in records if name})
    readings = [(read_record(*record), record[2]) for record in records]
    if form.is_plain:
        name = "Kafka's own layout" if form.others == PLAIN else form.others[0]
        if not layouts or all(r.fate is LineFate.UNPARSED for r, _ in readings):
            name = f"{_UNKNOWN} {misfit_of(lines, pattern)}"
    else:
        wrapped = f"in {' in '.join(reversed(form.envelopes))}: " if form.envelopes else ""
        name = f"{wrapped}{', '.join(layouts)}{', the newest line first' if form.is_newest_first else ''}"
    texts = pa.array([text for _, text, *_ in records], pa.string())
    loggers = levels_and_loggers(texts, (reading for reading, _ in readings)).drop_null().unique().to_pylist()
    return LogSample(log, name, lines, readings, is_whole, bool(layouts), loggers)


if __name__ == "__main__":
    print(json.dumps(look_at(sys.argv[1], sys.argv[2], sys.argv[3] or None, sys.argv[4] or None)))
