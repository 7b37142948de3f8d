"""The needs of larger nights, computed from the measured figures: arithmetic, not measurement.

Ingest grows by the megabyte and rebuild by the event, each from a fixed start; both are fitted to the bench's own runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

MB_OF_NIGHTS = (10_000, 100_000, 1_000_000, 10_000_000)
HOURS = 1.0
"""In which a night should be ingested."""

EFFICIENCY = 0.7
"""Of the cores' time; the rest is waiting for the last task, for storage and for commits. An assumption."""

CORES = 4
"""Of an executor."""

TASK_MB = 32
"""What one task reads."""


class StraightCost(NamedTuple):
    """A cost that grows in a straight line."""

    start: float
    slope: float

    def at(self, size: float) -> float:
        """The cost of a size."""
        return self.start + self.slope * size


def fitted(points: Mapping[float, float]) -> StraightCost:
    """The line of least squares through what was measured, by size. Needs two sizes."""
    x_mean, y_mean = sum(points) / len(points), sum(points.values()) / len(points)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points.items()) / sum((x - x_mean) ** 2 for x in points)
    return StraightCost(y_mean - slope * x_mean, slope)


@dataclass(frozen=True)
class Rates:
    """The measured rates. Times are processor seconds; ratios are bytes for each byte of logs.

    `events` are those of a megabyte; `slot_mib` is the JVM's memory for each task that runs beside others.
    """

    ingest: StraightCost
    rebuild: StraightCost
    events: float
    written_ratio: float
    kept_ratio: float
    shuffled: float
    slot_mib: float
    worker_mib: float


@dataclass(frozen=True)
class Size:
    """The needs of a night whose ingest shall take HOURS."""

    mb: float
    processor_hours: float
    rebuild_hours: float
    executors: int
    memory_gb: float
    shuffle_gb: float
    scratch_gb: float
    lake_gb: float
    tasks: int
    read_mb_s: float


def rates(figures: Mapping[str, Any]) -> Rates:
    """The rates in the bench's figures."""
    growth, groups, cluster = (figures[part]["figures"] for part in ("growth", "groups", "cluster"))
    largest = max(growth.values(), key=lambda g: g["read_mb"])
    cores = len(figures["growth"]["measured"]["cores"].split(","))
    both = [*growth.values(), *(run for night in groups.values() for run in night.values())]
    return Rates(
        ingest=fitted({g["read_mb"]: g["cpu_s"] for g in growth.values()}),
        rebuild=fitted({night["rebuild"]["events"]: night["rebuild"]["cpu_s"] for night in groups.values()}),
        events=largest["lines"]["events"] / largest["read_mb"],
        written_ratio=largest["written_mb"] / largest["read_mb"],
        kept_ratio=largest["lake_mb"] / largest["read_mb"],
        shuffled=cluster["ingest"]["shuffled"] / 1e6 / cluster["read_mb"],
        slot_mib=max(run["jvm_mib"] for run in both) / cores,
        worker_mib=max(run["worker_mib"] for run in both),
    )


def size(mb: float, by: Rates) -> Size:
    """The needs of a night of so many megabytes."""
    ingest_s = by.ingest.at(mb)
    executors = math.ceil(ingest_s / (HOURS * 3600 * EFFICIENCY) / CORES)
    return Size(
        mb=mb,
        processor_hours=ingest_s / 3600,
        rebuild_hours=by.rebuild.at(mb * by.events) / 3600,
        executors=executors,
        memory_gb=executors * CORES * (by.slot_mib + by.worker_mib) / 1024,
        shuffle_gb=mb * by.shuffled / 1000,
        scratch_gb=mb * max(by.written_ratio - by.kept_ratio, 0) / 1000,
        lake_gb=mb * by.kept_ratio / 1000,
        tasks=math.ceil(mb / TASK_MB),
        read_mb_s=mb / (HOURS * 3600),
    )


HEAD = (
    "night, GB",
    "ingest, processor hours",
    "rebuild, processor hours",
    f"executors of {CORES} cores",
    "memory in all, GB",
    "shuffled, GB",
    "other scratch, GB",
    "lake grows by, GB",
    f"tasks of {TASK_MB} MB",
    "read, MB/s",
)


def rows(figures: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The sizing table."""
    by = rates(figures)
    for night in (size(mb, by) for mb in MB_OF_NIGHTS):
        yield (
            f"{night.mb / 1000:,.0f}",
            f"{night.processor_hours:,.2f}",
            f"{night.rebuild_hours:,.2f}",
            f"{night.executors:,}",
            f"{night.memory_gb:,.0f}",
            f"{night.shuffle_gb:,.1f}",
            f"{night.scratch_gb:,.1f}",
            f"{night.lake_gb:,.0f}",
            f"{night.tasks:,}",
            f"{night.read_mb_s:,.0f}",
        )
