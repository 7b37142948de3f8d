"""Judgements: plain functions over all rows of one key, with the sources of their rows.

The function's signature is the declaration: each parameter of a list of rows, or of a table, is an input; each field of
the dataclass that it returns is an output. Lines are many and episodes are few. So the input of a judgement is narrowed
first, a part of a table at a time, wherever that part lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from graphlib import TopologicalSorter
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import ROW_CLASS
from kafka_hindsight.shared.arrow_tables import among, with_columns

Narrow = Callable[..., pa.Table]
"""A function of a table, and of values by name, to a table: one of a module, or a partial of one.

Workers of Spark find its type hints in its module. A function within a function has none there.
"""


@dataclass(frozen=True, eq=False)
class RowSource:
    """The source of rows: a table of the lake, an output of a judgement, or a function of other sources.

    Attributes:
        table: The full name of a table of the lake.
        span: The attribute of the scope over which the table is read: `wide_window`, with look-back and look-ahead,
            `window` or `week`; empty for all of it.
        optional: Whether the table may be missing from the lake.
        judgement: The judgement whose output it is.
        output: The name of that output.
        function: The function that makes the rows from those of `sources`, a part at a time; None: they stay as is.
        again: The function that is applied to all results of `function` together, once for each bucket of keys.
        sources: The sources of `function`. Where the first is missing, there are no rows.
        needs: The judgements whose values `function` takes, where no judgement reads the source.
        joined: The column of the rows of the first source by which each gets the columns of its row of the second,
            whose first column is the key; empty: nothing is joined. Only what is published is joined.
    """

    table: str = ""
    span: str = "wide_window"
    optional: bool = False
    judgement: Judgement | None = None
    output: str = ""
    function: Narrow | None = None
    again: Narrow | None = None
    sources: tuple[RowSource, ...] = ()
    needs: tuple[Judgement, ...] = ()
    joined: str = ""

    @property
    def rows(self) -> tuple[RowSource, ...]:
        """The sources of its rows: all but what is joined to them."""
        return self.sources[:1] if self.joined else self.sources

    @property
    def row_class(self) -> type[Row] | None:
        """The class of its rows; None where a function makes them."""
        if self.judgement is not None:
            return self.judgement.outputs.get(self.output)
        if self.sources and self.function is None:
            return self.sources[0].row_class
        return ROW_CLASS.get(self.table)

    def upstream(self) -> Iterator[RowSource]:
        """Walk through the source and every source that it is made of."""
        yield self
        for source in self.sources:
            yield from source.upstream()

    def leaves(self) -> Iterator[tuple[RowSource, tuple[Narrow, ...]]]:
        """Walk through the tables and outputs of its rows, each with the functions to apply, in order."""
        if not self.sources:
            yield self, ()
        for source in self.rows:
            for leaf, functions in source.leaves():
                yield leaf, (*functions, self.function) if self.function else functions


def lake_table(name: str, span: str = "wide_window", optional: bool = False) -> RowSource:
    """Read a table of the lake, by its full name."""
    return RowSource(table=name, span=span, optional=optional)


def union(*sources: RowSource) -> RowSource:
    """Read the rows of several sources of one class."""
    return RowSource(sources=sources)


def each(function: Narrow, *sources: RowSource, needs: tuple[Judgement, ...] = ()) -> RowSource:
    """Read the result of a function for each part. Law: two parts give the same rows as both together."""
    return RowSource(function=function, sources=sources, needs=needs)


def joined(rows: RowSource, links: RowSource, key: str) -> RowSource:
    """Read rows with the columns that links have for their key; null where there is no link."""
    return RowSource(sources=(rows, links), joined=key)


def where(condition: Callable[[pa.Table], pa.ChunkedArray], source: RowSource) -> RowSource:
    """Read the rows of a source for which a condition holds."""
    return each(lambda rows: rows.filter(condition(rows)), source)


class ColumnValues(NamedTuple):
    """Values of a column, one of which each row must have."""

    column: str
    values: frozenset[str]


def where_among(column: str, values: Iterable[str], source: RowSource) -> RowSource:
    """Read the rows of a source whose column has one of some values. These are data: an engine may ask for them."""
    return each(partial(_among, condition=ColumnValues(column, frozenset(map(str, values)))), source)


def _among(rows: pa.Table, condition: ColumnValues) -> pa.Table:
    return rows.filter(among(rows[condition.column], condition.values))


def condition_of(functions: Sequence[Narrow]) -> ColumnValues | None:
    """The values of which rows must have one that functions keep; None where the first is not that of `where_among`."""
    match functions:
        case [partial(func=first, keywords={"condition": ColumnValues() as condition}), *_] if first is _among:
            return condition
    return None


def quoted_where(condition: Callable[[pa.Table], pa.ChunkedArray], source: RowSource) -> RowSource:
    """Read rows with their evidence only where a condition holds: nothing quotes the others."""
    return each(partial(_quoted, condition=condition), source)


def _quoted(rows: pa.Table, condition: Callable[[pa.Table], pa.ChunkedArray]) -> pa.Table:
    evidence = rows["evidence"]
    is_quoted = pc.fill_null(condition(rows), False)
    return with_columns(rows, evidence=pc.if_else(is_quoted, evidence, pa.scalar([], evidence.type)))


def narrowed(function: Narrow, *sources: RowSource, again: Narrow | None = None) -> RowSource:
    """Read the rows that a function keeps of each part, narrowed once more when the parts come together.

    Law: `again(concat(map(function, parts)))` has the rows of `again(function(concat(parts)))`, however the rows lie
    in parts. `again` is the function itself by default.
    """
    return RowSource(function=function, again=again or function, sources=sources)


@dataclass(frozen=True, eq=False)
class Judgement:
    """Functions over all rows of one key: mostly one. `reads` gives a source to each of their inputs.

    A function may take a part of the key too, by the name of its column. Where there are several functions, each takes
    what it names, and their outputs are joined.

    Without a `key` its only function runs once, over few rows, and returns one value. A judgement that `needs` it takes
    that value as a parameter of its name, and so do the functions of its sources.
    """

    name: str
    functions: tuple[Callable[..., Any], ...]
    key: tuple[str, ...]
    reads: Mapping[str, RowSource] = field(default_factory=dict, repr=False)
    needs: tuple[Judgement, ...] = field(default=(), repr=False)

    @property
    def earlier(self) -> list[Judgement]:
        """The judgements that it reads or needs."""
        return [*self.needs, *judgements_in(self.reads.values())]

    @property
    def inputs(self) -> dict[str, type[Row] | None]:
        """The inputs of its functions by parameter: the class of their rows; None where one takes a table."""
        return {name: cls for function in self.functions for name, cls in inputs_of(function).items()}

    @property
    def outputs(self) -> dict[str, type[Row]]:
        """The lists of rows that its functions give: the row class of each, by name."""
        return {name: cls for function in self.functions for name, cls in outputs_of(function).items()}

    def output(self, name: str) -> RowSource:
        """One output, as a source."""
        return RowSource(judgement=self, output=name)


@cache
def inputs_of(function: Callable[..., Any]) -> dict[str, type[Row] | None]:
    """The inputs of a function by parameter: the class of its rows; None where it takes a table."""
    return {n: _row_class(hint) for n, hint in _parameters(function) if hint is pa.Table or _row_class(hint)}


@cache
def outputs_of(function: Callable[..., Any]) -> dict[str, type[Row]]:
    """The lists of rows that a function returns: the row class of each, by the field's name.

    A function that yields rows has one output, by the name of their table.
    """
    result = get_type_hints(function).get("return")
    if cls := _row_class(result):
        return {cls.TABLE.name: cls}
    if not isinstance(result, type):
        return {}
    return {n: cls for n, hint in get_type_hints(result).items() if (cls := _row_class(hint))}


@cache
def values_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The other parameters of a function: the values that it takes by name."""
    inputs = inputs_of(function)
    return tuple(n for n, _ in _parameters(function) if n not in inputs)


def _parameters(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """The parameters of a function that are free, with their types."""
    bound = function.keywords if isinstance(function, partial) else {}
    hints = get_type_hints(function.func if isinstance(function, partial) else function)
    return [(n, hint) for n, hint in hints.items() if n != "return" and n not in bound]


def _row_class(hint: Any) -> type[Row] | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (list, Sequence, Iterator) and isinstance(arguments[0], type) and issubclass(arguments[0], Row):
        return arguments[0]
    return None


def judgements_in_order(published: Iterable[RowSource]) -> list[Judgement]:
    """Every judgement that the published sources depend on, each after those that it reads.

    Raises:
        graphlib.CycleError: A judgement depends on itself.
    """
    earlier: dict[Judgement, list[Judgement]] = {}
    pending = judgements_in(published)
    for judgement in pending:
        if judgement not in earlier:
            earlier[judgement] = judgement.earlier
            pending += earlier[judgement]
    return list(TopologicalSorter(earlier).static_order())


def judgements_in(sources: Iterable[RowSource]) -> list[Judgement]:
    """The judgements that sources are made of, and those whose values make them."""
    parts = [part for source in sources for part in source.upstream()]
    return [j for part in parts for j in (part.judgement, *part.needs) if j is not None]
