"""Files of tables: Arrow to Parquet, with the statistics by which windows are found, and back.

The name of a file begins with the hash of its content, which is checked when a process reads the file the first time. A
commit names a file later. A file that no commit ever names is removed when the table is put in order.

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

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.damage import Damaged, digest, digest_in
from kafka_hindsight.lake.landing import open_file, read_bytes, write_atomically
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.shared.grouping import sized
from kafka_hindsight.shared.instants import of_micros

PROPERTIES = {"delta.enableDeletionVectors": "false"}
"""Default features only, so that DuckDB, delta-rs and Polars read what Spark writes."""

DESCRIBED = "delta.dataSkippingStatsColumns"
"""The property that names the columns with statistics."""


def properties(table: Table) -> dict[str, str]:
    """Delta's properties of a table.

    Gold carries its critical checks, and a check that gives null counts as kept. Only the columns by which windows are
    found have statistics: others would cost more than a small write.
    """
    return {**PROPERTIES, DESCRIBED: ",".join(window_columns(table)), **_constraints(table)}


def window_columns(table: Table) -> list[str]:
    """The columns by which a window of a table is found."""
    return [c for c in ("cluster", table.time_column) if c in table.column_names]


def _constraints(table: Table) -> dict[str, str]:
    if table.layer != "gold":
        return {}
    return {
        f"delta.constraints.{c.name}": f"coalesce({c.predicate}, true)"
        for c in table.checks
        if c.severity == "critical"
    }


_GROUP = 32 * 1024 * 1024
"""Bytes of Arrow that become one row group."""

_FILE = 16 * 1024 * 1024
"""Bytes of Parquet after which another file begins: its writer keeps them in memory."""

SMALL = _FILE // 2
"""Bytes of Parquet below which a file is compacted with others."""

_BATCH = 64 * 1024
"""Rows that are read at once."""


def write_files(folder: str, table: Table, batches: Iterable[pa.RecordBatch]) -> list[DataFile]:
    """Write rows as files of a table that no commit names yet.

    Args:
        folder: Where the table lies.
        table: The table.
        batches: Its rows, with its columns in their order.

    Raises:
        ValueError: A row has no value in a column that is never null.
    """
    return list(files_written(table, batches, folder))


def files_written(
    table: Table,
    batches: Iterable[pa.RecordBatch],
    folder: str,
    schema: pa.Schema | None = None,
) -> Iterator[DataFile]:
    """Write rows as `write_files` does, and give each file as soon as it is written.

    Args:
        table: The table.
        batches: Its rows, with its columns in their order.
        folder: Where the files go.
        schema: The columns; None: those of the table, with its NOT NULL.
    """
    file: _OpenFile | None = None
    schema = schema or arrow_schema(table)
    for group in sized(filter(len, batches), lambda batch: batch.nbytes, _GROUP):
        rows = pa.Table.from_batches([batch.cast(schema) for batch in group])
        file = file or _OpenFile(schema, window_columns(table))
        file.writer.write_table(rows, row_group_size=len(rows))
        if file.sink.tell() >= _FILE:
            yield file.close(folder)
            file = None
    if file:
        yield file.close(folder)


def read_file(
    folder: str, file: DataFile, part: Part | None, table: Table, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a part that are in a file.

    Args:
        folder: Where the table lies.
        file: A file of the table.
        part: Which rows; None: all.
        table: The table.
        columns: The columns to give, in this order; None: all.

    Raises:
        OSError: The file is not there, or not whole.
    """
    names = tuple(table.column_names if columns is None else columns)
    all_names = {*names, *(part.columns if part else ())}
    schema = pa.schema([field for field in arrow_schema(table) if field.name in all_names])
    parquet = pq.ParquetFile(_open_file(folder, file, table), coerce_int96_timestamp_unit="us", pre_buffer=True)
    for batch in parquet.iter_batches(_BATCH, columns=schema.names):
        typed = pa.record_batch([batch[field.name].cast(field.type) for field in schema], schema)
        rows = part.of(typed) if part else typed
        if len(rows):
            yield rows.select(names)


