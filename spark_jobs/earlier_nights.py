"""The nights before this one, as a report shows them beside it: read from gold, a few rows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog.gold import FAILOVERS, FINDINGS, INCIDENTS, REBALANCES, UNAVAILABILITY
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.knowledge.harms import HARM_NOTES
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.unavailability import NOTICED_MS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.tables.store import Store

NIGHTS = 30

_NUMBERS = ("rebalances", "partition_seconds", "failovers", "leaderless_ms")
_SHOWN = ("rule_id", "subject_kind", "subject", "severity", "message")


def windows_before(store: Store, cluster: str, window: Window, published: Iterable[Window]) -> dict[str, Any]:
    """What report.history takes: the windows published before this one, at most 30, with their numbers, what the
    rules found in the last of them, and what happened on them. Empty where there is none as long as this one.

    Takes: what published_since gives. Edge case: three small reads where there is one.
    """
    before = apart(w for w in published if w.end <= window.start and _as_long(w, window))
    if not before:
        return {}
    numbers, findings, incidents = at_once(
        partial(_numbers, store, cluster, before),
        lambda: store.read_window(FINDINGS, cluster, before[-1]).select(*_SHOWN).toArrow().to_pylist(),
        partial(_incidents, store, cluster, before),
    )
    return {"windows": numbers, "findings": findings, "incidents": incidents}


def apart(windows: Iterable[Window]) -> list[Window]:
    """Windows that share no instant, in order of time: of those that do the later one."""
    kept: list[Window] = []
    for window in sorted(windows, key=lambda w: (w.end, w.start), reverse=True):
        if not kept or window.end <= kept[-1].start:
            kept.append(window)
    return kept[::-1]


def published_since(store: Store, cluster: str, window: Window) -> list[Window]:
    """The windows of a cluster that were published, from thirty such nights before this one on; later ones too."""
    first = window.start - (NIGHTS - 1) * (window.end - window.start)
    rows = (
        store.read(PUBLICATIONS)
        .where((F.col("cluster") == cluster) & (F.col("table") == REBALANCES.full_name) & (F.col("window_to") >= first))
        .select("window_from", "window_to")
        .distinct()
        .toArrow()
        .to_pylist()
    )
    return [Window(row["window_from"], row["window_to"]) for row in rows]


def _as_long(window: Window, other: Window) -> bool:
    return abs((window.end - window.start) - (other.end - other.start)) <= timedelta(seconds=1)


def _numbers(store: Store, cluster: str, windows: Sequence[Window]) -> list[dict[str, Any]]:
    rebalances = _counted(
        store.read(REBALANCES), cluster, windows, F.col("started_at"), rebalances=F.lit(1), **_cost("partition_seconds")
    )
    failovers = _counted(store.read(FAILOVERS), cluster, windows, F.col("happened_at"), failovers=F.lit(1))
    lasted = F.expr("coalesce(timestampdiff(MILLISECOND, started_at, ended_at), low_ms)")
    no_leader = store.read(UNAVAILABILITY).where((F.col("kind") == "no_leader") & (lasted >= NOTICED_MS))
    leaderless = _counted(no_leader, cluster, windows, F.col("started_at"), leaderless_ms=lasted)
    sums = (
        rebalances.unionByName(failovers)
        .unionByName(leaderless)
        .groupBy("night")
        .agg(*(F.sum(name).alias(name) for name in _NUMBERS))
    )
    told = {row["night"]: row for row in sums.toArrow().to_pylist()}
    return [
        {"window_from": w.start, "window_to": w.end, **{name: told.get(i, {}).get(name) or 0 for name in _NUMBERS}}
        for i, w in enumerate(windows)
    ]


def _incidents(store: Store, cluster: str, windows: Sequence[Window]) -> list[dict[str, Any]]:
    """What happened on the windows before and asked its reader to act or look: on how many, and when first and last."""
    calm = [harm for harm, note in HARM_NOTES.items() if note.state == "calm"]
    at = F.col("started_at")
    held = store.read(INCIDENTS).where((F.col("cluster") == cluster) & at.between(windows[0].start, windows[-1].end))
    asked = held.where(F.col("recurrence_id").isNotNull() & ~F.col("harm").isin(*calm))
    nights = asked.select("recurrence_id", at, _night_of(at, windows).alias("night")).where("night IS NOT NULL")
    seen = nights.groupBy("recurrence_id").agg(
        F.count_distinct("night").alias("nights"), F.min(at).alias("first_at"), F.max(at).alias("last_at")
    )
    return list(seen.toArrow().to_pylist())


def _night_of(at: Column, windows: Sequence[Window]) -> Column:
    """The number of the window that holds an instant; null where none does."""
    return F.coalesce(*(F.when((at >= w.start) & (at < w.end), F.lit(i)) for i, w in enumerate(windows)))


def _cost(name: str) -> dict[str, Column]:
    return {name: F.coalesce(F.col(name), F.lit(0))}


def _counted(frame: DataFrame, cluster: str, windows: Sequence[Window], at: Column, **numbers: Column) -> DataFrame:
    columns = [numbers.get(name, F.lit(0)).cast("double").alias(name) for name in _NUMBERS]
    held = frame.where((F.col("cluster") == cluster) & at.between(windows[0].start, windows[-1].end))
    return held.select(_night_of(at, windows).alias("night"), *columns).where(F.col("night").isNotNull())
