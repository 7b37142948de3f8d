"""What the row classes of all tables share: a row enters as a mapping, and leaves as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self


class Row:
    """One row of one table. Its classes are in catalog/rows, made from the tables by `make docs`.

    `__slots__` are its columns, in order; `CODES` those that hold a code, `STRUCTS` those that hold a struct or an
    array of structs.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()
    TABLE: ClassVar[str] = ""
    CODES: ClassVar[Mapping[str, type[str]]] = {}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The row of these values. Columns that it does not have are left out; a nullable one that is missing is null.

        Raises: TypeError where a column that is never null is missing, ValueError for a code that is not known.
        """
        given = {name: values[name] for name in cls.__slots__ if name in values}
        for name, code in cls.CODES.items():
            if given.get(name) is not None:
                given[name] = code(given[name])
        for name, struct in cls.STRUCTS.items():
            value = given.get(name)
            if value is not None:
                given[name] = [_made(struct, v) for v in value] if isinstance(value, list) else _made(struct, value)
        return cls(**given)

    def as_dict(self) -> dict[str, Any]:
        """The row as Arrow takes it: structs are dicts too."""
        values = {name: getattr(self, name) for name in self.__slots__}
        for name in self.STRUCTS:
            value = values[name]
            if value is not None:
                values[name] = [v.as_dict() for v in value] if isinstance(value, list) else value.as_dict()
        return values


def _made(struct: type[Row], value: Mapping[str, Any] | Row) -> Row:
    return value if isinstance(value, Row) else struct.of(value)
