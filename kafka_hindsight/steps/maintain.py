"""The step maintain: it removes old rows, landed files and unused files, and compacts small files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.bronze import GROUP_RECORDS, LOG_FILES, OFFSET_COMMITS, SNAPSHOT_READINGS
from kafka_hindsight.catalog.table_model import ListOf
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.claims import hold_publication
from kafka_hindsight.lake.publishing import list_maintained
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.settings.retention import Retention, retention_of
from kafka_hindsight.shared import progress
from kafka_hindsight.sources.land import LOGS, batch_landed_at
from kafka_hindsight.sql.duck_types import quoted_name, view_name
from kafka_hindsight.sql.lake_views import open_views

_TABLE_OF = {
    landing.SNAPSHOTS: SNAPSHOT_READINGS,
    landing.GROUP_RECORDS: GROUP_RECORDS,
    landing.OFFSET_COMMITS: OFFSET_COMMITS,
}
"""The table that names, in run_landed_as, the landed files of a kind that are in bronze."""


def run_step(workers: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Maintain the whole lake.

    Everything stays that a night, its look-back or a late record still reads, that a reader who began within the last
    week reads, and every landed file that is not in bronze.

    Returns:
        How many landed files, and by table how many rows, were removed.

    Raises:
        BadInput: KEEP is too short for that.
    """
    keep = retention_of(settings.keep, settings.look_back_hours, settings.look_ahead_hours)
    store = Store(settings.lake)
    files = _remove_landed(store, keep, settings.run_at) + _remove_landed_logs(store, keep, settings.run_at)
    progress.say(f"{files} old landed files removed, which are in bronze")
    counts = {t.full_name: _maintain(store, t, keep, settings.run_at) for t in TABLES if store.has(t)}
    with hold_publication(store.lake, settings.run_id):
        list_maintained(store.lake)
    removed = {name: rows for name, rows in counts.items() if rows}
    progress.say(f"{sum(removed.values())} old rows of {len(removed)} tables removed; {len(counts)} tables compacted")
    return {"landed_files": files, "rows": removed}


def _maintain(store: Store, table: Table, keep: Retention, now: datetime) -> int:
    oldest, column = keep.oldest(table, now), _ages_by(table)
    rows = store.delete_before(table, column, oldest) if oldest and column else 0
    store.put_in_order(table)
    return rows


def _ages_by(table: Table) -> str | None:
    """The column that shows how old a row is; None for the register of files, since files may lie there for years."""
    if table.time_column:
        return table.time_column
    return "window_to" if "window_to" in table.column_names else None


def _remove_landed(store: Store, keep: Retention, now: datetime) -> int:
    oldest = keep.oldest_landed(now)
    if oldest is None:
        return 0
    count = 0
    for kind, table in _TABLE_OF.items():
        old = {n for n in landing.list_landed(store.lake, kind) if (at := landing.landed_at(n)) and at < oldest}
        if old and store.has(table):
            in_bronze = {name for (name,) in _distinct(store, table, "run_landed_as", old)}
            for name in in_bronze:
                landing.remove(f"{landing.landing_folder(store.lake, kind)}/{name}")
            count += len(in_bronze)
    return count


def _remove_landed_logs(store: Store, keep: Retention, now: datetime) -> int:
    """Remove files of sources that are in the register: their lines are in bronze."""
    oldest, folder = keep.oldest_landed(now), landing.landing_folder(store.lake, LOGS)
    parts = {
        n: n.split("/", 2) for n in landing.files_below(folder) if oldest and (at := batch_landed_at(n)) and at < oldest
    }
    if not parts or not store.has(LOG_FILES):
        return 0
    files = {file for _, _, file in parts.values()}
    in_register = {(f"{origin}s", file) for file, origin in _distinct(store, LOG_FILES, "file", files, "origin")}
    removable = [name for name, (origins, _, file) in parts.items() if (origins, file) in in_register]
    for name in removable:
        landing.remove(f"{folder}/{name}")
    return len(removable)


def _distinct(store: Store, table: Table, column: str, values: Collection[str], *others: str) -> list[tuple[str, ...]]:
    """The distinct values of a column and others, in rows whose column has one of these values.

    The values of a column of lists are those in its lists.
    """
    own = quoted_name(column)
    value = f"unnest({own})" if isinstance(table.column(column).kind, ListOf) else own
    names = ", ".join((f"{value} AS value", *map(quoted_name, others)))
    rows = f"SELECT {names} FROM {view_name(table)}"
    query = f"SELECT DISTINCT * FROM ({rows}) WHERE list_contains($values, value)"
    with open_views(store.lake, (table,)) as connection:
        return list(connection.execute(query, {"values": [*values]}).fetchall())
