"""Records of files, which are read a second time: a worker cuts each range where it lies, and writes it to bronze.

If ranges of one log cover the same instants, or the lake has records of these, only places and hashes of those records
are gathered and numbered; their text never moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.ids import DIGITS
from kafka_hindsight.engine.work import Engine, rows_in, units_of
from kafka_hindsight.intake.lake_rows import reduced
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_schema
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.arrays import NO_INSTANT, Ints
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import CONTESTED, are_new, contested, cut, likeness_of, numbers
from kafka_hindsight.logs.file_bytes import Bytes, FilePart
from kafka_hindsight.logs.file_order import Turn
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.logs.layout_names import layout_within
from kafka_hindsight.logs.pieces import NO_TIMES, Piece, Range, Times, Way, contests, mark_of, ranges_of
from kafka_hindsight.logs.unwrapping import copied
from kafka_hindsight.shared.grouping import grouped, split_by
from kafka_hindsight.shared.instants import of_micros, past

_LAKE = -1
"""Stands for the lake's records among the numbers of ranges."""

FIXED = ("place", "order", "twin")
"""Numbers of a record that depend on all records like it; order is below 0 for a record that is dropped."""

_DROPPED = -1
_HASHED = sha256().digest_size
_BRONZE = arrow_schema(LOG_RECORDS)


@dataclass(frozen=True)
class ReadPlan:
    """Files with their pieces and turns, by number.

    `new` are those whose records are read; the others share instants with them, and their records are in the lake.
    `ends` has the places before which to stop; `copies` is the folder of unwrapped lines.
    """

    files: Mapping[int, ListedFile]
    pieces: Mapping[int, Sequence[Piece]]
    turns: Mapping[int, Turn]
    new: Sequence[int]
    ends: Mapping[int, int]
    copies: str


class Replaced(NamedTuple):
    """The answer of a worker: a file was replaced while it was read. Its number."""

    file: int


class RecordFiles(NamedTuple):
    """Files of bronze.log_records that no commit names yet, and the numbers of files that were replaced meanwhile.

    Where any was, the records are not whole, and are not to be committed.
    """

    files: list[DataFile]
    replaced: frozenset[int]


class FileReplacedError(Exception):
    """A file was replaced while a worker read it."""

    def __init__(self, file: int) -> None:
        super().__init__(file)
        self.answer = Replaced(file)


class _Placed(NamedTuple):
    """A range, its number, the unit in which it is read, and the source, the rank and the lane of its file."""

    number: int
    range: Range
    unit: int
    source: str
    rank: int
    lane: int


def write_records(engine: Engine, store: Store, cluster: str, reading: ReadPlan, run_at: datetime) -> RecordFiles:
    """Write the records of files, each once."""
    units, placed = _units(reading)
    if not units:
        return RecordFiles([], frozenset())
    contest = _contests(store, cluster, placed)
    gathered, replaced = _gathered(engine, reading, placed, contest) if contest else (CONTESTED.empty_table(), [])
    if replaced:
        return RecordFiles([], frozenset(r.file for r in replaced))
    by_log = grouped((p for p in placed if p.number in contest), lambda p: p.source)
    shared = {log: sum((contest[p.number] for p in of_log), NO_TIMES) for log, of_log in by_log.items()}
    fixes = settle(gathered, placed, _alike_in_lake(engine, store, cluster, shared)) if contest else {}
    fixed_units = [replace(unit, numbers=fixes.get(n)) for n, unit in enumerate(units)]
    work = partial(_rows_in, cluster=cluster, run_at=run_at)
    written = engine.write(store, LOG_RECORDS, fixed_units, work)
    return RecordFiles(written.files, frozenset(answer.file for answer in written.answers))


