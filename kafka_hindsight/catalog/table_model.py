"""A table, its columns and its rows, as a row class declares them. DDL, checks and pages are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, ClassVar, Self, TypeAlias


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

    item: ColumnType


ColumnType: TypeAlias = "Scalar | ListOf | type[Row]"
"""The type of a column. A row class is the type of a struct with its columns."""


@dataclass(frozen=True)
class Column:
    """One column. `unit` is named where a number has one.

    `codes` is the vocabulary of a coded column, or a part of it. `earlier` is its value in rows of a version of the
    lake that did not have the column.
    """

    name: str
    kind: ColumnType
    meaning: str = ""
    nullable: bool = True
    unit: str = ""
    codes: tuple[str, ...] = ()
    earlier: Any = None

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


RowValues: TypeAlias = dict[str, Any]
"""The values of a row by column, as JSON and Arrow hand rows over."""


class Row:
    """One row of one table, or one struct that rows hold. A row enters as a mapping, and leaves as one.

    `CHECKS` are the laws that each row keeps. The decorators `table` and `struct` fill in the rest: `TABLE` is what the
    class declares, `__slots__` are the names of its columns; `CODES` are those that hold a code or a kind of event,
    `STRUCTS` those that hold a struct or an array of structs.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()
    TABLE: ClassVar[Table]
    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    CHECKS: ClassVar[tuple[Check, ...]] = ()
    CODES: ClassVar[Mapping[str, type[StrEnum]]] = {}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The row of these values. Other keys are ignored; a nullable column that is missing is null.

        Raises:
            TypeError: A column that is never null is missing.
            ValueError: A code, or a kind of event, is unknown.
        """
        fields = {name: values[name] for name in cls.__slots__ if name in values}
        for name, code in cls.CODES.items():
            if fields.get(name) is not None:
                fields[name] = code(fields[name])
        for name, struct in cls.STRUCTS.items():
            value = fields.get(name)
            if value is not None:
                fields[name] = [_row(struct, v) for v in value] if isinstance(value, list) else _row(struct, value)
        return cls(**fields)

    def as_dict(self) -> dict[str, Any]:
        """The row as Arrow takes it: structs are dicts too."""
        values = {name: getattr(self, name) for name in self.__slots__}
        for name in self.STRUCTS:
            value = values[name]
            if value is not None:
                values[name] = [v.as_dict() for v in value] if isinstance(value, list) else value.as_dict()
        return values


def _row(struct: type[Row], value: Mapping[str, Any] | Row) -> Row:
    return value if isinstance(value, Row) else struct.of(value)


def sql_type(kind: ColumnType) -> str:
    """A type in Spark SQL."""
    match kind:
        case Scalar():
            return kind.value
        case ListOf():
            return f"ARRAY<{sql_type(kind.item)}>"
    return f"STRUCT<{', '.join(f'{c.name}: {c.type}' for c in kind.COLUMNS)}>"
