"""What a judgement is: a plain-Python function over all rows of one key, with where its rows come from.

The function's signature is the declaration: each parameter of a list of rows is an input, each field of the dataclass
that it returns an output. Lines are many, so Spark reads them; episodes are few, so plain Python judges them, and is
tested without Spark.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import ROW_CLASS
from kafka_hindsight.lake.ddl import schema_of
from kafka_hindsight.shared.arrow_rows import array_of, rows_of

if TYPE_CHECKING:
    import pyarrow as pa


SCOPE = "scope"
"""The name of the parameter that takes what a run is about."""


@dataclass(frozen=True, eq=False)
class Source:
    """Where a frame comes from: a table of the lake, an output of a judgement, or a function of other sources.

    `span` of a table names the attribute of the scope that it is read over: `seen`, with look-back and look-ahead, or
    `window`; empty: all of it. A table that is `optional` may be missing from the lake. A function takes the frames of
    its sources in order, None for a missing one, and by name what judgements without a key gave (see Judgement).
    `shared`: the frame serves several, so it is computed once.
    """

    table: str = ""
    span: str = "seen"
    optional: bool = False
    judgement: Judgement | None = None
    output: str = ""
    function: Callable[..., DataFrame] | None = None
    sources: tuple[Source, ...] = ()
    shared: bool = False

    @property
    def row_class(self) -> type[Row] | None:
        """The class of its rows; None where a function makes them."""
        if self.judgement is not None:
            return outputs_of(self.judgement.function).get(self.output)
        return ROW_CLASS.get(self.table)

    def upstream(self) -> Iterator[Source]:
        """The source, and every source that it is made of."""
        yield self
        for source in self.sources:
            yield from source.upstream()


def table(name: str, span: str = "seen", optional: bool = False) -> Source:
    """A table of the lake, by its full name."""
    return Source(table=name, span=span, optional=optional)


def made(function: Callable[..., DataFrame], *sources: Source, shared: bool = False) -> Source:
    """What a function makes of the frames of other sources."""
    return Source(function=function, sources=sources, shared=shared)


@dataclass(frozen=True, eq=False)
class Judgement:
    """A function over all rows of one key. `reads` gives a source to each of its lists of rows.

    Without a `key` the function runs on the driver, over few rows. What it returns is one value: a judgement that
    `needs` it takes it, and so do the functions of its sources, as a parameter of that name.
    """

    name: str
    function: Callable[..., Any]
    key: tuple[str, ...]
    reads: Mapping[str, Source] = field(default_factory=dict)
    needs: tuple[Judgement, ...] = ()

    def output(self, name: str) -> Source:
        """One output, as a source."""
        return Source(judgement=self, output=name)


@cache
def inputs_of(function: Callable[..., Any]) -> dict[str, type[Row]]:
    """The lists of rows that a function takes: the row class of each, by the parameter's name."""
    return {n: cls for n, hint in get_type_hints(function).items() if n != "return" and (cls := _row_class(hint))}


@cache
def outputs_of(function: Callable[..., Any]) -> dict[str, type[Row]]:
    """The lists of rows that a function gives: the row class of each, by the field's name."""
    given = get_type_hints(function).get("return")
    return (
        {n: cls for n, hint in get_type_hints(given).items() if (cls := _row_class(hint))}
        if isinstance(given, type)
        else {}
    )


def values_of(function: Callable[..., Any]) -> list[str]:
    """What else a function takes by name: the parameters that are neither frames nor lists of rows."""
    hints = get_type_hints(function)
    rows = inputs_of(function)
    return [n for n, hint in hints.items() if n != "return" and n not in rows and not _is_frame(hint)]


def _row_class(hint: Any) -> type[Row] | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (list, Sequence) and isinstance(arguments[0], type) and issubclass(arguments[0], Row):
        return arguments[0]
    return None


def _is_frame(hint: Any) -> bool:
    return hint is DataFrame or DataFrame in get_args(hint)


def in_order(published: Iterable[Source]) -> list[Judgement]:
    """Every judgement that the published sources rest on, each after those that it reads.

    Raises: ValueError with every problem: a judgement in a circle, a table that the catalog does not declare, an input
    without a source or with rows of another class, a source for no input.
    """
    ordered: dict[Judgement, None] = {}
    problems: list[str] = []

    def place(judgement: Judgement, path: tuple[Judgement, ...]) -> None:
        if judgement in path:
            problems.append(f"{judgement.name} reads what rests on itself.")
            return
        for earlier in (*judgement.needs, *_judgements_of(judgement.reads.values())):
            if earlier not in ordered:
                place(earlier, (*path, judgement))
        problems.extend(_mismatches(judgement))
        ordered[judgement] = None

    for judgement in _judgements_of(published):
        if judgement not in ordered:
            place(judgement, ())
    if problems:
        raise ValueError(" ".join(dict.fromkeys(problems)))
    return list(ordered)


def _judgements_of(sources: Iterable[Source]) -> list[Judgement]:
    return [part.judgement for source in sources for part in source.upstream() if part.judgement is not None]


def _mismatches(judgement: Judgement) -> Iterator[str]:
    parts = [part for source in judgement.reads.values() for part in source.upstream()]
    yield from _wrong_inputs(judgement)
    yield from _unknown_values(judgement, [part.function for part in parts if part.function is not None])
    for part in parts:
        if part.table and part.table not in ROW_CLASS:
            yield f"{judgement.name}: {part.table} is read, and the catalog does not declare it."


