"""A declared table applied to a frame: exact names, order and types; and the DDL that makes it a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.catalog.model import Column, Table

PROPERTIES = {"delta.enableDeletionVectors": "false"}
"""Default features only, so that DuckDB, delta-rs and Polars read what Spark writes."""


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """The frame with exactly the table's columns, in their order and types.

    Raises: ValueError that names every column that is missing or that the table does not have.
    """
    missing = [n for n in table.column_names if n not in frame.columns]
    extra = [n for n in frame.columns if n not in table.column_names]
    if missing or extra:
        raise ValueError(
            f"{table.full_name} was given other columns than it has: missing {missing or 'none'}, "
            f"not declared {extra or 'none'}. Needed: {', '.join(table.column_names)}."
        )
    return frame.select(*(F.col(quoted(c.name)).cast(c.type).alias(c.name) for c in table.columns))


def frame_of(spark: SparkSession, rows: Iterable[Mapping[str, Any]], table: Table) -> DataFrame:
    """Plain rows as a frame with the table's columns and types, every column nullable."""
    return spark.createDataFrame([tuple(r[n] for n in table.column_names) for r in rows], schema_of(table))


def schema_of(table: Table) -> str:
    """The table's columns and types as a schema in DDL, every column nullable."""
    return ", ".join(f"{quoted(c.name)} {c.type}" for c in table.columns)


def columns_ddl(table: Table) -> str:
    """The table's columns in DDL, with NOT NULL and comments."""
    return ", ".join(_column_ddl(c) for c in table.columns)


def properties(table: Table) -> dict[str, str]:
    """Delta's properties of a table.

    Keeps: gold carries its critical checks, a null result counts as kept. Statistics are kept of what windows are found
    by, and of nothing else: they cost more than a small write.
    """
    return {**PROPERTIES, "delta.dataSkippingStatsColumns": ",".join(found_by(table)), **_constraints(table)}


def found_by(table: Table) -> list[str]:
    """The columns by which a window of a table is found."""
    return [c for c in ("cluster", table.time_column) if c in table.column_names]


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def instant_literal(at: datetime) -> str:
    """An instant as a literal of Spark SQL."""
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat(sep=' ')}'"


def _column_ddl(column: Column) -> str:
    required = "" if column.nullable else " NOT NULL"
    return f"{quoted(column.name)} {column.type}{required} COMMENT {literal(column.described)}"


def _constraints(table: Table) -> dict[str, str]:
    if table.layer != "gold":
        return {}
    return {
        f"delta.constraints.{c.name}": f"coalesce({c.predicate}, true)"
        for c in table.checks
        if c.severity == "critical"
    }
