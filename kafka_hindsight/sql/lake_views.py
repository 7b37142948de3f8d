"""DuckDB over a lake: every table of the catalog a view, in memory, without a way to files or the network."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import duckdb
import pyarrow as pa

from kafka_hindsight.catalog import TABLES, Table, derived_views
from kafka_hindsight.lake import publication, state
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.datasets import dataset_of
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.table_files import read_file
from kafka_hindsight.lake.transactions import files_of, open_table
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql.duck_types import CANNOT_BE_READ, duck_type, one_sentence, quoted_name, quoted_text, view_name
from kafka_hindsight.sql.now_views import create_now_views, newest_readings

_LOCKED = (
    "SET TimeZone = 'UTC'",
    "SET temp_directory = ''",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""No file is read or written, nothing is connected to or loaded, no variable of Python is a table; and that cannot be
undone. Source: DuckDB's manual, "Securing DuckDB"; tests/store/test_sql_rules.py tries it.
"""


_OPEN: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()
"""The connections that may be open. DuckDB's threads hold objects of Python, which they may not free while Python ends:
that aborts the process. So each is closed before."""


@atexit.register
def _close_all() -> None:
    for connection in list(_OPEN):
        connection.close()


_SMALL = 4 * 1024 * 1024
"""Bytes of a table that a query reads whole. A dataset of Arrow skips unused columns and files. Measured: a month of a
year of 40 clusters, 44 MB in 760 files, takes 0.4 processor seconds so, and 5.5 where each file is read whole."""


@dataclass(frozen=True)
class _Stream:
    """A table as Arrow's C interface has it: DuckDB asks for its rows when a query does."""

    folder: str
    files: Sequence[DataFile]
    table: Table

    def __arrow_c_schema__(self) -> object:
        return arrow_schema(self.table).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        batches = chain.from_iterable(read_file(self.folder, file, None, self.table) for file in self.files)
        reader = pa.RecordBatchReader.from_batches(arrow_schema(self.table), batches)
        return reader.__arrow_c_stream__(requested_schema)


def open_views(lake: str, tables: Collection[Table] = TABLES) -> duckdb.DuckDBPyConnection:
    """Open a database in memory with one view for each table.

    A table that is not published yet is a view without rows. What is published together is seen as the last whole
    publication left it. Schema `now` holds the newest landed reading of each cluster. Prints to stderr what is half
    published, and what cannot be read; a query of such a table ends with the reason.

    Args:
        lake: Its folder, or a URI that delta-rs reads.
        tables: The tables to show.

    Raises:
        BadInput: The lake holds no table and no reading, or another version of Hindsight wrote it.
    """
    place = lake.rstrip("/") if is_uri(lake) else os.path.abspath(os.path.expanduser(lake))
    state.require_version(place)
    published = publication.newest_versions(place)
    visible = publication.visible_versions(place, published)
    if note := publication.note(place, published):
        print(note, file=sys.stderr)
    landed = newest_readings(place)
    if not published and not landed:
        raise BadInput(
            f"There is no lake at {masked(place)}: none of its {len(TABLES)} tables was found. Needed: the tables of an"
            " audit, or a landed reading. Run `hindsight audit` or `hindsight snapshot` first, or name another --lake."
        )
    connection = duckdb.connect(":memory:")
    _OPEN.add(connection)
    for layer in dict.fromkeys(table.layer for table in TABLES):
        connection.execute(f"CREATE SCHEMA {quoted_name(layer)}")
    for table in tables:
        if table in visible:
            source = _rows(connection, place, table, visible[table])
        else:
            source = f"SELECT {_columns(table, 'NULL')} WHERE false"
        connection.execute(f"CREATE VIEW {view_name(table)} AS {source}")
    for view in derived_views.VIEWS:
        if set(view.reads) <= set(tables):
            connection.execute(f"CREATE VIEW {view.full_name} AS {view.query}")
    for left_out in create_now_views(connection, place, landed):
        print(left_out, file=sys.stderr)
    if set(derived_views.OWNERS.reads) <= set(tables):
        connection.execute(f"CREATE VIEW {derived_views.OWNERS.full_name} AS {derived_views.OWNERS.query}")
    for setting in _LOCKED:
        connection.execute(setting)
    return connection


def dicts_of(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Read the rows of an answer by the names of its columns."""
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def _rows(connection: duckdb.DuckDBPyConnection, place: str, table: Table, version: int) -> str:
    """The query of a table's rows in a version. If it cannot be read, the reason is printed to stderr."""
    folder, name = f"{place}/{table.layer}/{table.name}", f"{table.layer}_{table.name}"
    try:
        if state.is_cut_short(place, table, version):
            raise BadInput(f"its commit {version} is cut short")
        is_listed = publication.listed_version(place, table) == version
        checksum = publication.listed_checksum(place, table) if is_listed else None
        delta = open_table(folder, table, version, checksum)
        files = files_of(delta, table, None)
        is_small = sum(file.size for file in files) <= _SMALL
        connection.register(
            name, _Stream(folder, files, table) if is_small else dataset_of(delta, folder, table, files)
        )
    except Exception as problem:  # delta-rs and pyarrow have no common error of a damaged table
        reason = f"The table {table.full_name}{CANNOT_BE_READ}{masked(one_sentence(problem))}. {state.TO_DO}"
        print(reason, file=sys.stderr)
        return _unreadable(table, reason)
    return f"SELECT * FROM {quoted_name(name)}"


def _columns(table: Table, value: str) -> str:
    return ", ".join(f"{value}::{duck_type(c.kind)} AS {quoted_name(c.name)}" for c in table.columns)


def _unreadable(table: Table, reason: str) -> str:
    """A query that fails with the reason, in each column and in its filter.

    DuckDB drops what it finds constant, and would answer the rest of a query as if the table had no rows.
    """
    error = f"error({quoted_text(reason)})"
    return f"SELECT {_columns(table, error)} WHERE {error} IS NULL"
