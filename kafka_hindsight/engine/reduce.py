"""One bucket of a judgement: narrowed parts become rows, rows are judged key by key, and results become tables.

In one process there are few buckets. On Spark this is what a reducer runs.
"""

from __future__ import annotations

import gc
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import Unavailability
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.scope import SCOPE
from kafka_hindsight.judgements.rebuild.sources import Judgement, Narrow, RowSource, inputs_of, outputs_of, values_of
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.shared.arrow_rows import array_of, rows_of
from kafka_hindsight.shared.arrow_tables import completed, with_columns
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.grouping import sized
from kafka_hindsight.shared.timings import KEY, timed

InputParts = Mapping[str, Iterable[pa.Table]]
"""The parts of each input of a judgement. Each part is taken once, and may go as soon as it is rows."""

ValuesByName = Mapping[str, Any]
"""The results of judgements without a key, and the scope, by name."""

BY_TIMES = frozenset(
    {
        *("gold.broker_outages", "gold.controller_changes", "gold.failovers", "gold.out_of_sync_periods"),
        *("gold.truncations", "gold.rebalances", "gold.unavailability"),
    }
)
"""Tables whose verdicts compare the times of lines. An incident is as sure as its parts."""

_SEPARATOR = "\x1f"

_ROWS = 10_000
"""Rows of Arrow that become rows of Python at once: more take more memory, fewer more time."""


def evaluate(judgement: Judgement, parts: InputParts, values: ValuesByName) -> Any:
    """The value of a judgement without a key."""
    (function,), classes = judgement.functions, judgement.inputs
    inputs = {
        name: _rows_of(judgement, name, parts, values) if classes[name] else _input(judgement, name, parts, values)
        for name in judgement.reads
    }
    return function(**inputs, **_values(function, values))


def judged_tables(judgement: Judgement, parts: InputParts, values: ValuesByName) -> dict[str, pa.Table]:
    """The outputs of a judgement for all keys whose rows the parts hold.

    The rows of a huge key live until its function returns, so the garbage collector does not visit them meanwhile.
    """
    classes = judgement.outputs
    outputs: dict[str, list[Any]] = {name: [] for name in classes}
    gc.freeze()
    try:
        for key, rows in _by_key(judgement, parts, values):
            with _timed(judgement, key):
                for function in judgement.functions:
                    own = {name: rows[name] for name in inputs_of(function)}
                    result = function(**own, **_values(function, {**values, **key}))
                    for name in outputs_of(function):
                        outputs[name] += result if isinstance(result, Iterator) else getattr(result, name)
    finally:
        gc.unfreeze()
    return {name: _output(output, classes[name], values) for name, output in outputs.items()}


def narrow(functions: Sequence[Narrow], table: pa.Table, values: ValuesByName) -> pa.Table:
    """Apply functions to a part of a table, one after another."""
    for function in functions:
        table = function(table, **_values(function, values))
    return table


def link(rows: pa.Table, links: pa.Table, key: str) -> pa.Table:
    """Give rows the columns that links, whose first column is the key, have for them; null without a link."""
    by, *names = links.column_names
    places = pc.index_in(rows[key], links[by].combine_chunks())
    return with_columns(rows, **{name: links[name].take(places) for name in names})


def leaf_schema(leaf: RowSource) -> pa.Schema:
    """The columns of a table of the lake, or of an output of a judgement."""
    cls = leaf.row_class
    if cls is None:
        raise ValueError(f"{leaf.table or leaf.output} has no declared rows.")
    return arrow_schema(cls.TABLE)


