"""One hash of rows: equal for the same rows in any order, in any number of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.table_model import Scalar, Table

_ROWS = 64 * 1024
"""Rows that are hashed at once."""


def content_hash(rows: pa.Table, table: Table) -> str:
    """Hash the rows of a table, `run_` columns left out.

    Rows that differ in lists or structs alone count in the order in which they come. A table's key distinguishes its
    rows by other columns.
    """
    columns = table.content_columns
    key = [name for name in table.key if name in columns]
    others = [name for name in columns if name not in key and isinstance(table.column(name).kind, Scalar)]
    content = rows.select(columns)
    in_order = content.take(pc.sort_indices(content, [(name, "ascending") for name in (*key, *others)]))
    total = hashlib.sha256()
    for start in range(0, len(in_order), _ROWS):
        for column in in_order.slice(start, _ROWS).columns:
            for piece in _pieces(column.combine_chunks()):
                total.update(piece)
    return total.hexdigest()


def _pieces(array: pa.Array) -> Iterator[memoryview]:
    """Give the bytes of a column: where it has values, how long these are, and the values.

    Memory under a null is left out.
    """
    yield _fixed(array.is_valid().cast(pa.int8()))
    if pa.types.is_list(array.type):
        yield _fixed(pc.fill_null(pc.list_value_length(array), 0))
        yield from _pieces(array.flatten())
    elif pa.types.is_struct(array.type):
        for field in array.flatten():
            yield from _pieces(field)
    elif pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        filled = array.cast(pa.binary()).fill_null(b"")
        yield _fixed(pc.binary_length(filled))
        _, offsets, values = filled.buffers()
        ends = memoryview(offsets).cast("i")[filled.offset : filled.offset + len(filled) + 1]
        yield memoryview(values or b"")[ends[0] : ends[-1]]
    else:
        plain = array if pa.types.is_floating(array.type) else array.cast(pa.int64())
        yield _fixed(plain.fill_null(0))


def _fixed(array: pa.Array) -> memoryview:
    """Give the bytes of values that have one length."""
    width = array.type.bit_width // 8
    _, values = array.buffers()
    return memoryview(values or b"")[array.offset * width : (array.offset + len(array)) * width]
