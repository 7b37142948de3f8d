"""A table and its columns, as its row class declares them. DDL, checks and pages are made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kafka_hindsight.catalog.row import Row


class Scalar(Enum):
    """A type of one value, by Spark's name for it."""

    STRING = "STRING"
    INT = "INT"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    TIMESTAMP = "TIMESTAMP"
    BINARY = "BINARY"


@dataclass(frozen=True)
class ListOf:
    """The type of a list of `item`."""

    item: Kind


Kind: TypeAlias = "Scalar | ListOf | type[Row]"
"""The type of a column. A row class is the type of a struct with its columns."""


@dataclass(frozen=True)
class Column:
    """One column. `unit` is named where a number has one.

    `codes` is the vocabulary of a coded column, or a part of it.
    """

    name: str
    kind: Kind
    meaning: str = ""
    nullable: bool = True
    unit: str = ""
    codes: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """Its type in Spark SQL."""
        return sql_type(self.kind)

    @property
    def described(self) -> str:
        """The meaning of the column, with its unit and codes."""
        unit = f" [{self.unit}]" if self.unit else ""
        codes = f": {', '.join(self.codes)}" if self.codes else ""
        return f"{self.meaning}{unit}{codes}"


@dataclass(frozen=True)
class Check:
    """One law that every row keeps, as a Spark SQL predicate. A null result counts as kept.

    `severity` critical gates the publication and, on gold, is a CHECK in the table itself.
    """

    name: str
    predicate: str
    says: str
    severity: str = "critical"


@dataclass(frozen=True)
class Table:
    """The table of a row class, in the lake at `<LAKE>/<layer>/<name>`.

    `key` identifies a row within the table; `time_column` places a row in its window
    (None: the table is not cut into windows).
    """

    row_class: type[Row] = field(hash=False, repr=False)
    layer: str
    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...] = field(hash=False)
    time_column: str | None = None
    checks: tuple[Check, ...] = field(default=(), hash=False)

    @property
    def full_name(self) -> str:
        """`layer.name`, as in SQL."""
        return f"{self.layer}.{self.name}"

    def column(self, name: str) -> Column:
        """The column of that name. Raises StopIteration where there is none."""
        return next(c for c in self.columns if c.name == name)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        return tuple(c.name for c in self.columns)

    @property
    def content_columns(self) -> tuple[str, ...]:
        """The columns that depend on the input alone: all but those whose name begins with `run_`."""
        return tuple(n for n in self.column_names if not n.startswith("run_"))


def sql_type(kind: Kind) -> str:
    """A type in Spark SQL."""
    match kind:
        case Scalar():
            return kind.value
        case ListOf():
            return f"ARRAY<{sql_type(kind.item)}>"
    return f"STRUCT<{', '.join(f'{c.name}: {c.type}' for c in kind.COLUMNS)}>"
