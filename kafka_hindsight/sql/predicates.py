"""The catalog's predicates on Arrow tables, evaluated by DuckDB. They are in Spark's SQL: few words differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from kafka_hindsight.sql.duck_types import quoted_name

_SPARK_FUNCTIONS = (
    "size(a) AS len(a)",
    "unix_millis(t) AS epoch_ms(t)",
    "array_distinct(a) AS list_distinct(a)",
    "element_at(a, n) AS list_extract(a, n)",
    "array_except(a, b) AS list_filter(list_distinct(a), lambda x: NOT list_contains(b, x))",
)
"""Functions of Spark that DuckDB has by another name. They hold for lists without nulls, as all of ours are."""

ROW = "number of row"
"""An added column that no table declares: DuckDB gives rows in no order."""


@contextmanager
def tables_in_sql(tables: Mapping[str, pa.Table | str]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory in which predicates find these tables by their names.

    A text is a query that gives the rows of a table, numbered.
    """
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET threads = 1")
        for macro in _SPARK_FUNCTIONS:
            connection.execute(f"CREATE MACRO {macro}")
        for name, table in tables.items():
            if isinstance(table, str):
                connection.execute(f"CREATE VIEW {quoted_name(name)} AS {table}")
            else:
                connection.register(name, table.append_column(ROW, pa.array(range(len(table)), pa.int64())))
        yield connection


def as_duck(text: str) -> str:
    """Spark's SQL with DuckDB's quotation marks around names."""
    return text.replace("`", '"')
