"""Landed records of `__consumer_offsets` become rows: JSON lines, one record each, as a live cluster lands them."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.lake.ddl import schema_of
from kafka_hindsight.spark.frames.snapshot_rows import refused

SOURCE = "__consumer_offsets"

_LANDED = tuple(c for c in GROUP_RECORDS.columns if c.name not in ("cluster", "run_landed_as"))
_SHAPE = f"{schema_of(replace(GROUP_RECORDS, columns=_LANDED))}, sentence STRING"
_NEEDED = " AND ".join(f"{c.name} IS NOT NULL" for c in _LANDED if not c.nullable)


def read_records(lines: DataFrame) -> DataFrame:
    """Lines of landed files taken apart.

    Takes: value, a line's text; landed_as, the file it landed in.
    Gives: both, the columns of bronze.group_records that the line has, and `sentence` where it was not decoded.
    """
    said = lines.where(F.trim("value") != "").withColumn("said", F.from_json("value", _SHAPE))
    return said.select("value", "landed_as", "said.*")


def rows_of(read: DataFrame, cluster: str) -> DataFrame:
    """Rows of bronze.group_records, each record once.

    Takes: what `read_records` gives.
    """
    known = {"cluster": F.lit(cluster), "run_landed_as": F.col("landed_as")}
    kept = read.where(f"sentence IS NULL AND {_NEEDED}").withColumns(known)
    return kept.dropDuplicates(list(GROUP_RECORDS.key)).select(*GROUP_RECORDS.column_names)


def quarantined(read: DataFrame, cluster: str) -> DataFrame:
    """The records that could not be decoded, and lines that are none: quality.quarantine."""
    cut_off = F.lit("It is not a record of a group: perhaps its writer died while it wrote.")
    broken = read.where(f"sentence IS NOT NULL OR NOT ({_NEEDED})")
    return refused(broken, cluster, SOURCE, F.coalesce("sentence", cut_off))
