"""Test rows from the catalog: `row(REBALANCES, group_id="orders")` is a valid row that says only what matters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.catalog.table_model import Column, ListOf, Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.shared.arrow_rows import array_of

AT = datetime(2026, 10, 1, 3, tzinfo=UTC)
QUOTE = {"line_id": "line-1", "source": "broker-1/server.log", "happened_at": AT, "text": "what the broker wrote"}

_DEFAULTS: dict[str, Any] = {"STRING": "", "INT": 1, "BIGINT": 0, "DOUBLE": 0.0, "BOOLEAN": False, "TIMESTAMP": AT}


_NEEDED: dict[str, dict[str, Any]] = {
    "bronze.offset_commits": {"commits": 1},
    "gold.rebalances": {"not_known": "What moved is not known."},
    "gold.assignment_changes": {"before": [], "after": [], "gained": [], "lost": []},
    "gold.backlogs": {"worked_off_at": None, "rebalance_id": "rebalance_id"},
    "gold.partition_stalls": {"lag_max": 1},
    "internal.isr_spans": {"observed_until": None},
    "gold.isr_changes": {"observed_until": None},
    "gold.out_of_sync_periods": {"observed_until": None},
    "gold.night_subjects": {"kind": "topic", "partitions": 1, "is_whole": True},
}
"""Values of optional columns without which a row breaks a check."""


def row(table: Table, /, **columns: Any) -> Any:
    """A row that breaks none of the table's checks, with these columns instead of the defaults.

    Codes are the first of their vocabulary, instants are AT, other optional columns are null.
    """
    return table.row_class.of(values(table, **columns))


def values(table: Table, /, **columns: Any) -> dict[str, Any]:
    """The values of such a row by column, as a lake holds them."""
    unknown = columns.keys() - set(table.column_names)
    if unknown:
        raise KeyError(f"{table.full_name} has no {', '.join(sorted(unknown))}")
    defaults = {c.name: _default(table, c) for c in table.columns} | _NEEDED.get(table.full_name, {})
    return defaults | columns


def as_table(rows: Sequence[Row], table: Table) -> pa.Table:
    """The rows as Arrow has them: all columns of their table, any of which may hold nulls."""
    schema = pa.schema([field.with_nullable(True) for field in arrow_schema(table)])
    return pa.Table.from_arrays(array_of(rows, pa.struct(list(schema))).flatten(), schema=schema)


def _default(table: Table, column: Column) -> Any:
    if column.kind == ListOf(Quote):
        return [QUOTE]
    if column.nullable and column.type != "TIMESTAMP":
        return None
    if column.name in table.row_class.CODES:
        return (column.codes or [*table.row_class.CODES[column.name]])[0]
    if isinstance(column.kind, ListOf):
        return []
    return column.name if column.type == "STRING" else _DEFAULTS[column.type]
