"""The tables of one lake, each at `<LAKE>/<layer>/<table>`, by delta-rs and Arrow. No JVM."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from kafka_hindsight.catalog.table_model import Scalar, Table
from kafka_hindsight.lake import delta_log, landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.damage import KEY, digest_in
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.staging import Staged, row_count, staged_batches, staged_content
from kafka_hindsight.lake.table_files import SMALL, conform, read_file, write_files
from kafka_hindsight.lake.transactions import (
    TableChanged,
    commit,
    fence,
    files_of,
    first_commit,
    following,
    open_table,
    snapshot_checksum,
)
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import grouped, sized
from kafka_hindsight.shared.windows import Window

_AT_ONCE = 50_000
"""Rows that are read at once where all of them might not fit into memory."""

TableContent: TypeAlias = "pa.Table | Sequence[DataFile]"
"""Rows to write, or files of `write_files` that have them already."""

_FIRST, _MICROSECOND = datetime.min.replace(tzinfo=UTC), timedelta(microseconds=1)

_TRIES = 100
"""How often a change begins from a new version, where other clusters' runs have changed the table meanwhile."""

Change: TypeAlias = "Callable[[Sequence[DataFile]], tuple[Sequence[DataFile], Sequence[DataFile]]]"
"""Makes the files that a commit adds, and names those that it removes, from the files of a table that matter to it."""


