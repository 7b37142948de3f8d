"""DuckDB's names of the types of the catalog, its quotation marks, and its errors in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kafka_hindsight.catalog import Table
from kafka_hindsight.shared.plain import visible

_MAX_SENTENCE = 1000
_FOLLOWS = re.compile(r"\n\nLINE |Candidate functions:|\n +0: |\n\nStack Trace:|\n +\x1b|\. Detail: ")
_PRECEDES = re.compile(r"Invalid Input Error: (arrow_scan: get_next failed\(\): )?")

_PLAIN_TYPES = {
    "STRING": "VARCHAR",
    "INT": "INTEGER",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "TIMESTAMP": "TIMESTAMP WITH TIME ZONE",
    "BINARY": "BLOB",
}


def duck_type(spark_type: str) -> str:
    """DuckDB's name of a type of the catalog."""
    if match := re.fullmatch(r"ARRAY<(.*)>", spark_type):
        return f"{duck_type(match[1])}[]"
    if match := re.fullmatch(r"STRUCT<(.*)>", spark_type):
        return f"STRUCT({', '.join(f'{quoted_name(name)} {duck_type(of)}' for name, of in fields_of(match[1]))})"
    return _PLAIN_TYPES[spark_type]


def json_structure(spark_type: str) -> Any:
    """A type of the catalog as DuckDB's from_json takes it; a field that the JSON lacks becomes null."""
    if match := re.fullmatch(r"ARRAY<(.*)>", spark_type):
        return [json_structure(match[1])]
    if match := re.fullmatch(r"STRUCT<(.*)>", spark_type):
        return {name: json_structure(of) for name, of in fields_of(match[1])}
    return _PLAIN_TYPES[spark_type]


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
"""Stands in what is said of a table, as the lake is opened, and by each query that looks at it."""


def one_sentence(error: Exception) -> str:
    """What DuckDB or delta-rs says, with its hint, without the lists, drawings and native frames that follow."""
    said = _PRECEDES.sub("", _FOLLOWS.split(str(error), maxsplit=1)[0], count=1)
    return visible(" ".join(said.split()))[:_MAX_SENTENCE]


def fields_of(text: str) -> Iterator[tuple[str, str]]:
    """The fields of a struct with their types: the commas inside its fields' own types part nothing."""
    fields, depth = [""], 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            fields.append("")
        else:
            fields[-1] += character
    for name, _, of in (field.partition(":") for field in fields):
        yield name.strip(), of.strip()
