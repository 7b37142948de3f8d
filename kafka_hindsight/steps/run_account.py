"""A run as its steps name it, and the tables that keep an account of every run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.windows import Window

Run = Mapping[str, Any]

_LISTS = ("files_not_read", "left_out", "cluster_ids", "warnings", "inputs")
"""What the summary of an ingest lists for the report."""


def run_of(settings: Settings, ingested: Mapping[str, Any]) -> Run:
    """A run as validation, publication and report need it. `ingested` is the summary of its ingest."""
    return {
        "run_id": settings.run_id,
        "run_at": settings.run_at,
        "started_at": settings.run_at,
        "cluster": ingested["cluster"],
        **{name: datetime.fromisoformat(ingested[name]) for name in ("window_from", "window_to")},
        **{name: ingested.get(name, []) for name in _LISTS},
        "is_partial": ingested.get("is_partial"),
        "log_path": os.environ.get(progress.LOG_VARIABLE, ""),
        "owners": settings.owners,
        "changes": settings.changes,
        "expectations": settings.expectations,
    }


def window_of(run: Run) -> Window:
    """The window of a run."""
    return Window(run["window_from"], run["window_to"])


def of_run(run: Run) -> dict[str, Any]:
    """The columns by which a row names its run."""
    return {name: run[name] for name in ("run_id", "cluster", "window_from", "window_to")}


def keep_rows(store: Store, table: Table, rows: Sequence[Mapping[str, Any]], run: Run) -> None:
    """Put rows of the account of runs in the place of those that this run wrote before."""
    own = pa.Table.from_pylist([*rows], arrow_schema(table))
    store.replace_rows_of_run(table, own, run["cluster"], window_of(run), run["run_id"])
