"""Answers of DuckDB as tables of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def arrow_answer(connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any]) -> pa.Table:
    """Ask a query with values, and give its whole answer.

    The connection's `sql` with values keeps Python's global lock while DuckDB's threads read: it takes up to six times
    as long, and never ends where such a thread needs the lock, as each that reads a file through Python does.
    """
    return connection.execute(query, values).to_arrow_table()
