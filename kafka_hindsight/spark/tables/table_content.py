"""What a table's rows are, in a few numbers: whether two tables hold the same, whatever the order."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.ddl import quoted

_MICROS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_DIGITS = 15
"""Hexadecimal digits of a hash that make one addend: a sum of as many rows as a table may have does not overflow."""


class Content(NamedTuple):
    """How many rows a frame has, and two sums over the hashes of all of them: equal for the same rows in any order."""

    row_count: int
    one_sum: str
    other_sum: str


NO_CONTENT = Content(0, "", "")


def contents(*asked: tuple[Table, DataFrame]) -> list[Content]:
    """The content of each frame of a table's rows, `run_` columns left out, all asked in one query."""
    queries = [_content_query(n, table, frame) for n, (table, frame) in enumerate(asked)]
    return [Content(*content) for _, *content in sorted(reduce(DataFrame.union, queries).collect())]


def _content_query(number: int, table: Table, frame: DataFrame) -> DataFrame:
    part = (F.substring("hash", start, _DIGITS) for start in (1, 1 + _DIGITS))
    sums = (F.coalesce(F.sum(F.conv(p, 16, 10).cast("decimal(20,0)")).cast("string"), F.lit("")) for p in part)
    return frame.select(row_hash(table).alias("hash")).agg(F.lit(number), F.count("*"), *sums)


def row_hash(table: Table) -> Column:
    """A hash of each row of a table, `run_` columns left out."""
    row = F.to_json(F.struct(*map(quoted, table.content_columns)), {"timestampFormat": _MICROS})
    return F.sha2(row, 256)
