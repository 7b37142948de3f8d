"""Batches of Arrow that Spark's workers make of a frame: they become rows of Spark, or files of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import Make
from kafka_hindsight.lake.ddl import quoted, schema_of


@dataclass(frozen=True)
class Batches:
    """What a function makes of the batches of a frame: all columns of a table, in their order and types."""

    given: DataFrame
    make: Make
    table: Table

    def rows(self) -> DataFrame:
        """As rows of Spark."""
        return self.given.mapInArrow(self.make, schema_of(self.table))

    def through(self, make: Make, schema: pa.Schema) -> DataFrame:
        """What a function makes of these batches, as rows of Spark."""
        return self.given.mapInArrow(partial(_one_after_another, self.make, make), from_arrow_schema(schema))


def as_batches(rows: DataFrame, table: Table) -> Batches:
    """The rows of a table as batches that Spark makes."""
    return Batches(rows.select(*map(quoted, table.column_names)), _unchanged, table)


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return iter(batches)


def _one_after_another(first: Make, second: Make, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return second(first(batches))
