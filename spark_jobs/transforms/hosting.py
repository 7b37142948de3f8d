"""Plain-Python transforms hosted in a distributed job: rows of one key in, rows of several tables out.

Lines are many, so reading them is Spark's; episodes are few, so judging them is plain Python, tested without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, Any]]
Host = Callable[[Rows], Mapping[str, Rows]]


def host(frame: DataFrame, keys: Sequence[str], outputs: Mapping[str, StructType], function: Host) -> DataFrame:
    """One call of `function` for the rows of each key, anywhere in the cluster.

    Takes: `outputs`, the name and schema of each kind of row that the function gives.
    Gives: a frame with one struct column for each output; each row fills one of them. See `part`.
    """
    schema = StructType([StructField(name, output) for name, output in outputs.items()])
    arrow = to_arrow_schema(schema, timestamp_utc=True)

    def run(table: pa.Table) -> pa.Table:
        import pyarrow

        given = function(table.to_pylist())
        return pyarrow.Table.from_pylist(list(_wrapped(given)), schema=arrow)

    return frame.groupBy(*keys).applyInArrow(run, schema)


def _wrapped(given: Mapping[str, Rows]) -> Iterator[dict[str, Any]]:
    for name, rows in given.items():
        for row in rows:
            yield {name: row}


def part(frame: DataFrame, output: str) -> DataFrame:
    """The rows of one output of `host`, as a frame of its own."""
    return frame.where(F.col(output).isNotNull()).select(f"{output}.*")
