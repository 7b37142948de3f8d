"""What the files hold, looked at once before anything is written: pieces, spans, and the cluster they name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_jobs.catalog.ids import row_id
from spark_jobs.edges.file_bytes import CHUNK, Bytes
from spark_jobs.edges.file_marks import fingerprints
from spark_jobs.edges.file_work import Unit, spread
from spark_jobs.edges.log_files import LogFile, instant
from spark_jobs.edges.unwrapped_bytes import Unwrapped, wrapped_as
from spark_jobs.knowledge.envelopes import OBJECTS, PREFIXES
from spark_jobs.knowledge.json_layouts import JSON_LAYOUTS
from spark_jobs.knowledge.layouts import LAYOUTS
from spark_jobs.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED
from spark_jobs.knowledge.patterns import PATTERNS
from spark_jobs.knowledge.version import version_of
from spark_jobs.shared.exits import BadInput
from spark_jobs.transforms.durations import NEVER
from spark_jobs.transforms.intake.arrays import NO_INSTANT
from spark_jobs.transforms.intake.detection import layout_of, sampled
from spark_jobs.transforms.intake.file_order import OUT_OF_ORDER, Span
from spark_jobs.transforms.intake.forms import Form, every_layout, misfit_of
from spark_jobs.transforms.intake.frames import FRAME, MARK
from spark_jobs.transforms.intake.heads import PLAIN, Clock
from spark_jobs.transforms.intake.pieces import NO_TIMES, NOWHERE, REACH, Piece, Way, look
from spark_jobs.transforms.intake.reading import fields_of, read_record

_NAMES_CLUSTER = tuple(p for p in PATTERNS if p.kind == "cluster_named")
_KAFKAS_OWN = (" (kafka.", " (org.apache.kafka.", " (state.change.logger)")
"""What the lines of a broker's own loggers hold."""

_KAFKAS_BYTES = tuple(literal.encode() for literal in _KAFKAS_OWN)

_NAMING = tuple(p.contains.encode() for p in _NAMES_CLUSTER)

READ_AS = version_of(
    [(layout.name, layout.head) for layout in LAYOUTS],
    (PATTERN_LAYOUTS, UNDATED, JSON_LAYOUTS, PREFIXES, OBJECTS),
    [(pattern.contains, pattern.regex) for pattern in _NAMES_CLUSTER],
    _KAFKAS_OWN,
)
"""Stands for everything that a file's facts rest on, but for what a user says of it."""

_SHOWN = 3
_MOST_PIECES = 20_000
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class FileFacts:
    """What one file holds; instants are null where no line of it has a head.

    `timeless` counts records without an instant; `cluster_ids` are those that its lines name; `misfit` says how far its
    lines fit a layout where none has a head.
    """

    file: LogFile
    lines: int
    timeless: int
    first_at: datetime | None
    last_at: datetime | None
    set_back: timedelta
    is_kafka_log: bool
    damage: str | None
    cluster_ids: frozenset[str]
    misfit: str | None = None

    @property
    def span(self) -> Span:
        """The instants it covers; none where no line has a head."""
        return Span(self.file.source, self.first_at or NEVER, self.last_at or NEVER, self.timeless > 0)


@dataclass(frozen=True)
class Tail:
    """The last record of a file: where it begins, and its physical lines."""

    place: int
    lines: int


@dataclass(frozen=True)
class Survey:
    """The pieces and the facts of those files that were read to the end that they had when they were listed."""

    pieces: Mapping[int, tuple[Piece, ...]]
    facts: Mapping[int, FileFacts]

    @property
    def tails(self) -> dict[int, Tail]:
        """The last records of the files that hold some."""
        return {n: tail for n, pieces in self.pieces.items() if (tail := _tail(pieces))}

    def joined(self, other: Survey) -> Survey:
        """Both together."""
        return Survey({**self.pieces, **other.pieces}, {**self.facts, **other.facts})


def read_as(file: LogFile) -> str:
    """Stands for everything that a file's facts rest on: where it changes, the file is read again."""
    return row_id(READ_AS, file.pattern) if file.pattern else READ_AS


def warnings_about(files: Iterable[FileFacts]) -> list[str]:
    """What a person should know about files, a sentence each."""
    facts = sorted(files, key=lambda f: f.file.name)
    return [
        *(broken_off(f) for f in facts if f.damage),
        *(
            f"No line of {f.file.name} begins as a log line that we know: all {f.lines} are counted, no more."
            + (f" {f.misfit}" if f.misfit else "")
            for f in facts
            if f.lines and not f.first_at
        ),
        *(
            f"The clock of {f.file.name} goes back by up to {f.set_back}: its records keep their order in the file."
            for f in facts
            if f.set_back >= OUT_OF_ORDER
        ),
    ]


