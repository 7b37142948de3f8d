"""Files between the jobs of a rebuild: inputs and outputs of judgements, as Parquet below staging.

Workers write them, and a job hands their names to the next. A file of a task that Spark runs again is named by none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_hindsight.lake.landing import open_file, write_atomically

_FILE = 64 * 1024 * 1024
"""Bytes of Arrow that a file holds at least, where there are as many."""

FIELDS = pa.schema([("judgement", pa.string()), ("name", pa.string()), ("file", pa.string()), ("rows", pa.int64())])
"""The columns of `KeptFile`, as workers give them to Spark."""


class KeptFile(NamedTuple):
    """A file with rows of one input or output of a judgement."""

    judgement: str
    name: str
    file: str
    rows: int


class Keeper:
    """Writes rows of inputs and outputs as files. Each task has one."""

    def __init__(self, folder: str, umask: int) -> None:
        self._folder, self._umask = folder, umask
        self._parts: dict[tuple[str, str], list[pa.Table]] = {}

    def keep(self, judgement: str, name: str, rows: pa.Table) -> Iterator[KeptFile]:
        """Take rows, and write those of their input or output where they are many."""
        if not rows.num_rows:
            return
        parts = self._parts.setdefault((judgement, name), [])
        parts.append(rows)
        if sum(part.nbytes for part in parts) >= _FILE:
            yield self._write(judgement, name)

    def close(self) -> Iterator[KeptFile]:
        """Write the rest."""
        for judgement, name in [*self._parts]:
            yield self._write(judgement, name)

    def _write(self, judgement: str, name: str) -> KeptFile:
        rows = pa.concat_tables(self._parts.pop((judgement, name)), promote_options="permissive")
        sink = pa.BufferOutputStream()
        pq.write_table(rows.replace_schema_metadata(None), sink, compression="zstd")
        file = f"{self._folder}/{judgement}/{name}/{uuid4()}.parquet"
        with under_umask(self._umask):
            write_atomically(file, sink.getvalue().to_pybytes())
        return KeptFile(judgement, name, file, rows.num_rows)


@contextmanager
def under_umask(umask: int) -> Iterator[None]:
    """Write files with the mode of ours while the block runs, in a process that others have started."""
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def batch_of(files: Iterable[KeptFile]) -> pa.RecordBatch:
    """Files as a batch for Spark."""
    return pa.RecordBatch.from_pylist([file._asdict() for file in files], FIELDS)


def rows_in(files: Sequence[KeptFile]) -> Iterator[pa.Table]:
    """The rows of files, a file at a time."""
    for file in files:
        yield pq.ParquetFile(open_file(file.file)).read()
