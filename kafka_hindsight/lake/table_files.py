"""Files of tables: rows of Arrow become Parquet with the statistics that windows are found by, and Parquet rows.

A commit names a file later. What is written and never named is removed by the order of a table.

Source: PROTOCOL.md of Delta Lake, Per-file Statistics.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.ddl import found_by
from kafka_hindsight.lake.landing import open_file, write_atomically
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.shared.instants import of_micros

_GROUP = 32 * 1024 * 1024
"""Bytes of Arrow that become one row group."""

_FILE = 16 * 1024 * 1024
"""Bytes of Parquet after which another file begins: its writer holds them in memory."""

_BATCH = 64 * 1024
"""Rows that are read at once."""


def write_files(folder: str, table: Table, batches: Iterable[pa.RecordBatch]) -> list[File]:
    """Writes rows as files below the folder of a table. No commit names them yet.

    Raises: ValueError where a column that is never null is.
    """
    return list(files_written(table, batches, folder))


def files_written(table: Table, batches: Iterable[pa.RecordBatch], folder: str) -> Iterator[File]:
    """Each file of `write_files` as soon as it is in its place."""
    file: _Open | None = None
    for rows in _groups(batches, arrow_schema(table)):
        file = file or _Open(rows.schema, found_by(table))
        file.writer.write_table(rows, row_group_size=len(rows))
        if file.sink.tell() >= _FILE:
            yield file.closed(folder)
            file = None
    if file:
        yield file.closed(folder)


def read_file(
    folder: str,
    file: File,
    part: Part | None,
    table: Table,
    columns: Sequence[str] | None = None,
    share: tuple[int, int] = (0, 1),
) -> Iterator[pa.RecordBatch]:
    """The rows of a part that a file holds, with the columns of the table, or some of them.

    Takes: `share`, which of how many shares of its row groups to read.

    Edge case: a file that is older than a column of the table has none of its values.
    Raises: RuntimeError where the file is not there, or not whole.
    """
    schema = arrow_schema(table)
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    needed = {*wanted.names, *(part.columns if part else ())}
    held = pq.ParquetFile(_opened(folder, file, table), coerce_int96_timestamp_unit="us", pre_buffer=True)
    names = [name for name in schema.names if name in needed and name in held.schema_arrow.names]
    begin, end = (held.num_row_groups * n // share[1] for n in (share[0], share[0] + 1))
    for batch in held.iter_batches(_BATCH, row_groups=list(range(begin, end)), columns=names):
        conformed = _conformed(batch, pa.schema([field for field in schema if field.name in needed]))
        rows = part.of(conformed) if part else conformed
        if len(rows):
            yield rows if columns is None else rows.select(list(columns))


def conform(rows: pa.Table, table: Table, schema: pa.Schema) -> pa.Table:
    """The rows with exactly the table's columns, in their order and types.

    Raises: ValueError that names every column that is missing or that the table does not have; or a column that is
        never null and has none of a row's values.
    """
    missing = [n for n in table.column_names if n not in rows.column_names]
    extra = [n for n in rows.column_names if n not in table.column_names]
    if missing or extra:
        raise ValueError(
            f"{table.full_name} was given other columns than it has: missing {missing or 'none'}, "
            f"not declared {extra or 'none'}. Needed: {', '.join(table.column_names)}."
        )
    return rows.select(table.column_names).cast(schema)


def _opened(folder: str, file: File, table: Table) -> Any:
    size = 0
    with suppress(FileNotFoundError):
        opened = open_file(f"{folder}/{file.path}")
        size = opened.size()
    if size < file.size:
        raise RuntimeError(
            f"{file.path} of {table.full_name} has {size} of the {file.size} bytes that its commit names. Needed: every"
            " file of the lake. `hindsight doctor --lake` names those that are damaged or missing."
        )
    return opened


def _conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    held = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns = [held[f.name].cast(f.type) if f.name in held else pa.nulls(len(batch), f.type) for f in schema]
    return pa.record_batch(columns, schema)


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

    def closed(self, folder: str) -> File:
        """The file, once it is in its place."""
        self.writer.close()
        name, content = f"part-{uuid4()}.zstd.parquet", self.sink.getvalue()
        write_atomically(f"{folder}/{name}", content)
        return File(name, len(content), self._stats())

    def _stats(self) -> dict[str, Any]:
        held = pq.read_metadata(self.sink)
        stats: dict[str, Any] = {"numRecords": held.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
        for name in self.known:
            groups = [held.row_group(n).column(held.schema.names.index(name)) for n in range(held.num_row_groups)]
            of_groups = [g.statistics for g in groups]
            stats["nullCount"][name] = sum(s.null_count for s in of_groups)
            filled = [s for s in of_groups if s.has_min_max]
            with suppress(ValueError, OverflowError):
                stats["minValues"][name] = _bound(min(s.min_raw for s in filled))
                stats["maxValues"][name] = _bound(max(s.max_raw for s in filled))
        return stats


def _bound(value: Any) -> str:
    """A bound as Delta writes it. Raises: OverflowError for an instant of a year that Python does not have."""
    if isinstance(value, int):
        return of_micros(value).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value, "utf-8")
