"""Files of tables, made where Arrow's batches are: by Python's workers.

Spark would turn each batch into rows, and these into columns again: most of what an ingest cost.

Source: PROTOCOL.md of Delta Lake, Add File and Per-file Statistics.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import Make
from kafka_hindsight.lake.parts import File
from kafka_hindsight.lake.table_files import files_written
from kafka_hindsight.spark.batches import Batches
from kafka_hindsight.start import launch

_WRITTEN = pa.schema([("name", pa.string()), ("size", pa.int32()), ("stats", pa.string())])


def write_files(path: str, batches: Batches) -> list[File]:
    """Writes the batches as files below the table's folder. No commit names them yet.

    Edge case: a task that is run again leaves files behind that no commit ever names, as one of Spark's own does.
    """
    work = partial(_described, make=batches.make, table=batches.table, folder=path, umask=int(launch.umask(), 8))
    written = batches.given.mapInArrow(work, from_arrow_schema(_WRITTEN))
    return [File(row["name"], row["size"], json.loads(row["stats"])) for row in written.collect()]


def _described(
    given: Iterable[pa.RecordBatch], make: Make, table: Table, folder: str, umask: int
) -> Iterator[pa.RecordBatch]:
    """A row for each file that a worker writes."""
    before = os.umask(umask)
    try:
        for file in files_written(table, make(given), folder):
            row = {"name": file.path, "size": file.size, "stats": json.dumps(file.stats)}
            yield pa.RecordBatch.from_pylist([row], _WRITTEN)
    finally:
        os.umask(before)
