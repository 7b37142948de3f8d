"""Few rows of the lake's tables, as Arrow and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import read_file
from kafka_hindsight.sql.arrow_answers import arrow_answer


def cluster_rows(store: Store, table: Table, cluster: str | None, columns: Sequence[str] | None = None) -> pa.Table:
    """A cluster's rows, or all rows for None; no rows if the table is not there."""
    if store.has(table):
        return store.read(table, None if cluster is None else Part(cluster), columns)
    schema = arrow_schema(table)
    return pa.schema([schema.field(name) for name in columns or schema.names]).empty_table()


def reduced(store: Store, table: Table, part: Part, columns: Sequence[str], query: str, **values: Any) -> pa.Table:
    """The few rows that a query makes of a part of a table, which it names `part`. The part itself streams.

    Args:
        store: The lake.
        table: The table. It has been created.
        part: Which rows.
        columns: Which columns the query reads.
        query: SQL of DuckDB.
        values: Its parameters.
    """
    schema = pa.schema([arrow_schema(table).field(name) for name in columns])
    files = store.files(table, part)
    batches = chain.from_iterable(read_file(store.path(table), file, part, table, columns) for file in files)
    return answer(pa.RecordBatchReader.from_batches(schema, batches), query, **values)


def answer(part: pa.Table | pa.RecordBatchReader, query: str, **values: Any) -> pa.Table:
    """The rows that a query of DuckDB makes of rows, which it names `part`."""
    import duckdb  # Spark's workers import this module, and have no DuckDB.

    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("part", part)
        return arrow_answer(connection, query, values)


def table_of(rows: Iterable[Mapping[str, Any]], table: Table) -> pa.Table:
    """Plain rows as a table with its columns and types; a column that a row lacks is null."""
    plain_rows = list(rows)
    columns = [pa.array([row.get(f.name) for row in plain_rows], f.type) for f in arrow_schema(table)]
    return pa.Table.from_arrays(columns, schema=arrow_schema(table))


def first_rows(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    """The first row of each key."""
    numbered = rows.select(key).append_column("nth", pa.array(np.arange(len(rows))))
    first = numbered.group_by(list(key), use_threads=False).aggregate([("nth", "min")])
    return rows.take(pa.array(np.sort(first["nth_min"].to_numpy())))
