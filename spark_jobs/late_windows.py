"""Which earlier windows are judged again, since records came late for them: asked of the lake, and kept there."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.quality import LATE_WINDOWS, PUBLICATIONS
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.lake_rows import cluster_rows, table_of
from kafka_hindsight.intake.late_records import Published, earlier_windows, late_windows
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted


def keep_late_windows(engine: Engine, store: Store, settings: Settings, cluster: str, own: Window) -> list[str]:
    """Writes the windows before the run's own that records touched after their publication.

    Gives: a sentence about each, oldest first.

    Keeps: a window has a row for each run that finds it: each run does, until it is judged again.
    Edge case: one small read where nothing earlier was published.
    """
    earlier = earlier_windows(_published(store, cluster), own)
    if not earlier:
        return []
    look_back, look_ahead = (timedelta(hours=h) for h in (settings.look_back_hours, settings.look_ahead_hours))
    found = late_windows(engine, store, cluster, earlier, look_back, look_ahead)
    if found:
        run = {"cluster": cluster, "run_id": settings.run_id, "run_found_at": settings.run_at}
        store.append_new(LATE_WINDOWS, table_of([{**row, **run} for row in found], LATE_WINDOWS))
    return [_sentence(row) for row in found]


def _sentence(row: dict[str, Any]) -> str:
    named, began = ", ".join(row["sources"][:3]), f"{row['window_from']:%Y-%m-%d %H:%M}"
    more = " and others" if len(row["sources"]) > 3 else ""
    late = counted(row["records"], "record")
    return f"{late} came late for the window that began at {began} ({named}{more}): it is judged again."


def _published(store: Store, cluster: str) -> list[Published]:
    rows = cluster_rows(store, PUBLICATIONS, cluster, ("window_from", "window_to", "run_published_at"))
    newest: dict[Window, datetime] = {}
    for row in rows.to_pylist():
        window, at = Window(row["window_from"], row["window_to"]), row["run_published_at"]
        newest[window] = max(at, newest.get(window, at))
    return [Published(window, at) for window, at in newest.items()]
