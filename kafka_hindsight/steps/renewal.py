"""A staged table takes the place of the rows of a window, where these differ, and no row is held."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain

import duckdb
import pyarrow as pa

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.staging import Staged, staged_batches
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window

RowSum = tuple[int, int, int]


def renew_from_staging(
    store: Store, table: Table, staged: Staged, cluster: str, window: Window, withheld: Collection[int] = ()
) -> None:
    """Put a staged table in the place of a cluster's rows of a window, if those differ.

    Args:
        store: The lake.
        table: A table whose rows all have an instant.
        staged: What is staged.
        cluster: The cluster.
        window: Its window.
        withheld: The numbers of staged rows that are left out.

    Raises:
        ValueError: See `Store.replace_window`.
        StagingChanged: A staged file is not the one that its run wrote.
    """
    before = sum_rows(table, store.window_batches(table, cluster, window))
    count = staged.row_count(table) - len(withheld)
    new = staged_batches(store.lake, cluster, table, staged.of(table), withheld)
    if before[0] != count or before != sum_rows(table, new):
        store.replace_from_staging(table, staged, cluster, window, withheld)


def sum_rows(table: Table, batches: Iterable[pa.RecordBatch]) -> RowSum:
    """The number of rows, and two sums of 64-bit hashes of them, without their `run_` columns."""
    filled = filter(len, batches)
    first = next(filled, None)
    if first is None:
        return 0, 0, 0
    columns = table.content_columns
    schema = pa.schema([arrow_schema(table).field(name).with_nullable(True) for name in columns])
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT count(*), coalesce(sum(hash({names})), 0), coalesce(sum(hash('again', {names})), 0) FROM part"
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET threads = 1")
        typed = (batch.select(columns).cast(schema) for batch in chain([first], filled))
        rows = pa.RecordBatchReader.from_batches(schema, typed)
        connection.register("part", rows)
        count, one, other = connection.execute(query).fetchall()[0]
        return int(count), int(one), int(other)
