"""The run of an audit: each cluster in the logs, its steps in one process, on Spark, or as its caller starts them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from kafka_hindsight.audit.follow import Screen, follow, printable, relative, start_alone
from kafka_hindsight.audit.inputs import audit_settings
from kafka_hindsight.catalog.steps import INGEST
from kafka_hindsight.kafka import snapshots
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.lake.landing import read_json
from kafka_hindsight.lake.lock import is_held
from kafka_hindsight.settings.config import is_dated, is_uri, masked
from kafka_hindsight.settings.home import RUNS
from kafka_hindsight.settings.models import INPUTS, Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, BadInput
from kafka_hindsight.shared.page_names import NEWEST
from kafka_hindsight.start import launch
from kafka_hindsight.start.extras import require_extra

if TYPE_CHECKING:
    from kafka_hindsight.sql.lake import Lake

_BY_HAND = {"read_to_end": True, "audits_others": True}

Start = Callable[[Settings, Mapping[str, str], IO[bytes]], subprocess.Popen[bytes]]
"""Starts the process of one audit: its settings, variables besides the user's own, the file for its output."""


def judge(logs: str | Path, lake: str | Path | None = None, **inputs: str) -> Lake:
    """Audit a folder of logs in one process beside this one, without a JVM, and open the lake.

    Args:
        logs: A folder of brokers' logs, or a URI.
        lake: Where the tables go, a folder or a URI; None: a new temporary folder, which stays.
        inputs: Other inputs of an audit by their names, such as `client_logs`, `snapshots`, `cluster`, `logs_tz`.

    Raises:
        BadInput: An input is wrong, or the audit did not publish. Progress and reasons are on stdout and stderr.
    """
    if strange := sorted(inputs.keys() - set(INPUTS)):
        raise BadInput(f"An audit has no input {', '.join(strange)}. Its inputs are {', '.join(INPUTS)}.")
    require_extra("audit", "judge")
    from kafka_hindsight.lake.kept_files import under_umask

    place = str(lake or tempfile.mkdtemp(prefix="hindsight-"))
    with under_umask(int(launch.umask(), 8)):
        code = audit(audit_settings({}, {**inputs, "logs": str(logs), "lake": place, "engine": "local"}))
    if code != DONE:
        raise BadInput(f"The audit of {masked(str(logs))} ended with exit code {code}. The sentences above say why.")
    from kafka_hindsight.sql.lake import open_lake

    return open_lake(place)


def start_steps(settings: Settings, variables: Mapping[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start all steps of an audit, one after another in one process, or on Spark where the settings say so."""
    return start_alone(launch.AUDIT, settings.model_copy(update=_BY_HAND), variables, output)


def audit(settings: Settings, live: Connection | None = None, start: Start = start_steps) -> int:
    """Audit each cluster in the logs, or the one that CLUSTER names, and show the progress of each.

    Args:
        settings: The settings of the audit.
        live: The cluster that is read too, before its logs.
        start: Starts the process that audits one cluster.

    Returns:
        The exit code of the first audit that failed, else DONE.

    Raises:
        BadInput: A folder has no log. It is refused before anything starts, and no lake is made.
    """
    from kafka_hindsight.intake.log_files import list_places, places_of

    list_places(None, [p for p in places_of(settings) if not is_uri(p.root) and not is_dated(p.root)], settings.glob)
    code = _audit(settings, start, live)
    ingested = read_json(f"{settings.lake}/runs/{settings.run_id}/{INGEST.name}.json") or {}
    others = ingested.get("other_clusters", []) if settings.cluster is None else []
    for number, other in enumerate(others, start=2):
        print(f"\nThe logs hold another cluster, {printable(other)}: {number} of {len(others) + 1}", flush=True)
        changes = {"cluster": other, "run_id": f"{settings.run_id}-{number}", "run_at": datetime.now(UTC)}
        code = _audit(settings.model_copy(update=changes), start) or code
    if others:
        print(f"\nThe page of all {len(others) + 1} clusters: {relative(settings.lake)}/report/{NEWEST}", flush=True)
    return code


def _audit(settings: Settings, start: Start, live: Connection | None = None) -> int:
    """Read the live cluster, if any, then run the steps once and show their progress.

    If the live cluster cannot be read, a warning says so and its logs are audited. A new lake that got no table is
    removed again.

    Returns:
        The exit code of the step that ended the audit.
    """
    if live:
        _land_reading(live, settings)
    RUNS.mkdir(parents=True, exist_ok=True)
    log, progress_file = RUNS / f"{settings.run_id}.log", RUNS / f"{settings.run_id}.progress"
    progress_file.touch()
    is_new = not is_uri(settings.lake) and not Path(settings.lake).exists()
    with log.open("wb") as output:
        print(f"Auditing {masked(relative(settings.logs))} into {masked(relative(settings.lake))}", flush=True)
        print(f"Log of this run: {relative(str(log))}", flush=True)
        screen = Screen()
        variables = {progress.FILE_VARIABLE: str(progress_file), progress.LOG_VARIABLE: str(log)}
        try:
            follow(start(settings, variables, output), progress_file, screen)
        finally:
            if is_new and not Path(settings.lake, "bronze").exists() and not is_held(settings.lake):
                shutil.rmtree(settings.lake, ignore_errors=True)
    return screen.verdict(log)


def _land_reading(live: Connection, settings: Settings) -> None:
    """Land a reading of the live cluster, which ingest reads next."""
    try:
        code = snapshots.run(snapshots.ReadingOrder(live, settings.lake, settings.run_at, settings.cluster))
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        code = BAD_INPUT
    if code != DONE:
        print("Warning: the live cluster was not read. The audit goes on with LOGS.", file=sys.stderr, flush=True)
