"""The lake: every table at `<LAKE>/<layer>/<table>`, in Delta, behind any URI that Spark writes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake import delta_log, landing
from kafka_hindsight.lake.ddl import instant_literal, literal, quoted
from kafka_hindsight.lake.parts import Part, Span
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import conform
from kafka_hindsight.spark.tables.table_commit import Gone, commit_rows
from kafka_hindsight.spark.tables.table_content import NO_CONTENT, Content, contents, row_hash
from kafka_hindsight.spark.tables.table_creation import create_table
from kafka_hindsight.spark.tables.table_order import put_in_order
from kafka_hindsight.spark.tables.table_state import State, newest_state, open_files, predicate_of

_RESTORES = """
import os, sys
from deltalake import DeltaTable
DeltaTable(sys.argv[1]).restore(int(sys.argv[2]))
os._exit(0)
"""


_WIDENS = ("mergeSchema", "true")
"""A lake of an earlier version gains the columns that were declared since; its older rows have nothing in them."""

SMALL = 16 * 1024 * 1024
"""Bytes of tables that take longer to open several times than to hold."""

_STAGED_COLUMNS = "_columns.json"
"""Lies beside a staged table's files; Spark passes over names that begin with an underscore."""


class Store:
    """The tables of one lake. A frame that is written is conformed to its table first."""

    def __init__(self, spark: SparkSession, lake: str) -> None:
        self.spark = spark
        self.lake = lake.rstrip("/")

    def create(self, *tables: Table) -> None:
        """Creates those tables that are not there.

        Raises: BadInput where a table's folder holds files and no commit.
        """
        at_once(*(partial(self._make, table) for table in tables if not self.has(table)))

    def has(self, table: Table) -> bool:
        """Whether the table has been created: a folder without a commit is none."""
        return self._version(table) is not None

    def is_half_made(self, table: Table) -> bool:
        """Whether a creation of the table was cut short before its first commit."""
        return landing.is_there(self._log(table)) and not self.has(table)

    def read(self, table: Table) -> DataFrame:
        """All rows of a table."""
        return self._opened(table)

    def read_cluster(self, table: Table, cluster: str) -> DataFrame:
        """A cluster's rows."""
        return self._opened(table, Part(cluster))

    def held(self, table: Table, cluster: str | None = None) -> DataFrame | None:
        """A cluster's rows, or all; None where the table is not there, or is known to hold none."""
        return self._held(table, None if cluster is None else Part(cluster)) if self.has(table) else None

    def read_window(self, table: Table, cluster: str, window: Window) -> DataFrame:
        """A cluster's rows of a window."""
        return self._opened(table, _part(table, cluster, window))

    def read_staging(self, table: Table) -> DataFrame:
        """What the last rebuild staged for a table, with the columns that it staged."""
        path = self._staging(table)
        columns = StructType.fromJson(landing.read_json(f"{path}/{_STAGED_COLUMNS}"))
        return self.spark.read.schema(columns).parquet(path)

    def version(self, table: Table) -> int:
        """The table's newest version. Raises: LookupError where the table has not been created."""
        newest = self._version(table)
        if newest is None:
            raise LookupError(f"{table.full_name} is not in the lake {self.lake}.")
        return newest

    def is_small(self, table: Table) -> bool:
        """Whether few bytes lie in the table's folder, those of older versions among them."""
        return landing.size_below(self._path(table)) <= SMALL

    def is_little_staged(self) -> bool:
        """Whether few bytes are staged, of all tables together."""
        return landing.size_below(f"{self.lake}/staging") <= SMALL

    def append(self, table: Table, rows: DataFrame) -> None:
        """Adds rows, of which the table holds none yet."""
        self._write(table, conform(rows, table))

    def append_new(self, table: Table, frame: DataFrame, span: Span | None = None) -> None:
        """Adds the rows whose key the table does not hold yet; takes nothing away.

        Takes: `span`, the first and the last instant of the rows, where they are known.
        Edge case: the frame must hold each key once, and be cheap to read twice.
        """
        rows = conform(frame, table)
        held = self._keys(rows, table, span)
        if held is not None:
            rows = rows.join(held, list(table.key), "left_anti").select(*table.column_names)
        self._write(table, rows)

    def replace_window(
        self, table: Table, frame: DataFrame, cluster: str, window: Window, known: Renewal | None = None
    ) -> None:
        """Puts these rows in the place of a cluster's rows of a window, in one commit.

        Edge case: rows without an instant lie in no window. They follow from their record alone, whatever is known of
        Kafka, so none is ever taken away and the new ones are added.
        """
        part = _part(table, cluster, window)
        rows = conform(frame, table)
        if table.column(_time(table)).nullable:
            part = replace(part, timeless=True)
            kept = self._held(table, replace(part, span=None))
            if kept is not None:
                kept = kept.join(rows.select(*table.key), list(table.key), "left_anti")
                rows = rows.unionByName(kept.select(*map(quoted, table.column_names)))
        self._replace(table, rows, part, predicate_of(part), known)

    def renew_window(
        self, table: Table, frame: DataFrame, cluster: str, window: Window, given: Content | None = None
    ) -> None:
        """Puts these rows in the place of a cluster's rows of a window, where those are others; in one commit, which
        says what the window holds then.

        For tables whose rows all have an instant. Takes: `given`, the content of the frame, where it is known.

        Edge case: rows that differ in `run_` columns alone stay; the frame must be cheap to read twice.
        """
        held = self._content(table, cluster, window)
        given = given or contents((table, conform(frame, table)))[0]
        if held != given:
            told = json.dumps({**_named(cluster, window), "content": given})
            self.replace_window(table, frame, cluster, window, Renewal(held.row_count == 0, told))

    def replace_rows_of_run(self, table: Table, frame: DataFrame, cluster: str, window: Window, run_id: str) -> None:
        """Puts these rows in the place of those that the run wrote for the window before, in one commit.

        For the tables that keep what every run did: they name their window in `window_from` and `window_to`.
        """
        predicate = (
            f"{predicate_of(Part(cluster))} AND run_id = {literal(run_id)}"
            f" AND window_from = {instant_literal(window.start)} AND window_to = {instant_literal(window.end)}"
        )
        self._replace(table, conform(frame, table), Part(cluster), predicate)

    def overwrite_staging(self, table: Table, frame: DataFrame) -> None:
        """Puts these rows where the table is staged: names and types only, so that a bad row can be named.

        Edge case: plain Parquet, whose columns are kept beside it: a staged table has one reader and no history, for
        which a commit of Delta's costs more than the rows.
        """
        path, rows = self._staging(table), conform(frame, table)
        rows.write.mode("overwrite").parquet(path)
        landing.write_atomically(f"{path}/{_STAGED_COLUMNS}", rows.schema.json())

    def restore(self, table: Table, version: int) -> None:
        """Gives a table the rows back that it had in a version, in a commit of its own.

        Edge case: Spark takes ten seconds of processor time a table, delta-rs a moment. Its threads may outlive the
        interpreter, so it has one of its own. Behind a URI it would need settings of its own.
        """
        words = [sys.executable, "-c", _RESTORES, self._path(table), str(version)]
        if is_uri(self.lake) or subprocess.run(words, capture_output=True).returncode:
            self._delta(table).restoreToVersion(version)

    def delete_before(self, table: Table, column: str, oldest: datetime) -> int:
        """Takes away the rows whose instant lies before; gives how many. Rows without an instant stay."""
        old = f"{quoted(column)} < {instant_literal(oldest)}"
        count: int = self.read(table).where(old).count()
        if count:
            self._delta(table).delete(old)
        return count

    def put_in_order(self, table: Table) -> None:
        """Makes many small files few, and removes files that no version of the last week holds."""
        put_in_order(self.spark, self._path(table), self._state(table))

    def content_hash(self, table: Table) -> str:
        """A hash of the table's rows, whatever their order; `run_` columns left out."""
        sorted_rows = F.array_join(F.array_sort(F.collect_list(row_hash(table))), "")
        return str(self.read(table).agg(F.sha2(sorted_rows, 256)).first()[0])

    def _path(self, table: Table) -> str:
        return f"{self.lake}/{table.layer}/{table.name}"

    def _log(self, table: Table) -> str:
        return f"{self._path(table)}/{delta_log.FOLDER}"

    def _staging(self, table: Table) -> str:
        return f"{self.lake}/staging/{table.name}"

    def _delta(self, table: Table) -> DeltaTable:
        return DeltaTable.forPath(self.spark, self._path(table))

    def _opened(self, table: Table, part: Part | None = None) -> DataFrame:
        """The rows of a part, or of the whole table. Files that are known to hold others alone are not opened."""
        path, state = self._path(table), self._state(table)
        rows = open_files(self.spark, path, state, state.near(part)) if state else None
        rows = self.spark.read.format("delta").load(path) if rows is None else rows
        return rows.where(predicate_of(part)) if part else rows

    def _held(self, table: Table, part: Part | None = None) -> DataFrame | None:
        """The rows of a part, or of the whole table; None where none is known to be there."""
        state = self._state(table)
        return None if state and not state.near(part) else self._opened(table, part)

    def _state(self, table: Table) -> State | None:
        newest = self._version(table)
        return None if newest is None else newest_state(self._log(table), newest)

    def _write(self, table: Table, rows: DataFrame, known: Renewal | None = None) -> None:
        """Adds rows."""
        state = self._state(table)
        if state and state.has_columns(table.column_names):
            self._commit(table, rows, known)
        else:
            writer = rows.write.format("delta").mode("append").option(*_WIDENS)
            _signed(writer, known).save(self._path(table))

    def _commit(self, table: Table, rows: DataFrame, known: Renewal | None, gone: Gone | None = None) -> None:
        commit_rows(self.spark, self._path(table), rows, known.told if known else "", gone)

    def _replace(self, table: Table, rows: DataFrame, part: Part, predicate: str, known: Renewal | None = None) -> None:
        """Puts rows in the place of those that a predicate names, which are all of that part."""
        strange = F.raise_error(F.lit(_outside(table, predicate)))
        rows = rows.where(F.expr(f"coalesce({predicate}, false)") | strange.cast("boolean"))
        if predicate == predicate_of(part) and (gone := self._whole_files(table, part)):
            self._commit(table, rows, known, gone)
        elif (known and known.is_empty) or self._is_without(table, part, predicate):
            self._write(table, rows, known)
        else:
            writer = rows.write.format("delta").mode("overwrite").option(*_WIDENS)
            _signed(writer.option("replaceWhere", predicate), known).save(self._path(table))

    def _whole_files(self, table: Table, part: Part) -> Gone | None:
        """The files that hold rows of a part, where they hold no others; None where that is not known."""
        state = self._state(table)
        near = state.near(part) if state and state.has_columns(table.column_names) else ()
        is_known = state and near and all(map(part.is_all_of, near))
        return Gone(near, predicate_of(part), state.version) if state and is_known else None

    def _is_without(self, table: Table, part: Part, predicate: str) -> bool:
        held = self._held(table, part)
        return held is None or held.where(predicate).isEmpty()

    def _content(self, table: Table, cluster: str, window: Window) -> Content:
        """What a window of a table holds. Spark is not asked where no file may hold a row of it, or where the newest
        commit says it.
        """
        held = self._held(table, _part(table, cluster, window))
        if held is None:
            return NO_CONTENT
        commit = f"{self._log(table)}/{delta_log.commit_name(self.version(table))}"
        is_there = landing.is_there(commit)
        told = delta_log.user_metadata(landing.read_text(commit)) if is_there else {}
        content = told.pop("content", None)
        return Content(*content) if content and told == _named(cluster, window) else contents((table, held))[0]

    def _version(self, table: Table) -> int | None:
        """The newest version that the table's log names; Spark is not asked, since that takes it a job."""
        return delta_log.newest_version(landing.names_in(self._log(table)))

    def _make(self, table: Table) -> None:
        """Edge case: to Delta a log without a commit is a table already, which it neither creates nor can read."""
        if self.is_half_made(table):
            self._require_nothing_lost(table)
            landing.remove(self._log(table))
        create_table(self.spark, table, self._path(table))

    def _require_nothing_lost(self, table: Table) -> None:
        """A creation that was cut short has written no file but temporary ones."""
        path = self._path(table)
        names = (name.rpartition("/")[2] for name in landing.files_below(path))
        held = next((name for name in names if not delta_log.is_temporary(name)), None)
        if held is not None:
            raise BadInput(
                f"{table.full_name} has no commit in {masked(path)}, and the file {held}. Needed: the commits of its"
                " rows, or no file. Bring its _delta_log back from a copy of the lake; or move the folder out of the"
                " lake, and the next run creates the table without those rows."
            )

    def _keys(self, rows: DataFrame, table: Table, span: Span | None) -> DataFrame | None:
        """The keys the table holds around the time of the new rows: files of other times are not opened."""
        held = self._held(table)
        if held is None:
            return None
        if table.time_column is None:
            return held.select(*table.key)
        time = F.col(table.time_column)
        first, last = span or rows.agg(F.min(time), F.max(time)).first()
        return held.where(time.between(F.lit(first), F.lit(last)) | time.isNull()).select(*table.key)


def forget_snapshots(spark: SparkSession) -> None:
    """Delta keeps what it knows of a path: something else lies there now."""
    jvm: Any = spark.sparkContext._jvm
    jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


class Renewal(NamedTuple):
    """What is known where a window is replaced: whether it holds nothing, and what its commit shall say."""

    is_empty: bool = False
    told: str = ""


def _outside(table: Table, predicate: str) -> str:
    return f"A row for {table.full_name} lies outside of what is replaced: {predicate}"


def _named(cluster: str, window: Window) -> dict[str, Any]:
    return {"cluster": cluster, "window": [window.start.isoformat(), window.end.isoformat()]}


def _signed(writer: DataFrameWriter, known: Renewal | None) -> DataFrameWriter:
    return writer.option("userMetadata", known.told) if known and known.told else writer


def _time(table: Table) -> str:
    if table.time_column is None:
        raise ValueError(f"{table.full_name} is not cut into windows: it has no time column.")
    return table.time_column


def _part(table: Table, cluster: str, window: Window) -> Part:
    return Part(cluster, _time(table), (window.start, window.end))
