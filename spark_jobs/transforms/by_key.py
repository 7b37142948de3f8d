"""Plain-Python transforms hosted in a distributed job: rows of one key in, rows of several tables out.

Lines are many, so reading them is Spark's; episodes are few, so judging them is plain Python, tested without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, Any]]
Tables = Mapping[str, Rows]
Host = Callable[[Tables], Tables]


def host(inputs: Mapping[str, DataFrame], keys: Sequence[str], outputs: Mapping[str, str], function: Host) -> DataFrame:
    """One call of `function` for each key, anywhere in the cluster, with the rows of all inputs that have it.

    Takes: frames that all have the key's columns; the schemas, in DDL, of what the function gives.
    Gives: a frame with one struct column for each output; each row fills one of them. See `part`.
    """
    schema = StructType([StructField(name, StructType.fromDDL(output)) for name, output in outputs.items()])
    arrow = to_arrow_schema(schema, timezone="UTC")
    names = list(inputs)

    def run(table: pa.Table) -> pa.Table:
        import pyarrow

        given = function(_spread(table.to_pylist(), names))
        return pyarrow.Table.from_pylist(list(_wrapped(given)), schema=arrow)

    return _gathered(inputs, keys).groupBy(*keys).applyInArrow(run, schema)


def part(frame: DataFrame, output: str) -> DataFrame:
    """The rows of one output of `host`, as a frame of its own."""
    return frame.where(F.col(output).isNotNull()).select(f"{output}.*")


def _gathered(inputs: Mapping[str, DataFrame], keys: Sequence[str]) -> DataFrame:
    """All inputs in one frame: the key, and one struct column for each input."""
    tagged = [
        frame.select(*keys, F.struct(*(frame[column] for column in frame.columns)).alias(name))
        for name, frame in inputs.items()
    ]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), tagged)


def _spread(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> Tables:
    tables: dict[str, Rows] = {name: [] for name in names}
    for row in rows:
        for name in names:
            if row[name] is not None:
                tables[name].append(row[name])
    return tables


def _wrapped(given: Tables) -> Iterator[dict[str, Any]]:
    for name, rows in given.items():
        for row in rows:
            yield {name: row}
