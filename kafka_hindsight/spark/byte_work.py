"""Work on the bytes of files, spread over Spark's workers: they open the files, or Spark does where only Spark can."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, groupby
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.lake.arrow_types import Make
from kafka_hindsight.logs.file_bytes import (
    CHUNK,
    ROW,
    Arriving,
    Bytes,
    Local,
    Member,
    OfMember,
    Unpacked,
    content_of,
    is_local,
    unpacked,
)
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.spark.java_functions import teach

_TASK = 64 * 1024 * 1024
_LEAST = 1024 * 1024
_FUNCTION = "hindsight_bytes_of"


Work = Callable[[dict[str, Any], Bytes, Any], Iterator[pa.RecordBatch]]
"""What a worker does with a unit: it takes what the unit holds for it, its bytes, and the numbers that belong to it."""


def spread(
    spark: SparkSession, units: Sequence[Unit], work: Work, schema: str, numbers: DataFrame | None = None
) -> DataFrame:
    """What a function makes of units, as rows of Spark. Takes: what `spread_units` takes; the function, and the schema
    of the batches that it gives.
    """
    return spread_units(spark, units, numbers).mapInArrow(worked(work), schema)


def worked(work: Work) -> Make:
    """The function that does this work with the rows of `spread_units`."""
    return partial(_worked, work=work)


def spread_units(
    spark: SparkSession, units: Sequence[Unit], numbers: DataFrame | None = None, most: int = _TASK
) -> DataFrame:
    """The units as rows for workers, a task of many for each part of the bytes. At least one unit is needed.

    Takes: `numbers`, what the work takes beside the bytes: `unit`, the unit's place in the sequence, and `numbers`, an
        array; the bytes that a task reads.
    """
    tasks = _tasks(units, spark.sparkContext.defaultParallelism, most)
    shape = (
        "array<array<struct<unit: int, uri: string, job: string, parts: array<struct<begin: bigint, end: bigint>>>>>"
    )
    rows = F.inline(F.get(F.from_json(F.lit(json.dumps(tasks)), shape), F.col("id").cast("int")))
    frame = spark.range(0, len(tasks), 1, len(tasks)).select(F.col("id").alias("task"), rows)
    if numbers is None:
        frame = frame.withColumn("numbers", F.lit(None).cast("array<bigint>"))
    else:
        frame = frame.join(numbers, "unit", "left").repartition(len(tasks), "task").sortWithinPartitions("unit")
    if all(is_local(unit.uri) for unit in units):
        frame = frame.withColumns({"at": F.lit(0), "bytes": F.lit(None).cast("binary")})
    else:
        frame = _with_bytes(spark, frame)
    return frame.select("unit", "uri", "job", "at", "bytes", "numbers")


def _tasks(units: Sequence[Unit], cores: int, most: int) -> list[list[dict[str, Any]]]:
    """The units in tasks of about one size, as many as there are cores at least where that pays.

    Edge case: each task that reads of a packed archive unpacks all that lies before, so that few of them do.
    """
    share = sum(u.size for u in units) // max(cores, 1)
    size = max(_LEAST, min(most, share))
    tasks: list[list[dict[str, Any]]] = [[]]
    held = 0
    for n, unit in enumerate(units):
        if held >= (max(size, share) if unit.is_of_packed_archive else size):
            tasks.append([])
            held = 0
        parts = [{"begin": begin, "end": end} for begin, end in unit.parts]
        job = json.dumps({**unit.told, "reads_to": unit.parts[-1][1], "member": unit.member, "is_raw": unit.is_raw})
        tasks[-1].append({"unit": n, "uri": unit.uri, "job": job, "parts": parts})
        held += unit.size
    return tasks


def _worked(batches: Iterable[pa.RecordBatch], work: Work) -> Iterator[pa.RecordBatch]:
    rows = (_Row(*(column[i] for column in batch.columns)) for batch in batches for i in range(batch.num_rows))
    archive: Unpacked | None = None
    for _, same in groupby(rows, key=lambda row: row.unit.as_py()):
        parts = iter(same)
        first = next(parts)
        job, given = json.loads(first.job.as_py()), first.numbers
        with _opened(first, parts, job["reads_to"]) as held:
            if job["member"]:
                member = Member(*job["member"])
                content = content_of(held, first.uri.as_py(), job["reads_to"], archive, member)
                archive = content if isinstance(content, Unpacked) else None
                held = unpacked(OfMember(content, member), member.name, member.size)
            elif not job["is_raw"]:
                held = unpacked(held, first.uri.as_py(), job["reads_to"])
            yield from work(job, held, given.values.to_numpy() if given.is_valid else None)


class _Row(NamedTuple):
    """A row as a worker gets it: a part of a unit's bytes, none where the worker opens the file by itself."""

    unit: Any
    uri: Any
    job: Any
    at: Any
    bytes: Any
    numbers: Any


@contextmanager
def _opened(first: _Row, others: Iterator[_Row], end: int) -> Iterator[Bytes]:
    uri = first.uri.as_py()
    local = Local(uri) if is_local(uri) else None
    rows = (row for row in chain([first], others) if row.bytes.is_valid)
    arriving = ((row.at.as_py(), row.bytes.as_py()) for row in rows)
    try:
        yield local or Arriving(arriving)
    finally:
        deque(others, maxlen=0)
        if local:
            local.close()


def _with_bytes(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The rows with the bytes that Java reads for them, a row for each chunk.

    Edge case: Spark hands rows over by ten thousands, unless their bytes are limited.
    """
    if teach(spark, _FUNCTION, "FileBytes", "BinaryType"):
        spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", str(2 * CHUNK))
    parts = frame.select("*", F.inline("parts"))
    begins = F.sequence("begin", F.greatest("begin", F.col("end") - 1), F.lit(ROW).cast("bigint"))
    length = F.least(F.lit(ROW), F.col("end") - F.col("at")).cast("int")
    read = F.when(~F.startswith("uri", F.lit("file:/")), F.call_function(_FUNCTION, "uri", "at", length))
    return parts.withColumn("at", F.explode(begins)).withColumn("bytes", read)
