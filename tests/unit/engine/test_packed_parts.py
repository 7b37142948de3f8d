"""Parts of tables that wait in memory."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import UNAVAILABILITY
from kafka_hindsight.catalog.rows import Unavailability
from kafka_hindsight.engine.packed_parts import PackedParts
from tests.support.rows import as_table, row

PARTS = st.lists(st.lists(st.builds(lambda n: row(UNAVAILABILITY, partition=n), st.integers(0, 9)), max_size=3))


@given(PARTS)
def test_parts_come_back_as_they_were_in_order_and_once(of_parts: list[list[Unavailability]]) -> None:
    tables, packed = [as_table(rows, UNAVAILABILITY) for rows in of_parts], PackedParts()
    for table in tables:
        packed.add(table)
    assert packed.row_count == sum(map(len, tables))
    assert [*packed] == tables
    assert [*packed.pop_all()] == tables
    assert [*packed] == []


def test_columns_without_a_value_take_next_to_no_memory() -> None:
    before, packed = pa.total_allocated_bytes(), PackedParts()
    packed.add(pa.table({"topic": pa.nulls(100_000, pa.string()), "at": pa.nulls(100_000, pa.timestamp("us"))}))
    assert pa.total_allocated_bytes() - before < 100_000
