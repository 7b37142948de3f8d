"""Functions that filter, rank and shape Arrow tables, in one process and in Spark's workers alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.shared.windows import Window

FIRST, LAST = "min", "max"
"""The row of a group that is kept: the one of the lowest or of the highest rank."""

_RANK = "#rank"


def among(column: pa.ChunkedArray, values: Iterable[str]) -> pa.ChunkedArray:
    """Mark each value that is one of these; null is not one of them."""
    return pc.is_in(column, pa.array(sorted(map(str, values)), pa.string()))


def as_scalar(column: pa.ChunkedArray, at: datetime | None) -> pa.Scalar:
    """An instant in the type of a column."""
    return pa.scalar(at, column.type)


def inside(table: pa.Table, window: Window, time: str) -> pa.Table:
    """Keep the rows whose instant lies in a window."""
    at = table[time]
    return table.filter(
        pc.and_(pc.greater_equal(at, as_scalar(at, window.start)), pc.less(at, as_scalar(at, window.end)))
    )


def before(table: pa.Table, instant: datetime, time: str) -> pa.Table:
    """Keep the rows whose instant lies before another."""
    return table.filter(pc.less(table[time], as_scalar(table[time], instant)))


def ends(table: pa.Table, by: Sequence[str], order: Sequence[str], which: Sequence[str] = (FIRST, LAST)) -> pa.Table:
    """Keep the first row, the last one or both of each group.

    Args:
        table: Rows.
        by: The columns that name a group; null is a value like others.
        order: The columns by which the rows of a group follow one another.
        which: FIRST, LAST or both.
    """
    if not table.num_rows:
        return table
    ranked = table.sort_by([(name, "ascending") for name in order])
    ranked = ranked.append_column(_RANK, pa.array(np.arange(ranked.num_rows)))
    groups = ranked.group_by(list(by), use_threads=False).aggregate([(_RANK, end) for end in which])
    ranks = pc.unique(pa.chunked_array([chunk for end in which for chunk in groups[f"{_RANK}_{end}"].chunks]))
    return ranked.drop_columns([_RANK]).take(ranks)


def distinct(table: pa.Table) -> pa.Table:
    """Keep each row once."""
    return table.group_by(table.column_names, use_threads=False).aggregate([])


def with_columns(table: pa.Table, **columns: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Replace the columns of these names, or add them."""
    for name, column in columns.items():
        place = table.schema.get_field_index(name)
        field = pa.field(name, column.type)
        table = table.append_column(field, column) if place < 0 else table.set_column(place, field, column)
    return table


def completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Give a table all columns of a schema, null where it lacks one, followed by its other columns."""
    columns = {
        field.name: table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    }
    beside = {name: table[name] for name in table.column_names if name not in columns}
    fields = [*(field.with_nullable(True) for field in schema), *(pa.field(n, c.type) for n, c in beside.items())]
    return pa.Table.from_arrays([*columns.values(), *beside.values()], schema=pa.schema(fields))


def look_up(keys: pa.ChunkedArray, values: Mapping[Any, Any], kind: pa.DataType) -> pa.ChunkedArray:
    """Look up each key in a mapping; null for a key that it does not have."""
    places = pc.index_in(keys, pa.array(values.keys(), keys.type))
    return pa.chunked_array([pa.array(values.values(), kind).take(chunk) for chunk in places.chunks], kind)


def repeated(table: pa.Table, times: Sequence[int]) -> pa.Table:
    """Repeat each row the given number of times, in order."""
    return table.take(pa.array(np.repeat(np.arange(table.num_rows), times), pa.int64()))
