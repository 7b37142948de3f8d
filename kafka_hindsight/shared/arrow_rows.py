"""Convert Arrow columns to rows and back, a column at a time: a dict for each row takes five times as long.

An empty column costs nothing; equal texts and instants of a column share one object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from functools import cache
from itertools import islice, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.shared.instants import of_micros

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R", bound=Row)


Rewording = Callable[[str, str], str]
"""What becomes of a text of a column: the text, the name of the column."""


def rows_of(batches: Iterable[pa.RecordBatch], cls: type[R], reword: Rewording | None = None) -> list[R]:
    """The rows of batches, in order: the same rows as `Row.of` makes of the batches' dicts.

    Args:
        batches: The columns.
        cls: The class of the rows.
        reword: What becomes of each text; None: it stays as it is.

    Raises:
        TypeError: A column that is never null is missing.
        ValueError: A code is not known.
    """
    return [row for batch in batches if len(batch) for row in _rows(batch.to_struct_array(), cls, reword)]


def array_of(rows: Sequence[Row | None], kind: pa.StructType) -> pa.StructArray:
    """The rows as an Arrow column of structs, the same as Arrow makes of the rows' dicts."""
    import pyarrow

    columns = [_column(list(_attributes(rows, field.name)), field.type) for field in kind]
    nulls = pyarrow.array([row is None for row in rows], pyarrow.bool_())
    return pyarrow.StructArray.from_arrays(columns, fields=list(kind), mask=nulls)


def _rows(structs: pa.StructArray, cls: Any, reword: Rewording | None) -> list[Any]:
    columns = {field.name: array for field, array in zip(structs.type, structs.flatten(), strict=True)}
    missing = sorted(_required(cls) - columns.keys())
    if missing:
        raise TypeError(f"A row of {cls.__name__} was found without {', '.join(missing)}, which is never null.")
    rows = list(map(object.__new__, repeat(cls, len(structs))))
    for name in cls.__slots__:
        values = _typed(columns[name], name, cls, reword) if name in columns else repeat(None)
        deque(map(getattr(cls, name).__set__, rows, values), maxlen=0)  # calls them all
    return rows


@cache
def _required(cls: Any) -> frozenset[str]:
    return frozenset(f.name for f in fields(cls) if f.default is MISSING)


def _typed(array: pa.Array, name: str, cls: Any, reword: Rewording | None) -> Iterable[Any]:
    values = _values(array, name, cls, reword)
    return map(_once(code), values) if (code := cls.CODES.get(name)) else values


def _values(array: pa.Array, name: str, cls: Any, reword: Rewording | None) -> Any:
    """The values of a column as Python objects."""
    import pyarrow
    from pyarrow import types

    if array.null_count == len(array):
        return repeat(None, len(array))
    if types.is_list(array.type):
        flat = iter(_values(array.flatten(), name, cls, reword))
        return [None if n is None else list(islice(flat, n)) for n in array.value_lengths().to_pylist()]
    if types.is_struct(array.type) and (struct := cls.STRUCTS.get(name)) is not None:
        rows = iter(_rows(array.drop_null(), struct, reword))
        return [next(rows) if is_valid else None for is_valid in array.is_valid().to_pylist()]
    if types.is_timestamp(array.type):
        return map(_once(of_micros), array.cast(pyarrow.timestamp("us", array.type.tz)).view("int64").to_pylist())
    values = array.to_pylist()
    if not types.is_string(array.type):
        return values
    if reword:
        return map(_once(lambda text: reword(text, name)), values)
    one_of = dict(zip(values, values, strict=True))
    return map(one_of.__getitem__, values)


def _once(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that converts each distinct value once; None stays None."""

    class Cache(dict[Any, Any]):
        def __missing__(self, value: Any) -> Any:
            result = self[value] = None if value is None else make(value)
            return result

    return Cache().__getitem__


def _attributes(rows: Sequence[Row | None], name: str) -> Iterator[Any]:
    get = attrgetter(name)
    return (None if row is None else get(row) for row in rows)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow
    from pyarrow import types

    if types.is_struct(kind):
        return array_of(values, kind)
    if not types.is_list(kind) or not types.is_struct(kind.value_type):
        return pyarrow.array(values, kind)
    offsets, flat = [], list[Any]()
    for value in values:
        offsets.append(None if value is None else len(flat))
        flat += value or ()
    inner = array_of(flat, kind.value_type)
    return pyarrow.ListArray.from_arrays(pyarrow.array([*offsets, len(flat)], "int32"), inner, type=kind)
