"""One table at one version: the files that it names, and the commit of delta-rs that follows.

Arrow writes the files: delta-rs's own writer cannot evaluate CHECKs such as `size(evidence) > 0`. Validation evaluates
them before a publication.

Source: PROTOCOL.md of Delta Lake, Actions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.table_files import properties, window_columns
from kafka_hindsight.settings.config import masked

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
    has_checks = any(key.startswith("delta.constraints.") for key in configuration)
    actions: dict[str, dict[str, Any]] = {
        "commitInfo": {
            "timestamp": now,
            "operation": "CREATE TABLE",
            "operationParameters": {},
            "isBlindAppend": True,
        },
        "metaData": {
            "id": str(uuid4()),
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
    return "\n".join(json.dumps({name: action}, ensure_ascii=False) for name, action in actions.items())


def delta_schema(table: Table) -> Schema:
    """Give the columns of a table as Delta has them."""
    described = [f.with_metadata({"comment": table.column(f.name).described}) for f in arrow_schema(table)]
    return Schema.from_arrow(pa.schema(described))


def files_of(delta: DeltaTable, table: Table, part: Part | None) -> list[DataFile]:
    """List the files that may have rows of a part; all files for None."""
    adds = pa.RecordBatchReader.from_stream(delta.get_add_actions(flatten=True)).read_all()
    texts = (_as_texts(column).to_pylist() for column in adds.columns)
    rows = (dict(zip(adds.column_names, row, strict=True)) for row in zip(*texts, strict=True))
    files = (DataFile(add["path"], add["size_bytes"], _stats(add, window_columns(table))) for add in rows)
    return [file for file in files if part is None or part.may_be_in(file)]


def commit(
    delta: DeltaTable,
    added: Sequence[DataFile],
    removed: Sequence[DataFile] = (),
    info: Mapping[str, Any] | None = None,
    retries: int = 0,
) -> None:
    """Add files and remove others, in one commit; in none where there is nothing to add or to remove.

    Args:
        delta: The table, as it was opened.
        added: Files that lie in its folder.
        removed: Files that it names.
        info: More fields of its commitInfo.
        retries: How often to try again after a commit of another writer that only added files.

    Raises:
        TableChanged: Another writer has changed the table since it was opened.
    """
    if not added and not removed:
        return
    now = time.time_ns() // 1_000_000
    adds = [AddAction(f.path, f.size, {}, now, True, _stats_text(f)) for f in added]
    removes = [RemoveAction(f.path, True, now, f.size, {}) for f in removed]
    try:
        delta.create_write_transaction(
            [*adds, *removes],
            mode="append",
            schema=delta.schema(),
            commit_properties=CommitProperties({**info} if info else None, max_commit_retries=retries),
        )
    except CommitFailedError as refusal:
        raise TableChanged(
            f"{masked(delta.table_uri)} had version {delta.version()}, and another writer has changed it since. Needed:"
            " one run at a time. What to do: run the step again."
        ) from refusal


def _stats_text(file: DataFile) -> str:
    """Write the statistics of a file as Delta keeps them.

    delta-rs reads an escaped character above U+1FFFF as another one, so none is escaped. Source: arrow-json,
    TapeDecoder.
    """
    return json.dumps(file.stats, ensure_ascii=False)


def _stats(add: Mapping[str, Any], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {name: {n: add.get(f"{field}.{n}") for n in names} for name, field in _STATS.items()}


def _as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give instants as texts: to turn them into values of Python, Arrow would load pandas."""
    return pc.strftime(column, "%Y-%m-%dT%H:%M:%S+00:00") if pa.types.is_timestamp(column.type) else column
