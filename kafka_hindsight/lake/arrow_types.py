"""A declared table as Arrow has it. No Spark."""

from __future__ import annotations

import pyarrow as pa

from kafka_hindsight.catalog.table_model import ColumnType, ListOf, Scalar, Table

INSTANT = pa.timestamp("us", "UTC")

_ARROW = {
    Scalar.STRING: pa.string(),
    Scalar.INT: pa.int32(),
    Scalar.BIGINT: pa.int64(),
    Scalar.DOUBLE: pa.float64(),
    Scalar.BOOLEAN: pa.bool_(),
    Scalar.TIMESTAMP: INSTANT,
    Scalar.BINARY: pa.binary(),
}


def arrow_schema(table: Table) -> pa.Schema:
    """The columns of a table as Arrow has them."""
    return pa.schema([pa.field(c.name, arrow_type(c.kind), c.nullable) for c in table.columns])


def without_laws(table: Table) -> pa.Schema:
    """The columns of a table, each of which may be null."""
    return pa.schema([field.with_nullable(True) for field in arrow_schema(table)])


def arrow_type(kind: ColumnType) -> pa.DataType:
    """A type of a column in Arrow."""
    match kind:
        case Scalar():
            return _ARROW[kind]
        case ListOf():
            return pa.list_(arrow_type(kind.item))
    return pa.struct([(c.name, arrow_type(c.kind)) for c in kind.COLUMNS])
