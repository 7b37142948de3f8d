"""Whether two bodies of rows are the same, in whatever order, without holding them."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema

RowSum = tuple[int, int, int]


def sum_rows(table: Table, batches: Iterable[pa.RecordBatch]) -> RowSum:
    """The number of rows, and two sums of 64-bit hashes of them, without their `run_` columns."""
    import duckdb  # Spark's workers import this module, and have no DuckDB.

    columns = table.content_columns
    schema = pa.schema([arrow_schema(table).field(name).with_nullable(True) for name in columns])
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT count(*), coalesce(sum(hash({names})), 0), coalesce(sum(hash('again', {names})), 0) FROM part"
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET threads = 1")
        rows = pa.RecordBatchReader.from_batches(schema, (batch.select(columns).cast(schema) for batch in batches))
        connection.register("part", rows)
        count, one, other = connection.execute(query).fetchall()[0]
        return int(count), int(one), int(other)
