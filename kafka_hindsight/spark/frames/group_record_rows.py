"""Records of `__consumer_offsets` that a night is judged by."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import Window as SqlWindow
from pyspark.sql import functions as F

from kafka_hindsight.shared.windows import Window

_KEY = ("group_id", "record_type", "member_id", "subscription_pattern")
"""What a record replaces: the one before it with the same."""


def around(records: DataFrame, cluster: str, seen: Window) -> DataFrame:
    """A cluster's records of a time, and of what was written before it the last under each key.

    Takes: rows of bronze.group_records.
    """
    known = records.where((F.col("cluster") == cluster) & (F.col("written_at") < F.lit(seen.end)))
    is_before = F.col("written_at") < F.lit(seen.start)
    newest = SqlWindow.partitionBy(*_KEY).orderBy(F.desc("written_at"), F.desc("record_offset"))
    last = known.where(is_before).withColumn("turn", F.row_number().over(newest)).where("turn = 1").drop("turn")
    return known.where(~is_before).unionByName(last.where("NOT is_tombstone"))