def in_buckets(table: pa.Table, key: Sequence[str], count: int) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each bucket. All rows of a key are in one."""
    if not key or count == 1:
        if table.num_rows:
            yield 0, table
        return
    keys = pc.binary_join_element_wise(
        *(pc.fill_null(table[name].cast(pa.string()), "") for name in key), _SEPARATOR
    ).combine_chunks()
    coded = keys.dictionary_encode()
    buckets = np.array([zlib.crc32(text.encode()) % count for text in coded.dictionary.to_pylist()], np.int64)
    of_rows = buckets[coded.indices.to_numpy(zero_copy_only=False)] if len(coded) else np.array([], np.int64)
    for bucket in np.unique(of_rows).tolist():
        yield bucket, table.filter(pa.array(of_rows == bucket))


def key_of(judgement: Judgement) -> tuple[str, ...]:
    """The key of a judgement without the cluster: all rows are of one."""
    return tuple(name for name in judgement.key if name != "cluster")


def _timed(judgement: Judgement, key: ValuesByName) -> AbstractContextManager[None]:
    """Measure one key of a judgement. The cluster as a whole is a stage, not a key."""
    words = ", ".join(f"{name} {key[name]}" for name in key_of(judgement))
    return timed(KEY, f"{judgement.name} of {words}") if words else nullcontext()


def _values(function: Any, values: ValuesByName) -> dict[str, Any]:
    return {name: values[name] for name in values_of(function)}


def _input(judgement: Judgement, name: str, parts: InputParts, values: ValuesByName) -> pa.Table:
    """All rows of an input, with all columns of its class."""
    source = judgement.reads[name]
    tables = [*parts.get(name, ())]
    if not tables:
        leaf, functions = next(source.leaves())
        tables = [narrow(functions, leaf_schema(leaf).empty_table(), values)]
    table = _completed(tables, judgement.inputs[name])
    return narrow([source.again], table, values) if source.again else table


def _tables(judgement: Judgement, name: str, parts: InputParts, values: ValuesByName) -> Iterator[pa.Table]:
    """The rows of an input with all columns of its class, some at a time; all at once where they are narrowed again."""
    if judgement.reads[name].again:
        yield _input(judgement, name, parts, values)
    else:
        for tables in sized(parts.get(name, ()), lambda table: table.num_rows, _ROWS):
            yield _completed(tables, judgement.inputs[name])


def _completed(tables: Sequence[pa.Table], cls: type[Row] | None) -> pa.Table:
    table = pa.concat_tables(tables, promote_options="default")
    return completed(table, arrow_schema(cls.TABLE)) if cls else table


def _by_key(
    judgement: Judgement, parts: InputParts, values: ValuesByName
) -> Iterator[tuple[ValuesByName, dict[str, list[Any]]]]:
    """Each key, a value for each of its columns, with its rows by input."""
    columns, cluster = key_of(judgement), {"cluster": values[SCOPE].cluster}
    if not columns:
        yield cluster, {name: _rows_of(judgement, name, parts, values) for name in judgement.reads}
        return
    by_key: dict[tuple[Any, ...], dict[str, list[Any]]] = defaultdict(lambda: {name: [] for name in judgement.reads})
    for name in judgement.reads:
        for table in _tables(judgement, name, parts, values):
            keys = zip(*(table[column].to_pylist() for column in columns), strict=True)
            for key, row in zip(keys, _rows(table, judgement.inputs[name]), strict=True):
                by_key[key][name].append(row)
    while by_key:
        key, rows = by_key.popitem()
        yield {**cluster, **dict(zip(columns, key, strict=True))}, rows


def _rows_of(judgement: Judgement, name: str, parts: InputParts, values: ValuesByName) -> list[Any]:
    tables = _tables(judgement, name, parts, values)
    return [row for table in tables for row in _rows(table, judgement.inputs[name])]


def _rows(table: pa.Table, cls: type[Row] | None) -> list[Any]:
    if cls is None:
        raise TypeError("A judgement with a key takes rows, not tables.")
    return rows_of(table.combine_chunks().to_batches(), cls)


def _output(rows: Sequence[Row], cls: type[Row], values: ValuesByName) -> pa.Table:
    """Rows as a table. A verdict is at most as sure as the clocks that wrote its lines."""
    schema = arrow_schema(cls.TABLE)
    if (clocks := values[SCOPE].clocks) and cls.TABLE.full_name in BY_TIMES:
        rows = [_by_clocks(row, clocks) for row in rows]
    structs = array_of(rows, pa.struct([field.with_nullable(True) for field in schema]))
    return pa.Table.from_arrays(structs.flatten(), names=schema.names)


def _by_clocks(row: Any, clocks: Sequence[ClockError]) -> Any:
    most = [clock.most(row.evidence) for clock in clocks]
    if isinstance(row, Unavailability):
        # What is not over lasts until the last line of any broker, by whichever clock.
        most += [Confidence.POSSIBLE for c in clocks if row.ended_at is None and c.hides(row.low_ms * MS)]
        # No length of time between clocks that differ by more shows that it lasted at all.
        row = replace(row, low_ms=0) if Confidence.POSSIBLE in most else row
    return replace(row, confidence=Confidence.least([row.confidence, *most]))
