"""Records of files, which are read a second time: a worker cuts each range where it lies, and writes it to bronze.

If ranges of one log cover the same instants, or the lake has records of these, only places and hashes of those records
are gathered and numbered; their text never moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from kafka_hindsight.catalog import bronze
from kafka_hindsight.engine.work import Engine, Work
from kafka_hindsight.intake import ranked_records as ranked
from kafka_hindsight.intake.lake_rows import reduced
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.knowledge.pattern_layouts import inside
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.arrays import NO_INSTANT, Ints
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import CONTESTED, contested, cut
from kafka_hindsight.logs.file_bytes import Bytes, Unit
from kafka_hindsight.logs.file_order import Turn
from kafka_hindsight.logs.files import LogFile
from kafka_hindsight.logs.pieces import NO_TIMES, Contest, Piece, Range, Times, Way, contests, mark_of, ranges_of
from kafka_hindsight.logs.unwrapping import copied
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import of_micros, past

_LAKE = -1
"""Stands for the lake's records among the numbers of ranges."""

_CHANGED = "was replaced while it was read: file number"


@dataclass(frozen=True)
class Reading:
    """Files with their pieces and turns, by number.

    `new` are those whose records are read; the others share instants with them, and their records are in the lake.
    `ends` has the places before which to stop; `copies` is the folder of unwrapped lines.
    """

    files: Mapping[int, LogFile]
    pieces: Mapping[int, Sequence[Piece]]
    turns: Mapping[int, Turn]
    new: Sequence[int]
    ends: Mapping[int, int]
    copies: str


class Records(NamedTuple):
    """Units of files, and the work that makes rows of bronze.log_records of them."""

    units: Sequence[Unit]
    work: Work


@dataclass(frozen=True)
class _Placed:
    """A range, its number, and the unit in which it is read."""

    number: int
    range: Range
    unit: int


def records_of(engine: Engine, store: Store, cluster: str, reading: Reading, run_at: datetime) -> Records | None:
    """The records of files, each once, as rows of bronze.log_records; None if there are none."""
    units, placed = _units(reading)
    if not units:
        return None
    contest = _contests(store, cluster, reading.files, placed)
    fixes = _fixes(engine, store, cluster, reading, placed, contest) if contest else {}
    work = partial(_rows_in, cluster=cluster, run_at=run_at)
    return Records([replace(unit, numbers=fixes.get(n)) for n, unit in enumerate(units)], work)


def changed_file(failure: Exception) -> int | None:
    """The file that was replaced while it was read, if a job failed for that."""
    _, marker, number = str(failure).partition(_CHANGED)
    return int(number.split()[0]) if marker else None


def _units(reading: Reading) -> tuple[list[Unit], list[_Placed]]:
    """The units of the new files, and all ranges; those of other files belong to units that are not read."""
    files, pieces, new = reading.files, reading.pieces, reading.new
    ranges_of_files = {n: ranges_of(pieces[n], reading.ends.get(n)) for n in files}
    units: list[Unit] = []
    placed: list[_Placed] = []
    count = 0
    for n, ranges in sorted(ranges_of_files.items(), key=lambda f: f[0] not in new):
        whole = files[n].is_packed or any(p.is_wrapped for p in pieces[n])
        for group in ([ranges] if ranges else []) if whole else [[r] for r in ranges]:
            numbered = [_Placed(len(placed) + i, each, count) for i, each in enumerate(group)]
            placed += numbered
            count += 1
            units += [_unit(files[n], pieces[n], numbered, reading.copies)] if n in new else []
    return units, placed


