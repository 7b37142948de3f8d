"""A lake on disk, written from catalog rows and read by delta-rs: no JVM."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow
from deltalake import DeltaTable, write_deltalake

from kafka_hindsight.catalog import BY_NAME, TABLES, Table
from kafka_hindsight.lake.arrow_types import arrow_type
from kafka_hindsight.lake.state import FILE, LAKE_VERSION

REBUILT = [t for t in TABLES if t.layer in ("silver", "gold")]


def write_lake(folder: Path, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    """Writes rows by the tables' full names; the columns are those of the catalog, with their meanings."""
    for name, rows in tables.items():
        table = BY_NAME[name]
        given = pyarrow.Table.from_pylist(list(rows), schema=schema(table))
        write_deltalake(str(folder / table.layer / table.name), given)
    (folder / FILE).write_text(json.dumps({"version": LAKE_VERSION}))
    return folder


@cache
def schema(table: Table) -> pyarrow.Schema:
    """The columns of a table, with their meanings."""
    typed = [pyarrow.field(c.name, arrow_type(c.kind), metadata={"comment": c.meaning}) for c in table.columns]
    return pyarrow.schema(typed)


def rows(lake: Path | str, name: str) -> list[dict[str, Any]]:
    """The rows of a table by its full name."""
    return list(DeltaTable(f"{lake}/{name.replace('.', '/')}").to_pyarrow_table().to_pylist())


def naive_rows(lake: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table, with instants in UTC that name no zone, as Spark gives them to Python."""
    return naive(DeltaTable(str(lake / name.replace(".", "/"))).to_pyarrow_table())


def naive(rows: pyarrow.Table) -> list[dict[str, Any]]:
    """The same of rows at hand."""
    return list(rows.cast(pyarrow.schema([(f.name, _naive(f.type)) for f in rows.schema])).to_pylist())


def _naive(given: pyarrow.DataType) -> pyarrow.DataType:
    if pyarrow.types.is_timestamp(given):
        return pyarrow.timestamp("us")
    if pyarrow.types.is_list(given):
        return pyarrow.list_(given.value_field.with_type(_naive(given.value_type)))
    if pyarrow.types.is_struct(given):
        return pyarrow.struct([field.with_type(_naive(field.type)) for field in given])
    return given


def contents(lake: Path | str) -> dict[str, str]:
    """A hash of each rebuilt table's content."""
    return {t.full_name: content_of(lake, t) for t in REBUILT}


def content_of(lake: Path | str, table: Table) -> str:
    """A hash of a table's content, whatever the order of its rows."""
    held = ({c: row[c] for c in table.content_columns} for row in rows(lake, table.full_name))
    return hashlib.sha256("\n".join(sorted(json.dumps(row, default=str) for row in held)).encode()).hexdigest()
