"""The survey of files before anything is written: their pieces, their spans, and the clusters that they name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any

from kafka_hindsight.catalog.codes import ClockMeaning
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows.structs import ClockStep, ClusterNaming, RepeatedHour
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.file_register import fingerprints
from kafka_hindsight.knowledge.layouts import KAFKAS_LOGGERS
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.clocks import SKEW, Clock, ClockStepRange
from kafka_hindsight.logs.file_bytes import CHUNK, Bytes, FilePart
from kafka_hindsight.logs.file_facts import FileFacts, Survey, is_of_broker
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.logs.forms import every_layout, layout_of, misfit_of, sampled
from kafka_hindsight.logs.heads import FRAME, MARK, PLAIN
from kafka_hindsight.logs.pieces import NO_TIMES, REACH, Piece, Way, beginnings, look
from kafka_hindsight.logs.reading import fields_of, read_record
from kafka_hindsight.logs.unwrapping import Unwrapped, wrapped_as
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import of_micros
from kafka_hindsight.shared.words import counted

_NAMES_CLUSTER = tuple(p for p in PATTERNS if p.kind == Kind.CLUSTER_NAMED)
_NAMING = tuple(p.contains.encode() for p in _NAMES_CLUSTER)

_MOST_PIECES = 20_000
_MOST_BYTES = 64 * 1024 * 1024


def survey(engine: Engine, files: Mapping[int, ListedFile], copies: str) -> Survey:
    """Read every file once. A file that vanished or shrank is left out; one that breaks off is read up to the break.

    A file of several pieces is read again if its beginning shows another layout than Kafka's. It is read again in one
    go if its lines are wrapped, or its clock shows an hour twice or goes back between two pieces. `copies` is
    the folder for unwrapped lines.
    """
    by_file = _look_at(engine, files, copies)
    for is_wanted, in_one_go in ((_is_wrapped, True), (_is_of_another_layout, False), (_goes_back, True)):
        first_pieces = {n: pieces[0] for n, pieces in by_file.items() if len(pieces) > 1 and is_wanted(pieces)}
        by_file |= _look_at(engine, {n: files[n] for n in first_pieces}, copies, first_pieces, in_one_go)
    complete = {n: pieces for n, pieces in by_file.items() if all(p.is_there for p in pieces)}
    return Survey(complete, {n: _fact(files[n], pieces) for n, pieces in complete.items()})


def changed_sources(files: Collection[ListedFile], marks: Mapping[ListedFile, str]) -> set[str]:
    """The sources of files whose fingerprint is another one now."""
    current = fingerprints(files)
    return {f.source for f in files if f not in current or current[f] != marks.get(f)}


def piece_size(most: int, total: int) -> int:
    """The size of pieces: the more there is to read, the larger, so that facts about all fit the driver's memory."""
    return min(most, max(CHUNK, min(_MOST_BYTES, total // _MOST_PIECES)))


def _is_wrapped(pieces: Sequence[Piece]) -> bool:
    """Whether the beginning of a file shows that all of its lines are in envelopes."""
    return pieces[0].is_wrapped and not pieces[-1].is_wrapped


def _is_of_another_layout(pieces: Sequence[Piece]) -> bool:
    return pieces[0].layouts != pieces[-1].layouts


def _goes_back(pieces: Sequence[Piece]) -> bool:
    """Whether the clock of a file shows an hour twice or goes back.

    A step back between two pieces counts if it is longer than brokers' clocks differ.
    """
    times = [p.before + p.after for p in pieces]
    tops = accumulate((t.last for t in times), max)
    is_back = any(top - SKEW > later.first for top, later in zip(tops, times[1:], strict=False))
    return (is_back or any(p.repeated for p in pieces)) and not pieces[0].is_wrapped


def _look_at(
    engine: Engine,
    files: Mapping[int, ListedFile],
    copies: str,
    first_pieces: Mapping[int, Piece] | None = None,
    in_one_go: bool = False,
) -> dict[int, tuple[Piece, ...]]:
    """The pieces of files; `first_pieces` of those that are read again show how to read the others."""
    size = piece_size(engine.piece, sum(f.size for f in files.values()))
    units = [
        unit
        for n, f in files.items()
        for unit in _units(n, f, size, f.copy_in(copies), (first_pieces or {}).get(n), in_one_go)
    ]
    by_file: dict[int, list[Piece]] = {n: [] for n in files}
    for piece in engine.spread(units, pieces_in):
        by_file[piece.file].append(piece)
        if piece.misfit and not piece.begin:
            name, lines = files[piece.file].name, counted(piece.lines, "line")
            progress.say(
                f"None of the first {lines} of {name} begins like a log line of a known layout: {piece.misfit}"
            )
    return {n: tuple(sorted(pieces, key=lambda p: p.begin)) for n, pieces in by_file.items()}


def _units(
    number: int, file: ListedFile, size: int, copy: str, first_piece: Piece | None, in_one_go: bool
) -> Iterator[FilePart]:
    arguments = {
        **{"file": number, "zone": file.zone, "size": file.size, "piece": size, "pattern": file.pattern, "copy": copy},
        "layouts": first_piece and first_piece.layouts,
        "form": first_piece and first_piece.form,
    }
    if file.is_packed:
        yield file.unit((0, file.size), {**arguments, "from": 0, "until": None})
        return
    for begin in range(0, file.size, file.size if in_one_go else size):
        until = file.size if in_one_go else min(begin + size, file.size)
        part = max(begin - 1, 0), min(until + REACH, file.size)
        yield file.unit(part, {**arguments, "from": begin, "until": until})


def pieces_in(arguments: Mapping[str, Any], content: Bytes, _: Any) -> list[Piece]:
    """The pieces of a unit."""
    pieces = list(_pieces_of(arguments, content))
    if content.damage:
        last = pieces.pop() if pieces else Piece(arguments["file"], 0, 0)
        pieces.append(replace(last, damage=content.damage))
    if not pieces and arguments["size"]:
        pieces = [Piece(arguments["file"], 0, 0, is_there=False)]
    return pieces


def _pieces_of(arguments: Mapping[str, Any], content: Bytes) -> Iterator[Piece]:
    layouts, form, until = arguments["layouts"], arguments["form"], arguments["until"]
    size = None if until is None else arguments["size"]
    if layouts is None and not arguments["from"]:
        form = wrapped_as(content.between(0, CHUNK if size is None else min(CHUNK, size)), arguments["pattern"])
        layouts = form.others
    if form is None or form.is_plain:
        yield from _in_pieces(arguments, content, Way(layouts or PLAIN))
    elif until == size:
        unwrapped = Unwrapped(content, size, form, arguments["pattern"], arguments["copy"])
        way = Way(every_layout(arguments["pattern"]), unwrapped.sources)
        for piece in _in_pieces({**arguments, "until": None}, unwrapped, way, form.is_newest_first):
            yield replace(piece, form=form)
    else:
        yield Piece(arguments["file"], 0, until, is_wrapped=True, form=form)


def _in_pieces(arguments: Mapping[str, Any], content: Bytes, way: Way, is_turned: bool = False) -> Iterator[Piece]:
    clock, begin, until = Clock(arguments["zone"], (), is_turned), arguments["from"], arguments["until"]
    while until is None or begin < until:
        offset, end = max(begin - 1, 0), begin + arguments["piece"]
        end = end if until is None else min(end, until)
        data = content.between(offset, end + REACH if until is None else min(end + REACH, arguments["size"]))
        reached = offset + len(data)
        if until is None:
            end = min(end, reached)
            if end <= begin:
                return
        elif reached < end:
            yield Piece(arguments["file"], begin, end, is_there=False)
            return
        piece = look(data, arguments["file"], begin, end, clock, way)
        misfit = misfit_of(sampled(data), arguments["pattern"]) if not begin and piece.first_at == NO_INSTANT else None
        yield replace(_with_facts(piece, data, arguments["zone"], way), misfit=misfit)
        begin = end


def _with_facts(piece: Piece, data: bytes, zone: str, way: Way) -> Piece:
    """A piece with facts about the writer of its lines. Another layout than Kafka's shows a log of Kafka's too."""
    is_kafka_log = any(literal in data for literal in KAFKAS_LOGGERS) or piece.is_wrapped or piece.layouts != PLAIN
    until = piece.end - max(piece.begin - 1, 0)
    instants = grouped(_namings(data, until, zone, way), lambda naming: naming[0])
    clusters = (
        (name, min(at for _, at in of_cluster), max(at for _, at in of_cluster), len(of_cluster))
        for name, of_cluster in instants.items()
    )
    return replace(
        piece,
        is_kafka_log=is_kafka_log,
        is_broker_log=is_of_broker(data),
        clusters=tuple(sorted(clusters)),
    )


def _namings(data: bytes, until: int, zone: str, way: Way) -> Iterator[tuple[str, int]]:
    """The ids of clusters that lines name, each with the line's instant. The next piece begins at `until`."""
    for whole in chain.from_iterable(_lines_with(literal, data, until) for literal in _NAMING):
        line = whole[FRAME if whole.startswith(MARK) else 0 :].decode(errors="replace")
        layout = layout_of(line, way.layouts)
        reading = read_record(layout, line) if layout else None
        if reading and reading.pattern in _NAMES_CLUSTER:
            at = int(Clock(zone).instants(beginnings(whole, True, way)[1], 0, None)[0])
            yield from ((name, at) for name in fields_of(reading.pattern, [reading.groups])["detail"])


def _lines_with(literal: bytes, data: bytes, until: int) -> Iterator[bytes]:
    """The lines that hold some bytes. The next piece begins at `until`."""
    at = data.find(literal)
    while at >= 0:
        begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        if begin >= until > 0:
            return
        yield data[begin : end if end >= 0 else None]
        at = data.find(literal, end) if end >= 0 else -1


def _fact(file: ListedFile, pieces: Sequence[Piece]) -> FileFacts:
    times = sum((p.before + p.after for p in pieces), NO_TIMES)
    return FileFacts(
        file=file,
        lines=sum(p.lines for p in pieces),
        timeless=times.timeless,
        first_at=of_micros(times.first) if times.are_any else None,
        last_at=of_micros(times.last) if times.are_any else None,
        steps=tuple(_clock_step(s) for p in pieces for s in p.steps if s.meaning != ClockMeaning.HOUR_REPEATED),
        repeated=tuple(_repeated_hours(pieces)),
        is_kafka_log=any(p.is_kafka_log for p in pieces),
        is_broker_log=any(p.is_broker_log for p in pieces),
        damage=next((p.damage for p in pieces if p.damage), None),
        clusters=tuple(_clusters(pieces)),
        misfit=pieces[0].misfit if pieces and not times.are_any else None,
    )


def _repeated_hours(pieces: Sequence[Piece]) -> Iterator[RepeatedHour]:
    """The hours of local time that come twice in a file."""
    for _, own in sorted(grouped((r for p in pieces for r in p.repeated), lambda r: r.day).items()):
        first_at, last_at = of_micros(min(r.first_at for r in own)), of_micros(max(r.last_at for r in own))
        yield RepeatedHour(first_at=first_at, last_at=last_at, record_count=sum(r.records for r in own))


def _clusters(pieces: Sequence[Piece]) -> Iterator[ClusterNaming]:
    for name, of_cluster in sorted(grouped((c for p in pieces for c in p.clusters), lambda c: c[0]).items()):
        instants = [at for _, *both, _ in of_cluster for at in both if at != NO_INSTANT]
        first, last = (of_micros(min(instants)), of_micros(max(instants))) if instants else (None, None)
        yield ClusterNaming(
            cluster_id=name, first_at=first, last_at=last, line_count=sum(count for *_, count in of_cluster)
        )


def _clock_step(step: ClockStepRange) -> ClockStep:
    """A step as the register keeps it, without its place."""
    before_at, after_at = of_micros(step.before_at), of_micros(step.after_at)
    placed_at = None if step.placed_at is None else of_micros(step.placed_at)
    return ClockStep(
        meaning=ClockMeaning(step.meaning),
        before_at=before_at,
        after_at=after_at,
        placed_at=placed_at,
        before=step.before,
        after=step.after,
    )
