"""DuckDB's names of the types of the catalog, its quotation marks, and its errors in one sentence."""

from __future__ import annotations

import re
from typing import Any

import duckdb

from kafka_hindsight.catalog import Table
from kafka_hindsight.catalog.table_model import ColumnType, ListOf, Scalar
from kafka_hindsight.shared.plain import visible

_MAX_SENTENCE = 1000
_FOLLOWS = re.compile(r"\n\nLINE |Candidate functions:|\n +0: |\n\nStack Trace:|\n +\x1b|\. Detail: ")
_DRAWING = re.compile(r"\n\nLINE \d+: (.*)\n {8}( *)\^")
_WORDS_BEFORE = 4
_PRECEDES = re.compile(
    r"Invalid Input Error: (arrow_scan: get_next failed\(\): |reading the stream registered as '[^']*' failed: )?"
)

_PLAIN_TYPES = {
    Scalar.STRING: "VARCHAR",
    Scalar.INT: "INTEGER",
    Scalar.BIGINT: "BIGINT",
    Scalar.DOUBLE: "DOUBLE",
    Scalar.BOOLEAN: "BOOLEAN",
    Scalar.TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    Scalar.BINARY: "BLOB",
}


def duck_type(kind: ColumnType) -> str:
    """DuckDB's name of a type of the catalog."""
    match kind:
        case Scalar():
            return _PLAIN_TYPES[kind]
        case ListOf():
            return f"{duck_type(kind.item)}[]"
    return f"STRUCT({', '.join(f'{quoted_name(c.name)} {duck_type(c.kind)}' for c in kind.COLUMNS)})"


def json_structure(kind: ColumnType) -> Any:
    """A type of the catalog as DuckDB's from_json takes it; a field that the JSON lacks becomes null."""
    match kind:
        case Scalar():
            return _PLAIN_TYPES[kind]
        case ListOf():
            return [json_structure(kind.item)]
    return {c.name: json_structure(c.kind) for c in kind.COLUMNS}


def quoted_name(text: str) -> str:
    """A name in SQL."""
    return '"' + text.replace('"', '""') + '"'


def view_name(table: Table) -> str:
    """The view of a table, in SQL."""
    return f"{quoted_name(table.layer)}.{quoted_name(table.name)}"


def quoted_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


CANNOT_BE_READ = " cannot be read: "
"""Part of the message about an unreadable table: as the lake is opened, and from each query that reads it."""


def one_sentence(error: Exception) -> str:
    """The message of DuckDB or delta-rs with its hint, without the lists, drawings and native frames that follow.

    A drawing of the place becomes the words before it.
    """
    message = _PRECEDES.sub("", _FOLLOWS.split(str(error), maxsplit=1)[0], count=1)
    drawing = _DRAWING.search(str(error))
    before = drawing[1][: len(drawing[2])].split()[-_WORDS_BEFORE:] if drawing else []
    place = f", after {' '.join(before)!r}" if before else ""
    is_reserved = before and isinstance(error, duckdb.ParserException) and _is_reserved(before[-1])
    hint = f". {before[-1]} is a word of SQL: as a name write it in double quotes" if is_reserved else ""
    return visible(f"{' '.join(message.split())}{place}{hint}")[:_MAX_SENTENCE]


def _is_reserved(word: str) -> bool:
    query = "SELECT 1 FROM duckdb_keywords() WHERE keyword_category = 'reserved' AND keyword_name = lower(?)"
    return duckdb.execute(query, [word]).fetchone() is not None