def survey(spark: SparkSession, files: Mapping[int, LogFile]) -> Survey:
    """Reads every file once. Takes: the files by their numbers.

    Gives: what could be read. A file that vanished or shrank is left out.
    Edge case: a compressed file that breaks off is read up to the break. A file of several pieces is read again where
        its beginning shows another layout than Kafka's, and in one go where its lines are wrapped or its clock shows
        an hour twice.
    """
    found = _looked(spark, files)
    for is_wanted, in_one_go in ((_is_wrapped, True), (_is_of_another_layout, False), (_shows_an_hour_twice, True)):
        again = {n: pieces[0] for n, pieces in found.items() if len(pieces) > 1 and is_wanted(pieces)}
        found |= _looked(spark, {n: files[n] for n in again}, again, in_one_go)
    whole = {n: pieces for n, pieces in found.items() if all(p.is_there for p in pieces)}
    return Survey(whole, {n: _fact(files[n], pieces) for n, pieces in whole.items()})


def changed_sources(spark: SparkSession, files: Iterable[LogFile], marks: Mapping[LogFile, str]) -> set[str]:
    """The sources of those files that no longer are what they were listed as."""
    listed = list(files)
    now = fingerprints(spark, listed)
    return {f.source for f in listed if f not in now or now[f] != marks.get(f)}


def broken_off(fact: FileFacts) -> str:
    """What is said of a damaged file."""
    return (
        f"{fact.file.name} cannot be unpacked to its end: {fact.damage}. The {fact.lines} lines before the break are "
        "kept. Needed: the whole file. Copy it again from where it was written, then audit again."
    )


def refuse_foreign(facts: Iterable[FileFacts]) -> None:
    """Raises: BadInput where none of the brokers' files holds a line of Kafka's."""
    brokers = [f for f in facts if f.file.origin == "broker"]
    if any(f.is_kafka_log and f.first_at for f in brokers):
        return
    lines = sum(f.lines for f in brokers)
    some = ", ".join(f.file.name for f in brokers[:5])
    raise BadInput(
        f"None of the {lines} lines in the {len(brokers)} files of LOGS ({some}) is one that a Kafka broker wrote. "
        f"{_misfits(brokers)}Needed: logs in the layout of Kafka's distribution, such as "
        "'[2026-11-20 23:59:59,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)', or in one that "
        "PATTERN gives. Check the path, and the pattern in the brokers' log4j configuration."
    )


def _misfits(facts: Iterable[FileFacts]) -> str:
    """What was seen instead, of one file for each sentence."""
    told = {f.misfit: f.file.name for f in facts if f.misfit}
    return "".join(f"{name}: {misfit} " for misfit, name in [*told.items()][:_SHOWN])


