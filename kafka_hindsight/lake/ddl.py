"""The properties of a table in Delta, among them the checks of gold."""

from __future__ import annotations

from kafka_hindsight.catalog.table_model import Table

PROPERTIES = {"delta.enableDeletionVectors": "false"}
"""Default features only, so that DuckDB, delta-rs and Polars read what Spark writes."""


def properties(table: Table) -> dict[str, str]:
    """Delta's properties of a table.

    Gold carries its critical checks, and a check that gives null counts as kept. Only the columns by which windows are
    found have statistics: others would cost more than a small write.
    """
    return {**PROPERTIES, "delta.dataSkippingStatsColumns": ",".join(window_columns(table)), **_constraints(table)}


def window_columns(table: Table) -> list[str]:
    """The columns by which a window of a table is found."""
    return [c for c in ("cluster", table.time_column) if c in table.column_names]


def _constraints(table: Table) -> dict[str, str]:
    if table.layer != "gold":
        return {}
    return {
        f"delta.constraints.{c.name}": f"coalesce({c.predicate}, true)"
        for c in table.checks
        if c.severity == "critical"
    }
