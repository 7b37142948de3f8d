"""The lists of gold as views of one row for each item, for tools that know no lists: schema `bridge`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from kafka_hindsight.catalog import TABLES, Column, Table
from kafka_hindsight.catalog.model import ListOf
from kafka_hindsight.sql.duck_types import quoted_name, view_name

SCHEMA = "bridge"


@dataclass(frozen=True)
class BridgeView:
    """One view: a column of a table that holds lists. Its columns: the cluster, the row's id, and the item."""

    table: Table
    column: Column

    @property
    def full_name(self) -> str:
        """`bridge.table_column`, as SQL says it."""
        return f"{SCHEMA}.{self.table.name}_{self.column.name}"

    @property
    def grain(self) -> str:
        """What one row is."""
        return f"one item of {self.column.name} of {self.table.full_name}. The list: {self.column.meaning}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns: those that lead back to the row as its table declares them, then what the item holds."""
        key = tuple(self.table.column(name) for name in dict.fromkeys(("cluster", *self.table.key)))
        return (*key, *(Column(c.name, c.kind, f"Of one item of {self.column.name}") for c in self.items))

    @property
    def items(self) -> tuple[Column, ...]:
        """What an item holds: the fields of a struct, or one value with the list's name."""
        item = self.column.kind.item if isinstance(self.column.kind, ListOf) else self.column.kind
        if isinstance(item, type):
            return item.COLUMNS
        return (Column(self.column.name.removesuffix("s"), item),)

    @property
    def sql(self) -> str:
        """What the view selects."""
        key = ", ".join(dict.fromkeys(("cluster", *self.table.key)))
        first, *_ = self.items
        is_struct = "STRUCT<" in self.column.type
        fields = ", ".join(f"item.{quoted_name(c.name)} AS {quoted_name(c.name)}" for c in self.items)
        shown = fields if is_struct else f"item AS {quoted_name(first.name)}"
        return (
            f"SELECT {key}, {shown} FROM (SELECT {key}, unnest({quoted_name(self.column.name)}) AS item"
            f" FROM {view_name(self.table)})"
        )


VIEWS = tuple(
    BridgeView(table, column)
    for table in TABLES
    if table.layer == "gold" and len(table.key) == 1
    for column in table.columns
    if isinstance(column.kind, ListOf) and column.name not in ("evidence", "commands")
)
VIEW_BY_NAME: Mapping[str, BridgeView] = {v.full_name: v for v in VIEWS}


def create_bridge_views(connection: duckdb.DuckDBPyConnection, tables: frozenset[Table]) -> list[BridgeView]:
    """Creates schema `bridge` over the views of these tables. Gives: the views that it has now."""
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    made = [view for view in VIEWS if view.table in tables]
    for view in made:
        connection.execute(f"CREATE VIEW {view.full_name} AS {view.sql}")
    return made