def piece_size(spark: SparkSession, total: int) -> int:
    """How long pieces are: the more there is to read the longer, so that the driver can hold what is known of each."""
    most = _in_bytes(spark.conf.get("spark.sql.files.maxPartitionBytes"))
    return min(most, max(CHUNK, min(_MOST_BYTES, total // _MOST_PIECES)))


def _in_bytes(text: str) -> int:
    size, unit = re.fullmatch(r"(\d+)\s*([kmgt]?)b?", text.lower()).groups()  # type: ignore[union-attr]
    return int(size) << 10 * " kmgt".index(unit or " ")


def _is_wrapped(pieces: Sequence[Piece]) -> bool:
    """Whether the beginning of a file shows that all of it has to be taken out of envelopes."""
    return pieces[0].is_wrapped and not pieces[-1].is_wrapped


def _is_of_another_layout(pieces: Sequence[Piece]) -> bool:
    return pieces[0].layouts != pieces[-1].layouts


def _shows_an_hour_twice(pieces: Sequence[Piece]) -> bool:
    return any(p.is_doubled for p in pieces) and not pieces[0].is_wrapped


def _looked(
    spark: SparkSession,
    files: Mapping[int, LogFile],
    seen: Mapping[int, Piece] | None = None,
    in_one_go: bool = False,
) -> dict[int, tuple[Piece, ...]]:
    """The pieces of files. Takes: the first piece of those that were looked at before, by which the others are read."""
    known = seen or {}
    size = piece_size(spark, sum(f.size for f in files.values()))
    units = [unit for n, f in files.items() for unit in _units(n, f, size, known.get(n), in_one_go)]
    rows = spread(spark, units, pieces_in, "piece string").collect() if units else []
    found: dict[int, list[Piece]] = {n: [] for n in files}
    for piece in (Piece.of(json.loads(row["piece"])) for row in rows):
        found[piece.file].append(piece)
    return {n: tuple(sorted(pieces, key=lambda p: p.begin)) for n, pieces in found.items()}


def _units(number: int, file: LogFile, size: int, seen: Piece | None, in_one_go: bool) -> Iterator[Unit]:
    told = {"file": number, "zone": file.zone, "size": file.size, "piece": size, "pattern": file.pattern}
    told |= {"layouts": seen and seen.layouts, "form": asdict(seen.form) if seen and seen.form else None}
    if file.is_packed:
        yield file.unit((0, file.size), {**told, "from": 0, "until": None})
        return
    for begin in range(0, file.size, file.size if in_one_go else size):
        until = file.size if in_one_go else min(begin + size, file.size)
        part = max(begin - 1, 0), min(until + REACH, file.size)
        yield file.unit(part, {**told, "from": begin, "until": until})


def pieces_in(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    """What a worker finds in a unit, a row for each piece."""
    found = list(_pieces_of(told, held))
    if held.damage:
        last = found.pop() if found else Piece(told["file"], 0, 0)
        found.append(replace(last, damage=held.damage))
    if not found and told["size"]:
        found = [Piece(told["file"], 0, 0, is_there=False)]
    yield pa.record_batch({"piece": pa.array([json.dumps(asdict(piece)) for piece in found], pa.string())})


def _pieces_of(told: Mapping[str, Any], held: Bytes) -> Iterator[Piece]:
    layouts, until = told["layouts"], told["until"]
    form = Form.of(told["form"]) if told["form"] else None
    size = None if until is None else told["size"]
    if layouts is None and not told["from"]:
        form = wrapped_as(held.between(0, CHUNK if size is None else min(CHUNK, size)), told["pattern"])
        layouts = form.others
    if form is None or form.is_plain:
        yield from _in_pieces(told, held, Way(tuple(layouts or PLAIN)))
    elif until == size:
        unwrapped = Unwrapped(held, size, form, told["pattern"])
        way = Way(every_layout(told["pattern"]), unwrapped.sources)
        for piece in _in_pieces({**told, "until": None}, unwrapped, way):
            yield replace(piece, form=form)
    else:
        yield Piece(told["file"], 0, until, is_wrapped=True, form=form)


def _in_pieces(told: Mapping[str, Any], held: Bytes, way: Way) -> Iterator[Piece]:
    clock, begin, until = Clock(told["zone"]), told["from"], told["until"]
    while until is None or begin < until:
        offset, end = max(begin - 1, 0), begin + told["piece"] if until is None else min(begin + told["piece"], until)
        data = held.between(offset, end + REACH if until is None else min(end + REACH, told["size"]))
        reached = offset + len(data)
        if until is None:
            end = min(end, reached)
            if end <= begin:
                return
        elif reached < end:
            yield Piece(told["file"], begin, end, is_there=False)
            return
        piece = look(data, told["file"], begin, end, clock, way)
        misfit = misfit_of(sampled(data), told["pattern"]) if not begin and piece.first_at == NO_INSTANT else None
        yield replace(_known(piece, data), misfit=misfit)
        begin = end


def _known(piece: Piece, data: bytes) -> Piece:
    """A piece with what its lines say of who wrote them. Another layout than Kafka's was found by what Kafka says."""
    is_kafka_log = any(literal in data for literal in _KAFKAS_BYTES) or piece.is_wrapped or piece.layouts != PLAIN
    return replace(piece, is_kafka_log=is_kafka_log, cluster_ids=tuple(sorted(set(_cluster_ids(data, piece.layouts)))))


def _cluster_ids(data: bytes, layouts: Sequence[str]) -> Iterator[str]:
    """The ids of clusters that lines name. Edge case: a line at the end of a piece may be seen in the next one too."""
    for literal in _NAMING:
        at = data.find(literal)
        while at >= 0:
            begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            begin += FRAME if data.startswith(MARK, begin) else 0
            line = data[begin : end if end >= 0 else None].decode(errors="replace")
            layout = layout_of(line, layouts)
            told = read_record(layout, line) if layout else None
            if told and told.pattern in _NAMES_CLUSTER:
                yield from fields_of(told.pattern, [told.found])["detail"]
            at = data.find(literal, end) if end >= 0 else -1


def _fact(file: LogFile, pieces: Sequence[Piece]) -> FileFacts:
    times = sum((p.before + p.after for p in pieces), NO_TIMES)
    return FileFacts(
        file=file,
        lines=sum(p.lines for p in pieces),
        timeless=times.timeless,
        first_at=instant(times.first) if times.are_any else None,
        last_at=instant(times.last) if times.are_any else None,
        set_back=_set_back(pieces),
        is_kafka_log=any(p.is_kafka_log for p in pieces),
        damage=next((p.damage for p in pieces if p.damage), None),
        cluster_ids=frozenset(i for p in pieces for i in p.cluster_ids),
        misfit=pieces[0].misfit if pieces and not times.are_any else None,
    )


def _set_back(pieces: Sequence[Piece]) -> timedelta:
    """How far the clock goes back at most, in a piece or to the next. Edge case: not where the newest line is first."""
    if pieces and pieces[0].form and pieces[0].form.is_newest_first:
        return timedelta()
    told = [p for p in pieces if p.first != NOWHERE]
    gaps = [a.last_at - b.first_at for a, b in pairwise(told) if NO_INSTANT not in (a.last_at, b.first_at)]
    return timedelta(microseconds=max([0, *gaps, *(p.set_back for p in pieces)]))


def _tail(pieces: Sequence[Piece]) -> Tail | None:
    """The last record of a file. Takes: its pieces."""
    holding = [n for n, p in enumerate(pieces) if p.first != NOWHERE]
    if not holding:
        return None
    last = pieces[holding[-1]]
    return Tail(last.last, last.lines_of_last + sum(p.lines for p in pieces[holding[-1] + 1 :]))
