"""Log records get their ids, and those that files have in common their rank, each once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.ids import DIGITS
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_schema
from kafka_hindsight.logs.cutting import LIKENESS

FIXED = ("place", "order", "twin")
"""What is known better of a record when all that are like it were looked at; order is below 0 where it is dropped."""

_DROPPED = -1
_HASHED = sha256().digest_size
_BRONZE = arrow_schema(LOG_RECORDS)


def row_id(*parts: Column) -> Column:
    """The id of a row in Spark's words: equal to catalog.ids.row_id of the same parts as text."""
    text = F.concat_ws("\x1f", *(part.cast("string") for part in parts))
    return F.substring(F.sha2(text, 256), 1, DIGITS)


def bronze_rows(
    records: pa.RecordBatch, cluster: str, origin: str, source: str, layouts: Sequence[str], run_at: datetime
) -> pa.RecordBatch:
    """Records as bronze.log_records holds them.

    Takes: what `cutting.cut` gives; what all records of a file have in common, and the names of its layouts.
    Keeps: a record's id is that of catalog.ids.row_id of cluster, source, text and twin.
    """
    sources = _sources(source, records.column("part"))
    numbers = records.column("layout").cast(pa.int64())
    known = {
        "line_id": _ids(cluster, sources.to_pylist(), records.column("text"), records.column("twin").to_pylist()),
        "cluster": pa.repeat(cluster, len(records)),
        "origin": pa.repeat(origin, len(records)),
        "source": sources,
        "layout": pa.array(layouts, pa.string()).take(pc.if_else(pc.less(numbers, 0), None, numbers)),
        "run_collected_at": pa.repeat(pa.scalar(run_at, INSTANT), len(records)),
    }
    told = dict(zip(records.schema.names, records.columns, strict=True)) | known
    return pa.record_batch([told[f.name] for f in _BRONZE], _BRONZE)


def _sources(source: str, parts: pa.Array) -> pa.Array:
    """The source of each record: its file's, and within a wrapped file who wrote its line."""
    return pc.coalesce(pc.binary_join_element_wise(source + WITHIN, parts, ""), source)


def _ids(cluster: str, sources: Sequence[str], texts: pa.Array, twins: Sequence[int]) -> pa.Array:
    begun = {source: sha256(f"{cluster}\x1f{source}\x1f".encode()) for source in set(sources)}
    ends = [b"\x1f%d" % twin for twin in range(max(twins, default=0) + 1)]
    hashes = []
    for source, text, twin in zip(sources, texts.cast(pa.binary()).to_pylist(), twins, strict=True):
        hashed = begun[source].copy()
        hashed.update(text + ends[twin])
        hashes.append(hashed.digest())
    halves = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, _HASHED)[:, : DIGITS // 2]
    offsets = np.arange(len(texts) + 1, dtype=np.int32) * DIGITS
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(halves.tobytes().hex().encode()))


def settle(gathered: DataFrame, held: DataFrame | None) -> DataFrame:
    """Which of records of equal instants are kept, and the rank of those among the records of their log and instant.

    Takes: place, happened_at (microseconds) and likeness (a hash) of records; source, rank and lane of their files,
        and their unit; rows of bronze.log_records that the lake holds of these instants.
    Gives: unit; numbers, the FIXED numbers of its records one after another, by place.
    Keeps: ids and order are the same however the lines are split over files and the files over units. Of identical
        records of overlapping files one is left, and none that the lake holds.
    """
    moment = ("source", "happened_at")
    by_place = ("rank", "place")
    twin = Window.partitionBy(*moment, "likeness", "lane").orderBy(*by_place)
    copy = Window.partitionBy(*moment, "likeness", "twin").orderBy("rank")
    kept = Window.partitionBy(*moment).orderBy(*by_place).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    is_first = F.col("copy") == 1
    numbered = (
        gathered.withColumn("twin", F.row_number().over(twin) - 1)
        .withColumn("copy", F.row_number().over(copy))
        .withColumn("nth", F.count_if(is_first).over(kept) - 1)
    )
    is_kept = is_first
    if held is not None:
        numbered = _beside(numbered, held)
        is_kept = is_first & (F.col("twin") >= F.coalesce("held", F.lit(0)))
    order = F.when(is_kept, F.col("nth")).otherwise(_DROPPED)
    fixed = F.transform(
        F.array_sort(F.collect_list(F.struct("place", order.alias("order"), "twin"))),
        lambda r: F.array(*(r[name].cast("bigint") for name in FIXED)),
    )
    return numbered.groupBy("unit").agg(F.flatten(fixed).alias("numbers"))


def _beside(numbered: DataFrame, held: DataFrame) -> DataFrame:
    """The records with how many like them the lake holds."""
    like = ("source", "at", "likeness")
    counted = (
        held.select("source", F.unix_micros("happened_at").alias("at"), likeness("text").alias("likeness"))
        .groupBy(*like)
        .agg(F.count(F.lit(1)).alias("held"))
    )
    ours, theirs = numbered.alias("ours"), counted.alias("theirs")
    is_like = (
        (F.col("ours.source") == F.col("theirs.source"))
        & F.col("ours.happened_at").eqNullSafe(F.col("theirs.at"))
        & (F.col("ours.likeness") == F.col("theirs.likeness"))
    )
    return ours.join(theirs, is_like, "left").select("ours.*", "theirs.held")


def likeness(text: str) -> Column:
    """A hash of a record's words: equal to that of cutting.contested."""
    return F.substring(F.sha2(text, 256), 1, LIKENESS)