def _units(reading: ReadPlan) -> tuple[list[FilePart], list[_Placed]]:
    """The units of the new files, and all ranges; those of other files belong to units that are not read."""
    files, pieces, new = reading.files, reading.pieces, reading.new
    ranges_of_files = {n: ranges_of(pieces[n], reading.ends.get(n)) for n in files}
    units: list[FilePart] = []
    placed: list[_Placed] = []
    count = 0
    for n, ranges in sorted(ranges_of_files.items(), key=lambda f: f[0] not in new):
        whole = files[n].is_packed or any(p.is_wrapped for p in pieces[n])
        for group in ([ranges] if ranges else []) if whole else [[r] for r in ranges]:
            of_file = files[n].source, reading.turns[n].rank, reading.turns[n].lane
            numbered = [_Placed(len(placed) + i, each, count, *of_file) for i, each in enumerate(group)]
            placed += numbered
            count += 1
            units += [_unit(files[n], pieces[n], numbered, reading.copies)] if n in new else []
    return units, placed


def _unit(
    file: ListedFile,
    pieces: Sequence[Piece],
    placed: Sequence[_Placed],
    copies: str,
    contest: Mapping[int, Times] | None = None,
) -> FilePart:
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


def _ranges_in(arguments: Mapping[str, Any], content: Bytes) -> Iterator[tuple[int, Range, bytes, Times | None]]:
    """The ranges of a unit and their bytes. Raises: FileReplacedError, if those have changed since the survey."""
    for number, placed, contest in arguments["ranges"]:
        data = content.between(placed.begin, placed.begin + placed.size)
        if len(data) < placed.size or mark_of(data, 0) != placed.mark:
            raise FileReplacedError(placed.file)
        yield number, placed, data, contest


def records_in(arguments: Mapping[str, Any], content: Bytes, numbers: Any) -> Iterator[pa.RecordBatch]:
    """Cut the records out of a unit, a batch for each range.

    Raises:
        FileReplacedError: The file has changed since the survey.
    """
    clock = Clock(arguments["zone"], arguments["steps"])
    content, way = _open_unit(arguments, content)
    fixes = None if numbers is None else numbers.reshape(-1, len(FIXED))
    for _, placed, data, _ in _ranges_in(arguments, content):
        fixed = None
        if fixes is not None:
            low, high = np.searchsorted(fixes[:, 0], (placed.begin, placed.begin + placed.size))
            fixed = dict(zip(FIXED, fixes[low:high].T, strict=True))
        yield cut(data, placed, clock, fixed, way)


def _rows_in(
    arguments: Mapping[str, Any], content: Bytes, numbers: Any, cluster: str, run_at: datetime
) -> Iterator[pa.RecordBatch | Replaced]:
    """Cut the records out of a unit, as rows of bronze.log_records."""
    envelopes = arguments["form"].envelopes if arguments["form"] else ()
    layouts = [layout_within(envelopes, name) for name in arguments["layouts"]]
    try:
        for records in records_in(arguments, content, numbers):
            yield bronze_rows(records, cluster, arguments["origin"], arguments["source"], layouts, run_at)
    except FileReplacedError as failure:
        yield failure.answer


def _contested_in(arguments: Mapping[str, Any], content: Bytes, _: Any) -> Iterator[pa.RecordBatch | Replaced]:
    """Places and hashes of the contested records of a unit."""
    clock = Clock(arguments["zone"], arguments["steps"])
    content, way = _open_unit(arguments, content)
    try:
        for number, placed, data, contest in _ranges_in(arguments, content):
            if contest:
                yield contested(data, number, placed, clock, contest, way)
    except FileReplacedError as failure:
        yield failure.answer


def _contests(store: Store, cluster: str, placed: Sequence[_Placed]) -> dict[int, Times]:
    """The ranges that share instants with others of their log, or with its records in the lake."""
    spans: dict[str, dict[int, Times]] = {}
    for p in placed:
        spans.setdefault(p.source, {})[p.number] = p.range.times
    for source, times in _times_in_lake(store, cluster, spans).items():
        spans[source][_LAKE] = times
    by_number = {n: contest for of_log in spans.values() for n, contest in contests(of_log).items()}
    by_number.pop(_LAKE, None)
    return by_number


