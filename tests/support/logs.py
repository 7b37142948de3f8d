"""Folders of logs, and what the ingest makes of them."""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from kafka_hindsight.catalog import BY_NAME, bronze, quality, silver
from kafka_hindsight.catalog.quality import LATE_WINDOWS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.judgement_run import rebuild
from kafka_hindsight.engine.local import LocalRunner, LocalWorkers
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.lake.staging import Staged, read_staged_rows
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps import collect, ingest, publish, report, validate
from kafka_hindsight.steps import rebuild as rebuild_step
from kafka_hindsight.steps.parsing import PARSED
from tests.support.lake import content_of, naive, naive_rows

COORDINATOR = "kafka.coordinator.group.GroupCoordinator"
RUN_AT = datetime(2026, 11, 22, tzinfo=UTC)
OFFSETS_TOPIC = (bronze.GROUP_RECORDS, bronze.OFFSET_COMMITS)
MADE_BY_INGEST = (bronze.LOG_RECORDS, bronze.LOG_FILES, *snapshots.TABLES, *OFFSETS_TOPIC, *PARSED, LATE_WINDOWS)
"""The tables that ingest creates."""

INGESTED = (bronze.LOG_RECORDS, silver.EVENTS, quality.UNPARSED_LINES, quality.QUARANTINE, quality.COVERAGE)
"""What the step ingest makes of logs."""

Row = dict[str, Any]


def line(message: str, at: str = "01:44:29,117", logger: str = COORDINATOR) -> str:
    """A line in the layout of Kafka's distribution, with its LF."""
    return f"[2026-11-21 {at}] INFO {message} ({logger})\n"


def resigned(partition: int, at: str = "01:44:29,117", broker: int = 1) -> str:
    """A line that becomes an event."""
    return line(
        f"[GroupCoordinator {broker}]: Resigned as the group coordinator for partition {partition} in epoch Some(0)", at
    )


def lay(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with these files, by their names below it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def unpack_night(folder: Path) -> Path:
    """The recorded night in samples/."""
    with tarfile.open(HOME / "samples" / "night-4.1.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def settings(lake: Path, logs: Path | str, **given: Any) -> Settings:
    """The settings of a run on a folder of logs."""
    known = {"run_id": "run-1", "run_at": RUN_AT, "cluster": "prod", "read_to_end": True}
    return Settings.of({"logs": logs, "lake": lake, **known, **given})


@cache
def _tables() -> Path:
    """A lake whose tables ingest has created, and which holds no row: made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="tables-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Store(str(folder)).create(*MADE_BY_INGEST)
    return folder


def with_tables(lake: Path) -> Path:
    """The lake, with the tables that ingest creates where it has none: creation is a third of a small ingest."""
    if not (lake / "bronze").exists():
        shutil.copytree(_tables(), lake, dirs_exist_ok=True)
    return lake


def ingested(lake: Path, logs: Path | str, *, on_nothing: bool = False, **given: Any) -> tuple[Store, Row]:
    """The step ingest on a folder of logs, with its summary. `on_nothing`: it creates its tables itself."""
    if not on_nothing:
        with_tables(lake)
    summary = ingest.run_step(LocalWorkers(), settings(lake, logs, **given), {})
    return Store(str(lake)), summary


def collected(lake: Path, logs: Path | str, **given: Any) -> tuple[Store, Row]:
    """The step collect on a folder of logs, with its summary: nothing is parsed."""
    with_tables(lake)
    summary = collect.run_step(LocalWorkers(), settings(lake, logs, **given), {})
    return Store(str(lake)), summary


def rebuilt(
    store: Store,
    said: Row,
    *names: str,
    around: timedelta = timedelta(hours=24),
) -> dict[str, list[Row]]:
    """The rows of these tables as the step rebuild makes them of what was ingested, before it stages them; what is
    judged for other tables alone is left out.

    Takes: the summary of ingest; how far the rebuild looks beyond the window.
    """
    window = Window(datetime.fromisoformat(said["window_from"]), datetime.fromisoformat(said["window_to"]))
    seen = Window(window.start - around, window.end + around)
    scope = Scope(said["cluster"], window, seen, tuple(map(ClockError.of, said["clocks"])))
    staged = Staged("run", rebuild(LocalRunner(Store(store.lake)), scope, names))
    return {name: naive(read_staged_rows(store.lake, scope.cluster, BY_NAME[name], staged)) for name in staged.files}


def published(of_run: Settings, summary: Row) -> Row:
    """What the steps after ingest leave, and the summary of the last one."""
    earlier = {"ingest": summary}
    for step in (rebuild_step, validate, publish, report):
        earlier[step.__name__.rpartition(".")[2]] = step.run_step(LocalWorkers(), of_run, earlier)
    return earlier["report"]


def rows(store: Store, table: Table, *order: str) -> list[Row]:
    """The rows of a table in some order, missing values first, instants without a zone as Spark gives them.

    Read by delta-rs: Spark plans each query longer than tests of a few rows take.
    """
    by = order or table.key
    return sorted(
        naive_rows(Path(store.lake), table.full_name), key=lambda row: [(row[c] is not None, row[c]) for c in by]
    )


def content(store: Store, table: Table) -> str:
    """A hash of a table's content, whatever the order of its rows; read by delta-rs."""
    return content_of(Path(store.lake), table)


def hashes(store: Store, tables: Iterable[Table] = INGESTED) -> dict[str, str]:
    """A hash of the content of each table."""
    return {table.full_name: content(store, table) for table in tables}


@contextmanager
def conf(spark: SparkSession, **said: str) -> Iterator[None]:
    """Spark's settings while the block runs; a double underscore stands for a dot."""
    before = {key: spark.conf.get(key.replace("__", "."), None) for key in said}
    for key, value in said.items():
        spark.conf.set(key.replace("__", "."), value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.unset(key.replace("__", ".")) if value is None else spark.conf.set(key.replace("__", "."), value)
