"""Spark spreads work over units: its workers open the files themselves."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.work import Work, Written, run_units, write_units, written
from kafka_hindsight.lake.kept_files import under_umask
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import FilePart
from kafka_hindsight.shared.grouping import sized, split_by
from kafka_hindsight.start import launch
from spark_jobs.tasks import spread

_TASK = 64 * 1024 * 1024
_LEAST = 1024 * 1024
_SIZE = attrgetter("size")

_VALUES = pa.schema([("value", pa.binary())])


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

    def spread(self, units: Sequence[FilePart], work: Work) -> Iterator[Any]:
        """See Engine."""
        if not units:
            return
        yield from self._values(units, partial(run_units, work=work))

    def write(self, store: Store, table: Table, units: Sequence[FilePart], work: Work) -> Written:
        """See Engine.

        A task that Spark runs again leaves files behind that no commit ever names, as Spark's own writer does.
        """
        if not units:
            return Written([], [])
        return written(self._values(units, partial(write_units, work=work, table=table, folder=store.path(table))))

    def _values(self, units: Sequence[FilePart], run: Callable[[Iterable[FilePart]], Iterator[Any]]) -> Iterator[Any]:
        """The values that running units gives, by the workers."""
        pickled = partial(_pickled, run=run, umask=int(launch.umask(), 8))
        rows = spread(self.spark, self._tasks(units), pickled, from_arrow_schema(_VALUES))
        for value in rows.toArrow()["value"]:
            yield pickle.loads(value.as_buffer())

    def _tasks(self, units: Sequence[FilePart]) -> list[list[FilePart]]:
        """The units in tasks of about one size; one for each core at least, if the units are large enough.

        A task that reads a packed archive unpacks all that lies before its units, so few tasks do.
        """
        share = sum(map(_SIZE, units)) // self.spark.sparkContext.defaultParallelism
        size = max(_LEAST, min(_TASK, share))
        of_archives, others = split_by(units, lambda unit: unit.is_of_packed_archive)
        return [*sized(others, _SIZE, size), *sized(of_archives, _SIZE, max(size, share))]


def _pickled(
    units: Iterable[FilePart], run: Callable[[Iterable[FilePart]], Iterator[Any]], umask: int
) -> Iterator[pa.RecordBatch]:
    """Run units, and pickle the values. Files that are written have the mode of our files."""
    with under_umask(umask):
        for value in run(units):
            yield pa.record_batch([pa.array([pickle.dumps(value)], pa.binary())], _VALUES)
