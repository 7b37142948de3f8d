"""The engine of one process: a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.engine.work import Work, worked
from kafka_hindsight.lake.parts import File
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import write_files
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.shared import progress

_PIECE = 64 * 1024 * 1024


@dataclass(frozen=True)
class LocalEngine:
    """Does all work itself, one unit after another."""

    piece: int = _PIECE

    def spread(self, units: Sequence[Unit], work: Work, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """What work makes of units."""
        return worked(_reported(units), work)

    def write(self, store: Store, table: Table, units: Sequence[Unit], work: Work) -> list[File]:
        """Writes what work makes of units as files of a table."""
        return write_files(f"{store.lake}/{table.layer}/{table.name}", table, worked(_reported(units), work))


def _reported(units: Sequence[Unit]) -> Iterator[Unit]:
    return progress.reported(units, lambda unit: unit.size, sum(unit.size for unit in units))