def _unit(
    file: LogFile,
    pieces: Sequence[Piece],
    placed: Sequence[_Placed],
    copies: str,
    contest: Mapping[int, Contest] | None = None,
) -> Unit:
    """A unit of a file: these of its ranges."""
    first_piece = pieces[0]
    ranges = [(p.number, p.range, (contest or {}).get(p.number)) for p in placed]
    first, last = placed[0].range, placed[-1].range
    part = (0, file.size) if first_piece.is_wrapped else (first.begin, last.begin + last.size)
    way = {
        "layouts": first_piece.layouts,
        "form": first_piece.form,
        "pattern": file.pattern,
    }
    way |= {"origin": file.origin, "source": file.source, "copy": file.copy_in(copies)}
    size = None if file.is_packed else file.size
    steps = [step for piece in pieces for step in piece.steps]
    return file.unit(part, {"zone": file.zone, "size": size, "steps": steps, **way, "ranges": ranges})


def _open_unit(arguments: Mapping[str, Any], content: Bytes) -> tuple[Bytes, Way]:
    """The bytes of a unit, or the unwrapped ones of a wrapped file, and the way to read them."""
    if not arguments["form"]:
        return content, Way(arguments["layouts"])
    copy, sources = copied(arguments["copy"])
    return copy, Way(arguments["layouts"], sources)


def _ranges_in(arguments: Mapping[str, Any], content: Bytes) -> Iterator[tuple[int, Range, bytes, Contest | None]]:
    """The ranges of a unit and their bytes. Raises: RuntimeError if those have changed since the survey."""
    for number, placed, contest in arguments["ranges"]:
        data = content.between(placed.begin, placed.begin + placed.size)
        if len(data) < placed.size or mark_of(data, 0) != placed.mark:
            raise RuntimeError(f"A file {_CHANGED} {placed.file} .")
        yield number, placed, data, contest


def records_in(arguments: Mapping[str, Any], content: Bytes, numbers: Any) -> Iterator[pa.RecordBatch]:
    """Cut the records out of a unit, a batch for each range."""
    clock = Clock(arguments["zone"], arguments["steps"])
    content, way = _open_unit(arguments, content)
    fixes = None if numbers is None else numbers.reshape(-1, len(ranked.FIXED))
    for _, placed, data, _ in _ranges_in(arguments, content):
        fixed = None
        if fixes is not None:
            low, high = np.searchsorted(fixes[:, 0], (placed.begin, placed.begin + placed.size))
            fixed = dict(zip(ranked.FIXED, fixes[low:high].T, strict=True))
        yield cut(data, placed, clock, fixed, way)


def _rows_in(
    arguments: Mapping[str, Any], content: Bytes, numbers: Any, cluster: str, run_at: datetime
) -> Iterator[pa.RecordBatch]:
    """Cut the records out of a unit, as rows of bronze.log_records."""
    envelopes = arguments["form"].envelopes if arguments["form"] else ()
    layouts = [inside(envelopes, name) for name in arguments["layouts"]]
    for records in records_in(arguments, content, numbers):
        yield ranked.bronze_rows(records, cluster, arguments["origin"], arguments["source"], layouts, run_at)


