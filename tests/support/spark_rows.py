"""A declared table as Spark has it: DDL and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.catalog.table_model import Column, Table


def frame_of(spark: SparkSession, rows: Iterable[Mapping[str, Any]], table: Table) -> DataFrame:
    """Plain rows as a frame with the table's columns and types, every column nullable."""
    return spark.createDataFrame([tuple(row[name] for name in table.column_names) for row in rows], schema_of(table))


def schema_of(table: Table) -> str:
    """The table's columns and types as a schema in DDL, every column nullable."""
    return ", ".join(f"{quoted(c.name)} {c.type}" for c in table.columns)


def columns_ddl(table: Table) -> str:
    """The table's columns in DDL, with NOT NULL and comments."""
    return ", ".join(_column_ddl(c) for c in table.columns)


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _column_ddl(column: Column) -> str:
    required = "" if column.nullable else " NOT NULL"
    return f"{quoted(column.name)} {column.type}{required} COMMENT {literal(column.described)}"
