"""A table is one class: its fields are the columns, and annotations declare their types and meanings.

    @table("gold.pets", key=("pet_id",), time_column="born_at")
    class Pet(Row):
        \"\"\"One pet.\"\"\"

        pet_id: Annotated[str, "Hash of what it is"]
        kind: Annotated[PetKind, "Which animal"]
        born_at: Annotated[datetime, "When it was born"]
        weight: Annotated[int | None, "How heavy it is; null where it was never weighed", Unit("g")] = None

        CHECKS = (Check("has_weight", "weight > 0", "no pet weighs nothing"),)

DDL, Arrow schemas, expectations, pages and test rows follow from `Pet.TABLE`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, dataclass_transform, get_args, get_origin

from kafka_hindsight.catalog.code import Code
from kafka_hindsight.catalog.table_model import Column, ColumnType, ListOf, Scalar, Table
from kafka_hindsight.catalog.table_model import Row as Row
from kafka_hindsight.catalog.value_class import value_class


@dataclass(frozen=True)
class Unit:
    """In an annotation: the unit of a number."""

    name: str


@dataclass(frozen=True)
class OneOf:
    """In an annotation: the part of its vocabulary that a coded column may hold."""

    codes: tuple[Code, ...]


@dataclass(frozen=True)
class Earlier:
    """In an annotation: the value of the column in rows of a version of the lake that did not have it.

    Without one that value is null.
    """

    value: Any


class WrittenLast:
    """In an annotation: a row has the value only once it is written; in the table it is never null."""


Long = Annotated[int, Scalar.BIGINT]
Millis = Annotated[Long, Unit("ms")]
Records = Annotated[Long, Unit("records")]
Lines = Annotated[Long, Unit("lines")]
Partitions = Annotated[int, Unit("partitions")]
PartitionSeconds = Annotated[float, Unit("partition seconds")]

_SCALARS = {
    str: Scalar.STRING,
    int: Scalar.INT,
    float: Scalar.DOUBLE,
    bool: Scalar.BOOLEAN,
    datetime: Scalar.TIMESTAMP,
    bytes: Scalar.BINARY,
}


R = TypeVar("R", bound=Row)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def table(full_name: str, *, key: tuple[str, ...], time_column: str | None = None) -> Callable[[type[R]], type[R]]:
    """Make a class the rows of a table. Its docstring says what one row is.

    Args:
        full_name: `layer.name`.
        key: The columns that identify a row within the table.
        time_column: The column that places a row in its window; None where the table is not cut into windows.
    """
    layer, name = full_name.split(".")

    def declared(cls: type[R]) -> type[R]:
        row_class = struct(cls)
        summary = (row_class.__doc__ or "").removesuffix(".")
        grain = summary[:1].lower() + summary[1:]
        row_class.TABLE = Table(row_class, layer, name, grain, key, row_class.COLUMNS, time_column, row_class.CHECKS)
        return row_class

    return declared


@dataclass_transform(kw_only_default=True, frozen_default=True)
def struct(cls: type[R]) -> type[R]:
    """Make a class a struct that rows hold.

    Raises:
        TypeError: A column has a type that tables do not have.
    """
    row_class = value_class(slots=True, kw_only=True)(cls)
    hints = {name: _unwrapped(hint) for name, hint in get_annotations(row_class, eval_str=True).items()}
    row_class.COLUMNS = tuple(_column(name, *hint) for name, hint in hints.items())
    row_class.CODES = {name: bare for name, (bare, _) in hints.items() if _is(bare, StrEnum)}
    items = {c.name: c.kind.item if isinstance(c.kind, ListOf) else c.kind for c in row_class.COLUMNS}
    row_class.STRUCTS = {name: item for name, item in items.items() if isinstance(item, type)}
    return row_class


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """A type without its annotations, and these from the inside out. NoneType among them: it may be null."""
    notes: list[Any] = []
    while True:
        if get_origin(hint) is Annotated:
            notes[:0] = hint.__metadata__
            hint = hint.__origin__
        elif get_origin(hint) in (Union, UnionType) and get_args(hint)[1:] == (NoneType,):
            notes.insert(0, NoneType)
            hint = get_args(hint)[0]
        else:
            return hint, notes


def _column(name: str, bare: Any, notes: list[Any]) -> Column:
    meaning, unit, codes, earlier = "", "", tuple(bare) if _is(bare, Code) else (), None
    for note in notes:
        match note:
            case str():
                meaning = note
            case Unit():
                unit = note.name
            case OneOf():
                codes = note.codes
            case Earlier():
                earlier = note.value
    nullable = NoneType in notes and WrittenLast not in notes
    try:
        return Column(name, _kind(bare, notes), meaning, nullable, unit, codes, earlier)
    except KeyError:
        allowed = ", ".join(kind.__name__ for kind in _SCALARS)
        raise TypeError(f"Column {name} has the type {bare}. Needed: {allowed}, a Code, a struct, or a list.") from None


def _kind(bare: Any, notes: list[Any]) -> ColumnType:
    if get_origin(bare) is list:
        return ListOf(_kind(*_unwrapped(*get_args(bare))))
    if _is(bare, Row):
        return cast("type[Row]", bare)
    if _is(bare, StrEnum):
        return Scalar.STRING
    return next((note for note in notes if isinstance(note, Scalar)), None) or _SCALARS[bare]


def _is(bare: Any, cls: type) -> bool:
    return isinstance(bare, type) and issubclass(bare, cls)
