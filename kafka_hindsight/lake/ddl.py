"""A declared table in DDL: types, comments, properties, names and literals. No Spark."""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_hindsight.catalog.model import Column, Table

PROPERTIES = {"delta.enableDeletionVectors": "false"}
"""Default features only, so that DuckDB, delta-rs and Polars read what Spark writes."""


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
