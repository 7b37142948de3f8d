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

from spark_jobs.catalog.classes import TABLE_OF
from spark_jobs.catalog.row import Row
from spark_jobs.shared.conform import schema_of

if TYPE_CHECKING:
    import pyarrow as pa

Tables = Mapping[str, Sequence[Any]]
Host = Callable[[Tables], Tables]
Input = tuple[DataFrame, type[Row]]


def host(
    inputs: Mapping[str, Input], keys: Sequence[str], outputs: Mapping[str, type[Row]], function: Host
) -> DataFrame:
    """One call of `function` for each key, anywhere in the cluster, with the rows of all inputs that have it.

    Takes: frames that all have the key's columns, with the class of their rows; the classes of what the function gives.
    Gives: a frame with one struct column for each output; each row fills one of them. See `part`.
    """
    schema = StructType(
        [StructField(name, StructType.fromDDL(schema_of(TABLE_OF[output]))) for name, output in outputs.items()]
    )
    arrow = to_arrow_schema(schema, timezone="UTC")
    classes = {name: cls for name, (_, cls) in inputs.items()}

    def run(table: pa.Table) -> pa.Table:
        import pyarrow

        given = function(_spread(table.to_pylist(), classes))
        return pyarrow.Table.from_pylist(list(_wrapped(given, outputs)), schema=arrow)

    return (
        _gathered({name: frame for name, (frame, _) in inputs.items()}, keys).groupBy(*keys).applyInArrow(run, schema)
    )


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


def _spread(rows: Iterable[Mapping[str, Any]], classes: Mapping[str, type[Row]]) -> Tables:
    tables: dict[str, list[Row]] = {name: [] for name in classes}
    for row in rows:
        for name, cls in classes.items():
            if row[name] is not None:
                tables[name].append(cls.of(row[name]))
    return tables


def _wrapped(given: Tables, classes: Mapping[str, type[Row]]) -> Iterator[dict[str, Any]]:
    for name, rows in given.items():
        for row in rows:
            yield {name: classes[name].of(row).as_dict()}
