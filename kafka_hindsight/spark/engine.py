"""Spark spreads work over units: its workers open the files themselves."""

from __future__ import annotations

import json
import os
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.engine.work import Work, worked
from kafka_hindsight.lake.parts import File
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import files_written
from kafka_hindsight.logs.file_bytes import Member
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.start import launch

_TASK = 64 * 1024 * 1024
_LEAST = 1024 * 1024

_WRITTEN = pa.schema([("name", pa.string()), ("size", pa.int64()), ("stats", pa.string())])


@dataclass(frozen=True)
class SparkEngine:
    """Spreads work over the workers of a session."""

    spark: SparkSession

    @property
    def piece(self) -> int:
        """How many bytes of a file are looked at together, at most."""
        size, unit = re.fullmatch(  # type: ignore[union-attr]
            r"(\d+)\s*([kmgt]?)b?", str(self.spark.conf.get("spark.sql.files.maxPartitionBytes")).lower()
        ).groups()
        return int(size) << 10 * " kmgt".index(unit or " ")

    def spread(self, units: Sequence[Unit], work: Work, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """What work makes of units."""
        if not units:
            return
        done = partial(_worked, work=work, umask=int(launch.umask(), 8))
        rows = _spread(self.spark, units).mapInArrow(done, from_arrow_schema(schema))
        for batch in rows.toArrow().to_batches():
            yield batch.cast(schema)

    def write(self, store: Store, table: Table, units: Sequence[Unit], work: Work) -> list[File]:
        """Writes what work makes of units as files of a table.

        Edge case: a task that is run again leaves files behind that no commit ever names, as one of Spark's own does.
        """
        if not units:
            return []
        folder = f"{store.lake}/{table.layer}/{table.name}"
        write = partial(_written, work=work, table=table, folder=folder, umask=int(launch.umask(), 8))
        rows = _spread(self.spark, units).mapInArrow(write, from_arrow_schema(_WRITTEN)).collect()
        return [File(row["name"], row["size"], json.loads(row["stats"])) for row in rows]


def _spread(spark: SparkSession, units: Sequence[Unit]) -> DataFrame:
    """The units as rows for workers, a task of many for each part of the bytes."""
    tasks = _tasks(units, spark.sparkContext.defaultParallelism)
    rows = F.inline(
        F.get(F.from_json(F.lit(json.dumps(tasks)), "array<array<struct<unit: string>>>"), F.col("id").cast("int"))
    )
    return spark.range(0, len(tasks), 1, len(tasks)).select(rows)


def _tasks(units: Sequence[Unit], cores: int) -> list[list[dict[str, str]]]:
    """The units in tasks of about one size, as many as there are cores at least where that pays.

    Edge case: each task that reads of a packed archive unpacks all that lies before, so that few of them do.
    """
    share = sum(u.size for u in units) // max(cores, 1)
    size = max(_LEAST, min(_TASK, share))
    tasks: list[list[dict[str, str]]] = [[]]
    held = 0
    for unit in units:
        if held >= (max(size, share) if unit.is_of_packed_archive else size):
            tasks.append([])
            held = 0
        tasks[-1].append({"unit": _text_of(unit)})
        held += unit.size
    return tasks


def _text_of(unit: Unit) -> str:
    numbers = None if unit.numbers is None else b64encode(zlib.compress(unit.numbers.tobytes())).decode()
    return json.dumps([unit.uri, unit.part, unit.arguments, unit.member, unit.is_raw, numbers])


def _unit_of(text: str) -> Unit:
    uri, (begin, end), told, member, is_raw, packed = json.loads(text)
    numbers = None if packed is None else np.frombuffer(zlib.decompress(b64decode(packed)), np.int64)
    return Unit(uri, (begin, end), told, Member(*member) if member else None, is_raw, numbers)


def _worked(batches: Iterable[pa.RecordBatch], work: Work, umask: int) -> Iterator[pa.RecordBatch]:
    """What work makes of units; what it writes has the mode that files of ours have."""
    with _masked(umask):
        yield from worked(_units_of(batches), work)


def _written(
    batches: Iterable[pa.RecordBatch], work: Work, table: Table, folder: str, umask: int
) -> Iterator[pa.RecordBatch]:
    """A row for each file that a worker writes."""
    with _masked(umask):
        for file in files_written(table, worked(_units_of(batches), work), folder):
            row = {"name": file.path, "size": file.size, "stats": json.dumps(file.stats)}
            yield pa.RecordBatch.from_pylist([row], _WRITTEN)


def _units_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Unit]:
    return (_unit_of(text) for batch in batches for text in batch["unit"].to_pylist())


@contextmanager
def _masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)
