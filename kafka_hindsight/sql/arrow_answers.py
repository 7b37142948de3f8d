"""Answers of DuckDB as tables of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def arrow_answer(connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any]) -> pa.Table:
    """Ask a query with values, and give its whole answer.

    In DuckDB 1 the connection's `sql` with values keeps Python's global lock while DuckDB's threads read: it takes up
    to six times as long, and never ends where such a thread needs the lock, as each that reads a file through Python
    does. DuckDB 2 lets go of the lock, and makes a second copy of what `execute` answers.
    """
    if _is_duckdb_1():
        return connection.execute(query, values).to_arrow_table()
    return connection.sql(query, params=values).to_arrow_table()


@cache
def _is_duckdb_1() -> bool:
    return version("duckdb").startswith("1.")