class Store:
    """The tables of one lake. Rows that are written are conformed to their table first.

    Each method that reads or writes raises LookupError where the table has not been created. Each that writes commits
    the version that follows the one that it read. If another cluster's run was faster, it begins from the new version;
    after a hundred times it raises TableChanged.
    """

    def __init__(self, lake: str) -> None:
        self.lake = lake.rstrip("/")
        self._tables = dict[Table, DeltaTable]()

    def create(self, *tables: Table) -> None:
        """Create those tables that are not there.

        Raises:
            BadInput: A table's folder holds files and no commit.
        """
        at_once(*(partial(self._create, table) for table in tables if not self.has(table)))

    def has(self, table: Table) -> bool:
        """Whether a table has been created: a folder without a commit is not a table."""
        return self._version(table) is not None

    def version(self, table: Table) -> int:
        """Give a table's newest version."""
        newest = self._version(table)
        if newest is None:
            raise LookupError(f"{table.full_name} is not in the lake {masked(self.lake)}.")
        return newest

    def files(self, table: Table, part: Part | None = None) -> list[DataFile]:
        """List the files that may have rows of a part; all files for None."""
        return files_of(self._open(table), table, part)

    def read(self, table: Table, part: Part | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Read the rows of a part of a table.

        Args:
            table: The table.
            part: Which rows; None: all.
            columns: Which columns, in this order; None: all.
        """
        return self._rows(table, self.files(table, part), part, columns)

    def read_in_parts(self, table: Table, part: Part) -> Iterator[pa.Table]:
        """Read the rows of a part, a piece at a time, to take little memory."""
        batches = chain.from_iterable(read_file(self.path(table), f, part, table) for f in self.files(table, part))
        return map(pa.Table.from_batches, sized(batches, len, _AT_ONCE))

    def read_window(self, table: Table, cluster: str, window: Window) -> pa.Table:
        """Read a cluster's rows of a window."""
        return self.read(table, part_of(table, cluster, window))

    def append(self, table: Table, rows: TableContent) -> None:
        """Add rows, of which the table has none yet."""
        added = self._write_files(table, _conformed(table, rows))
        self._change(table, lambda file: False, lambda near: (added, ()))

    def append_new(self, table: Table, rows: pa.Table) -> None:
        """Add the rows, which have each key once, whose key the table does not have yet; remove nothing."""
        rows = _conformed(table, rows)
        part = _around(table, rows)

        def add(near: Sequence[DataFile]) -> tuple[Sequence[DataFile], Sequence[DataFile]]:
            keys = self._rows(table, near, part, table.key)
            return self._write_files(table, without_keys(rows, keys, table.key)), ()

        self._change(table, _near(part), add)

    def replace_window(self, table: Table, rows: TableContent, cluster: str, window: Window) -> None:
        """Put rows in the place of a cluster's rows of a window, in one commit.

        Rows without an instant lie in no window. They depend on their record alone, not on what is known of Kafka, so
        none is ever removed and new ones are added.

        Raises:
            ValueError: A row lies outside of the window, or the table is not cut into windows.
        """
        rows, part = _conformed(table, rows), part_of(table, cluster, window)
        if _has_timeless(rows, part.time):
            part = replace(part, timeless=True)
            rows = self._with_timeless(table, rows, replace(part, span=None))
        self._replace(table, rows, part)

    def renew_window(self, table: Table, rows: pa.Table, cluster: str, window: Window) -> None:
        """Put rows in the place of a cluster's rows of a window, if those differ.

        For tables whose rows all have an instant. Rows that differ in `run_` columns alone stay.

        Raises:
            ValueError: See `replace_window`.
        """
        rows, part = _conformed(table, rows), part_of(table, cluster, window)
        if not content_of(self.read(table, part), table).equals(content_of(rows, table)):
            self._replace(table, rows, part)

    def replace_rows_of_run(self, table: Table, rows: pa.Table, cluster: str, window: Window, run_id: str) -> None:
        """Put rows in the place of the run's own earlier rows for the window, in one commit.

        For the tables that keep an account of every run: they name their window in `window_from` and `window_to`.
        """
        values = (("run_id", run_id), ("window_from", window.start), ("window_to", window.end))
        self._replace(table, _conformed(table, rows), Part(cluster, values=values))

    def window_batches(self, table: Table, cluster: str, window: Window) -> Iterator[pa.RecordBatch]:
        """Read a cluster's rows of a window, a batch at a time."""
        part = part_of(table, cluster, window)
        for file in files_of(self._open(table), table, part):
            yield from read_file(self.path(table), file, part, table)

    def replace_from_staging(
        self, table: Table, staged: Staged, cluster: str, window: Window, withheld: Collection[int] = ()
    ) -> None:
        """Put a staged table in the place of a cluster's rows of a window, and hold no row of either.

        Args:
            table: A table whose rows all have an instant.
            staged: What is staged.
            cluster: The cluster.
            window: Its window.
            withheld: The numbers of staged rows that are left out.

        Raises:
            ValueError: See `replace_window`.
            StagingChanged: A staged file is not the one that its run wrote.
        """
        part = part_of(table, cluster, window)
        files = list(self._taken_over(table, cluster, staged.of(table), withheld))
        self._replace(table, files, part)

    def _taken_over(
        self, table: Table, cluster: str, files: Iterable[DataFile], withheld: Collection[int]
    ) -> Iterator[DataFile]:
        """Copy staged files into the folder of their table. Of one with withheld rows the others are written."""
        first = 0
        for file in files:
            end = first + row_count(file)
            if any(first <= number < end for number in withheld):
                rows = staged_batches(self.lake, cluster, table, [file], withheld, first)
                yield from write_files(self.path(table), table, rows)
            else:
                content = staged_content(self.lake, cluster, table, file)
                landing.write_atomically(f"{self.path(table)}/{file.path}", content)
                yield file
            first = end

    def restore(self, table: Table, version: int) -> None:
        """Give a table back the rows that it had in a version, in a commit of its own."""
        checksum = snapshot_checksum(open_table(self.path(table), table, version))

        def restore(delta: DeltaTable) -> None:
            with following(delta, {KEY: checksum}) as properties:
                delta.restore(version, commit_properties=properties)

        self._from_newest(table, restore)

    def fence(self, table: Table, by: str) -> None:
        """Commit a version that changes nothing: what names an older one is refused from now on."""
        self._from_newest(table, partial(fence, by=by))

    def delete_before(self, table: Table, column: str, oldest: datetime) -> int:
        """Delete the rows whose instant is before `oldest`, and count them. Rows without an instant stay."""
        part = Part(None, column, (_FIRST, oldest))
        count = len(self.read(table, part, [column]))
        parameters = {delta_log.DELETES: f"{column} < {oldest.isoformat()}"}
        self._replace(table, (), part, {"operationParameters": parameters})
        return count

    def drop(self, table: Table, files: Sequence[DataFile]) -> None:
        """Commit a table without some of its files, which may be damaged or missing."""
        names = {file.path for file in files}
        info = {"operationParameters": {delta_log.DELETES: ", ".join(sorted(names))}}
        self._change(table, lambda file: file.path in names, lambda near: ((), near), info)

    def put_in_order(self, table: Table) -> None:
        """Compact small files, and remove files that no version of the last week has (Delta's default).

        The small files of a month of a cluster become one, so that a window that is judged again writes one month
        again at most. Files of another program are written again, so that all have a checksum.
        """
        due = [file for files in to_compact(table, self.files(table)) for file in files]
        if due:
            names = {file.path for file in due}
            info = {"operationParameters": {delta_log.COMPACTS: str(len(due))}}
            compact = partial(self._compacted, table)
            self._change(table, lambda file: file.path in names, compact, info, is_change=False)
        self._from_newest(table, _vacuum)

    def _compacted(self, table: Table, due: Sequence[DataFile]) -> tuple[Sequence[DataFile], Sequence[DataFile]]:
        files = list[DataFile]()
        for of_month in _by_month(table, due):
            rows = chain.from_iterable(read_file(self.path(table), file, None, table) for file in _in_order(of_month))
            files += write_files(self.path(table), table, rows)
        return files, due

    def path(self, table: Table) -> str:
        """Name the folder of a table."""
        return f"{self.lake}/{table.layer}/{table.name}"

    def _log(self, table: Table) -> str:
        return f"{self.path(table)}/{delta_log.FOLDER}"

    def _version(self, table: Table) -> int | None:
        return delta_log.newest_version(landing.names_in(self._log(table)))

    def _open(self, table: Table) -> DeltaTable:
        """Open the newest version: a step of 20 ms after 300 commits, so it stays open until there is another."""
        newest, delta = self.version(table), self._tables.get(table)
        if delta is None or delta.version() != newest:
            delta = self._tables[table] = open_table(self.path(table), table)
        return delta

    def _create(self, table: Table) -> None:
        """Write a table's first commit. A creation that was cut short leaves only temporary files behind."""
        path = self.path(table)
        names = [name.rpartition("/")[2] for name in landing.files_below(path)]
        stray = next((name for name in names if not delta_log.is_temporary(name)), None)
        if stray is not None and delta_log.newest_version(names) is None:
            raise BadInput(
                f"{table.full_name} has no commit in {masked(path)}, and the file {stray}. Needed: the commits of its"
                " rows, or no file. Bring its _delta_log back from a copy of the lake; or move the folder out of the"
                " lake, and the next run creates the table without those rows."
            )
        landing.write_new(f"{self._log(table)}/{delta_log.commit_name(0)}", first_commit(table))

    def _rows(
        self, table: Table, files: Sequence[DataFile], part: Part | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read the rows of a part that are in these files."""
        schema = arrow_schema(table)
        result_schema = schema if columns is None else pa.schema([schema.field(name) for name in columns])
        batches = (read_file(self.path(table), file, part, table, columns) for file in files)
        return pa.Table.from_batches(chain.from_iterable(batches), result_schema)

    def _write_files(self, table: Table, rows: TableContent) -> Sequence[DataFile]:
        if not isinstance(rows, pa.Table):
            return rows
        return write_files(self.path(table), table, rows.to_batches())

    def _replace(self, table: Table, rows: TableContent, part: Part, info: Mapping[str, Any] | None = None) -> None:
        """Put rows of a part in the place of its old ones. Other rows of its files stay."""
        if not _is_within(rows, part):
            raise ValueError(f"A row for {table.full_name} lies outside of what is replaced: {part}.")
        new = self._write_files(table, rows)

        def replacement(near: Sequence[DataFile]) -> tuple[Sequence[DataFile], Sequence[DataFile]]:
            removed = [f for f in near if part.is_all_of(f) or len(self._rows(table, [f], part, part.columns))]
            mixed = (file for file in removed if not part.is_all_of(file))
            others = chain.from_iterable(self._others(table, file, part) for file in mixed)
            return [*new, *write_files(self.path(table), table, others)], removed

        self._change(table, _near(part), replacement, info)

    def _change(
        self,
        table: Table,
        is_near: Callable[[DataFile], bool],
        change: Change,
        info: Mapping[str, Any] | None = None,
        is_change: bool = True,
    ) -> None:
        """Commit a change, made again where others have changed the files that it is made from.

        Args:
            table: The table.
            is_near: Whether a file of the table matters to the change.
            change: Makes it.
            info: See `commit`.
            is_change: See `commit`.
        """
        result: tuple[Sequence[DataFile], tuple[Sequence[DataFile], Sequence[DataFile]]] | None = None

        def follow(delta: DeltaTable) -> None:
            nonlocal result
            near = [file for file in files_of(delta, table, None) if is_near(file)]
            if result is None or result[0] != near:
                result = near, change(near)
            added, removed = result[1]
            commit(delta, added, removed, info, is_change)

        self._from_newest(table, follow)

    def _from_newest(self, table: Table, act: Callable[[DeltaTable], object]) -> None:
        """Do what commits one version, from the newest one."""
        for tries_left in reversed(range(_TRIES)):
            try:
                act(self._open(table))
                return
            except TableChanged:
                if not tries_left:
                    raise

    def _with_timeless(self, table: Table, rows: TableContent, timeless: Part) -> TableContent:
        """Give the rows, and the table's other rows without an instant."""
        files = [] if isinstance(rows, pa.Table) else [file for file in rows if timeless.may_be_in(file)]
        new = rows if isinstance(rows, pa.Table) else self._rows(table, files)
        old = self.read(table, timeless)
        merged = pa.concat_tables([new, without_keys(old, new, table.key)])
        if isinstance(rows, pa.Table):
            return merged
        return [*(file for file in rows if file not in files), *self._write_files(table, merged)]

    def _others(self, table: Table, file: DataFile, part: Part) -> Iterator[pa.RecordBatch]:
        """Read the rows of a file that are not of a part."""
        for batch in read_file(self.path(table), file, None, table):
            yield batch.filter(pc.invert(part.holds(batch)))


def _vacuum(delta: DeltaTable) -> None:
    with following(delta, {KEY: snapshot_checksum(delta)}) as properties:
        delta.vacuum(dry_run=False, full=True, commit_properties=properties)


def _near(part: Part | None) -> Callable[[DataFile], bool]:
    """Give the test of whether a file may have rows of a part."""
    return part.may_be_in if part else lambda file: True


def to_compact(table: Table, files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Give the small files of each month of a cluster where there are several, and all of another program."""
    small = (file for file in files if file.size < SMALL or digest_in(file.path) is None)
    return [own for own in _by_month(table, small) if len(own) > 1 or digest_in(own[0].path) is None]


def _by_month(table: Table, files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Give the files of each month of a cluster, by the first instant in them; those without instants together."""

    def month(file: DataFile) -> tuple[object, str]:
        span = file.span(table.time_column) if table.time_column else None
        return file.bounds("cluster"), f"{span[0]:%Y-%m}" if span else ""

    return [*grouped(files, month).values()]


def _in_order(files: Iterable[DataFile]) -> list[DataFile]:
    """Give files in an order by which rows of one cluster and time meet in few files."""
    return sorted(files, key=lambda file: json.dumps([file.stats.get("minValues"), file.path], sort_keys=True))


def part_of(table: Table, cluster: str, window: Window) -> Part:
    """Give the part of a cluster's rows of a window.

    Raises:
        ValueError: The table is not cut into windows.
    """
    if table.time_column is None:
        raise ValueError(f"{table.full_name} is not cut into windows: it has no time column.")
    return Part(cluster, table.time_column, (window.start, window.end))


def without_keys(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> pa.Table:
    """Keep the rows whose key none of the others has, in their order."""
    numbered = rows.select(key).append_column("", pa.array(range(len(rows)), pa.int64()))
    positions = numbered.join(others.select(key), list(key), join_type="left anti")[""]
    return rows.take(positions.sort())


def content_of(rows: pa.Table, table: Table) -> pa.Table:
    """Give rows without `run_` columns, in an order that does not depend on theirs.

    Rows that differ in lists or structs alone stay as they come. A table's key distinguishes its rows by other columns.
    """
    columns = table.content_columns
    by = [name for name in columns if name in table.key or isinstance(table.column(name).kind, Scalar)]
    return rows.select(columns).sort_by([(name, "ascending") for name in by])


def _conformed(table: Table, rows: TableContent) -> TableContent:
    return conform(rows, table, arrow_schema(table)) if isinstance(rows, pa.Table) else rows


def _around(table: Table, rows: pa.Table) -> Part | None:
    """Give the part of a table that may have the key of one of these rows; None if all of it may.

    A row without an instant may have one of these keys too. A broken line may name a year that Python does not have.
    """
    if table.time_column is None:
        return None
    with suppress(OverflowError):
        first, last = pc.min_max(rows[table.time_column]).as_py().values()
        return Part(None, table.time_column, (first, last + _MICROSECOND) if first else None, timeless=True)
    return None


def _is_within(rows: TableContent, part: Part) -> bool:
    if isinstance(rows, pa.Table):
        return bool(pc.all(part.holds(rows), min_count=0).as_py())
    return all(map(part.is_all_of, rows))


def _has_timeless(rows: TableContent, time: str) -> bool:
    return rows[time].null_count > 0 if isinstance(rows, pa.Table) else any(file.nulls(time) != 0 for file in rows)
