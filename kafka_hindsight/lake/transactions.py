"""One table at one version: the files that it names, and the commit of delta-rs that follows.

Arrow writes the files: delta-rs's own writer cannot evaluate CHECKs such as `size(evidence) > 0`. Validation evaluates
them before a publication.

Source: PROTOCOL.md of Delta Lake, Actions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import uuid4
from weakref import finalize

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake import delta_log
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.damage import KEY, Damaged, checksum_in, checksum_of
from kafka_hindsight.lake.landing import read_bytes
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.table_files import DESCRIBED, properties, window_columns
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared import parent
from kafka_hindsight.shared.held_locks import end_if_lost

_CHECKED = set[tuple[str, int]]()
"""Snapshots that were as their commits say."""

_READER = 1
_WRITER, _WRITER_WITH_CHECKS = 2, 3
"""The versions of Delta's protocol that a table needs."""

_STATS = {"minValues": "min", "maxValues": "max", "nullCount": "null_count"}
"""Statistics by Delta's names, and by delta-rs's."""


class TableChanged(RuntimeError):
    """Another writer has changed a table. A retry sees what it wrote."""


def first_commit(table: Table) -> str:
    """Give the text of a table's first commit, as Spark's CREATE TABLE writes it.

    delta-rs creates tables too, but with a version of the protocol whose writers evaluate no CHECK.
    """
    now, configuration = time.time_ns() // 1_000_000, properties(table)
    schema = delta_schema(table).to_json()
    actions: dict[str, dict[str, Any]] = {
        "commitInfo": {
            "timestamp": now,
            "operation": "CREATE TABLE",
            "operationParameters": {},
            "isBlindAppend": True,
            KEY: _checksum(schema, configuration, {}),
        },
        **_declaration(table, str(uuid4()), now),
    }
    return _lines(actions.items())


def upgrade_commit(
    delta: DeltaTable, table: Table, added: Sequence[DataFile], removed: Sequence[DataFile], info: Mapping[str, Any]
) -> str:
    """Give the text of a commit by which an opened table has the columns and laws that the catalog declares.

    Args:
        delta: The table, as it was opened.
        table: What is declared.
        added: Files with its rows and those columns; none where the columns stay.
        removed: Files that they replace.
        info: More fields of its commitInfo.
    """
    now, schema, configuration = time.time_ns() // 1_000_000, delta_schema(table).to_json(), properties(table)
    files = {file.path: file for file in files_of(delta, table, None) if file not in removed}
    files |= {file.path: file for file in added}
    commit_info = {"operationParameters": {}, **info, KEY: _checksum(schema, configuration, files)}
    adds = [{**_file(f), "modificationTime": now, "stats": _stats_text(f)} for f in added]
    removes = [{**_file(f), "deletionTimestamp": now, "extendedFileMetadata": True} for f in removed]
    return _lines(
        [
            ("commitInfo", commit_info),
            *_declaration(table, str(delta.metadata().id), now).items(),
            *(("remove", action) for action in removes),
            *(("add", action) for action in adds),
        ]
    )


