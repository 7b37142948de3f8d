"""Log records get their ids, and those that files have in common their rank, each once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.ids import DIGITS
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_schema
from kafka_hindsight.logs.arrays import NO_INSTANT, Ints
from kafka_hindsight.logs.cutting import are_new, numbers

FIXED = ("place", "order", "twin")
"""Numbers of a record that depend on all records like it; order is below 0 for a record that is dropped."""

_DROPPED = -1
_HASHED = sha256().digest_size
_BRONZE = arrow_schema(LOG_RECORDS)


class RangeInfo(NamedTuple):
    """A range's unit, and the source, the rank and the lane of its file."""

    unit: int
    source: str
    rank: int
    lane: int


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


def settle(gathered: pa.Table, infos: Sequence[RangeInfo], in_lake: pa.Table) -> dict[int, Ints]:
    """Decide which records of equal instants stay, and rank them within their log and instant.

    Ids and order are the same however lines are split over files and files over units. Of identical records in
    overlapping files one stays, and none that the lake has.

    Args:
        gathered: range, part, place, happened_at (microseconds) and likeness (a hash) of records.
        infos: The ranges, by their numbers.
        in_lake: source, at and likeness of the lake's records at these instants.

    Returns:
        By unit the FIXED numbers of its records, one record after another, by place.
    """
    ranges, place, likeness = (gathered[name].to_numpy() for name in ("range", "place", "likeness"))
    at = pc.fill_null(gathered["happened_at"], NO_INSTANT).to_numpy()
    unit, rank, lane = (np.array([getattr(info, name) for info in infos])[ranges] for name in ("unit", "rank", "lane"))
    of_files = pa.array([info.source for info in infos], pa.string()).take(gathered["range"].combine_chunks())
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
