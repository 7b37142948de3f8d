"""The records that one pass over a folder finds, into a lake that knows none of its files."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.file_scan import Pass, Remainder, scan_files
from kafka_hindsight.intake.log_files import list_places
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import read_file
from kafka_hindsight.logs.files import LogPlace
from tests.support.logs import RUN_AT, resigned

START = datetime(2026, 11, 21, 1, tzinfo=UTC)
TRACE = (
    "java.io.IOException: Connection to 127.0.0.1:23602 (id: 2 rack: null) failed.\n\tat kafka.server.X(X.scala:213)\n"
)

NO_LAKE = f"{tempfile.mkdtemp()}/lake"

Row = dict[str, Any]

LOCAL = LocalEngine()


def collected(root: Path | str, zone: str = "UTC", origin: str = "broker", engine: Engine = LOCAL) -> list[Row]:
    """The records of a folder, by source, instant and rank."""
    found = passed(root, zone, origin, engine)
    store = Store(NO_LAKE)
    files = found.write(engine, store, "prod", RUN_AT, Remainder()).files
    batches = chain.from_iterable(read_file(store.path(LOG_RECORDS), file, None, LOG_RECORDS) for file in files)
    rows = [row for batch in batches for row in batch.to_pylist()]
    return sorted(rows, key=lambda r: (r["source"], r["happened_at"] is not None, r["happened_at"], r["order"]))


def passed(root: Path | str, zone: str = "UTC", origin: str = "broker", engine: Engine = LOCAL) -> Pass:
    """One pass over a folder, into a lake that knows none of its files."""
    listing = list_places(engine, [LogPlace(str(root), origin, zone, "LOGS")], None)
    return scan_files(engine, Store(NO_LAKE), listing.files, lambda: listing, None)


def what(rows: list[Row]) -> list[tuple[Any, ...]]:
    """What must not depend on how the files lie."""
    return [(r["line_id"], r["source"], r["happened_at"], r["order"], r["line_count"], r["text"]) for r in rows]


def log(records: int) -> list[str]:
    """Records of one log: some with traces, several in one millisecond, some word for word the same."""
    return [
        resigned(i // 3 * 3 if i % 7 == 0 else i, (START + timedelta(milliseconds=i // 4)).strftime("%H:%M:%S,%f")[:-3])
        + (TRACE * (i % 4) if i % 5 == 0 else "")
        for i in range(records)
    ]
