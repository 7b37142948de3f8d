"""A night's row as the lake takes it: each value is of the type of its column."""

from datetime import UTC, datetime

import pyarrow
import pytest

from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.page_rows import PageRows
from tests.support.report_night import night

KINDS = {"STRING": str, "INT": int, "BIGINT": int, "DOUBLE": float, "TIMESTAMP": datetime, "ARRAY<STRING>": list}


@pytest.mark.parametrize("is_empty", [True, False])
def test_each_value_of_a_night_has_the_type_of_its_column(is_empty: bool) -> None:
    tables, about = night()
    shown = {name: [] for name in tables} if is_empty else tables
    row = night_of(PageRows.from_tables(shown, about), "run", datetime(2026, 10, 4, tzinfo=UTC)).as_dict()
    (values,) = pyarrow.Table.from_pylist([row], arrow_schema(NIGHTS)).to_pylist()
    assert values == row
    assert set(values) == set(NIGHTS.column_names)
    for column in NIGHTS.columns:
        value = values[column.name]
        assert type(value) is KINDS[column.type] or (value is None and column.nullable), column.name
