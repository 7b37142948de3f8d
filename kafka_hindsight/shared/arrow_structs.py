"""A table as a column of structs, and back: rows of several classes meet in one frame, a column for each class."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc


def struct_of(schema: pa.Schema) -> pa.StructType:
    """The type of a column whose structs hold the rows of a table. On its way each of their fields may be null."""
    return pa.struct([field.with_nullable(True) for field in schema])


def as_structs(rows: pa.Table, kind: pa.StructType) -> pa.StructArray:
    """Rows as structs of a type; null where they lack one of its fields."""
    whole = rows.combine_chunks()
    fields = [_column(whole, field) for field in kind]
    if not fields:
        return pa.array([{}] * len(whole), kind)
    return pa.StructArray.from_arrays(fields, fields=list(kind))


def as_table(structs: pa.ChunkedArray) -> pa.Table:
    """The structs that are not null as rows: a column for each of their fields."""
    chunks = structs.drop_null().chunks
    batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in chunks if len(chunk)]
    return pa.Table.from_batches(batches, pa.schema(list(structs.type)))


def in_column(rows: pa.Table, column: str, schema: pa.Schema, fixed: Mapping[str, str] | None = None) -> pa.RecordBatch:
    """Rows as a batch of a schema: as structs in one column of it, beside columns of theirs and fixed ones.

    Args:
        rows: The rows.
        column: The column that holds them as structs.
        schema: The columns of the batch. One that is neither of these is null.
        fixed: The one value of a column.
    """
    fixed, whole = fixed or {}, rows.combine_chunks()
    arrays = [
        as_structs(whole, field.type)
        if field.name == column
        else pa.array([fixed[field.name]] * len(whole), field.type)
        if field.name in fixed
        else _column(whole, field)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def of_input(table: pa.Table, name: str, column: str) -> pa.Table:
    """The rows of one input, out of all that a judgement reads: what `column` holds, beside the other plain columns."""
    plain = [field.name for field in table.schema if not pa.types.is_struct(field.type)]
    own = table.select([*plain, column]).filter(pc.equal(table["input"], name))
    rows = as_table(own[column])
    for beside in plain:
        if beside not in (*rows.column_names, "input"):
            rows = rows.append_column(own.schema.field(beside), own[beside])
    return rows


def _column(rows: pa.Table, field: pa.Field) -> pa.Array:
    if field.name not in rows.column_names:
        return pa.nulls(len(rows), field.type)
    column = rows[field.name].cast(field.type)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, field.type)
