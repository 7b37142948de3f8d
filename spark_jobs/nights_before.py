"""The nights before this one, as a report shows them beside it: read from gold, a few rows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.catalog.gold import FAILOVERS, FINDINGS, REBALANCES
from spark_jobs.catalog.quality import PUBLICATIONS
from spark_jobs.edges.store import Store, at_once
from spark_jobs.transforms.windows import Window

NIGHTS = 30

_NUMBERS = ("rebalances", "partition_seconds", "failovers", "leaderless_ms")
_SHOWN = ("rule_id", "subject_kind", "subject", "severity", "message")


def nights_before(store: Store, cluster: str, window: Window) -> dict[str, Any]:
    """What report.history takes: the windows published before this one, at most 30, with their numbers, and what the
    rules found in the last of them. Empty where there is none as long as this one.

    Odd: one small read where there is none, two more where there is one.
    """
    before = apart(_published(store, cluster, window))
    if not before:
        return {}
    numbers, findings = at_once(
        partial(_numbers, store, cluster, before),
        lambda: store.read_window(FINDINGS, cluster, before[-1]).select(*_SHOWN).toArrow().to_pylist(),
    )
    return {"windows": numbers, "findings": findings}


def apart(windows: Iterable[Window]) -> list[Window]:
    """Windows that share no instant, in order of time: of those that do the later one."""
    kept: list[Window] = []
    for window in sorted(windows, key=lambda w: (w.end, w.start), reverse=True):
        if not kept or window.end <= kept[-1].start:
            kept.append(window)
    return kept[::-1]


def _published(store: Store, cluster: str, window: Window) -> list[Window]:
    length = window.end - window.start
    rows = (
        store.read(PUBLICATIONS)
        .where((F.col("cluster") == cluster) & (F.col("table") == REBALANCES.full_name))
        .where(F.col("window_to").between(window.start - (NIGHTS - 1) * length, window.start))
        .select("window_from", "window_to")
        .distinct()
        .toArrow()
        .to_pylist()
    )
    found = (Window(row["window_from"], row["window_to"]) for row in rows)
    return [w for w in found if abs((w.end - w.start) - length) <= timedelta(seconds=1)]


def _numbers(store: Store, cluster: str, windows: Sequence[Window]) -> list[dict[str, Any]]:
    rebalances = _counted(
        store.read(REBALANCES), cluster, windows, F.col("started_at"), rebalances=F.lit(1), **_cost("partition_seconds")
    )
    failovers = _counted(
        store.read(FAILOVERS), cluster, windows, F.col("happened_at"), failovers=F.lit(1), **_cost("leaderless_ms")
    )
    sums = rebalances.unionByName(failovers).groupBy("night").agg(*(F.sum(name).alias(name) for name in _NUMBERS))
    told = {row["night"]: row for row in sums.toArrow().to_pylist()}
    return [
        {"window_from": w.start, "window_to": w.end, **{name: told.get(i, {}).get(name) or 0 for name in _NUMBERS}}
        for i, w in enumerate(windows)
    ]


def _cost(name: str) -> dict[str, Column]:
    return {name: F.coalesce(F.col(name), F.lit(0))}


def _counted(frame: DataFrame, cluster: str, windows: Sequence[Window], at: Column, **numbers: Column) -> DataFrame:
    night = F.coalesce(*(F.when((at >= w.start) & (at < w.end), F.lit(i)) for i, w in enumerate(windows)))
    columns = [numbers.get(name, F.lit(0)).cast("double").alias(name) for name in _NUMBERS]
    held = frame.where((F.col("cluster") == cluster) & at.between(windows[0].start, windows[-1].end))
    return held.select(night.alias("night"), *columns).where(F.col("night").isNotNull())
