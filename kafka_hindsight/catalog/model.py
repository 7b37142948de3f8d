"""What a table is: one frozen declaration, from which DDL, conformance, expectations, pages and test rows follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

EVIDENCE_TYPE = "ARRAY<STRUCT<line_id: STRING, source: STRING, happened_at: TIMESTAMP, text: STRING>>"


@dataclass(frozen=True)
class Column:
    """One column. `type` is a Spark SQL type; `unit` is named where a number has one.

    `codes` is the vocabulary of a coded column, or a part of it.
    """

    name: str
    type: str
    meaning: str
    nullable: bool = True
    unit: str = ""
    codes: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """What the column means, with its unit and codes."""
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
    """One table of the lake at `<LAKE>/<layer>/<name>`.

    `key` identifies a row within the table; `time_column` places a row in its window
    (None: the table is not cut into windows).
    """

    layer: str
    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    time_column: str | None = None
    checks: tuple[Check, ...] = ()

    @property
    def full_name(self) -> str:
        """`layer.name`, as SQL says it."""
        return f"{self.layer}.{self.name}"

    @property
    def row_name(self) -> str:
        """The name of its row class: the table's name, in the singular and in CamelCase."""
        singular = self.name.removesuffix("ies") + "y" if self.name.endswith("ies") else self.name.removesuffix("s")
        return "".join(part.capitalize() for part in singular.split("_"))

    def column(self, name: str) -> Column:
        """The column of that name. Raises KeyError where there is none."""
        return next(c for c in self.columns if c.name == name)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        return tuple(c.name for c in self.columns)

    @property
    def content_columns(self) -> tuple[str, ...]:
        """The columns that depend on the input alone: all but those whose name begins with `run_`."""
        return tuple(n for n in self.column_names if not n.startswith("run_"))


def required(name: str, type_: str, meaning: str, unit: str = "", codes: Iterable[str] = ()) -> Column:
    """A column that is never null. `codes`: a Code, or some of its members."""
    return Column(name, type_, meaning, nullable=False, unit=unit, codes=tuple(codes))


def optional(name: str, type_: str, meaning: str, unit: str = "", codes: Iterable[str] = ()) -> Column:
    """A column that may be null. `codes`: a Code, or some of its members."""
    return Column(name, type_, meaning, nullable=True, unit=unit, codes=tuple(codes))