def _times_in_lake(store: Store, cluster: str, spans: Mapping[str, Mapping[int, Times]]) -> dict[str, Times]:
    """The instants of these logs in the lake, between the first and the last of the ranges."""
    if not store.has(LOG_RECORDS):
        return {}
    near = sum((t for times in spans.values() for t in times.values()), NO_TIMES)
    query = """
        SELECT split_part(source, $within, 1) AS log, coalesce(min(epoch_us(happened_at)), $first) AS first,
            coalesce(max(epoch_us(happened_at)), $last) AS last, count(*) - count(happened_at) AS timeless
        FROM part WHERE list_contains($logs, log) GROUP BY log"""
    values = {"within": WITHIN, "logs": [*spans], "first": NO_TIMES.first, "last": NO_TIMES.last}
    rows = reduced(store, LOG_RECORDS, _part(cluster, near), ("source", "happened_at"), query, **values)
    return {row["log"]: Times(row["first"], row["last"], row["timeless"]) for row in rows.to_pylist()}


def _part(cluster: str, near: Times) -> Part:
    """A cluster's records between the first and the last instant, and those without one."""
    span = (of_micros(near.first), past(of_micros(near.last))) if near.are_any else None
    return Part(cluster, "happened_at", span, timeless=True)


def _gathered(
    engine: Engine, reading: ReadPlan, placed: Sequence[_Placed], contest: Mapping[int, Times]
) -> tuple[pa.Table, list[Replaced]]:
    """Places and hashes of all contested records, and the files that were replaced meanwhile."""
    by_unit = grouped(placed, lambda p: p.unit)
    groups = [group for group in by_unit.values() if any(p.number in contest for p in group)]
    files, pieces = reading.files, reading.pieces
    units = [_unit(files[n], pieces[n], g, reading.copies, contest) for g in groups for n in [g[0].range.file]]
    replaced, batches = split_by(engine.spread(units, _contested_in), lambda value: isinstance(value, Replaced))
    return pa.Table.from_batches(batches, CONTESTED), replaced


_ALIKE = pa.schema([("source", pa.string()), *((name, pa.int64()) for name in ("at", "likeness"))])


def _alike_in_lake(engine: Engine, store: Store, cluster: str, shared: Mapping[str, Times]) -> pa.Table:
    """Source, instant and hash of the lake's records that logs may share. Workers read the text."""
    if not store.has(LOG_RECORDS):
        return _ALIKE.empty_table()
    part = _part(cluster, sum(shared.values(), NO_TIMES))
    work = partial(_alike_in, part=part, shared=shared)
    return pa.Table.from_batches(engine.spread(units_of(store, LOG_RECORDS, part), work), _ALIKE)


def _alike_in(
    arguments: Mapping[str, Any], _: Bytes, __: Any, part: Part, shared: Mapping[str, Times]
) -> Iterator[pa.RecordBatch]:
    for rows in rows_in(arguments, LOG_RECORDS, part, ("source", "happened_at", "text")):
        for source in rows["source"].unique().to_pylist():
            times = shared.get(source.partition(WITHIN)[0], NO_TIMES)
            own = rows.filter(pc.equal(rows["source"], source))
            at = pc.fill_null(own["happened_at"].cast(pa.int64()), NO_INSTANT)
            alike = pa.record_batch([own["source"], at, own["text"]], ["source", "at", "text"])
            alike = alike.filter(pa.array(times.hold(at.to_numpy())))
            yield pa.record_batch([alike["source"], alike["at"], likeness_of(alike["text"].cast(pa.binary()))], _ALIKE)


def bronze_rows(
    records: pa.RecordBatch, cluster: str, origin: str, source: str, layouts: Sequence[str], run_at: datetime
) -> pa.RecordBatch:
    """Records of `cutting.cut` as rows of bronze.log_records.

    A record's id is catalog.ids.row_id of cluster, source, text and twin.
    """
    sources = _sources(source, records.column("part"))
    numbers = records.column("layout").cast(pa.int64())
    new_columns = {
        "line_id": _ids(cluster, sources.to_pylist(), records.column("text"), records.column("twin").to_pylist()),
        "cluster": pa.repeat(cluster, len(records)),
        "origin": pa.repeat(origin, len(records)),
        "source": sources,
        "layout": pa.array(layouts, pa.string()).take(pc.if_else(pc.less(numbers, 0), None, numbers)),
        "run_collected_at": pa.repeat(pa.scalar(run_at, INSTANT), len(records)),
    }
    columns = dict(zip(records.schema.names, records.columns, strict=True)) | new_columns
    return pa.record_batch([columns[f.name] for f in _BRONZE], _BRONZE)


