"""DuckDB over a lake: every table of the catalog a view, nothing that can be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import duckdb

from kafka_hindsight.catalog import TABLES, Column, Table
from kafka_hindsight.lake import delta_log, landing, publication
from kafka_hindsight.lake.half_done import LAYERS, state_of
from kafka_hindsight.lake.version import lake_version, note_on
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql.bridge_views import BridgeView, create_bridge_views
from kafka_hindsight.sql.duck_types import (
    CANNOT_BE_READ,
    duck_type,
    one_sentence,
    quoted_name,
    quoted_text,
    view_name,
)
from kafka_hindsight.sql.now_views import VIEWS, NowView, create_now_views, newest_readings

_NOT_YET = " (nothing published yet)"
DAMAGED = " (cannot be read)"
"""How the comment ends of a view that says why its table cannot be read."""


def open_views(lake: str, tables: Collection[Table] = TABLES) -> duckdb.DuckDBPyConnection:
    """A connection to a database in memory that holds one view for each of these tables.

    Takes: the lake's folder, or a URI that delta-rs reads.
    Gives: views `layer.table` with comments; a table that is not published yet is a view without rows. Gold is seen as
        the last whole publication left it when the lake was opened. Schema `now` holds the newest landed reading of
        each cluster. Says on stderr what is half made, half published or damaged.
    Keeps: no file outside the lake can be read, and no setting changed back; what is asked is checked by `sql`.
    Raises: BadInput where the lake holds no table and no reading at all, or is newer than this code.
    """
    place = lake.rstrip("/") if is_uri(lake) else os.path.abspath(os.path.expanduser(lake))
    if note := note_on(lake_version(place)):
        print(note, file=sys.stderr)
    published = publication.newest_versions(place)
    visible = publication.visible_versions(place, published)
    state = state_of(place, published)
    for note in state.notes:
        print(note, file=sys.stderr)
    landed = newest_readings(place)
    if not published and not landed:
        raise BadInput(
            f"There is no lake at {masked(place)}: none of its {len(TABLES)} tables was found. Needed: the tables of an"
            " audit, or a landed reading. Run `hindsight audit` or `hindsight snapshot` first, or name the lake with"
            " LAKE=."
        )
    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    connection.execute("SET TimeZone = 'UTC'")
    unreadable = _create_views(connection, place, tables, visible, state.lost)
    for left_out in create_now_views(connection, landed):
        print(left_out, file=sys.stderr)
    bridges = create_bridge_views(connection, frozenset(tables) - unreadable)
    views: Sequence[NowView | BridgeView] = (*VIEWS, *bridges)
    for view in views:
        _comment(connection, view.full_name, view.grain, view.columns)
    _lock(connection, place)
    return connection


def _create_views(
    connection: duckdb.DuckDBPyConnection,
    place: str,
    tables: Collection[Table],
    visible: publication.Versions,
    lost: Mapping[Table, str],
) -> set[Table]:
    """A view for each table: over its folder where it is published, else without rows. A table that cannot be read is
    named on stderr, and its view says so when it is queried.

    Takes: `lost`, what was said of the tables whose commits are gone. Gives: the tables that cannot be read.

    Edge case: what is published together is seen in one version; the other tables in their newest at each query.
    """
    unreadable = {table for table in tables if table in lost}
    reads_delta = not is_uri(place) and _load_delta(connection)
    for layer in LAYERS:
        connection.execute(f"CREATE SCHEMA {quoted_name(layer)}")
    for table in tables:
        source, note = _nothing(table), _NOT_YET
        if table in lost:
            source, note = _unreadable(table, f"The table {table.full_name}{CANNOT_BE_READ}{lost[table]}"), DAMAGED
        elif table in visible:
            folder = _folder(place, table)
            version = visible[table] if table in publication.TOGETHER else None
            try:
                _require_whole(folder, visible[table])
                source, note = _widened(connection, _scan(connection, table, folder, version, reads_delta), table), ""
            except Exception as problem:  # DuckDB, delta-rs and pyarrow have no common error of a damaged table
                why = _damaged(table, folder, problem)
                print(why, file=sys.stderr)
                source, note = _unreadable(table, why), DAMAGED
                unreadable.add(table)
        connection.execute(f"CREATE VIEW {view_name(table)} AS {source}")
        _comment(connection, view_name(table), table.grain + note, table.columns)
    return unreadable


def _folder(place: str, table: Table) -> str:
    return f"{place}/{table.layer}/{table.name}"


def _damaged(table: Table, folder: str, problem: Exception) -> str:
    """What is said of a table that has commits and cannot be read."""
    return (
        f"The table {table.full_name}{CANNOT_BE_READ}{masked(one_sentence(problem))}. Needed: every commit and every"
        f" file that {masked(folder)} names. What to do: restore that folder from a backup. A table of gold may be"
        " removed instead, one of silver or quality together with quality.parsed_hours; the next audit of a window"
        " writes that window again."
    )


def _require_whole(folder: str, version: int) -> None:
    """Edge case: DuckDB opens a table whose newest commit is cut short, and fails only as rows are read."""
    name = delta_log.commit_name(version)
    with suppress(FileNotFoundError):  # Delta removes old commits behind a checkpoint
        if delta_log.is_cut(landing.read_bytes(f"{folder}/{delta_log.FOLDER}/{name}").decode(errors="replace")):
            raise BadInput(f"its newest commit {name} is cut short")


def _load_delta(connection: duckdb.DuckDBPyConnection) -> bool:
    """Load the Delta extension from where pip put it: no network, nothing copied into the user's home."""
    found = find_spec("duckdb_extension_delta")
    if found is None or found.origin is None:
        return False
    extension = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}" / "delta.duckdb_extension"
    if not extension.exists():
        return False
    connection.execute(f"LOAD {quoted_text(str(extension))}")
    return True


