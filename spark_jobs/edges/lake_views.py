"""DuckDB over a lake: every table of the catalog a view, nothing that can be written."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

import duckdb

from spark_jobs.catalog import TABLES, Column, Table
from spark_jobs.config import is_uri
from spark_jobs.exits import BadInput

LAYERS = tuple(dict.fromkeys(t.layer for t in TABLES))
_PLAIN_TYPES = {
    "STRING": "VARCHAR",
    "INT": "INTEGER",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "TIMESTAMP": "TIMESTAMP WITH TIME ZONE",
    "BINARY": "BLOB",
}
_NOT_YET = " (nothing published yet)"


def open_lake(lake: str) -> duckdb.DuckDBPyConnection:
    """A connection to a database in memory that holds one view for each table of the catalog.

    Takes: the lake's folder, or a URI that delta-rs reads.
    Gives: views `layer.table` with comments; a table that nobody has published yet is a view without rows.
    Keeps: no file outside the lake can be read, and no setting changed back; what is asked is checked by `sql`.
    Raises: BadInput where the lake holds no table at all.
    """
    place = lake.rstrip("/") if is_uri(lake) else os.path.abspath(os.path.expanduser(lake))
    folders = {t: f"{place}/{t.layer}/{t.name}" for t in TABLES}
    published = {t for t, folder in folders.items() if _is_published(folder)}
    if not published:
        raise BadInput(
            f"There is no lake at {place}: none of its {len(TABLES)} tables was found. Needed: the tables of an"
            " audit. Run `make audit` first, or name the lake with LAKE=."
        )
    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    connection.execute("SET TimeZone = 'UTC'")
    reads_delta = not is_uri(place) and _load_delta(connection)
    for layer in LAYERS:
        connection.execute(f"CREATE SCHEMA {_name(layer)}")
    for table, folder in folders.items():
        source = _scan(connection, table, folder, reads_delta) if table in published else _nothing(table)
        connection.execute(f"CREATE VIEW {_view(table)} AS {source}")
        _comment(connection, table, "" if table in published else _NOT_YET)
    _lock(connection, place)
    return connection


def _is_published(folder: str) -> bool:
    if not is_uri(folder):
        return (Path(folder) / "_delta_log").is_dir()
    from deltalake import DeltaTable

    return bool(DeltaTable.is_deltatable(folder))


def _load_delta(connection: duckdb.DuckDBPyConnection) -> bool:
    """Load the Delta extension from where pip put it: no network, nothing copied into the user's home."""
    found = find_spec("duckdb_extension_delta")
    if found is None or found.origin is None:
        return False
    extension = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}" / "delta.duckdb_extension"
    if not extension.exists():
        return False
    connection.execute(f"LOAD {_text(str(extension))}")
    return True


def _scan(connection: duckdb.DuckDBPyConnection, table: Table, folder: str, reads_delta: bool) -> str:
    if reads_delta:
        # As a URI: the extension takes a path for one, and a percent sign in it for the escape of another character.
        return f"SELECT * FROM delta_scan({_text(Path(folder).as_uri())})"
    from deltalake import DeltaTable

    registered = f"{table.layer}_{table.name}"
    connection.register(registered, DeltaTable(folder).to_pyarrow_dataset())
    return f"SELECT * FROM {_name(registered)}"


def _nothing(table: Table) -> str:
    columns = ", ".join(f"NULL::{duck_type(c.type)} AS {_name(c.name)}" for c in table.columns)
    return f"SELECT {columns} WHERE false"


def _comment(connection: duckdb.DuckDBPyConnection, table: Table, remark: str) -> None:
    view = _view(table)
    connection.execute(f"COMMENT ON VIEW {view} IS {_text('One row: ' + table.grain + remark)}")
    present = {name for name, *_ in connection.execute(f"DESCRIBE {view}").fetchall()}
    for column in table.columns:
        if column.name in present:
            connection.execute(f"COMMENT ON COLUMN {view}.{_name(column.name)} IS {_text(described(column))}")


def described(column: Column) -> str:
    """What a column means, with its unit and codes."""
    unit = f" [{column.unit}]" if column.unit else ""
    codes = f": {', '.join(column.codes)}" if column.codes else ""
    return f"{column.meaning}{unit}{codes}"


def _lock(connection: duckdb.DuckDBPyConnection, place: str) -> None:
    """Nothing but the lake can be read from now on, nothing is spilled to disk, and none of it can be undone."""
    connection.execute("SET temp_directory = ''")
    if not is_uri(place):
        connection.execute(f"SET allowed_directories = [{_text(place + '/')}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def duck_type(spark_type: str) -> str:
    """DuckDB's name of a type of the catalog."""
    if match := re.fullmatch(r"ARRAY<(.*)>", spark_type):
        return f"{duck_type(match[1])}[]"
    if match := re.fullmatch(r"STRUCT<(.*)>", spark_type):
        fields = (field.split(":", 1) for field in _fields(match[1]))
        return f"STRUCT({', '.join(f'{_name(name.strip())} {duck_type(of.strip())}' for name, of in fields)})"
    return _PLAIN_TYPES[spark_type]


def _fields(text: str) -> list[str]:
    """The fields of a struct: the commas inside its fields' own types part nothing."""
    fields, depth = [""], 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            fields.append("")
        else:
            fields[-1] += character
    return fields


def _view(table: Table) -> str:
    return f"{_name(table.layer)}.{_name(table.name)}"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
