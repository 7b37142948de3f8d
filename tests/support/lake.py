"""A lake on disk from catalog rows, written by delta-rs: no JVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
from deltalake import write_deltalake

from spark_jobs.catalog import BY_NAME
from spark_jobs.edges.lake_views import duck_type


def write_lake(folder: Path, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    """Writes rows by the tables' full names; the columns are those of the catalog."""
    for name, rows in tables.items():
        table = BY_NAME[name]
        columns = ", ".join(f'NULL::{duck_type(c.type)} AS "{c.name}"' for c in table.columns)
        schema = duckdb.connect().execute(f"SELECT {columns} WHERE false").fetch_arrow_table().schema
        write_deltalake(str(folder / table.layer / table.name), pyarrow.Table.from_pylist(list(rows), schema=schema))
    return folder
