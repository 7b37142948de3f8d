"""Coverage: every physical line accounted for, by source."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.catalog.codes import LineFate
from spark_jobs.shared.conform import quoted
from spark_jobs.transforms import windows

COLUMN_OF = {fate: "events" if fate == "event" else fate for fate in LineFate}
"""The column that counts the lines of each fate."""


def cover(parsed: DataFrame, beginnings: DataFrame, window: windows.Window) -> DataFrame:
    """How many lines of each source became what, in one window.

    Takes: what `parse` gives, of all records of the cluster that lie in the window or have no instant;
        `beginnings`: source and first_at, the instant of its first record ever, of the sources with such records.
    Gives: quality.coverage.
    Keeps: lines_in = events + ignored + unparsed + quarantined.
    Edge case: lines without an instant count where their source begins; those of a source without any, in every window.
    """
    place = F.coalesce("happened_at", "first_at", F.lit(window.start))
    inside = parsed.join(F.broadcast(beginnings), "source", "left").where(
        (place >= F.lit(window.start)) & (place < F.lit(window.end))
    )
    before = F.lag("happened_at").over(Window.partitionBy("source").orderBy("happened_at", quoted("order")))
    silence = F.unix_millis("happened_at") - F.unix_millis(before)
    lines = F.col("line_count").cast("bigint")
    fates = (
        F.coalesce(F.sum(F.when(F.col("fate") == fate, lines)), F.lit(0)).alias(COLUMN_OF[fate]) for fate in LineFate
    )
    return (
        inside.withColumn("silence", silence)
        .groupBy("cluster", "source")
        .agg(
            F.min("origin").alias("origin"),
            F.sum(lines).alias("lines_in"),
            *fates,
            F.min("happened_at").alias("first_at"),
            F.max("happened_at").alias("last_at"),
            F.max("silence").alias("longest_silence_ms"),
        )
        .withColumn("window_from", F.lit(window.start))
        .withColumn("window_to", F.lit(window.end))
    )
