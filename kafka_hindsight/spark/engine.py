"""Spark spreads work over units: its workers open the files themselves."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.work import Work, run_units
from kafka_hindsight.lake.parts import File
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import files_written
from kafka_hindsight.logs.file_bytes import Unit
from kafka_hindsight.shared.grouping import apart, sized
from kafka_hindsight.spark.tasks import spread
from kafka_hindsight.start import launch

_TASK = 64 * 1024 * 1024
_LEAST = 1024 * 1024
_SIZE = attrgetter("size")

_VALUES = pa.schema([("value", pa.binary())])
_FILES = pa.schema([("name", pa.string()), ("size", pa.int64()), ("stats", pa.string())])


@dataclass(frozen=True)
class SparkEngine:
    """An engine that spreads work over the workers of a session."""

    spark: SparkSession

    @property
    def piece(self) -> int:
        """See Engine."""
        size, unit = re.fullmatch(  # type: ignore[union-attr]
            r"(\d+)\s*([kmgt]?)b?", str(self.spark.conf.get("spark.sql.files.maxPartitionBytes")).lower()
        ).groups()
        return int(size) << 10 * " kmgt".index(unit or " ")

    def spread(self, units: Sequence[Unit], work: Work) -> Iterator[Any]:
        """See Engine."""
        if not units:
            return
        run = partial(_run_work, work=work, umask=int(launch.umask(), 8))
        rows = spread(self.spark, self._tasks(units), run, from_arrow_schema(_VALUES))
        for value in rows.toArrow()["value"]:
            yield pickle.loads(value.as_buffer())

    def write(self, store: Store, table: Table, units: Sequence[Unit], work: Work) -> list[File]:
        """See Engine.

        A task that Spark runs again leaves files behind that no commit ever names, as Spark's own writer does.
        """
        if not units:
            return []
        write = partial(_write_files, work=work, table=table, folder=store.path(table), umask=int(launch.umask(), 8))
        rows = spread(self.spark, self._tasks(units), write, from_arrow_schema(_FILES)).collect()
        return [File(row["name"], row["size"], json.loads(row["stats"])) for row in rows]

    def _tasks(self, units: Sequence[Unit]) -> list[list[Unit]]:
        """The units in tasks of about one size; one for each core at least, if the units are large enough.

        A task that reads a packed archive unpacks all that lies before its units, so few tasks do.
        """
        share = sum(map(_SIZE, units)) // self.spark.sparkContext.defaultParallelism
        size = max(_LEAST, min(_TASK, share))
        of_archives, others = apart(units, lambda unit: unit.is_of_packed_archive)
        return [*sized(others, _SIZE, size), *sized(of_archives, _SIZE, max(size, share))]


def _run_work(units: Iterable[Unit], work: Work, umask: int) -> Iterator[pa.RecordBatch]:
    """Run work on units, and pickle its values. Files that it writes have the mode of our files."""
    with _with_umask(umask):
        for value in run_units(units, work):
            yield pa.record_batch([pa.array([pickle.dumps(value)], pa.binary())], _VALUES)


def _write_files(units: Iterable[Unit], work: Work, table: Table, folder: str, umask: int) -> Iterator[pa.RecordBatch]:
    """Write the rows of work as files, and give a row for each."""
    with _with_umask(umask):
        for file in files_written(table, run_units(units, work), folder):
            row = {"name": file.path, "size": file.size, "stats": json.dumps(file.stats)}
            yield pa.RecordBatch.from_pylist([row], _FILES)


@contextmanager
def _with_umask(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)
