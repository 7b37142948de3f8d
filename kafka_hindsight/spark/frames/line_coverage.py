"""Coverage: every physical line accounted for, by source."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kafka_hindsight.shared import windows
from kafka_hindsight.spark.frames.hours import COLUMN_OF, layouts_in


def cover(hours: DataFrame, beginnings: DataFrame, cluster: str, window: windows.Window) -> DataFrame:
    """How many lines of each source became what, in one window.

    Takes: what `count_hours` gives, of all hours of a window that cuts them, and of what has no instant; `beginnings`:
        source and first_at, the instant of its first record ever, of the sources with records without an instant.
    Gives: quality.coverage.
    Keeps: lines_in = events + ignored + unparsed + quarantined.
    Edge case: lines without an instant count where their source begins; those of a source without any, in every window.
    """
    began = beginnings.select("source", F.col("first_at").alias("began_at"))
    place = F.coalesce("hour_from", "began_at", F.lit(window.start))
    inside = hours.join(F.broadcast(began), "source", "left").where(
        (place >= F.lit(window.start)) & (place < F.lit(window.end))
    )
    before = F.lag("last_at").over(Window.partitionBy("source").orderBy("first_at"))
    silence = F.unix_millis("first_at") - F.unix_millis(before)
    return (
        inside.withColumn("silence", F.greatest(silence, "longest_silence_ms"))
        .groupBy("source")
        .agg(
            F.min("origin").alias("origin"),
            *(F.sum(name).alias(name) for name in ("lines_in", *COLUMN_OF.values())),
            F.min("first_at").alias("first_at"),
            F.max("last_at").alias("last_at"),
            F.max("silence").alias("longest_silence_ms"),
            layouts_in("layouts"),
        )
        .withColumns({"cluster": F.lit(cluster), "window_from": F.lit(window.start), "window_to": F.lit(window.end)})
    )
