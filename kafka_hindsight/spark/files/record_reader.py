"""Records out of files, in their second reading: each range is cut where it lies, and goes from there into bronze.

Where ranges of one log cover the same instants, or the lake holds records of these, places and hashes of those records
alone are gathered and numbered; their text never moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog import bronze
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.knowledge.pattern_layouts import inside
from kafka_hindsight.logs.cutting import CONTESTED, contested, cut
from kafka_hindsight.logs.file_bytes import Bytes
from kafka_hindsight.logs.file_order import Turn
from kafka_hindsight.logs.files import LogFile
from kafka_hindsight.logs.forms import Form
from kafka_hindsight.logs.heads import Clock
from kafka_hindsight.logs.pieces import Contest, Piece, Range, Times, Way, contests, mark_of, ranges_of
from kafka_hindsight.logs.unwrapping import copied
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.spark.batches import Batches
from kafka_hindsight.spark.byte_work import spread, spread_units, worked
from kafka_hindsight.spark.files.log_files import describe
from kafka_hindsight.spark.frames import ranked_records as collect
from kafka_hindsight.spark.tables.store import Store

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


@dataclass(frozen=True)
class _Placed:
    """A range, its number, and the unit in which it is read."""

    number: int
    range: Range
    unit: int


def records_of(store: Store, cluster: str, reading: Reading, run_at: datetime) -> Batches | None:
    """The records of files, each once, as bronze.log_records holds them; None where there is none."""
    units, placed = _units(reading)
    if not units:
        return None
    contest = _contests(store, cluster, reading.files, placed)
    fixes = _fixes(store, cluster, reading, placed, contest) if contest else None
    work = partial(_rows_in, cluster=cluster, run_at=run_at)
    return Batches(spread_units(store.spark, units, fixes), worked(work), bronze.LOG_RECORDS)


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
        whole = files[n].is_packed or any(p.is_doubled or p.is_wrapped for p in pieces[n])
        for group in ([ranges] if ranges else []) if whole else [[r] for r in ranges]:
            numbered = [_Placed(len(placed) + i, held, count) for i, held in enumerate(group)]
            placed += numbered
            count += 1
            units += [_unit(files[n], pieces[n][0], numbered, reading.copies)] if n in new else []
    return units, placed


def _unit(
    file: LogFile,
    seen: Piece,
    held: Sequence[_Placed],
    copies: str,
    contest: Mapping[int, Contest] | None = None,
) -> Unit:
    """What one worker reads of a file. Takes: a piece of it as it was seen; the ranges."""
    told = [
        {
            "number": p.number,
            "range": asdict(p.range),
            "contest": asdict(contest[p.number]) if contest and p.number in contest else None,
        }
        for p in held
    ]
    first, last = held[0].range, held[-1].range
    part = (0, file.size) if seen.is_wrapped else (first.begin, last.begin + last.size)
    how = {"layouts": seen.layouts, "form": asdict(seen.form) if seen.form else None, "pattern": file.pattern}
    how |= {"origin": file.origin, "source": file.source, "copy": file.copy_in(copies)}
    size = None if file.is_packed else file.size
    return file.unit(part, {"zone": file.zone, "size": size, **how, "ranges": told})


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
    clock = Clock(told["zone"])
    held, way = _opened(told, held)
    fixes = None if numbers is None else numbers.reshape(-1, len(collect.FIXED))
    for _, placed, data, _ in _read(told, held):
        own = None
        if fixes is not None:
            low, high = np.searchsorted(fixes[:, 0], (placed.begin, placed.begin + placed.size))
            own = dict(zip(collect.FIXED, fixes[low:high].T, strict=True))
        yield cut(data, placed, clock, own, way)


def _rows_in(
    told: Mapping[str, Any], held: Bytes, numbers: Any, cluster: str, run_at: datetime
) -> Iterator[pa.RecordBatch]:
    """What a worker cuts out of a unit, as rows of bronze.log_records."""
    envelopes = Form.of(told["form"]).envelopes if told["form"] else ()
    layouts = [inside(envelopes, name) for name in told["layouts"]]
    for records in records_in(told, held, numbers):
        yield collect.bronze_rows(records, cluster, told["origin"], told["source"], layouts, run_at)


def _gather(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    clock = Clock(told["zone"])
    held, way = _opened(told, held)
    for number, placed, data, contest in _read(told, held):
        if contest:
            yield contested(data, number, placed, clock, contest, way)


def _contests(
    store: Store, cluster: str, files: Mapping[int, LogFile], placed: Sequence[_Placed]
) -> dict[int, Contest]:
    """Which ranges share instants with others of their log, or with what the lake holds of it."""
    spans: dict[str, dict[int, Times]] = {}
    for p in placed:
        spans.setdefault(files[p.range.file].source, {})[p.number] = p.range.times
    for source, times in _held_times(store, cluster, spans).items():
        spans[source][_LAKE] = times
    found = {n: contest for each in spans.values() for n, contest in contests(each).items()}
    found.pop(_LAKE, None)
    return found


def _held_times(store: Store, cluster: str, spans: Mapping[str, Mapping[int, Times]]) -> dict[str, Times]:
    """The instants of these logs that the lake holds, between the first and the last of the ranges."""
    every = [t for times in spans.values() for t in times.values()]
    held = _held(store, cluster, list(spans), min(t.first for t in every), max(t.last for t in every))
    if held is None:
        return {}
    at = F.unix_micros("happened_at")
    found = (
        held.groupBy(_log_of(F.col("source")).alias("source"))
        .agg(F.min(at), F.max(at), F.count_if(at.isNull()))
        .collect()
    )
    none = Times()
    return {s: Times(none.first if a is None else a, none.last if b is None else b, n) for s, a, b, n in found}


def _held(store: Store, cluster: str, sources: Sequence[str], first: int, last: int) -> DataFrame | None:
    """What the lake holds of some logs between two instants, and without one."""
    if not store.has(bronze.LOG_RECORDS) or not store.version(bronze.LOG_RECORDS):
        return None
    at = F.col("happened_at")
    is_near = (
        at.between(F.timestamp_micros(F.lit(first)), F.timestamp_micros(F.lit(last))) if first <= last else F.lit(False)
    )
    rows = store.read(bronze.LOG_RECORDS).where(F.col("cluster") == cluster).where(is_near | at.isNull())
    return rows.where(_log_of(F.col("source")).isin(*sources))


def _fixes(
    store: Store, cluster: str, reading: Reading, placed: Sequence[_Placed], contest: Mapping[int, Contest]
) -> DataFrame:
    """What is known better of contested records when all of them are looked at: an array of numbers for each unit."""
    files, pieces, turns = reading.files, reading.pieces, reading.turns
    units = grouped(placed, lambda p: p.unit)
    wanted = [held for held in units.values() if any(p.number in contest for p in held)]
    read = [
        _unit(files[n], pieces[n][0], held, reading.copies, contest) for held in wanted for n in [held[0].range.file]
    ]
    rows = [
        {
            "range": p.number,
            "unit": p.unit,
            "source": files[p.range.file].source,
            "rank": turns[p.range.file].rank,
            "lane": turns[p.range.file].lane,
        }
        for p in placed
        if p.number in contest
    ]
    shape = "range: int, unit: int, source: string, rank: int, lane: int"
    known = F.broadcast(describe(store.spark, rows, shape))
    gathered = spread(store.spark, read, _gather, CONTESTED).join(known, "range")
    gathered = gathered.withColumn("source", _within(F.col("source"), F.col("part")))
    first, last = min(c.first for c in contest.values()), max(c.last for c in contest.values())
    held = _held(
        store, cluster, sorted({files[p.range.file].source for p in placed if p.number in contest}), first, last
    )
    return collect.settle(gathered, held)


def _within(source: Column, part: Column) -> Column:
    """The source of a record: its file's, and within a wrapped file who wrote its line."""
    return F.concat(source, F.when(part.isNotNull(), F.concat(F.lit(WITHIN), part)).otherwise(F.lit("")))


def _log_of(source: Column) -> Column:
    """The log of a file, without who wrote a line within it."""
    return F.substring_index(source, WITHIN, 1)
