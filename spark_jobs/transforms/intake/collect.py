"""Physical lines become log records, each once, with its instant, its rank and an id that depends on nothing else."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.knowledge.layouts import LAYOUTS
from spark_jobs.transforms.intake.reading import MOST_LINES

_HEAD_REACH = 200
"""A head stands within the first characters of its line: the search stays cheap on endless lines."""

_DOUBLED = timedelta(hours=1)
_SET_BACK = timedelta(minutes=1)
"""Threads write some milliseconds out of order, never minutes."""


def assemble(lines: DataFrame) -> DataFrame:
    """Records out of physical lines: a head that a layout recognises and everything up to the next head.

    Takes: lines of files: file, block, place, value.
    Gives: file, block, record (its place in the block), layout (null before the file's first head), line_count,
        text, and raw where the text is not valid UTF-8.
    Keeps: the sum of line_count is the number of lines, wherever a file was split.
    Edge case: bytes that are not UTF-8 are replaced in `text`, and the record is kept in `raw` as well; only the first
        MOST_LINES lines are kept in either.
    """
    raw = F.when(~F.is_valid_utf8("text"), F.col("text").cast("binary"))
    return _mended(_pieces(lines)).withColumns({"raw": raw, "text": F.make_valid_utf8("text")})


def _pieces(lines: DataFrame) -> DataFrame:
    """The records of each block. Lines before a block's first head are record 0 of the block."""
    in_block = Window.partitionBy("file", "block").orderBy("place")
    so_far = in_block.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    begins = F.when(F.col("layout").isNotNull(), F.col("place"))
    begun = F.coalesce(F.max(begins).over(so_far), F.min("place").over(so_far))
    line = F.when(F.col("place") - begun < MOST_LINES, F.struct("place", "value"))
    return (
        lines.withColumn("layout", _layout(F.substring("value", 1, _HEAD_REACH)))
        .select(
            "file",
            "block",
            "layout",
            F.count("layout").over(so_far).alias("record"),
            line.alias("line"),
            F.lead("place").over(in_block).isNull().alias("is_last"),
        )
        .groupBy("file", "block", "record")
        .agg(
            F.max("layout").alias("layout"),
            _joined(F.collect_list("line"), "value").alias("text"),
            F.count(F.lit(1)).cast("int").alias("line_count"),
            F.max("is_last").alias("is_last"),
        )
    )


def _mended(pieces: DataFrame) -> DataFrame:
    """Pieces at the beginning of a block given back to the record they were cut from: the last one before the block."""
    is_rest = (F.col("record") == 0) & (F.col("block") > 0)
    in_file = Window.partitionBy("file").orderBy("block", "record")
    text = F.substring_index(_joined(F.collect_list(F.struct("block", "record", "text")), "text"), "\n", MOST_LINES)
    mended = (
        pieces.where(is_rest | F.col("is_last"))
        .withColumn("whole", F.sum(F.when(is_rest, 0).otherwise(1)).over(in_file))
        .groupBy("file", "whole")
        .agg(
            F.min(F.struct("block", "record")).alias("at"),
            F.max("layout").alias("layout"),
            text.alias("text"),
            F.sum("line_count").cast("int").alias("line_count"),
        )
        .select("file", "at.block", "at.record", "layout", "text", "line_count")
    )
    return pieces.where(~is_rest & ~F.col("is_last")).drop("is_last").unionByName(mended)


def _joined(parts: Column, field: str) -> Column:
    return F.array_join(F.transform(F.array_sort(parts), lambda part: part[field]), "\n")


def _layout(head: Column) -> Column:
    return F.coalesce(*(F.when(head.rlike(layout.head), F.lit(layout.name)) for layout in LAYOUTS))


def date(records: DataFrame, zones: Collection[str]) -> DataFrame:
    """Adds happened_at: the clock in a record's head, read in the file's zone; null where there is none.

    Takes: records with text, layout and zone; `zones`, all of those zones.
    Edge case: where a clock is set back and an hour comes twice, a jump back within it in the file shows that the
        second one has begun; a file that begins in the second one is read as if it were the first.
    """
    clock = F.coalesce(
        *(
            F.when(F.col("layout") == layout.name, F.expr(f"try_cast({layout.timestamp} AS {kind})").cast("timestamp"))
            for layout in LAYOUTS
            for kind in ("DECIMAL(20, 6)" if layout.is_epoch else "TIMESTAMP",)
        )
    )
    is_instant = F.col("layout").isin([layout.name for layout in LAYOUTS if layout.is_epoch])
    if set(zones) <= {"UTC"}:
        return records.withColumn("happened_at", clock)
    told, zone = F.col("told"), F.col("zone")
    first = F.to_utc_timestamp(told, zone)
    second = first + F.lit(_DOUBLED)
    is_doubled = F.from_utc_timestamp(second, zone) == told
    in_day = Window.partitionBy("file", F.to_date("told")).orderBy("block", "record")
    so_far = in_day.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        records.withColumn("told", clock)
        .withColumn("is_doubled", is_doubled & ~is_instant)
        .withColumn("set_back", F.col("is_doubled") & (F.lag("told").over(in_day) - told > F.lit(_SET_BACK)))
        .withColumn("set_back", F.max("set_back").over(so_far))
        .withColumn(
            "happened_at",
            F.when(is_instant, told).when(F.col("is_doubled") & F.col("set_back"), second).otherwise(first),
        )
        .drop("told", "is_doubled", "set_back")
    )


def row_id(*parts: Column) -> Column:
    """The id of a row in Spark's words: equal to catalog.ids.row_id of the same parts as text."""
    text = F.concat_ws("\x1f", *(part.cast("string") for part in parts))
    return F.substring(F.sha2(text, 256), 1, 32)


def identify(records: DataFrame, cluster: str) -> DataFrame:
    """Each record once, with its line_id and its rank among those of its source and instant.

    Takes: dated records with source, and rank and lane of their file.
    Gives: the rows with line_id and order added; of identical records of overlapping files one is left.
    Keeps: ids and order are the same however the lines are split over files and the files over blocks.
    """
    moment = ("source", "happened_at")
    by_place = ("rank", "block", "record")
    twin = Window.partitionBy(*moment, "likeness", "lane").orderBy(*by_place)
    copy = Window.partitionBy(*moment, "likeness", "twin").orderBy("rank")
    place = Window.partitionBy(*moment).orderBy(*by_place)
    return (
        records.withColumn("likeness", F.xxhash64("text"))
        .repartition(*moment)
        .withColumn("twin", F.row_number().over(twin) - 1)
        .withColumn("copy", F.row_number().over(copy))
        .where("copy = 1")
        .withColumn("order", F.row_number().over(place) - 1)
        .withColumn("line_id", row_id(F.lit(cluster), F.col("source"), F.col("text"), F.col("twin")))
    )
