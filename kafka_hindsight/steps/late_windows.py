"""Earlier windows for which records came late: found in the lake, kept there, and judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.quality import LATE_WINDOWS, PUBLICATIONS
from kafka_hindsight.intake.lake_rows import reduced
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_order import RESTED
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

_MOST_SOURCES = 20

_LATE = f"""
    SELECT window_from, window_to, count(*) AS records, list_sort(list(DISTINCT source))[1:{_MOST_SOURCES}] AS sources,
        min(happened_at) AS first_at, max(happened_at) AS last_at
    FROM part JOIN (SELECT unnest($windows, recursive := true))
        ON run_collected_at > judged_at AND happened_at >= reads_from AND happened_at < reads_to
    GROUP BY window_from, window_to ORDER BY window_from, window_to"""


def keep_late_windows(store: Store, settings: Settings, cluster: str, own: Window) -> list[str]:
    """Keep the windows before the run's own for which records came after their publication.

    Each run writes a row for such a window, until the window is judged again.

    Returns:
        A sentence about each window, oldest first.
    """
    earlier = earlier_windows(_published(store, cluster), own)
    if not earlier:
        return []
    look_back, look_ahead = (timedelta(hours=h) for h in (settings.look_back_hours, settings.look_ahead_hours))
    late = _late_windows(store, cluster, earlier, look_back, look_ahead)
    if late:
        run = {"cluster": cluster, "run_id": settings.run_id, "run_found_at": settings.run_at}
        rows = [{**row, **run} for row in late]
        store.append_new(LATE_WINDOWS, pa.Table.from_pylist(rows, arrow_schema(LATE_WINDOWS)))
    return [_sentence(row) for row in late]


def _late_windows(
    store: Store, cluster: str, earlier: Sequence[Published], look_back: timedelta, look_ahead: timedelta
) -> list[dict[str, Any]]:
    """The windows that would be judged by other records now.

    A record is late if it was collected after the run that published the window had begun, and was ten minutes old by
    then: a younger one may have been a file's last record, which waits, or belongs to the look-ahead of any run.

    Returns:
        window_from, window_to, and of the late records: records, sources (the first twenty by name), first_at, last_at.
    """
    windows = [
        {
            "window_from": p.window.start,
            "window_to": p.window.end,
            "judged_at": p.at,
            "reads_from": p.window.start - look_back,
            "reads_to": min(p.window.end + look_ahead, p.at - RESTED),
        }
        for p in earlier
    ]
    span = min(w["reads_from"] for w in windows), max(w["reads_to"] for w in windows)
    columns = ("source", "happened_at", "run_collected_at")
    rows = reduced(store, LOG_RECORDS, Part(cluster, "happened_at", span), columns, _LATE, windows=windows)
    return list(rows.to_pylist())


def _sentence(row: dict[str, Any]) -> str:
    sources, began = ", ".join(row["sources"][:3]), f"{row['window_from']:%Y-%m-%d %H:%M}"
    more = " and others" if len(row["sources"]) > 3 else ""
    late = counted(row["records"], "record")
    return f"{late} came late for the window that began at {began} ({sources}{more}): it is judged again."


def _published(store: Store, cluster: str) -> list[Published]:
    if not store.has(PUBLICATIONS):
        return []
    columns = ("window_from", "window_to", "run_published_at")
    rows = store.read(PUBLICATIONS, Part(cluster), columns).group_by(["window_from", "window_to"])
    newest = rows.aggregate([("run_published_at", "max")]).to_pylist()
    return [Published(Window(r["window_from"], r["window_to"]), r["run_published_at_max"]) for r in newest]


@dataclass(frozen=True)
class Published:
    """A window of a cluster, and when the run that published it last began."""

    window: Window
    at: datetime


def earlier_windows(published: Sequence[Published], own: Window) -> list[Published]:
    """The windows that began before a run's own and ended at most a week before it, oldest first.

    A window within the run's own, or within one that was published later, is left out: the larger one covers it.
    """
    near = [p for p in published if p.window.start < own.start and p.window.end > own.start - timedelta(days=LATE_DAYS)]
    largest = [p for p in near if not any(_lies_in(p.window, o.window) and o.at >= p.at for o in published)]
    return sorted(largest, key=lambda p: (p.window.start, p.window.end))


def _lies_in(window: Window, other: Window) -> bool:
    return window != other and other.start <= window.start and window.end <= other.end
