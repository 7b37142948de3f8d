"""Records out of files, in their second reading: each range is cut where it lies, and goes from there into bronze.

Where ranges of one log cover the same instants, or the lake holds records of these, places and hashes of those records
alone are gathered and numbered; their text never moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze
from kafka_hindsight.engine.work import Engine, Work, narrow_rows
from kafka_hindsight.intake import ranked_records as ranked
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.knowledge.pattern_layouts import inside
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.arrays import NO_INSTANT, Ints
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import CONTESTED, contested, cut, likeness_of
from kafka_hindsight.logs.file_bytes import Bytes
from kafka_hindsight.logs.file_order import Turn
from kafka_hindsight.logs.files import LogFile
from kafka_hindsight.logs.forms import Form
from kafka_hindsight.logs.pieces import NO_TIMES, Contest, Piece, Range, Times, Way, contests, mark_of, ranges_of
from kafka_hindsight.logs.unwrapping import copied
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import of_micros, past

_LAKE = -1
"""Stands for what the lake holds, among the numbers of ranges."""

_CHANGED = "was replaced while it was read: file number"


@dataclass(frozen=True)
class Reading:
    """Files with their pieces and turns, by number.

    `new` are those whose records are wanted; the others have instants in common with them, and their records are in
    the lake. `ends` is where files end, if before their end; `copies` where wrapped lines were kept.
    """

    files: Mapping[int, LogFile]
    pieces: Mapping[int, Sequence[Piece]]
    turns: Mapping[int, Turn]
    new: Sequence[int]
    ends: Mapping[int, int]
    copies: str


class Records(NamedTuple):
    """What is read of files, and what makes rows of bronze.log_records of it."""

    units: Sequence[Unit]
    work: Work


@dataclass(frozen=True)
class _Placed:
    """A range, its number, and the unit in which it is read."""

    number: int
    range: Range
    unit: int


def records_of(engine: Engine, store: Store, cluster: str, reading: Reading, run_at: datetime) -> Records | None:
    """What reads the records of files, each once, as bronze.log_records holds them; None where there is none."""
    units, placed = _units(reading)
    if not units:
        return None
    contest = _contests(engine, store, cluster, reading.files, placed)
    fixes = _fixes(engine, store, cluster, reading, placed, contest) if contest else {}
    work = partial(_rows_in, cluster=cluster, run_at=run_at)
    return Records([replace(unit, numbers=fixes.get(n)) for n, unit in enumerate(units)], work)


def changed_file(failure: Exception) -> int | None:
    """The file that was found to be another one than before, if a job failed for that."""
    _, found, number = str(failure).partition(_CHANGED)
    return int(number.split()[0]) if found else None


def _units(reading: Reading) -> tuple[list[Unit], list[_Placed]]:
    """The units of the wanted files, and all ranges; those of other files belong to units that are not read."""
    files, pieces, new = reading.files, reading.pieces, reading.new
    told = {n: ranges_of(pieces[n], reading.ends.get(n)) for n in files}
    units: list[Unit] = []
    placed: list[_Placed] = []
    count = 0
    for n, ranges in sorted(told.items(), key=lambda f: f[0] not in new):
        whole = files[n].is_packed or any(p.is_wrapped for p in pieces[n])
        for group in ([ranges] if ranges else []) if whole else [[r] for r in ranges]:
            numbered = [_Placed(len(placed) + i, held, count) for i, held in enumerate(group)]
            placed += numbered
            count += 1
            units += [_unit(files[n], pieces[n], numbered, reading.copies)] if n in new else []
    return units, placed


def _unit(
    file: LogFile,
    pieces: Sequence[Piece],
    held: Sequence[_Placed],
    copies: str,
    contest: Mapping[int, Contest] | None = None,
) -> Unit:
    """What one worker reads of a file. Takes: its pieces as they were seen; the ranges."""
    first_piece = pieces[0]
    told = [
        {
            "number": p.number,
            "range": asdict(p.range),
            "contest": asdict(contest[p.number]) if contest and p.number in contest else None,
        }
        for p in held
    ]
    first, last = held[0].range, held[-1].range
    part = (0, file.size) if first_piece.is_wrapped else (first.begin, last.begin + last.size)
    how = {
        "layouts": first_piece.layouts,
        "form": asdict(first_piece.form) if first_piece.form else None,
        "pattern": file.pattern,
    }
    how |= {"origin": file.origin, "source": file.source, "copy": file.copy_in(copies)}
    size = None if file.is_packed else file.size
    steps = [asdict(step) for piece in pieces for step in piece.steps]
    return file.unit(part, {"zone": file.zone, "size": size, "steps": steps, **how, "ranges": told})


def _opened(told: Mapping[str, Any], held: Bytes) -> tuple[Bytes, Way]:
    """The bytes of a unit, of a wrapped file those that the first reading kept; and how they are read."""
    if not told["form"]:
        return held, Way(tuple(told["layouts"]))
    copy, sources = copied(told["copy"])
    return copy, Way(tuple(told["layouts"]), sources)


def _read(told: Mapping[str, Any], held: Bytes) -> Iterator[tuple[int, Range, bytes, Contest | None]]:
    """The ranges of a unit and their bytes. Raises: RuntimeError where they are not those that were seen before."""
    for each in told["ranges"]:
        placed = Range(**{**each["range"], "times": Times(**each["range"]["times"])})
        data = held.between(placed.begin, placed.begin + placed.size)
        if len(data) < placed.size or mark_of(data, 0) != placed.mark:
            raise RuntimeError(f"A file {_CHANGED} {placed.file} .")
        yield each["number"], placed, data, Contest(**each["contest"]) if each["contest"] else None


def records_in(told: Mapping[str, Any], held: Bytes, numbers: Any) -> Iterator[pa.RecordBatch]:
    """What a worker cuts out of a unit, a batch for each range."""
    clock = Clock(told["zone"], told["steps"])
    held, way = _opened(told, held)
    fixes = None if numbers is None else numbers.reshape(-1, len(ranked.FIXED))
    for _, placed, data, _ in _read(told, held):
        own = None
        if fixes is not None:
            low, high = np.searchsorted(fixes[:, 0], (placed.begin, placed.begin + placed.size))
            own = dict(zip(ranked.FIXED, fixes[low:high].T, strict=True))
        yield cut(data, placed, clock, own, way)


def _rows_in(
    told: Mapping[str, Any], held: Bytes, numbers: Any, cluster: str, run_at: datetime
) -> Iterator[pa.RecordBatch]:
    """What a worker cuts out of a unit, as rows of bronze.log_records."""
    envelopes = Form.of(told["form"]).envelopes if told["form"] else ()
    layouts = [inside(envelopes, name) for name in told["layouts"]]
    for records in records_in(told, held, numbers):
        yield ranked.bronze_rows(records, cluster, told["origin"], told["source"], layouts, run_at)


def _gather(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    clock = Clock(told["zone"], told["steps"])
    held, way = _opened(told, held)
    for number, placed, data, contest in _read(told, held):
        if contest:
            yield contested(data, number, placed, clock, contest, way)


def _contests(
    engine: Engine, store: Store, cluster: str, files: Mapping[int, LogFile], placed: Sequence[_Placed]
) -> dict[int, Contest]:
    """Which ranges share instants with others of their log, or with what the lake holds of it."""
    spans: dict[str, dict[int, Times]] = {}
    for p in placed:
        spans.setdefault(files[p.range.file].source, {})[p.number] = p.range.times
    for source, times in _held_times(engine, store, cluster, spans).items():
        spans[source][_LAKE] = times
    found = {n: contest for each in spans.values() for n, contest in contests(each).items()}
    found.pop(_LAKE, None)
    return found


_TIMES = pa.schema([("source", pa.string()), *((name, pa.int64()) for name in ("first", "last", "timeless"))])
_ALIKE = pa.schema([("source", pa.string()), *((name, pa.int64()) for name in ("at", "likeness"))])


def _held_times(
    engine: Engine, store: Store, cluster: str, spans: Mapping[str, Mapping[int, Times]]
) -> dict[str, Times]:
    """The instants of these logs that the lake holds, between the first and the last of the ranges."""
    if not store.has(bronze.LOG_RECORDS):
        return {}
    near = sum((t for times in spans.values() for t in times.values()), NO_TIMES)
    narrow = partial(_times_in, sources=frozenset(spans))
    columns = ("cluster", "source", "happened_at")
    held = narrow_rows(engine, store, bronze.LOG_RECORDS, _part(cluster, near), columns, narrow, _TIMES)
    found: dict[str, Times] = {}
    for source, *times in zip(*(held[name].to_pylist() for name in _TIMES.names), strict=True):
        found[source] = found.get(source, NO_TIMES) + Times(*times)
    return found


def _part(cluster: str, near: Times) -> Part:
    """A cluster's records between the first and the last instant, and those without one."""
    span = (of_micros(near.first), past(of_micros(near.last))) if near.are_any else None
    return Part(cluster, "happened_at", span, timeless=True)


