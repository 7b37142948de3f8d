"""The tables of one lake, each at `<LAKE>/<layer>/<table>`, by delta-rs and Arrow. No JVM.

Rows are written as Parquet by Arrow, and a transaction of delta-rs names the files: its own writer cannot ask CHECKs
such as `size(evidence) > 0`. So CHECKs are laws that are asked before a publication; NOT NULL is asked here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake import delta_log, landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.ddl import found_by
from kafka_hindsight.lake.first_commit import first_commit
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.lake.table_files import conform, read_file, write_files
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window

_AT_ONCE = 200_000
"""Rows that are read at once where all of them might not fit into memory."""

Rows = pa.Table | Sequence[File]
"""Rows to write, or the files of `write_files` that hold them already."""

_STAGED = "rows.parquet"


class Store:
    """The tables of one lake. Rows that are written are conformed to their table first."""

    def __init__(self, lake: str) -> None:
        self.lake = lake.rstrip("/")

    def create(self, *tables: Table) -> None:
        """Creates those tables that are not there.

        Raises: BadInput where a table's folder holds files and no commit.
        """
        at_once(*(partial(self._create, table) for table in tables if not self.has(table)))

    def has(self, table: Table) -> bool:
        """Whether the table has been created: a folder without a commit is none."""
        return self._version(table) is not None

    def version(self, table: Table) -> int:
        """The table's newest version. Raises: LookupError where the table has not been created."""
        newest = self._version(table)
        if newest is None:
            raise LookupError(f"{table.full_name} is not in the lake {self.lake}.")
        return newest

    def files(self, table: Table, part: Part | None = None) -> list[File]:
        """The files that may hold rows of a part, or all files."""
        return _files(self._opened(table), table, part)

    def read(self, table: Table, part: Part | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of a part, or of the whole table. Takes: the columns to read; all where none are named."""
        return self._rows(table, self.files(table, part), part, columns)

    def read_in_parts(self, table: Table, cluster: str) -> Iterator[pa.Table]:
        """A cluster's rows, so many at once that they take little memory."""
        part, batches = Part(cluster), list[pa.RecordBatch]()
        for file in self.files(table, part):
            for batch in read_file(self.path(table), file, part, table):
                batches.append(batch)
                if sum(map(len, batches)) >= _AT_ONCE:
                    yield pa.Table.from_batches(batches)
                    batches = []
        if batches:
            yield pa.Table.from_batches(batches)

    def read_cluster(self, table: Table, cluster: str) -> pa.Table:
        """A cluster's rows."""
        return self.read(table, Part(cluster))

    def read_window(self, table: Table, cluster: str, window: Window) -> pa.Table:
        """A cluster's rows of a window."""
        return self.read(table, part_of(table, cluster, window))

    def read_staging(self, table: Table) -> pa.Table:
        """What the last rebuild staged for a table."""
        folder = self._staging(table)
        names = sorted(name for name in landing.names_in(folder) if name.endswith(".parquet"))
        schema = without_laws(table)
        read = (b.cast(schema) for name in names for b in read_file(folder, File(name, 0, {}), None, table))
        return pa.Table.from_batches(read, schema)

    def append(self, table: Table, rows: Rows) -> None:
        """Adds rows, of which the table holds none yet, whatever other writers add meanwhile."""
        if added := self._written(table, rows):
            _transact(self._opened(table), added, ())

    def replace_window(self, table: Table, rows: Rows, cluster: str, window: Window) -> None:
        """Puts these rows in the place of a cluster's rows of a window, in one commit.

        Edge case: rows without an instant lie in no window. They follow from their record alone, whatever is known of
        Kafka, so none is ever taken away and the new ones are added.
        """
        self._replace(table, rows, part_of(table, cluster, window))

    def write_staging(self, table: Table, rows: pa.Table) -> None:
        """Puts these rows where the table is staged: names and types only, so that a bad row can be named.

        Edge case: plain Parquet without a commit: a staged table has one reader and no history.
        """
        folder, sink = self._staging(table), pa.BufferOutputStream()
        pq.write_table(conform(rows, table, without_laws(table)), sink, compression="zstd", store_schema=False)
        landing.write_atomically(f"{folder}/{_STAGED}", sink.getvalue().to_pybytes())
        for other in set(landing.names_in(folder)) - {_STAGED}:
            landing.remove(f"{folder}/{other}")

    def path(self, table: Table) -> str:
        """The folder of a table."""
        return f"{self.lake}/{table.layer}/{table.name}"

    def _log(self, table: Table) -> str:
        return f"{self.path(table)}/{delta_log.FOLDER}"

    def _staging(self, table: Table) -> str:
        return f"{self.lake}/staging/{table.name}"

    def _version(self, table: Table) -> int | None:
        return delta_log.newest_version(landing.names_in(self._log(table)))

    def _opened(self, table: Table) -> DeltaTable:
        self.version(table)
        return DeltaTable(self.path(table))

    def _create(self, table: Table) -> None:
        """Edge case: a creation that was cut short leaves temporary files alone."""
        path = self.path(table)
        names = (name.rpartition("/")[2] for name in landing.files_below(path))
        held = next((name for name in names if not delta_log.is_temporary(name)), None)
        if held is not None:
            raise BadInput(
                f"{table.full_name} has no commit in {masked(path)}, and the file {held}. Needed: the commits of its"
                " rows, or no file. Bring its _delta_log back from a copy of the lake; or move the folder out of the"
                " lake, and the next run creates the table without those rows."
            )
        landing.write_new(f"{self._log(table)}/{delta_log.commit_name(0)}", first_commit(table))

    def _rows(
        self, table: Table, files: Sequence[File], part: Part | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """The rows of a part that are in these files."""
        schema = arrow_schema(table)
        wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
        read = (list(read_file(self.path(table), file, part, table, columns)) for file in files)
        return pa.Table.from_batches(chain.from_iterable(read), wanted)

    def _written(self, table: Table, rows: Rows) -> list[File]:
        """The files that hold these rows."""
        if not isinstance(rows, pa.Table):
            return [*rows]
        return write_files(self.path(table), table, conform(rows, table, arrow_schema(table)).to_batches())

    def _replace(self, table: Table, rows: Rows, part: Part, says: Mapping[str, Any] | None = None) -> None:
        """Puts rows in the place of those of a part, which they are of themselves."""
        delta = self._opened(table)
        near = _files(delta, table, part)
        if part.time and table.column(part.time).nullable:
            part = replace(part, timeless=True)
            near = _files(delta, table, part)
            rows = self._with_timeless(table, rows, near, replace(part, span=None))
        self._require_within(table, rows, part)
        whole = [file for file in near if part.is_all_of(file)]
        mixed = [file for file in near if file not in whole and self._rows(table, [file], part, part.columns)]
        others = chain.from_iterable(self._others(table, file, part) for file in mixed)
        added = [*self._written(table, rows), *write_files(self.path(table), table, others)]
        self._commit(delta, added, [*whole, *mixed], says)

    def _with_timeless(self, table: Table, rows: Rows, near: Sequence[File], timeless: Part) -> pa.Table:
        """The rows, and those without an instant that the table holds beside them."""
        given = rows if isinstance(rows, pa.Table) else self._rows(table, rows)
        kept = without_keys(self._rows(table, near, timeless), given, table.key)
        return pa.concat_tables([conform(given, table, arrow_schema(table)), kept])

    def _require_within(self, table: Table, rows: Rows, part: Part) -> None:
        is_table = isinstance(rows, pa.Table)
        if not (pc.all(part.holds(rows)).as_py() is not False if is_table else all(map(part.is_all_of, rows))):
            raise ValueError(f"A row for {table.full_name} lies outside of what is replaced: {part}")

    def _others(self, table: Table, file: File, part: Part) -> Iterator[pa.RecordBatch]:
        """The rows of a file that are not of a part."""
        for batch in read_file(self.path(table), file, None, table):
            yield batch.filter(pc.invert(part.holds(batch)))

    def _commit(
        self,
        delta: DeltaTable,
        added: Sequence[File],
        gone: Sequence[File] = (),
        says: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds files and takes others away, in one commit; in none where there is nothing to add or to take.

        Raises: RuntimeError where another writer has changed the table since it was opened.
        """
        if not added and not gone:
            return
        metadata = {"userMetadata": json.dumps(says)} if says else None
        try:
            _transact(delta, added, gone, CommitProperties(custom_metadata=metadata, max_commit_retries=0))
        except CommitFailedError as refusal:
            raise RuntimeError(
                f"{masked(delta.table_uri)} had version {delta.version()}, and another writer has changed it since."
                " Needed: one run at a time. Run the step again."
            ) from refusal


def part_of(table: Table, cluster: str, window: Window) -> Part:
    """A cluster's rows of a window. Raises: ValueError for a table that is not cut into windows."""
    if table.time_column is None:
        raise ValueError(f"{table.full_name} is not cut into windows: it has no time column.")
    return Part(cluster, table.time_column, (window.start, window.end))


def without_laws(table: Table) -> pa.Schema:
    """The columns of a table, of which each may be null."""
    return pa.schema([field.with_nullable(True) for field in arrow_schema(table)])


def without_keys(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> pa.Table:
    """The rows whose key none of the others has, in their order."""
    numbered = rows.select(key).append_column("", pa.array(range(len(rows)), pa.int64()))
    kept = numbered.join(others.select(key), list(key), join_type="left anti")[""]
    return rows.take(kept.sort())


def _files(delta: DeltaTable, table: Table, part: Part | None) -> list[File]:
    """The files of a version of a table that may hold rows of a part."""
    adds = pa.table(delta.get_add_actions()).to_pylist()
    known = [File(a["path"], a["size_bytes"], _stats(a, found_by(table))) for a in adds]
    return [file for file in known if part is None or part.may_be_in(file)]


def _stats(add: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    sides = {"minValues": "min", "maxValues": "max", "nullCount": "null_count"}
    return {side: {n: _text((add.get(field) or {}).get(n)) for n in names} for side, field in sides.items()}


def _text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _transact(
    delta: DeltaTable, added: Sequence[File], gone: Sequence[File], properties: CommitProperties | None = None
) -> None:
    now = time.time_ns() // 1_000_000
    adds = [AddAction(f.path, f.size, {}, now, True, json.dumps(f.stats)) for f in added]
    removes = [RemoveAction(f.path, True, now, f.size, {}) for f in gone]
    delta.create_write_transaction(
        [*adds, *removes], mode="append", schema=delta.schema(), commit_properties=properties
    )
