"""A declared table as Arrow has it. No Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from kafka_hindsight.catalog.model import Table

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


def arrow_schema(table: Table) -> pa.Schema:
    """The columns of a table as Arrow has them."""
    return pa.schema([pa.field(c.name, ARROW[c.type], c.nullable) for c in table.columns])