def _times_in(batches: Iterable[pa.RecordBatch], sources: frozenset[str]) -> Iterator[pa.RecordBatch]:
    """The instants of the records of some logs, by log."""
    for rows in batches:
        own = _of_logs(rows, sources)
        at = own["happened_at"].cast(pa.int64())
        told = pa.table({"source": _log_of(own["source"]), "at": at, "is_timeless": pc.is_null(at).cast(pa.int64())})
        counts = [("at", "min"), ("at", "max"), ("is_timeless", "sum")]
        times = told.group_by("source", use_threads=False).aggregate(counts)
        first = pc.fill_null(times["at_min"], NO_TIMES.first)
        last = pc.fill_null(times["at_max"], NO_TIMES.last)
        yield from pa.table([times["source"], first, last, times["is_timeless_sum"]], schema=_TIMES).to_batches()


def _of_logs(rows: pa.RecordBatch, sources: frozenset[str]) -> pa.RecordBatch:
    return rows.filter(pc.is_in(_log_of(rows["source"]), pa.array(sorted(sources), pa.string())))


def _log_of(sources: pa.Array) -> pa.Array:
    """The log of a file, without who wrote a line within it."""
    return pc.list_element(pc.split_pattern(sources, WITHIN, max_splits=1), 0)


def _fixes(
    engine: Engine,
    store: Store,
    cluster: str,
    reading: Reading,
    placed: Sequence[_Placed],
    contest: Mapping[int, Contest],
) -> dict[int, Ints]:
    """What is known better of contested records when all of them are looked at: numbers for each unit."""
    files, pieces, turns = reading.files, reading.pieces, reading.turns
    units = grouped(placed, lambda p: p.unit)
    wanted = [held for held in units.values() if any(p.number in contest for p in held)]
    read = [_unit(files[n], pieces[n], held, reading.copies, contest) for held in wanted for n in [held[0].range.file]]
    known = [
        ranked.OfRange(p.unit, files[n].source, turns[n].rank, turns[n].lane) for p in placed for n in [p.range.file]
    ]
    gathered = pa.Table.from_batches(engine.spread(read, _gather, CONTESTED), CONTESTED)
    held = _held_alike(engine, store, cluster, _by_log(known, contest))
    return ranked.settle(gathered, known, held)


