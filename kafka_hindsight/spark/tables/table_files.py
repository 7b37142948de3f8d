"""Files of tables, made where Arrow's batches are: by Python's workers.

Spark would turn each batch into rows, and these into columns again: most of what an ingest cost.

Source: PROTOCOL.md of Delta Lake, Add File and Per-file Statistics.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import Make, arrow_schema
from kafka_hindsight.lake.ddl import found_by
from kafka_hindsight.lake.landing import write_atomically
from kafka_hindsight.shared.instants import of_micros
from kafka_hindsight.spark.batches import Batches
from kafka_hindsight.spark.tables.table_state import File
from kafka_hindsight.start import launch

_GROUP = 32 * 1024 * 1024
"""Bytes of Arrow that become one row group."""

_FILE = 16 * 1024 * 1024
"""Bytes of Parquet after which another file begins: a worker holds them in memory."""

_WRITTEN = pa.schema([("name", pa.string()), ("size", pa.int32()), ("stats", pa.string())])


def write_files(path: str, batches: Batches) -> list[File]:
    """Writes the batches as files below the table's folder. No commit names them yet.

    Edge case: a task that is run again leaves files behind that no commit ever names, as one of Spark's own does.
    """
    put = partial(_put, path, int(launch.umask(), 8))
    work = partial(_files, make=batches.make, table=batches.table, put=put)
    found = batches.given.mapInArrow(work, from_arrow_schema(_WRITTEN))
    return [_added(**row.asDict()) for row in found.collect()]


def _added(name: str, size: int, stats: str) -> File:
    add = {
        "path": name,
        "partitionValues": {},
        "size": size,
        "modificationTime": time.time_ns() // 1_000_000,
        "dataChange": True,
        "stats": stats,
    }
    return File(name, size, json.loads(stats), json.dumps({"add": add}))


def _files(
    given: Iterable[pa.RecordBatch], make: Make, table: Table, put: Callable[[str, bytes], None]
) -> Iterator[pa.RecordBatch]:
    """A row for each file. Takes: what puts a file in its place."""
    file: _Open | None = None
    for rows in _groups(make(given), arrow_schema(table)):
        file = file or _Open(rows.schema, found_by(table))
        file.writer.write_table(rows, row_group_size=len(rows))
        if file.sink.tell() >= _FILE:
            yield file.closed(put)
            file = None
    if file:
        yield file.closed(put)


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """The batches in row groups. Raises: ValueError where a column that is never null is."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch.cast(schema))
        size += batch.nbytes
        if size >= _GROUP:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if any(map(len, held)):
        yield pa.Table.from_batches(held)


class _Open:
    """A file that is being written."""

    def __init__(self, schema: pa.Schema, known: list[str]) -> None:
        self.known, self.sink = known, io.BytesIO()
        self.writer = pq.ParquetWriter(
            self.sink, schema, compression="zstd", write_statistics=known, store_schema=False
        )

    def closed(self, put: Callable[[str, bytes], None]) -> pa.RecordBatch:
        """The row that describes the file."""
        self.writer.close()
        name, content = f"part-{uuid4()}.zstd.parquet", self.sink.getvalue()
        put(name, content)
        told = {"name": name, "size": len(content), "stats": json.dumps(self._stats())}
        return pa.RecordBatch.from_pylist([told], _WRITTEN)

    def _stats(self) -> dict[str, Any]:
        held = pq.read_metadata(self.sink)
        told: dict[str, Any] = {"numRecords": held.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
        for name in self.known:
            groups = [held.row_group(n).column(held.schema.names.index(name)) for n in range(held.num_row_groups)]
            of_groups = [g.statistics for g in groups]
            told["nullCount"][name] = sum(s.null_count for s in of_groups)
            filled = [s for s in of_groups if s.has_min_max]
            with suppress(ValueError, OverflowError):
                told["minValues"][name] = _bound(min(s.min_raw for s in filled))
                told["maxValues"][name] = _bound(max(s.max_raw for s in filled))
        return told


def _bound(value: Any) -> str:
    """A bound as Delta writes it. Raises: OverflowError for an instant of a year that Python does not have."""
    if isinstance(value, int):
        return of_micros(value).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value, "utf-8")


def _put(folder: str, umask: int, name: str, content: bytes) -> None:
    """Writes a file whole, or leaves none."""
    before = os.umask(umask)
    try:
        write_atomically(f"{folder}/{name}", content)
    finally:
        os.umask(before)
