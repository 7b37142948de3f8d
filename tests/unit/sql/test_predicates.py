"""Predicates of the catalog are Spark's SQL: DuckDB answers them as Spark does."""

from __future__ import annotations

import pyarrow
import pytest

from kafka_hindsight.sql.predicates import ROW, as_duck, tables_in_sql
from tests.support.rows import AT

ROWS = pyarrow.table(
    {
        "a": pyarrow.array([["x", "y", "x"], ["z"], [], None], pyarrow.list_(pyarrow.string())),
        "b": pyarrow.array([["x"], ["z"], ["x"], ["x"]], pyarrow.list_(pyarrow.string())),
        "partition": pyarrow.array([1, 2, None, 3], pyarrow.int32()),
        "happened_at": pyarrow.array([AT] * 4, pyarrow.timestamp("us", "UTC")),
    }
)


@pytest.mark.parametrize(
    ("predicate", "answers"),
    [
        ("size(a) = 3", [True, False, False, True]),
        ("size(array_distinct(a)) = 2", [True, False, False, True]),
        ("size(array_except(a, b)) = 1", [True, False, False, True]),
        ("`partition` <> 2", [True, False, True, True]),
        (f"unix_millis(happened_at) = {int(AT.timestamp() * 1000)}", [True] * 4),
        ("`partition` = lag(`partition`) OVER (ORDER BY `partition` NULLS FIRST) + 1", [True, True, True, True]),
    ],
)
def test_predicate_has_one_answer_per_row_and_null_counts_as_true(predicate: str, answers: list[bool]) -> None:
    with tables_in_sql({"some rows": ROWS}) as connection:
        query = as_duck(f'SELECT coalesce({predicate}, true) FROM "some rows" ORDER BY "{ROW}"')
        assert [law for (law,) in connection.execute(query).fetchall()] == answers
