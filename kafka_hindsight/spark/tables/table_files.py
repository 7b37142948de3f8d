"""Files of tables, made where Arrow's batches are: by Python's workers.

Spark would turn each batch into rows, and these into columns again: most of what an ingest cost. A worker that cannot
reach the table's file system hands the bytes of its files to Java.

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
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import Make, arrow_schema
from kafka_hindsight.lake.ddl import found_by
from kafka_hindsight.logs.file_bytes import is_local
from kafka_hindsight.shared.instants import of_micros
from kafka_hindsight.spark import lake_files
from kafka_hindsight.spark.batches import Batches
from kafka_hindsight.spark.java_functions import teach
from kafka_hindsight.spark.tables.table_state import File
from kafka_hindsight.start import launch

_GROUP = 32 * 1024 * 1024
"""Bytes of Arrow that become one row group."""

_FILE = 16 * 1024 * 1024
"""Bytes of Parquet after which another file begins: Java holds them as one value."""

_FUNCTION = "hindsight_file_out"
_WRITTEN = pa.schema([("name", pa.string()), ("size", pa.int32()), ("stats", pa.string()), ("content", pa.binary())])


def write_files(spark: SparkSession, path: str, batches: Batches) -> list[File]:
    """Writes the batches as files below the table's folder. No commit names them yet.

    Edge case: a task that is run again leaves files behind that no commit ever names, as one of Spark's own does.
    """
    folder = lake_files.uri_of(spark, path)
    is_here = is_local(folder)
    put = partial(_put, Path(unquote(urlsplit(folder).path)), int(launch.umask(), 8)) if is_here else None
    work = partial(_files, make=batches.make, table=batches.table, put=put)
    found = batches.given.mapInArrow(work, from_arrow_schema(_WRITTEN))
    if not is_here:
        teach(spark, _FUNCTION, "FileOut", "IntegerType")
        uri = F.concat(F.lit(f"{folder}/"), "name")
        found = found.withColumn("size", F.call_function(_FUNCTION, uri, "content"))
    return [_added(**row.asDict()) for row in found.select("name", "size", "stats").collect()]


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
    given: Iterable[pa.RecordBatch], make: Make, table: Table, put: Callable[[str, bytes], None] | None
) -> Iterator[pa.RecordBatch]:
    """A row for each file. Takes: what puts a file in its place; without it the row has its bytes."""
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

    def closed(self, put: Callable[[str, bytes], None] | None) -> pa.RecordBatch:
        """The row that describes the file."""
        self.writer.close()
        name, content = f"part-{uuid4()}.zstd.parquet", self.sink.getvalue()
        if put:
            put(name, content)
        told = {"name": name, "size": len(content), "stats": json.dumps(self._stats())}
        return pa.RecordBatch.from_pylist([{**told, "content": None if put else content}], _WRITTEN)

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


def _put(folder: Path, umask: int, name: str, content: bytes) -> None:
    """Writes a file whole, or leaves none."""
    file = folder / name
    try:
        with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 & ~umask), "wb") as written:
            written.write(content)
    except OSError:
        file.unlink(missing_ok=True)
        raise