def _sources(source: str | pa.Array, parts: pa.Array) -> pa.Array:
    """The source of each record: its file's, and in a wrapped file also the writer of its line."""
    return pc.coalesce(pc.binary_join_element_wise(source, parts, WITHIN), source)


def _ids(cluster: str, sources: Sequence[str], texts: pa.Array, twins: Sequence[int]) -> pa.Array:
    prefixes = {source: sha256(f"{cluster}\x1f{source}\x1f".encode()) for source in set(sources)}
    suffixes = [b"\x1f%d" % twin for twin in range(max(twins, default=0) + 1)]
    hashes = []
    for source, text, twin in zip(sources, texts.cast(pa.binary()).to_pylist(), twins, strict=True):
        digest = prefixes[source].copy()
        digest.update(text + suffixes[twin])
        hashes.append(digest.digest())
    halves = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, _HASHED)[:, : DIGITS // 2]
    offsets = np.arange(len(texts) + 1, dtype=np.int32) * DIGITS
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(halves.tobytes().hex().encode()))


def settle(gathered: pa.Table, placed: Sequence[_Placed], in_lake: pa.Table) -> dict[int, Ints]:
    """Decide which records of equal instants stay, and rank them within their log and instant.

    Ids and order are the same however lines are split over files and files over units. Of identical records in
    overlapping files one stays, and none that the lake has.

    Args:
        gathered: range, part, place, happened_at (microseconds) and likeness (a hash) of records.
        placed: The ranges, by their numbers.
        in_lake: source, at and likeness of the lake's records at these instants.

    Returns:
        By unit the FIXED numbers of its records, one record after another, by place.
    """
    ranges, place, likeness = (gathered[name].to_numpy() for name in ("range", "place", "likeness"))
    at = pc.fill_null(gathered["happened_at"], NO_INSTANT).to_numpy()
    unit, rank, lane = (np.array([getattr(p, name) for p in placed])[ranges] for name in ("unit", "rank", "lane"))
    of_files = pa.array([p.source for p in placed], pa.string()).take(gathered["range"].combine_chunks())
    sources = _sources(of_files, gathered["part"].combine_chunks())
    source, of_lake = _codes(sources, in_lake["source"])
    twin = numbers((source, at, likeness, lane), (rank, place))
    is_first = numbers((source, at, likeness, twin), (rank,)) == 0
    nth = np.zeros(len(at), np.int64)
    nth[is_first] = numbers((source[is_first], at[is_first]), (rank[is_first], place[is_first]))
    lake = (of_lake, in_lake["at"].to_numpy(), in_lake["likeness"].to_numpy())
    is_kept = is_first & (twin >= _counts((source, at, likeness), lake))
    fixed = np.stack([place, np.where(is_kept, nth, _DROPPED), twin], axis=1)
    by_unit = np.lexsort((place, unit))
    begins = np.flatnonzero(are_new(by_unit, (unit,)))
    parts = np.split(fixed[by_unit], begins[1:])
    return {int(unit[by_unit[n]]): part.reshape(-1) for n, part in zip(begins, parts, strict=True)}


def _codes(ours: pa.Array, theirs: pa.ChunkedArray) -> tuple[Ints, Ints]:
    """Texts of both as numbers, the same for equal texts."""
    both = pa.concat_arrays([ours, *theirs.chunks]).dictionary_encode().indices.to_numpy().astype(np.int64)
    return both[: len(ours)], both[len(ours) :]


def _counts(ours: Sequence[Ints], theirs: Sequence[Ints]) -> Ints:
    """Count, for each of ours, those of theirs with the same key."""
    count = len(ours[0])
    both = [np.concatenate(pair) for pair in zip(ours, theirs, strict=True)]
    order = np.lexsort(both)
    group = np.cumsum(are_new(order, both)) - 1
    counts = np.empty(len(order), np.int64)
    counts[order] = np.bincount(group, weights=order >= count)[group]
    return counts[:count]
