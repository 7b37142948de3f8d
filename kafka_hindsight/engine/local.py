"""The engine of one process: a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import pyarrow as pa

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.work import Work, run_units
from kafka_hindsight.lake.parts import File
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import write_files
from kafka_hindsight.logs.unit import Unit
from kafka_hindsight.shared import progress

_PIECE = 64 * 1024 * 1024
_SIZE = attrgetter("size")


@dataclass(frozen=True)
class LocalEngine:
    """An engine that does all work itself, one unit after another."""

    piece: int = _PIECE

    def spread(self, units: Sequence[Unit], work: Work, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """See Engine."""
        return run_units(progress.reported(units, _SIZE), work)

    def write(self, store: Store, table: Table, units: Sequence[Unit], work: Work) -> list[File]:
        """See Engine."""
        return write_files(
            f"{store.lake}/{table.layer}/{table.name}", table, run_units(progress.reported(units, _SIZE), work)
        )