def _wrong_inputs(judgement: Judgement) -> Iterator[str]:
    wanted = inputs_of(judgement.function)
    for name in wanted.keys() ^ judgement.reads.keys():
        yield f"{judgement.name}: {name} has {'no source' if name in wanted else 'a source and no parameter'}."
    for name in wanted.keys() & judgement.reads.keys():
        given = judgement.reads[name].row_class
        if given is not None and given is not wanted[name]:
            yield f"{judgement.name}: {name} takes {wanted[name].__name__} and is given {given.__name__}."


def _unknown_values(judgement: Judgement, functions: Iterable[Callable[..., Any]]) -> Iterator[str]:
    known = {SCOPE, *(n.name for n in judgement.needs)}
    for function in (judgement.function, *functions):
        for name in values_of(function):
            if name not in known:
                yield f"{judgement.name}: {function.__name__} takes {name}, which it does not need."


def apply_by_key(judgement: Judgement, frames: Mapping[str, DataFrame], values: Mapping[str, Any]) -> DataFrame:
    """One call of the judgement's function for each key, anywhere in the cluster, with all rows that have the key.

    Takes: the frame of each input, with the key's columns; the values that the function takes by name.
    Gives: a frame with one struct column for each output; each row fills one of them. See `select_output`.
    """
    outputs = outputs_of(judgement.function)
    schema = StructType([StructField(n, StructType.fromDDL(schema_of(cls.TABLE))) for n, cls in outputs.items()])
    arrow = to_arrow_schema(schema, timezone="UTC")
    slots = {name: _slots(frame) for name, frame in frames.items()}

    def run(table: pa.Table) -> pa.Table:
        import pyarrow

        given = call(judgement, {name: _own(table, name, own) for name, own in slots.items()}, values)
        parts = {name: array_of(getattr(given, name), arrow.field(name).type) for name in outputs}
        batches = (
            [rows if field.name == name else pyarrow.nulls(len(rows), field.type) for field in arrow]
            for name, rows in parts.items()
        )
        return pyarrow.Table.from_batches([pyarrow.RecordBatch.from_arrays(b, schema=arrow) for b in batches], arrow)

    return _gathered(frames, slots, judgement.key).groupBy(*judgement.key).applyInArrow(run, schema)


def call(judgement: Judgement, batches: Mapping[str, Iterable[pa.RecordBatch]], values: Mapping[str, Any]) -> Any:
    """What one worker does for one key: rows out of Arrow, and the judgement's function called with them.

    The rows of a huge key live until it returns: the garbage collector need not look at them again and again.
    """
    inputs = inputs_of(judgement.function)
    rows = {name: rows_of(batches.get(name, ()), cls) for name, cls in inputs.items()}
    gc.freeze()
    try:
        return judgement.function(**rows, **values)
    finally:
        gc.unfreeze()


def select_output(frame: DataFrame, output: str) -> DataFrame:
    """The rows of one output of `apply_by_key`, as a frame of its own."""
    return frame.where(F.col(output).isNotNull()).select(f"{output}.*")


def collect_rows(frame: DataFrame, cls: type[Row]) -> list[Any]:
    """A few rows, instants with their zone: what is small enough to hand to every task."""
    return rows_of(frame.toArrow().to_batches(), cls)


_INPUT = "input"
"""The column that names the input whose row it is."""


def _slots(frame: DataFrame) -> dict[str, str]:
    """A slot for each column of an input: the n-th of its type."""
    seen: Counter[str] = Counter()
    slots = {}
    for column in frame.schema:
        kind = column.dataType.simpleString()
        slots[column.name] = f"{kind} {seen[kind]}"
        seen[kind] += 1
    return slots


def _gathered(
    frames: Mapping[str, DataFrame], slots: Mapping[str, Mapping[str, str]], keys: Sequence[str]
) -> DataFrame:
    """All inputs in one frame: the key, the input, and slots that hold the columns of whichever input it is.

    A column for each column of each input would take a worker, and Spark, the memory of all of them for each row.
    Edge case: the parts of all inputs together would be a hundred tasks, most of which have next to no rows.
    """
    kinds = {slot: slot.rpartition(" ")[0] for own in slots.values() for slot in own.values()}

    def placed(name: str) -> DataFrame:
        held = {slot: f"`{column}`" for column, slot in slots[name].items()}
        columns = (f"{held.get(slot, f'CAST(NULL AS {kind})')} AS `{slot}`" for slot, kind in kinds.items())
        return frames[name].selectExpr(*keys, f"'{name}' AS {_INPUT}", *columns)

    rows = reduce(DataFrame.union, map(placed, frames))
    return rows.coalesce(int(str(rows.sparkSession.conf.get("spark.sql.shuffle.partitions"))))


def _own(table: pa.Table, name: str, slots: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """The rows of one input, with its columns."""
    import pyarrow.compute as compute

    for batch in table.to_batches():
        own = batch.select(list(slots.values())).filter(compute.equal(batch.column(_INPUT), name))
        yield own.rename_columns(list(slots))


def check_published(published: Mapping[str, Source], tables: Iterable[str]) -> list[Judgement]:
    """The judgements behind what is published, in order.

    Takes: the source of each published table, by its full name; the tables that have to be published.
    Raises: ValueError for a table without a source or that is not declared, and for what `in_order` refuses.
    """
    wanted = set(tables)
    problems = [f"{name} is not published by any judgement." for name in sorted(wanted - published.keys())]
    problems += [f"{name} is published and is not declared." for name in sorted(published.keys() - BY_NAME.keys())]
    problems += [
        f"{name} takes {ROW_CLASS[name].__name__} and is given {given.__name__}."
        for name, source in published.items()
        if name in ROW_CLASS and (given := source.row_class) is not None and given is not ROW_CLASS[name]
    ]
    if problems:
        raise ValueError(" ".join(problems))
    return in_order(published.values())
