"""Work that an engine spreads over units, and how one worker does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import files_written, read_file
from kafka_hindsight.logs.file_bytes import (
    ArchiveMember,
    Bytes,
    FilePart,
    OfMember,
    Stored,
    open_bytes,
    unpacked,
    unpacked_archive,
)
from kafka_hindsight.shared.grouping import split_by

Work = Callable[[dict[str, Any], Bytes, Any], Iterable[Any]]
"""A worker's work on a unit. It takes the unit's arguments, its content and its numbers."""


class Written(NamedTuple):
    """The files that workers wrote, which no commit names yet, and their answers: the values that are not rows."""

    files: list[DataFile]
    answers: list[Any]


class Engine(Protocol):
    """An engine that spreads work over units."""

    @property
    def piece(self) -> int:
        """The most bytes of a file that one unit has."""

    def spread(self, units: Sequence[FilePart], work: Work) -> Iterator[Any]:
        """Run work on units that gives few values of Python, or few rows: the driver holds them."""

    def write(self, store: Store, table: Table, units: Sequence[FilePart], work: Work) -> Written:
        """Run work that gives batches of rows and answers; the workers write the rows as files of a table."""


def run_units(units: Iterable[FilePart], work: Work) -> Iterator[Any]:
    """Run work on units, one after another."""
    archive: Bytes | None = None
    for unit in units:
        arguments = {**unit.arguments, "reads_to": unit.part[1]}
        if unit.member:
            member = ArchiveMember(*unit.member)
            archive = unpacked_archive(unit.uri, unit.part[1], archive, member)
            content = unpacked(OfMember(archive, member), member.name, member.size)
        else:
            content = Stored(unit.uri) if unit.is_raw else open_bytes(unit.uri, unit.part[1])
        try:
            yield from work(arguments, content, unit.numbers)
        finally:
            content.close()


def write_units(units: Iterable[FilePart], work: Work, table: Table, folder: str) -> Iterator[Any]:
    """Run work on units, write its rows as files in the folder of a table, and give the files and the answers."""
    answers = []

    def rows() -> Iterator[pa.RecordBatch]:
        for value in run_units(units, work):
            if isinstance(value, pa.RecordBatch):
                yield value
            else:
                answers.append(value)

    yield from files_written(table, rows(), folder)
    yield from answers


def written(values: Iterable[Any]) -> Written:
    """The values of `write_units`, files and answers apart."""
    return Written(*split_by(values, lambda value: isinstance(value, DataFile)))


def units_of(store: Store, table: Table, part: Part) -> list[FilePart]:
    """The files of a table that may hold rows of a part. The table has been created."""
    folder, files = store.path(table), store.files(table, part)
    return [FilePart(f"{folder}/{f.path}", (0, f.size), {"folder": folder, "file": f}, is_raw=True) for f in files]


def rows_in(
    arguments: Mapping[str, Any], table: Table, part: Part, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a part in a file of a table. The arguments are those of a unit of `units_of`."""
    yield from read_file(arguments["folder"], arguments["file"], part, table, columns)
