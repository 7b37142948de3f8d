"""Staged tables: what a rebuild made of a window, before it is checked and published.

They are plain files of Parquet below `<LAKE>/staging/<cluster>`, with names and types of columns only, so that a bad
row can be named. A list names the run that filled a cluster's staging, and its files. While it is filled there is no
list: what a kill leaves belongs to no run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import without_laws
from kafka_hindsight.lake.damage import digest, digest_in
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.table_files import files_written, read_file

_FOLDER = "staging"
_LIST = "_run.json"
_APPROVAL = "_approval.json"


class StagingChanged(RuntimeError):
    """A staged file is not the one that its run wrote. Another rebuild makes it again."""


@dataclass(frozen=True)
class Staged:
    """The files that a run staged of each table, by its full name. A table without rows has none."""

    run_id: str
    files: Mapping[str, Sequence[DataFile]]

    @cached_property
    def version(self) -> str:
        """A fingerprint of the files: their names begin with the hash of their content."""
        names = json.dumps({table: [file.path for file in files] for table, files in sorted(self.files.items())})
        return hashlib.sha256(names.encode()).hexdigest()

    def of(self, table: Table) -> Sequence[DataFile]:
        """The files of a table."""
        return self.files.get(table.full_name, ())

    def row_count(self, table: Table) -> int:
        """The number of rows of a table."""
        return sum(map(row_count, self.of(table)))


def staging_of(lake: str, cluster: str) -> str:
    """The folder of what is staged for a cluster."""
    return f"{lake}/{_FOLDER}/{landing.safe_name(cluster)}"


def staging_folder(lake: str, cluster: str, table: Table) -> str:
    """The folder of a staged table."""
    return f"{staging_of(lake, cluster)}/{table.name}"


def clear(lake: str, cluster: str) -> None:
    """Remove what is staged: the list first."""
    landing.remove(f"{staging_of(lake, cluster)}/{_LIST}")
    landing.remove(staging_of(lake, cluster))


def stage_files(lake: str, cluster: str, table: Table, batches: Iterable[pa.RecordBatch]) -> list[DataFile]:
    """Write rows of a table as staged files, which no list names yet."""
    folder = staging_folder(lake, cluster, table)
    return list(files_written(table, batches, folder, without_laws(table)))


def list_staged(lake: str, cluster: str, staged: Staged) -> None:
    """Make staging whole, and its run's own."""
    files = {table: [asdict(file) for file in files] for table, files in staged.files.items()}
    landing.write_json(f"{staging_of(lake, cluster)}/{_LIST}", {"run_id": staged.run_id, "files": files})


def read_staged(lake: str, cluster: str) -> Staged | None:
    """Read the list of what is staged; None if staging is not whole."""
    value = landing.read_json(f"{staging_of(lake, cluster)}/{_LIST}")
    if value is None:
        return None
    return Staged(value["run_id"], {t: tuple(DataFile(**f) for f in files) for t, files in value["files"].items()})


@dataclass(frozen=True)
class Approval:
    """A version of staging that validation lets through, without the rows of these numbers, by full names."""

    version: str
    withheld: Mapping[str, Sequence[int]]

    def withheld_of(self, table: Table) -> Sequence[int]:
        """The numbers of the rows of a table that are left out."""
        return self.withheld.get(table.full_name, ())


def approve(lake: str, cluster: str, approval: Approval) -> None:
    """Let a version of staging through."""
    landing.write_json(f"{staging_of(lake, cluster)}/{_APPROVAL}", asdict(approval))


def read_approval(lake: str, cluster: str) -> Approval | None:
    """Read the last approval of staging; None if there is none."""
    value = landing.read_json(f"{staging_of(lake, cluster)}/{_APPROVAL}")
    return None if value is None else Approval(**value)


def row_count(file: DataFile) -> int:
    """The number of rows of a file."""
    return int(file.stats["numRecords"])


def staged_batches(
    lake: str,
    cluster: str,
    table: Table,
    files: Iterable[DataFile],
    withheld: Collection[int] = (),
    first: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Read rows of staged files, a batch at a time.

    Args:
        lake: The lake.
        cluster: The cluster.
        table: The table.
        files: Files of it.
        withheld: The numbers of rows to leave out.
        first: The number of the first row in these files.
    """
    folder, schema = staging_folder(lake, cluster, table), without_laws(table)
    left_out = pa.array(sorted(withheld), pa.int64())
    for file in files:
        for batch in read_file(folder, file, None, table):
            numbers = pa.array(np.arange(first, first + len(batch)))
            first += len(batch)
            rows = batch.cast(schema)
            yield rows.filter(pc.invert(pc.is_in(numbers, left_out))) if withheld else rows


def read_staged_rows(lake: str, cluster: str, table: Table, staged: Staged) -> pa.Table:
    """Read all rows that are staged for a table."""
    return pa.Table.from_batches(staged_batches(lake, cluster, table, staged.of(table)), without_laws(table))


def read_numbered(
    lake: str, cluster: str, table: Table, staged: Staged, numbers: Collection[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read some rows of a staged table by their numbers, in their order."""
    selection, first = pa.array(sorted(numbers), pa.int64()), 0
    for batch in staged_batches(lake, cluster, table, staged.of(table)):
        here = pc.is_in(pa.array(np.arange(first, first + len(batch))), selection)
        places = np.flatnonzero(here.to_numpy(zero_copy_only=False))
        yield from zip((places + first).tolist(), batch.take(pa.array(places)).to_pylist(), strict=True)
        first += len(batch)


def staged_content(lake: str, cluster: str, table: Table, file: DataFile) -> bytes:
    """The bytes of a staged file. Raises: StagingChanged if they are not those that its run wrote."""
    folder = staging_folder(lake, cluster, table)
    content = landing.read_bytes(f"{folder}/{file.path}")
    if digest_in(file.path) != digest(content):
        raise StagingChanged(
            f"{file.path} of {table.full_name} in {folder} is not the file that was staged. Needed: what was checked."
            " What to do: run the step rebuild again."
        )
    return content
