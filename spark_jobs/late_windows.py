"""Which earlier windows are judged again, since records came late for them: asked of the lake, and kept there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyspark.sql import functions as F

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.quality import LATE_WINDOWS, PUBLICATIONS
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.frames.late_records import Published, earlier_windows, late_windows
from kafka_hindsight.spark.tables.store import Store


def keep_late_windows(store: Store, settings: Settings, cluster: str, own: Window) -> list[str]:
    """Writes the windows before the run's own that records touched after their publication.

    Gives: a sentence about each, oldest first.

    Keeps: a window has a row for each run that finds it: each run does, until it is judged again.
    Edge case: one small read where nothing earlier was published.
    """
    earlier = earlier_windows(_published(store, cluster), own)
    if not earlier:
        return []
    look_back, look_ahead = (timedelta(hours=h) for h in (settings.look_back_hours, settings.look_ahead_hours))
    records = store.read(LOG_RECORDS).where(F.col("cluster") == cluster)
    late = late_windows(records, earlier, look_back, look_ahead).orderBy("window_from", "window_to")
    found = late.toArrow().to_pylist()
    if found:
        run = {"cluster": cluster, "run_id": settings.run_id, "run_found_at": settings.run_at}
        rows = frame_of(store.spark, [{**row, **run} for row in found], LATE_WINDOWS)
        store.append_new(LATE_WINDOWS, rows.coalesce(1))
    return [_sentence(row) for row in found]


def _sentence(row: dict[str, Any]) -> str:
    named, began = ", ".join(row["sources"][:3]), f"{row['window_from']:%Y-%m-%d %H:%M}"
    more = " and others" if len(row["sources"]) > 3 else ""
    late = counted(row["records"], "record")
    return f"{late} came late for the window that began at {began} ({named}{more}): it is judged again."


def _published(store: Store, cluster: str) -> list[Published]:
    rows = store.held(PUBLICATIONS, cluster)
    if rows is None:
        return []
    newest = rows.groupBy("window_from", "window_to").agg(F.max("run_published_at").alias("at"))
    return [Published(Window(r["window_from"], r["window_to"]), r["at"]) for r in newest.toArrow().to_pylist()]
