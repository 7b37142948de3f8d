"""Work that an engine spreads: what it is given, and how one worker does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import read_file
from kafka_hindsight.logs.file_bytes import Bytes, Member, OfMember, Stored, content_of, open_bytes, unpacked
from kafka_hindsight.logs.work import Unit

Work = Callable[[dict[str, Any], Bytes, Any], Iterator[pa.RecordBatch]]
"""What a worker does with a unit: it takes what the unit holds for it, its bytes, and the numbers that belong to it."""

Narrow = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a worker makes of the rows of a file."""


class Engine(Protocol):
    """What spreads work over units."""

    @property
    def piece(self) -> int:
        """How many bytes of a file are looked at together, at most."""

    def spread(self, units: Sequence[Unit], work: Work, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """What work makes of units: few rows, for the driver. Takes: the schema of the batches that it gives."""

    def write(self, store: Store, table: Table, units: Sequence[Unit], work: Work) -> list[File]:
        """Writes what work makes of units as files of a table, where the workers are. No commit names them yet."""


def worked(units: Iterable[Unit], work: Work) -> Iterator[pa.RecordBatch]:
    """What work makes of units, one after another."""
    archive: Bytes | None = None
    for unit in units:
        told = {**unit.arguments, "reads_to": unit.part[1]}
        if unit.member:
            member = Member(*unit.member)
            archive = content_of(unit.uri, unit.part[1], archive, member)
            held = unpacked(OfMember(archive, member), member.name, member.size)
        else:
            held = Stored(unit.uri) if unit.is_raw else open_bytes(unit.uri, unit.part[1])
        try:
            yield from work(told, held, unit.numbers)
        finally:
            held.close()


def narrowed(
    engine: Engine,
    store: Store,
    table: Table,
    part: Part,
    columns: Sequence[str],
    narrow: Narrow,
    schema: pa.Schema,
) -> pa.Table:
    """What a function makes of the rows of a part of a table, file by file: few rows, of that schema."""
    work = partial(_narrowed, table=table, part=part, columns=tuple(columns), narrow=narrow, schema=schema)
    return pa.Table.from_batches(engine.spread(units_of(store, table, part), work, schema), schema)


def units_of(store: Store, table: Table, part: Part) -> list[Unit]:
    """The files of a table that may hold rows of a part. Takes: a table that has been created."""
    folder = f"{store.lake}/{table.layer}/{table.name}"
    return [
        Unit(f"{folder}/{f.path}", (0, f.size), {"folder": folder, "file": [f.path, f.size]}, is_raw=True)
        for f in store.files(table, part)
    ]


def rows_in(
    told: Mapping[str, Any], table: Table, part: Part, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a part in a file of a table. Takes: what a unit of `units_of` holds for its worker."""
    path, size = told["file"]
    yield from read_file(told["folder"], File(path, size, {}), part, table, columns)


def _narrowed(
    told: dict[str, Any],
    _: Bytes,
    __: Any,
    table: Table,
    part: Part,
    columns: Sequence[str],
    narrow: Narrow,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    return (rows.cast(schema) for rows in narrow(rows_in(told, table, part, columns)))
