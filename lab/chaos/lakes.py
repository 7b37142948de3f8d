"""The contents of a lake, and what readers see of it while steps die."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from deltalake import DeltaTable

from kafka_hindsight.catalog import Table
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.lake.publication import TOGETHER, half_published, newest_versions
from kafka_hindsight.sql.alert_rows import read_alert_rows
from kafka_hindsight.sql.duck_types import view_name
from kafka_hindsight.sql.lake_views import open_views

Hashes = dict[str, str]

_EVER = datetime(2000, 1, 1, tzinfo=UTC)
_LATER = {PUBLICATIONS: {"version"}}
"""A run that was cut short and tried again leaves more versions."""

_ALERTS = ("windows", "findings", "incidents", "declared")
"""What an alert is made of that is published together."""


def contents(lake: Path | str) -> Hashes:
    """A hash of each table's rows, whatever their order; what depends on the run is left out."""
    return {
        t.full_name: _hash(t, DeltaTable(f"{lake}/{t.layer}/{t.name}").to_pyarrow_table().to_pylist())
        for t in newest_versions(str(lake))
    }


def others(before: Hashes, after: Hashes) -> list[str]:
    """The tables in which there are other rows, or which are there in one of two lakes alone."""
    return sorted(n for n in {*before, *after} if before.get(n) != after.get(n))


class LakeLook(NamedTuple):
    """A look of the readers: gold by the SQL prompt's views and alerts' rows; their sentences; what was unread."""

    gold: Hashes
    sentences: list[str]
    unread: tuple[str, ...]


def look_at(lake: Path | str) -> LakeLook:
    """Open a lake as the prompt and the alerts do. A lake without tables has no rows."""
    errors = io.StringIO()
    gold = {t.full_name: _hash(t, []) for t in GOLD}
    with contextlib.redirect_stderr(errors):
        if newest_versions(str(lake)):
            with open_views(str(lake), GOLD) as connection:
                for table in GOLD:
                    rows_read = connection.sql(f"FROM {view_name(table)}").to_arrow_table().to_pylist()
                    gold[table.full_name] = _hash(table, rows_read)
        rows = read_alert_rows(str(lake), _EVER, _EVER)
    gold["alerts"] = _digest({name: row} for name in _ALERTS for row in getattr(rows, name))
    return LakeLook(gold, errors.getvalue().splitlines(), rows.unread)


def shows_newest(lake: Path | str) -> bool:
    """Whether readers see the newest rows of each table that is published together.

    A lock that is taken over gives a table a newer version without other rows.
    """
    return not half_published(str(lake), newest_versions(str(lake), *TOGETHER))


def lay_left_overs(lake: Path) -> None:
    """Lay files that no version names into each table, a month old, so that VACUUM has something to remove."""
    old = time.time() - 30 * 86_400
    for log in lake.glob("*/*/_delta_log"):
        for number in range(3):
            file = log.parent / f"part-0000{number}-left-over.snappy.parquet"
            file.write_bytes(b"left over")
            os.utime(file, (old, old))


def _hash(table: Table, rows: list[dict[str, Any]]) -> str:
    columns = sorted({*table.content_columns} - _LATER.get(table, set()))
    return _digest({c: row.get(c) for c in columns} for row in rows)


def _digest(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
