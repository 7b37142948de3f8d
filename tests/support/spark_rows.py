"""Rows of a declared table as Spark has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.ddl import schema_of


def frame_of(spark: SparkSession, rows: Iterable[Mapping[str, Any]], table: Table) -> DataFrame:
    """Plain rows as a frame with the table's columns and types, every column nullable."""
    return spark.createDataFrame([tuple(row[name] for name in table.column_names) for row in rows], schema_of(table))