def _gather(arguments: Mapping[str, Any], content: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    clock = Clock(arguments["zone"], arguments["steps"])
    content, way = _open_unit(arguments, content)
    for number, placed, data, contest in _ranges_in(arguments, content):
        if contest:
            yield contested(data, number, placed, clock, contest, way)


def _contests(
    store: Store, cluster: str, files: Mapping[int, LogFile], placed: Sequence[_Placed]
) -> dict[int, Contest]:
    """The ranges that share instants with others of their log, or with its records in the lake."""
    spans: dict[str, dict[int, Times]] = {}
    for p in placed:
        spans.setdefault(files[p.range.file].source, {})[p.number] = p.range.times
    for source, times in _times_in_lake(store, cluster, spans).items():
        spans[source][_LAKE] = times
    by_number = {n: contest for of_log in spans.values() for n, contest in contests(of_log).items()}
    by_number.pop(_LAKE, None)
    return by_number


_ALIKE = pa.schema([("source", pa.string()), ("at", pa.int64()), ("likeness", pa.uint64())])


def _times_in_lake(store: Store, cluster: str, spans: Mapping[str, Mapping[int, Times]]) -> dict[str, Times]:
    """The instants of these logs in the lake, between the first and the last of the ranges."""
    if not store.has(bronze.LOG_RECORDS):
        return {}
    near = sum((t for times in spans.values() for t in times.values()), NO_TIMES)
    query = """
        SELECT split_part(source, $within, 1) AS log, coalesce(min(epoch_us(happened_at)), $first) AS first,
            coalesce(max(epoch_us(happened_at)), $last) AS last, count(*) - count(happened_at) AS timeless
        FROM part WHERE list_contains($logs, log) GROUP BY log"""
    values = {"within": WITHIN, "logs": [*spans], "first": NO_TIMES.first, "last": NO_TIMES.last}
    rows = reduced(store, bronze.LOG_RECORDS, _part(cluster, near), ("source", "happened_at"), query, **values)
    return {row["log"]: Times(row["first"], row["last"], row["timeless"]) for row in rows.to_pylist()}


def _part(cluster: str, near: Times) -> Part:
    """A cluster's records between the first and the last instant, and those without one."""
    span = (of_micros(near.first), past(of_micros(near.last))) if near.are_any else None
    return Part(cluster, "happened_at", span, timeless=True)


def _fixes(
    engine: Engine,
    store: Store,
    cluster: str,
    reading: Reading,
    placed: Sequence[_Placed],
    contest: Mapping[int, Contest],
) -> dict[int, Ints]:
    """Compare all contested records, and give the `ranked.FIXED` numbers for each unit."""
    files, pieces, turns = reading.files, reading.pieces, reading.turns
    by_unit = grouped(placed, lambda p: p.unit)
    groups = [group for group in by_unit.values() if any(p.number in contest for p in group)]
    units = [_unit(files[n], pieces[n], g, reading.copies, contest) for g in groups for n in [g[0].range.file]]
    infos = [
        ranked.RangeInfo(p.unit, files[n].source, turns[n].rank, turns[n].lane) for p in placed for n in [p.range.file]
    ]
    gathered = pa.Table.from_batches(engine.spread(units, _gather, CONTESTED), CONTESTED)
    in_lake = _alike_in_lake(store, cluster, _by_log(infos, contest))
    return ranked.settle(gathered, infos, in_lake)


def _by_log(infos: Sequence[ranked.RangeInfo], contest: Mapping[int, Contest]) -> dict[str, Contest]:
    """The instants that ranges of each log share with others, from the first to the last."""
    by_source: dict[str, Contest] = {}
    for n, each in contest.items():
        source = infos[n].source
        merged = by_source.get(source, each)
        is_timeless = merged.is_timeless or each.is_timeless
        by_source[source] = Contest(min(merged.first, each.first), max(merged.last, each.last), is_timeless)
    return by_source


def _alike_in_lake(store: Store, cluster: str, contest_of: Mapping[str, Contest]) -> pa.Table:
    """Source, instant and hash of the lake's records of logs at these instants."""
    if not store.has(bronze.LOG_RECORDS):
        return _ALIKE.empty_table()
    near = sum((Times(c.first, c.last) for c in contest_of.values()), NO_TIMES)
    query = """
        SELECT source, coalesce(epoch_us(happened_at), $no_instant) AS at,
            ('0x' || sha256(text)[:16])::UBIGINT AS likeness
        FROM part JOIN (SELECT unnest($contests, recursive := true)) ON log = split_part(source, $within, 1)
        WHERE if(happened_at IS NULL, is_timeless, epoch_us(happened_at) BETWEEN first AND last)"""
    contests = [{"log": log, **asdict(contest)} for log, contest in contest_of.items()]
    values = {"no_instant": NO_INSTANT, "contests": contests, "within": WITHIN}
    columns = ("source", "happened_at", "text")
    return reduced(store, bronze.LOG_RECORDS, _part(cluster, near), columns, query, **values)
