"""The tables of a lake of an earlier version get today's columns and laws. Each keeps its rows, in one commit.

Source: PROTOCOL.md of Delta Lake, Change Metadata.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.catalog.table_model import Column, Table
from kafka_hindsight.lake import publication
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.claims import hold_cluster, hold_maintenance, hold_publication
from kafka_hindsight.lake.delta_log import FOLDER, UPGRADES, commit_name
from kafka_hindsight.lake.landing import open_file, write_new
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.publishing import list_newest, take_back
from kafka_hindsight.lake.state import LAKE_VERSION, keep_version, version_of
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import check_file, properties, write_files
from kafka_hindsight.lake.transactions import delta_schema, files_of, open_table, upgrade_commit

_BATCH = 64 * 1024
"""Rows that are read at once."""


def upgrade_tables(lake: str, run_id: str) -> list[Table]:
    """Give each table of an earlier version today's columns and laws, then the lake today's version.

    Every row stays, with the values of an earlier version in new columns (`Column.earlier`). Readers see the old
    versions of tables until all are ready. Another run does the rest of one that ended half way.

    Args:
        lake: A lake of this or an earlier version.
        run_id: The run that does it.

    Returns:
        The tables that have changed; none in a lake of this version.

    Raises:
        BadInput: The lake has a version that cannot be upgraded.
        LakeBusy: Another run holds a cluster of the lake for too long.
    """
    store = Store(lake)
    if version_of(store.lake) == LAKE_VERSION:
        return []
    with ExitStack() as locks:
        for hold in (hold_maintenance, hold_publication):
            locks.enter_context(hold(store.lake, run_id))
        for cluster in _clusters(store):
            locks.enter_context(hold_cluster(store.lake, cluster, run_id))
        take_back(store.lake, store.restore)
        changed = [table for table in publication.newest_versions(store.lake) if upgrade_table(store, table)]
        store.create(*TABLES)
        list_newest(store.lake)
        keep_version(store.lake)
    return changed


def _clusters(store: Store) -> list[str]:
    if not store.has(PUBLICATIONS):
        return []
    names = open_table(store.path(PUBLICATIONS), PUBLICATIONS).to_pyarrow_table(columns=["cluster"])["cluster"]
    return sorted(set(names.to_pylist()))


def upgrade_table(store: Store, table: Table) -> bool:
    """Give one table today's columns and laws, and say whether it had others."""
    folder = store.path(table)
    delta = open_table(folder, table)
    old, new = _fields(delta), {field["name"]: field for field in json.loads(delta_schema(table).to_json())["fields"]}
    has_columns = {name: _shape(field) for name, field in old.items()} == {n: _shape(f) for n, f in new.items()}
    if has_columns and delta.metadata().configuration == properties(table):
        return False
    files = files_of(delta, table, None)
    added = list[DataFile]() if has_columns else _with_columns(folder, table, files)
    removed = [] if has_columns else files
    place = f"{folder}/{FOLDER}/{commit_name(delta.version() + 1)}"
    info = {"operation": UPGRADES, "timestamp": time.time_ns() // 1_000_000}
    write_new(place, upgrade_commit(delta, table, added, removed, info))
    return True


def _fields(delta: DeltaTable) -> dict[str, Mapping[str, Any]]:
    return {field["name"]: field for field in json.loads(delta.schema().to_json())["fields"]}


def _shape(field: Mapping[str, Any]) -> str:
    """Give the type of a column, and whether it may be null, without its comment."""
    return json.dumps([field["type"], field["nullable"]], sort_keys=True)


def _with_columns(folder: str, table: Table, files: Sequence[DataFile]) -> list[DataFile]:
    """Write the rows of files with today's columns."""
    return [new for file in files for new in write_files(folder, table, _batches(folder, table, file))]


def _batches(folder: str, table: Table, file: DataFile) -> Iterator[pa.RecordBatch]:
    check_file(folder, file, table)
    parquet = pq.ParquetFile(open_file(f"{folder}/{file.path}"), coerce_int96_timestamp_unit="us")
    schema = arrow_schema(table)
    for batch in parquet.iter_batches(_BATCH):
        arrays = [_values(batch, column, schema.field(column.name)) for column in table.columns]
        yield pa.record_batch(arrays, schema)


def _values(batch: pa.RecordBatch, column: Column, field: pa.Field) -> pa.Array:
    if column.name in batch.schema.names:
        return batch[column.name].cast(field.type)
    earlier = list(column.earlier) if isinstance(column.earlier, tuple) else column.earlier
    return pa.array([earlier] * len(batch), field.type)
