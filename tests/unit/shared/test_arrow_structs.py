"""A table as a column of structs, and back, is the same table: for the rows of every class."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.rows import ROW_CLASS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.shared.arrow_structs import as_table, in_column, of_input, struct_of
from tests.support.draws import drawn

TABLES = [cls.TABLE for cls in ROW_CLASS.values()]


def values_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of a type, null among them."""
    types = pa.types
    if types.is_list(kind):
        return st.none() | st.lists(values_of(kind.value_type), max_size=2)
    if types.is_struct(kind):
        return st.none() | st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    if types.is_timestamp(kind):
        return st.none() | st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
    if types.is_integer(kind):
        return st.none() | st.integers(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
    if types.is_floating(kind):
        return st.none() | st.floats(allow_nan=False)
    if types.is_boolean(kind):
        return st.none() | st.booleans()
    return st.none() | (st.binary(max_size=2) if types.is_binary(kind) else st.text(max_size=2))


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.full_name)
@drawn(0.1)
@given(data=st.data())
def test_table_as_structs_and_back_is_the_same(table: Table, data: st.DataObject) -> None:
    kind = struct_of(arrow_schema(table))
    drawn_rows = [st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})]
    own, others = (data.draw(st.lists(*drawn_rows, max_size=3)) for _ in range(2))
    schema = pa.schema([("key", pa.int32()), ("input", pa.string()), (table.name, kind), ("other", kind)])
    columns = pa.schema(list(kind))
    parts = [
        in_column(
            pa.Table.from_pylist(rows, columns).append_column("key", pa.array([7] * len(rows), pa.int32())),
            column,
            schema,
            {"input": name},
        )
        for rows, column, name in ((own, table.name, "a"), (others, "other", "b"), (own, table.name, "c"))
    ]
    together = pa.Table.from_batches([parts[0].slice(0, 1), *parts, parts[1].slice(1)], schema).slice(min(len(own), 1))
    rows = of_input(together, "a", table.name)
    assert rows.select(columns.names).equals(pa.Table.from_pylist(own, columns))
    assert rows["key"].to_pylist() == [7] * len(own)
    assert as_table(pa.chunked_array([parts[1]["other"]])).equals(pa.Table.from_pylist(others, columns))
