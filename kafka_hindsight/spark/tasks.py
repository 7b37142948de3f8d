"""Tasks that Spark's workers run. The driver packs them into the function, so that no plan has them as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

Task = TypeVar("Task")


def spread(
    spark: SparkSession,
    tasks: Sequence[Task],
    work: Callable[[Task], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """Run work on tasks, each by a Spark task of its own. `schema` is that of the batches."""
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(partial(_run, tasks=tasks, work=work), schema)


def _run(
    batches: Iterable[pa.RecordBatch], tasks: Sequence[Task], work: Callable[[Task], Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch["id"].to_pylist():
            yield from work(tasks[number])
