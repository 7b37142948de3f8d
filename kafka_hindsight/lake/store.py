"""The tables of one lake, each at `<LAKE>/<layer>/<table>`, by delta-rs and Arrow. No JVM.

Rows are written as Parquet by Arrow, and a transaction of delta-rs names the files: its own writer cannot ask CHECKs
such as `size(evidence) > 0`. So CHECKs are laws that are asked before a publication; NOT NULL is asked here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
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
from kafka_hindsight.lake.content import content_hash
from kafka_hindsight.lake.ddl import found_by
from kafka_hindsight.lake.first_commit import delta_schema, first_commit
from kafka_hindsight.lake.parts import File, Part, Span
from kafka_hindsight.lake.table_files import conform, read_file, write_files
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window

Rows = pa.Table | Sequence[File]
"""Rows to write, or the files of `write_files` that hold them already."""

_STAGED = "rows.parquet"

_FIRST, _MICROSECOND = datetime.min.replace(tzinfo=UTC), timedelta(microseconds=1)

_TRIES = 10
"""How often rows are added again where others have changed the table meanwhile."""


Says = dict[str, Any] | None
"""What a commit says of itself, beside its files."""


class TableChanged(RuntimeError):
    """Another writer has changed a table. A retry sees what it wrote."""


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
        """Adds rows, of which the table holds none yet, whatever other writers do meanwhile.

        Edge case: delta-rs passes over what others have added, and not over what they have taken away.
        """
        added = self._written(table, rows)
        for again in range(_TRIES):
            try:
                return _commit(self._to_write(table), added, retries=_TRIES)
            except TableChanged:
                if again + 1 == _TRIES:
                    raise

    def append_new(self, table: Table, rows: pa.Table, span: Span | None = None) -> None:
        """Adds the rows whose key the table does not hold yet; takes nothing away.

        Takes: `span`, the first and the last instant of the rows, where they are known.
        Edge case: the rows must hold each key once.
        """
        delta = self._to_write(table)
        rows = conform(rows, table, arrow_schema(table))
        part = self._around(table, rows, span)
        held = self._rows(table, _files(delta, table, part), part, table.key)
        _commit(delta, self._written(table, without_keys(rows, held, table.key)))

    def replace_window(self, table: Table, rows: Rows, cluster: str, window: Window) -> None:
        """Puts these rows in the place of a cluster's rows of a window, in one commit.

        Edge case: rows without an instant lie in no window. They follow from their record alone, whatever is known of
        Kafka, so none is ever taken away and the new ones are added.
        """
        delta, part = self._to_write(table), part_of(table, cluster, window)
        if _has_timeless(rows, part.time):
            part = replace(part, timeless=True)
            rows = self._with_timeless(delta, table, rows, replace(part, span=None))
        self._replace(delta, table, rows, part)

    def renew_window(self, table: Table, rows: pa.Table, cluster: str, window: Window) -> None:
        """Puts these rows in the place of a cluster's rows of a window, where those are others; in one commit, which
        says what the window holds then.

        For tables whose rows all have an instant. Edge case: rows that differ in `run_` columns alone stay.
        """
        delta = self._to_write(table)
        rows = conform(rows, table, arrow_schema(table))
        named = {"cluster": cluster, "window": [window.start.isoformat(), window.end.isoformat()]}
        content = content_hash(rows, table)
        if self._content(delta, table, cluster, window, named) != content:
            says = json.dumps({**named, "row_count": len(rows), "content_hash": content})
            self._replace(delta, table, rows, part_of(table, cluster, window), {"userMetadata": says})

    def replace_rows_of_run(self, table: Table, rows: pa.Table, cluster: str, window: Window, run_id: str) -> None:
        """Puts these rows in the place of those that the run wrote for the window before, in one commit.

        For the tables that keep what every run did: they name their window in `window_from` and `window_to`.
        """
        values = (("run_id", run_id), ("window_from", window.start), ("window_to", window.end))
        self._replace(self._to_write(table), table, rows, Part(cluster, values=values))

    def write_staging(self, table: Table, rows: pa.Table) -> None:
        """Puts these rows where the table is staged: names and types only, so that a bad row can be named.

        Edge case: plain Parquet without a commit: a staged table has one reader and no history.
        """
        folder, sink = self._staging(table), pa.BufferOutputStream()
        pq.write_table(conform(rows, table, without_laws(table)), sink, compression="zstd", store_schema=False)
        landing.write_atomically(f"{folder}/{_STAGED}", sink.getvalue().to_pybytes())
        for other in set(landing.names_in(folder)) - {_STAGED}:
            landing.remove(f"{folder}/{other}")

    def restore(self, table: Table, version: int) -> None:
        """Gives a table the rows back that it had in a version, in a commit of its own."""
        self._opened(table).restore(version)

    def delete_before(self, table: Table, column: str, oldest: datetime) -> int:
        """Takes away the rows whose instant lies before; gives how many. Rows without an instant stay."""
        delta, part = self._to_write(table), Part(None, column, (_FIRST, oldest))
        count = len(self._rows(table, _files(delta, table, part), part, [column]))
        says = {delta_log.DELETES: f"{column} < {oldest.isoformat()}"}
        self._replace(delta, table, (), part, {"operationParameters": says})
        return count

    def put_in_order(self, table: Table) -> None:
        """Makes many small files few, and removes files that no version of the last week holds (Delta's default)."""
        delta = self._opened(table)
        if len(_files(delta, table, None)) > 1:
            delta.optimize.compact()
        delta.vacuum(dry_run=False, full=True)

    def content_hash(self, table: Table) -> str:
        """A hash of the table's rows, whatever their order; `run_` columns left out."""
        return content_hash(self.read(table, None, table.content_columns), table)

    def _path(self, table: Table) -> str:
        return f"{self.lake}/{table.layer}/{table.name}"

    def _log(self, table: Table) -> str:
        return f"{self._path(table)}/{delta_log.FOLDER}"

    def _staging(self, table: Table) -> str:
        return f"{self.lake}/staging/{table.name}"

    def _version(self, table: Table) -> int | None:
        return delta_log.newest_version(landing.names_in(self._log(table)))

    def _opened(self, table: Table) -> DeltaTable:
        """Raises: LookupError where the table has not been created."""
        self.version(table)
        return DeltaTable(self._path(table))

    def _to_write(self, table: Table) -> DeltaTable:
        """Edge case: a table that is older than a column gains it; its rows have nothing there."""
        delta = self._opened(table)
        known = {field.name for field in delta.schema().fields}
        if new := [field for field in delta_schema(table).fields if field.name not in known]:
            delta.alter.add_columns(new)
        return delta

    def _create(self, table: Table) -> None:
        """Edge case: a creation that was cut short leaves temporary files alone."""
        path = self._path(table)
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
        read = (list(read_file(self._path(table), file, part, table, columns)) for file in files)
        return pa.Table.from_batches(chain.from_iterable(read), wanted)

    def _written(self, table: Table, rows: Rows) -> list[File]:
        """The files that hold these rows."""
        if not isinstance(rows, pa.Table):
            return [*rows]
        return write_files(self._path(table), table, conform(rows, table, arrow_schema(table)).to_batches())

    def _replace(self, delta: DeltaTable, table: Table, rows: Rows, part: Part, says: Says = None) -> None:
        """Puts rows in the place of those of a part, which they are of themselves."""
        if not _is_within(rows, part):
            raise ValueError(f"A row for {table.full_name} lies outside of what is replaced: {part}.")
        near = _files(delta, table, part)
        gone = [f for f in near if part.is_all_of(f) or len(self._rows(table, [f], part, part.columns))]
        others = chain.from_iterable(self._others(table, file, part) for file in gone if not part.is_all_of(file))
        added = [*self._written(table, rows), *write_files(self._path(table), table, others)]
        _commit(delta, added, gone, says)

    def _with_timeless(self, delta: DeltaTable, table: Table, rows: Rows, timeless: Part) -> pa.Table:
        """The rows, and those without an instant that the table holds beside them."""
        given = conform(rows, table, arrow_schema(table)) if isinstance(rows, pa.Table) else self._rows(table, rows)
        held = self._rows(table, _files(delta, table, timeless), timeless)
        return pa.concat_tables([given, without_keys(held, given, table.key)])

    def _others(self, table: Table, file: File, part: Part) -> Iterator[pa.RecordBatch]:
        """The rows of a file that are not of a part."""
        for batch in read_file(self._path(table), file, None, table):
            yield batch.filter(pc.invert(part.holds(batch)))

    def _around(self, table: Table, rows: pa.Table, span: Span | None) -> Part | None:
        """The rows of a table that may have the key of one of these; None where all may.

        Edge case: a row without an instant may have one of these keys too. A broken line may name a year that Python
            does not have.
        """
        if table.time_column is None:
            return None
        with suppress(OverflowError):
            first, last = span or pc.min_max(rows[table.time_column]).as_py().values()
            return Part(None, table.time_column, (first, last + _MICROSECOND) if first else None, timeless=True)
        return None

    def _content(self, delta: DeltaTable, table: Table, cluster: str, window: Window, named: Mapping[str, Any]) -> str:
        """What a window of a table holds: as the newest commit says, where it is about that window."""
        with suppress(FileNotFoundError):
            commit = landing.read_text(f"{self._log(table)}/{delta_log.commit_name(delta.version())}")
            said = delta_log.user_metadata(commit)
            if named.items() <= said.items() and "content_hash" in said:
                return str(said["content_hash"])
        part = part_of(table, cluster, window)
        return content_hash(self._rows(table, _files(delta, table, part), part), table)


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


def _is_within(rows: Rows, part: Part) -> bool:
    if isinstance(rows, pa.Table):
        return bool(pc.all(part.holds(rows), min_count=0).as_py())
    return all(map(part.is_all_of, rows))


def _has_timeless(rows: Rows, time: str) -> bool:
    return rows[time].null_count > 0 if isinstance(rows, pa.Table) else any(file.nulls(time) != 0 for file in rows)


def _stats(add: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    sides = {"minValues": "min", "maxValues": "max", "nullCount": "null_count"}
    return {side: {n: _text((add.get(field) or {}).get(n)) for n in names} for side, field in sides.items()}


def _text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _commit(
    delta: DeltaTable,
    added: Sequence[File],
    gone: Sequence[File] = (),
    says: Says = None,
    retries: int = 0,
) -> None:
    """Adds files and takes others away, in one commit; in none where there is nothing to add or to take.

    Raises: TableChanged where another writer has changed the table since it was opened.
    """
    if not added and not gone:
        return
    now = time.time_ns() // 1_000_000
    adds = [AddAction(f.path, f.size, {}, now, True, json.dumps(f.stats)) for f in added]
    removes = [RemoveAction(f.path, True, now, f.size, {}) for f in gone]
    try:
        delta.create_write_transaction(
            [*adds, *removes],
            mode="append",
            schema=delta.schema(),
            commit_properties=CommitProperties(says, max_commit_retries=retries),
        )
    except CommitFailedError as refusal:
        raise TableChanged(
            f"{masked(delta.table_uri)} had version {delta.version()}, and another writer has changed it since. Needed:"
            " one run at a time. What to do: run the step again."
        ) from refusal
