"""Earlier windows that records of the logs touched after they had been published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.logs.file_order import RESTED
from kafka_hindsight.settings.retention import LATE_DAYS
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


def late_windows(
    records: DataFrame, earlier: Sequence[Published], look_back: timedelta, look_ahead: timedelta
) -> DataFrame:
    """The windows that would be judged by other records now.

    Takes: happened_at, source and run_collected_at of a cluster's records. Gives: window_from, window_to, records,
        sources (the first twenty by name), first_at and last_at of what came late.
    Edge case: a record is late where it was collected after the run had begun that published the window, and
        was ten minutes old by then: until it has rested so long a file's last record waits, and what follows it is
        what any run looks ahead to.
    """
    reaches = [
        {
            "window_from": p.window.start,
            "window_to": p.window.end,
            "reads_from": p.window.start - look_back,
            "reads_to": min(p.window.end + look_ahead, p.at - RESTED),
            "judged_at": p.at,
        }
        for p in earlier
    ]
    windows = records.sparkSession.createDataFrame(reaches)
    happened, collected = F.col("happened_at"), F.col("run_collected_at")
    near = records.where(
        (collected > F.lit(min(r["judged_at"] for r in reaches)))
        & (happened >= F.lit(min(r["reads_from"] for r in reaches)))
        & (happened < F.lit(max(r["reads_to"] for r in reaches)))
    )
    is_late = (collected > F.col("judged_at")) & (happened >= F.col("reads_from")) & (happened < F.col("reads_to"))
    return (
        near.join(F.broadcast(windows), is_late)
        .groupBy("window_from", "window_to")
        .agg(
            F.count("*").alias("records"),
            F.slice(F.sort_array(F.collect_set("source")), 1, _MOST_SOURCES).alias("sources"),
            F.min("happened_at").alias("first_at"),
            F.max("happened_at").alias("last_at"),
        )
    )


def _lies_in(window: Window, other: Window) -> bool:
    return window != other and other.start <= window.start and window.end <= other.end
