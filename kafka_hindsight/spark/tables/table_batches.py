"""Rows of a table as Python's workers read them, out of the files that hold them.

Spark would decode Parquet into rows and make batches of Arrow of these: a seventh of what an ingest cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.logs.file_bytes import Bytes
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.spark.batches import Batches, as_batches
from kafka_hindsight.spark.byte_work import spread_units, worked
from kafka_hindsight.spark.tables.table_state import State, all_files, listed_state, predicate_of

_MOST = 64 * 1024 * 1024
"""Bytes of a file that a worker reads whole. OPTIMIZE makes files of a gigabyte: Spark splits those."""

_UNIT = 4 * 1024 * 1024
"""Bytes of a file for which a unit of work pays."""

_TASK = 32 * 1024 * 1024
"""Bytes of Parquet that one task reads: they hold some 240 MB of logs."""

_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def batches_of(spark: SparkSession, path: str, table: Table, part: Part, known: State | None) -> list[Batches]:
    """The rows of a part, all columns. Takes: the state of the table, where it is known."""
    state = known or listed_state(spark, path)
    if state is None:
        return [as_batches(spark.read.format("delta").load(path).where(predicate_of(part)), table)]
    near = state.near(part)
    small = [file for file in near if file.size <= _MOST]
    large = [file for file in near if file.size > _MOST]
    found = [_read_by_workers(spark, path, table, part, small)] if small else []
    if large or not found:
        found.append(as_batches(all_files(spark, path, state, large).where(predicate_of(part)), table))
    return found


def _read_by_workers(spark: SparkSession, path: str, table: Table, part: Part, files: Sequence[File]) -> Batches:
    units = [unit for file in files for unit in _units(path, file, 1 if is_uri(path) else -(-file.size // _UNIT))]
    work = partial(_rows_in, table=table, part=part, most=int(str(spark.conf.get(_BATCH))))
    return Batches(spread_units(spark, units, most=_TASK), worked(work), table)


def _units(folder: str, file: File, count: int) -> Iterator[Unit]:
    """The row groups of a file in so many shares. Of a store each share would ask for the whole file."""
    told = {"file": file.path, "size": file.size}
    for n in range(count):
        yield Unit(f"{folder}/{file.path}", (0, file.size), told | {"share": [n, count]}, is_raw=True)


def _rows_in(
    told: Mapping[str, Any], held: Bytes, _: Any, table: Table, part: Part, most: int
) -> Iterator[pa.RecordBatch]:
    """Raises: RuntimeError where the file is not there, or not whole."""
    content = held.between(0, told["size"])
    if len(content) < told["size"]:
        raise RuntimeError(
            f"{told['file']} of {table.full_name} has {len(content)} of the {told['size']} bytes that its commit"
            " names. Needed: every file of the lake. `hindsight doctor --lake` names those that are damaged or missing."
        )
    file = pq.ParquetFile(pa.BufferReader(content), coerce_int96_timestamp_unit="us")
    number, count = told["share"]
    begin, end = (file.num_row_groups * n // count for n in (number, number + 1))
    columns = [name for name in table.column_names if name in file.schema_arrow.names]
    for batch in file.iter_batches(most, row_groups=list(range(begin, end)), columns=columns, use_threads=False):
        rows = part.of(_conformed(batch, arrow_schema(table)))
        if len(rows):
            yield rows


def _conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a table. Edge case: a file that is older than a column of the table has none of its values."""
    held = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns = [held[f.name].cast(f.type) if f.name in held else pa.nulls(len(batch), f.type) for f in schema]
    return pa.record_batch(columns, schema)