def _by_log(known: Sequence[ranked.OfRange], contest: Mapping[int, Contest]) -> dict[str, Contest]:
    """The instants that ranges of each log share with others, from the first to the last."""
    found: dict[str, Contest] = {}
    for n, each in contest.items():
        source = known[n].source
        own = found.get(source, each)
        is_timeless = own.is_timeless or each.is_timeless
        found[source] = Contest(min(own.first, each.first), max(own.last, each.last), is_timeless)
    return found


def _held_alike(engine: Engine, store: Store, cluster: str, wanted: Mapping[str, Contest]) -> pa.Table:
    """Source, instant and hash of the records of logs that the lake holds at these instants."""
    if not store.has(bronze.LOG_RECORDS):
        return _ALIKE.empty_table()
    near = sum((Times(c.first, c.last) for c in wanted.values()), NO_TIMES)
    narrow, columns = partial(_alike_in, wanted=wanted), ("cluster", "source", "happened_at", "text")
    return narrow_rows(engine, store, bronze.LOG_RECORDS, _part(cluster, near), columns, narrow, _ALIKE)


def _alike_in(batches: Iterable[pa.RecordBatch], wanted: Mapping[str, Contest]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = _of_logs(batch, frozenset(wanted))
        at = pc.fill_null(rows["happened_at"].cast(pa.int64()), NO_INSTANT).to_numpy(zero_copy_only=False)
        which = [wanted[log] for log in _log_of(rows["source"]).to_pylist()]
        first, last = (np.array([getattr(c, name) for c in which], np.int64) for name in ("first", "last"))
        is_wanted = np.where(at == NO_INSTANT, [c.is_timeless for c in which], (first <= at) & (at <= last))
        alike = rows.filter(pa.array(is_wanted.astype(bool)))
        likeness = likeness_of(alike["text"].cast(pa.binary()))
        yield pa.record_batch([alike["source"], pa.array(at[is_wanted.astype(bool)]), likeness], _ALIKE)