def conform(rows: pa.Table, table: Table, schema: pa.Schema) -> pa.Table:
    """Give rows exactly a table's columns, in their order and types.

    Args:
        rows: Rows, their columns in any order.
        table: The table.
        schema: The table's columns, with or without NOT NULL.

    Raises:
        ValueError: Columns are missing or are not the table's; the error names them. Or a row has no value in a column
            that is never null.
    """
    missing = [n for n in table.column_names if n not in rows.column_names]
    extra = [n for n in rows.column_names if n not in table.column_names]
    if missing or extra:
        raise ValueError(
            f"Rows for {table.full_name} have other columns than it: missing {missing or 'none'}, "
            f"not declared {extra or 'none'}. Needed: {', '.join(table.column_names)}."
        )
    if empty := [f.name for f in schema if not f.nullable and rows[f.name].null_count]:
        raise ValueError(
            f"Rows for {table.full_name} have no value in {', '.join(empty)}. Needed: a value in each row."
        )
    return rows.select(table.column_names).cast(schema)


def _open_file(folder: str, file: DataFile, table: Table) -> Any:
    """Open a file. One that is read the first time is read whole, so that its content can be checked."""
    require_size(folder, file, table)
    if is_checked(folder, file):
        return open_file(f"{folder}/{file.path}")
    return pa.BufferReader(_checked_content(folder, file, table))


def require_size(folder: str, file: DataFile, table: Table) -> None:
    """Check that a file has all bytes that its commit names.

    Raises:
        OSError: It is not there, or not whole.
    """
    size = 0
    with suppress(FileNotFoundError):
        size = open_file(f"{folder}/{file.path}").size()
    if size < file.size:
        raise OSError(
            f"{file.path} of {table.full_name} has {size} of the {file.size} bytes that its commit names. Needed: every"
            " file of the lake. `hindsight doctor --lake` names those that are damaged or missing."
        )


_CHECKED = set[str]()
"""The places of files of which this process has checked the content."""


def is_checked(folder: str, file: DataFile) -> bool:
    """Whether this process has checked the content of a file, or the file of another program has no checksum."""
    return digest_in(file.path) is None or f"{folder}/{file.path}" in _CHECKED


def check_file(folder: str, file: DataFile, table: Table) -> None:
    """Check the content of a file, once in a process.

    Raises:
        OSError: The file is not there, or not whole.
        Damaged: It has other bytes than were written.
    """
    require_size(folder, file, table)
    if not is_checked(folder, file):
        _checked_content(folder, file, table)


def _checked_content(folder: str, file: DataFile, table: Table) -> bytes:
    content = read_bytes(f"{folder}/{file.path}")
    if digest(content) != digest_in(file.path):
        raise Damaged(
            f"{file.path} of {table.full_name} has other bytes than were written. Needed: every file of the lake as it"
            " was written. `hindsight doctor --lake` names those that are damaged, and what to do."
        )
    _CHECKED.add(f"{folder}/{file.path}")
    return content


class _OpenFile:
    """A file that is being written."""

    def __init__(self, schema: pa.Schema, described: list[str]) -> None:
        self.columns_described, self.sink = described, io.BytesIO()
        self.writer = pq.ParquetWriter(
            self.sink, schema, compression="zstd", write_statistics=described, store_schema=False
        )

    def close(self, folder: str) -> DataFile:
        """Write the file into its folder."""
        self.writer.close()
        content = self.sink.getvalue()
        name = f"{digest(content)}-{uuid4()}.zstd.parquet"
        write_atomically(f"{folder}/{name}", content)
        return DataFile(name, len(content), self._stats())

    def _stats(self) -> dict[str, Any]:
        footer = pq.read_metadata(self.sink)
        stats: dict[str, Any] = {"numRecords": footer.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
        for name in self.columns_described:
            at = footer.schema.names.index(name)
            of_groups = [footer.row_group(n).column(at).statistics for n in range(footer.num_row_groups)]
            stats["nullCount"][name] = sum(s.null_count for s in of_groups)
            filled = [s for s in of_groups if s.has_min_max]
            with suppress(ValueError, OverflowError):
                stats["minValues"][name] = _bound(min(s.min_raw for s in filled))
                stats["maxValues"][name] = _bound(max(s.max_raw for s in filled))
        return stats


def _bound(value: Any) -> str:
    """Write a bound as Delta does.

    Raises:
        OverflowError: The instant is of a year that Python does not have.
    """
    if isinstance(value, int):
        return of_micros(value).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value, "utf-8")
