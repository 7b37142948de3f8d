"""Work on the bytes of files, spread over Spark's workers, which open the files themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from kafka_hindsight.lake.arrow_types import Make
from kafka_hindsight.logs.file_bytes import Bytes, Member, OfMember, Stored, content_of, opened, unpacked
from kafka_hindsight.logs.work import Unit

_TASK = 64 * 1024 * 1024
_LEAST = 1024 * 1024


Work = Callable[[dict[str, Any], Bytes, Any], Iterator[pa.RecordBatch]]
"""What a worker does with a unit: it takes what the unit holds for it, its bytes, and the numbers that belong to it."""


def spread(
    spark: SparkSession, units: Sequence[Unit], work: Work, schema: str | StructType, numbers: DataFrame | None = None
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
    shape = "array<array<struct<unit: int, uri: string, job: string>>>"
    rows = F.inline(F.get(F.from_json(F.lit(json.dumps(tasks)), shape), F.col("id").cast("int")))
    frame = spark.range(0, len(tasks), 1, len(tasks)).select(F.col("id").alias("task"), rows)
    if numbers is None:
        frame = frame.withColumn("numbers", F.lit(None).cast("array<bigint>"))
    else:
        frame = frame.join(numbers, "unit", "left").repartition(len(tasks), "task").sortWithinPartitions("unit")
    return frame.select("uri", "job", "numbers")


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
        job = json.dumps({**unit.told, "reads_to": unit.part[1], "member": unit.member, "is_raw": unit.is_raw})
        tasks[-1].append({"unit": n, "uri": unit.uri, "job": job})
        held += unit.size
    return tasks


def _worked(batches: Iterable[pa.RecordBatch], work: Work) -> Iterator[pa.RecordBatch]:
    archive: Bytes | None = None
    for uri, text, given in (row for batch in batches for row in zip(*batch.columns, strict=True)):
        job, name = json.loads(text.as_py()), uri.as_py()
        if job["member"]:
            member = Member(*job["member"])
            archive = content_of(name, job["reads_to"], archive, member)
            held = unpacked(OfMember(archive, member), member.name, member.size)
        else:
            held = Stored(name) if job["is_raw"] else opened(name, job["reads_to"])
        try:
            yield from work(job, held, given.values.to_numpy() if given.is_valid else None)
        finally:
            held.close()
