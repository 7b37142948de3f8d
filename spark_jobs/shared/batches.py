"""Batches of Arrow that Spark's workers make of a frame: they become rows of Spark, or files of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from spark_jobs.catalog.model import Table
from spark_jobs.shared.conform import quoted, schema_of

INSTANT = pa.timestamp("us", "UTC")
ARROW = {
    "STRING": pa.string(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "TIMESTAMP": INSTANT,
    "BINARY": pa.binary(),
    "ARRAY<STRING>": pa.list_(pa.string()),
}
"""Arrow's types by those of columns, as far as a worker makes tables with them."""

Make = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Batches:
    """What a function makes of the batches of a frame: all columns of a table, in their order and types."""

    given: DataFrame
    make: Make
    table: Table

    def rows(self) -> DataFrame:
        """As rows of Spark."""
        return self.given.mapInArrow(self.make, schema_of(self.table))

    def through(self, make: Make, schema: pa.Schema) -> DataFrame:
        """What a function makes of these batches, as rows of Spark."""
        return self.given.mapInArrow(partial(_one_after_another, self.make, make), from_arrow_schema(schema))


def as_batches(rows: DataFrame, table: Table) -> Batches:
    """The rows of a table as batches that Spark makes."""
    return Batches(rows.select(*map(quoted, table.column_names)), _unchanged, table)


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return iter(batches)


def _one_after_another(first: Make, second: Make, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return second(first(batches))


def arrow_schema(table: Table) -> pa.Schema:
    """The columns of a table as Arrow has them."""
    return pa.schema([pa.field(c.name, ARROW[c.type], c.nullable) for c in table.columns])
