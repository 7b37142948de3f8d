"""A declared table applied to a frame: exact names, order and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.ddl import quoted, schema_of


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """The frame with exactly the table's columns, in their order and types.

    Raises: ValueError that names every column that is missing or that the table does not have.
    """
    missing = [n for n in table.column_names if n not in frame.columns]
    extra = [n for n in frame.columns if n not in table.column_names]
    if missing or extra:
        raise ValueError(
            f"{table.full_name} was given other columns than it has: missing {missing or 'none'}, "
            f"not declared {extra or 'none'}. Needed: {', '.join(table.column_names)}."
        )
    return frame.select(*(F.col(quoted(c.name)).cast(c.type).alias(c.name) for c in table.columns))


def frame_of(spark: SparkSession, rows: Iterable[Mapping[str, Any]], table: Table) -> DataFrame:
    """Plain rows as a frame with the table's columns and types, every column nullable."""
    return spark.createDataFrame([tuple(r[n] for n in table.column_names) for r in rows], schema_of(table))
