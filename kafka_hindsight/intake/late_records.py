"""Earlier windows that records of the logs touched after they had been published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.engine.work import Engine, narrowed
from kafka_hindsight.lake.arrow_types import INSTANT
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_order import RESTED
from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

_MOST_SOURCES = 20


@dataclass(frozen=True)
class Published:
    """A window of a cluster, and when the run began that published it last."""

    window: Window
    at: datetime


def earlier_windows(published: Iterable[Published], own: Window) -> list[Published]:
    """The windows that began before a run's own and ended at most a week before it, oldest first.

    Those that lie within the run's own, or within a later published one, are not among them: it answers for them.
    """
    known = list(published)
    near = [p for p in known if p.window.start < own.start and p.window.end > own.start - timedelta(days=LATE_DAYS)]
    kept = [p for p in near if not any(_lies_in(p.window, other.window) and other.at >= p.at for other in known)]
    return sorted(kept, key=lambda p: (p.window.start, p.window.end))


class Reach(NamedTuple):
    """A window, the instants of the records that it was judged by, and when it was judged."""

    window: Window
    reads: Window
    judged_at: datetime


_LATE = pa.schema(
    [
        ("reach", pa.int32()),
        ("source", pa.string()),
        ("records", pa.int64()),
        ("first_at", INSTANT),
        ("last_at", INSTANT),
    ]
)


def late_windows(
    engine: Engine,
    store: Store,
    cluster: str,
    earlier: Sequence[Published],
    look_back: timedelta,
    look_ahead: timedelta,
) -> list[dict[str, Any]]:
    """The windows that would be judged by other records now, oldest first.

    Gives: window_from, window_to, records, sources (the first twenty by name), first_at and last_at of what came late.
    Edge case: a record is late where it was collected after the run had begun that published the window, and
        was ten minutes old by then: until it has rested so long a file's last record waits, and what follows it is
        what any run looks ahead to.
    """
    reaches = [
        Reach(p.window, Window(p.window.start - look_back, min(p.window.end + look_ahead, p.at - RESTED)), p.at)
        for p in earlier
    ]
    near = min(r.reads.start for r in reaches), max(r.reads.end for r in reaches)
    columns, narrow = ("source", "happened_at", "run_collected_at"), partial(_late_in, reaches=reaches)
    part = Part(cluster, "happened_at", near)
    found = narrowed(engine, store, LOG_RECORDS, part, columns, narrow, _LATE)
    by_reach = grouped(found.to_pylist(), lambda row: row["reach"])
    return [_late(reaches[n].window, by_reach[n]) for n in sorted(by_reach)]


def _late_in(batches: Iterable[pa.RecordBatch], reaches: Sequence[Reach]) -> Iterator[pa.RecordBatch]:
    """What of some records came late for each window, by source."""
    for rows in batches:
        for n, reach in enumerate(reaches):
            bounds = [pa.scalar(at, INSTANT) for at in (reach.judged_at, reach.reads.start, reach.reads.end)]
            is_within = pc.and_(
                pc.greater_equal(rows["happened_at"], bounds[1]), pc.less(rows["happened_at"], bounds[2])
            )
            late = pa.table(rows.filter(pc.and_(is_within, pc.greater(rows["run_collected_at"], bounds[0]))))
            told = late.group_by("source", use_threads=False).aggregate(
                [("happened_at", "count"), ("happened_at", "min"), ("happened_at", "max")]
            )
            names = ("source", *(f"happened_at_{how}" for how in ("count", "min", "max")))
            number = pa.repeat(pa.scalar(n, pa.int32()), len(told))
            yield from pa.Table.from_arrays([number, *(told[name] for name in names)], schema=_LATE).to_batches()


def _late(window: Window, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "window_from": window.start,
        "window_to": window.end,
        "records": sum(row["records"] for row in rows),
        "sources": sorted({row["source"] for row in rows})[:_MOST_SOURCES],
        "first_at": min(row["first_at"] for row in rows),
        "last_at": max(row["last_at"] for row in rows),
    }


def _lies_in(window: Window, other: Window) -> bool:
    return window != other and other.start <= window.start and window.end <= other.end