def _scan(
    connection: duckdb.DuckDBPyConnection, table: Table, folder: str, version: int | None, reads_delta: bool
) -> str:
    if reads_delta:
        # As a URI: the extension takes a path for one, and a percent sign in it for the escape of another character.
        pinned = "" if version is None else f", version => {version}"
        return f"SELECT * FROM delta_scan({quoted_text(Path(folder).as_uri())}{pinned})"
    from deltalake import DeltaTable

    registered = f"{table.layer}_{table.name}"
    connection.register(registered, DeltaTable(folder, version).to_pyarrow_dataset())
    return f"SELECT * FROM {quoted_name(registered)}"


def _widened(connection: duckdb.DuckDBPyConnection, source: str, table: Table) -> str:
    """The same with empty columns for those that were declared since an earlier version wrote the table."""
    present = {name for name, *_ in connection.execute(f"DESCRIBE {source}").fetchall()}
    missing = [c for c in table.columns if c.name not in present]
    added = "".join(f", NULL::{duck_type(c.kind)} AS {quoted_name(c.name)}" for c in missing)
    return f"SELECT *{added} FROM ({source})" if missing else source


def _nothing(table: Table) -> str:
    columns = ", ".join(f"NULL::{duck_type(c.kind)} AS {quoted_name(c.name)}" for c in table.columns)
    return f"SELECT {columns} WHERE false"


def _unreadable(table: Table, why: str) -> str:
    """Ends each query that looks at it. Edge case: DuckDB leaves out a filter and columns that it finds constant, and
    would answer the rest of a query as if the table had no rows.
    """
    error = f"error({quoted_text(why)})"
    columns = ", ".join(f"{error}::{duck_type(c.kind)} AS {quoted_name(c.name)}" for c in table.columns)
    return f"SELECT {columns} WHERE {error} IS NULL"


def _comment(connection: duckdb.DuckDBPyConnection, view: str, grain: str, columns: Sequence[Column]) -> None:
    connection.execute(f"COMMENT ON VIEW {view} IS {quoted_text('One row: ' + grain)}")
    present = {name for name, *_ in connection.execute(f"DESCRIBE {view}").fetchall()}
    for column in columns:
        if column.name in present:
            connection.execute(
                f"COMMENT ON COLUMN {view}.{quoted_name(column.name)} IS {quoted_text(column.described)}"
            )


def _lock(connection: duckdb.DuckDBPyConnection, place: str) -> None:
    """No file outside the lake is read by DuckDB's own readers from now on, no variable of Python is taken for a table,
    nothing is spilled to disk, and none of it can be undone.
    """
    connection.execute("SET temp_directory = ''")
    connection.execute("SET python_enable_replacements = false")
    if not is_uri(place):
        connection.execute(f"SET allowed_directories = [{quoted_text(place + '/')}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