def _lines(actions: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    return "\n".join(json.dumps({name: action}, ensure_ascii=False) for name, action in actions)


def _file(file: DataFile) -> dict[str, Any]:
    return {"path": file.path, "size": file.size, "partitionValues": {}, "dataChange": False}


def _declaration(table: Table, table_id: str, now: int) -> dict[str, dict[str, Any]]:
    """Give the actions that declare a table's columns, laws, and the protocol that they need."""
    configuration = properties(table)
    has_checks = any(key.startswith("delta.constraints.") for key in configuration)
    return {
        "metaData": {
            "id": table_id,
            "description": table.grain,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": delta_schema(table).to_json(),
            "partitionColumns": [],
            "configuration": configuration,
            "createdTime": now,
        },
        "protocol": {
            "minReaderVersion": _READER,
            "minWriterVersion": _WRITER_WITH_CHECKS if has_checks else _WRITER,
        },
    }


def delta_schema(table: Table) -> Schema:
    """Give the columns of a table as Delta has them."""
    described = [f.with_metadata({"comment": table.column(f.name).described}) for f in arrow_schema(table)]
    return Schema.from_arrow(pa.schema(described))


def open_table(folder: str, table: Table, version: int | None = None, checksum: str | None = None) -> DeltaTable:
    """Open a table, and hold what its log says against the checksum that the commit of that version carries.

    Each snapshot is checked once in a process. A commit of another program has no checksum, and one that Delta has
    removed behind a checkpoint cannot be asked.

    Args:
        folder: Where the table lies.
        table: The table.
        version: Which version; None: the newest.
        checksum: The checksum of that snapshot; None: the one of its commit alone.

    Raises:
        Damaged: A commit or a checkpoint is not the one that was written.
    """
    delta = DeltaTable(folder, version)
    snapshot = (folder, delta.version())
    if snapshot not in _CHECKED:
        _check(delta, table, folder, checksum)
        _CHECKED.add(snapshot)
    return delta


def _check(delta: DeltaTable, table: Table, folder: str, checksum: str | None) -> None:
    name, checksums = delta_log.commit_name(delta.version()), {checksum}
    with suppress(FileNotFoundError):
        commit = read_bytes(f"{folder}/{delta_log.FOLDER}/{name}").decode(errors="replace")
        info = delta_log.info(commit)
        checksums.add("" if delta_log.is_cut(commit) or not info else checksum_in(info))
    checksums.discard(None)
    if checksums and checksums != {snapshot_checksum(delta)}:
        raise Damaged(
            f"The log of {table.full_name} in {masked(folder)}/{delta_log.FOLDER} does not have the files that its"
            f" commit {name} names: a commit or a checkpoint has other bytes than were written."
        )


def snapshot_checksum(delta: DeltaTable, added: Iterable[DataFile] = (), removed: Iterable[DataFile] = ()) -> str:
    """Give the checksum of a snapshot: of its columns, its properties, and its files with their statistics.

    Args:
        delta: A snapshot.
        added: Files that the next commit adds to it.
        removed: Files that the next commit removes.
    """
    configuration = delta.metadata().configuration
    files = {file.path: file for file in _files(delta, _columns_described(configuration))}
    for file in removed:
        files.pop(file.path, None)
    files |= {file.path: file for file in added}
    return _checksum(delta.schema().to_json(), configuration, files)


def _checksum(schema: str, configuration: Mapping[str, str], files: Mapping[str, DataFile]) -> str:
    names = _columns_described(configuration)
    return checksum_of([json.loads(schema), configuration, [_described(files[path], names) for path in sorted(files)]])


def _columns_described(configuration: Mapping[str, str]) -> list[str]:
    """The columns that have statistics in a table's log. Today's catalog may name others."""
    return [name for name in configuration.get(DESCRIBED, "").split(",") if name]


def _described(file: DataFile, names: Sequence[str]) -> list[Any]:
    """Give a file's name, size and statistics, as they are the same before a commit and when they are read again."""
    bounds = [_plain(file.stats.get(side, {}).get(name)) for name in names for side in _STATS]
    return [file.path, file.size, file.stats.get("numRecords"), *bounds]


@lru_cache(4096)
def _plain(bound: Any) -> Any:
    """Give an instant in one form."""
    if isinstance(bound, str):
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(bound).isoformat()
    return bound


def files_of(delta: DeltaTable, table: Table, part: Part | None) -> list[DataFile]:
    """List the files that may have rows of a part; all files for None."""
    return [file for file in _files(delta, window_columns(table)) if part is None or part.may_be_in(file)]


_LISTED = dict[int, tuple[int, Sequence[str], list[DataFile]]]()
"""The files of each opened table, with its version and the columns of their statistics. A change asks three times."""


def _files(delta: DeltaTable, names: Sequence[str]) -> list[DataFile]:
    """List all files, with the statistics of these columns."""
    key = id(delta)
    if key not in _LISTED:
        finalize(delta, _LISTED.pop, key, None)
    elif _LISTED[key][:2] == (delta.version(), names):
        return _LISTED[key][2]
    files = _files_in_log(delta, names)
    _LISTED[key] = delta.version(), names, files
    return files


def _files_in_log(delta: DeltaTable, names: Sequence[str]) -> list[DataFile]:
    adds = pa.RecordBatchReader.from_stream(delta.get_add_actions(flatten=True)).read_all()
    texts = (_as_texts(column).to_pylist() for column in adds.columns)
    rows = (dict(zip(adds.column_names, row, strict=True)) for row in zip(*texts, strict=True))
    return [DataFile(add["path"], add["size_bytes"], _stats(add, names)) for add in rows]


def commit(
    delta: DeltaTable,
    added: Sequence[DataFile],
    removed: Sequence[DataFile] = (),
    info: Mapping[str, Any] | None = None,
    is_change: bool = True,
) -> None:
    """Add files and remove others, in one commit; in none where there is nothing to add or to remove.

    It carries the checksum of the snapshot that it makes, and follows the version that was opened, or fails.

    Args:
        delta: The table, as it was opened.
        added: Files that lie in its folder.
        removed: Files that it names.
        info: More fields of its commitInfo.
        is_change: Whether the table has other rows then.

    Raises:
        TableChanged: Another writer has changed the table since it was opened.
    """
    if not added and not removed:
        return
    now = time.time_ns() // 1_000_000
    adds = [AddAction(f.path, f.size, {}, now, is_change, _stats_text(f)) for f in added]
    removes = [RemoveAction(f.path, is_change, now, f.size, {}) for f in removed]
    with following(delta, {**(info or {}), KEY: snapshot_checksum(delta, added, removed)}) as properties:
        delta.create_write_transaction(
            [*adds, *removes], mode="append", schema=delta.schema(), commit_properties=properties
        )


def fence(delta: DeltaTable, by: str) -> None:
    """Commit a version that changes nothing. Raises: see `commit`."""
    info = {"operationParameters": {delta_log.FENCES: by}, KEY: snapshot_checksum(delta)}
    with following(delta, info) as properties:
        delta.create_write_transaction([], mode="append", schema=delta.schema(), commit_properties=properties)


@contextmanager
def following(delta: DeltaTable, info: Mapping[str, Any]) -> Iterator[CommitProperties]:
    """Give the properties of one commit that follows the version that was opened, and of none later.

    A process without its parent, or one that has lost a lock, ends first: the version was read before.

    Raises:
        TableChanged: Another writer has changed the table since it was opened.
    """
    parent.end_if_alone()
    end_if_lost()
    try:
        yield CommitProperties({**info}, max_commit_retries=0)
    except CommitFailedError as refusal:
        raise TableChanged(
            f"{masked(delta.table_uri)} had version {delta.version()}, and another writer has changed it since. What to"
            " do: run the step again."
        ) from refusal


def _stats_text(file: DataFile) -> str:
    """Write the statistics of a file as Delta keeps them.

    delta-rs reads an escaped character above U+1FFFF as another one, so none is escaped. Source: arrow-json,
    TapeDecoder.
    """
    return json.dumps(file.stats, ensure_ascii=False)


def _stats(add: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    bounds = {name: {n: add.get(f"{field}.{n}") for n in names} for name, field in _STATS.items()}
    return {"numRecords": add.get("num_records"), **bounds}


def _as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give instants as texts: to turn them into values of Python, Arrow would load pandas."""
    return pc.strftime(column, "%Y-%m-%dT%H:%M:%S+00:00") if pa.types.is_timestamp(column.type) else column
