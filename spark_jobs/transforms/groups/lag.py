"""Verdicts on consumers' lag, partition by partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import pairwise

from spark_jobs.transforms.evidence import evidence_of, quote_snapshot
from spark_jobs.transforms.windows import OutRow, Row, Window

MINIMUM_READINGS = 10
"""Fewer show no tendency. Source: Burrow, evaluator and storage default `intervals`."""


def judge_lag(offset_snapshots: Iterable[Row], window: Window) -> list[OutRow]:
    """Rows of gold.lag_verdicts: one for each group, topic and partition with a committed offset in the window.

    Takes: rows of bronze.offset_snapshots.
    Gives: `status` as `status_of` says.
    Order: by group, topic and partition.
    """
    points: dict[tuple[str, str, str, int], list[Row]] = defaultdict(list)
    for row in sorted(offset_snapshots, key=lambda r: r.snapshot_at):
        if row.committed_offset is not None and window.holds(row.snapshot_at):
            points[row.cluster, row.group_id, row.topic, row.partition].append(row)
    return [_row(key, points[key], window) for key in sorted(points)]


def _row(key: tuple[str, str, str, int], points: Sequence[Row], window: Window) -> OutRow:
    cluster, group_id, topic, partition = key
    known = [p for p in points if p.lag is not None]
    largest = max(known, key=lambda p: p.lag) if known else None
    shown = [known[0], largest, known[-1]] if known and largest else [points[0], points[-1]]
    return {
        "cluster": cluster,
        "group_id": group_id,
        "topic": topic,
        "partition": partition,
        "window_from": window.start,
        "window_to": window.end,
        "status": status_of(points),
        "lag_first": known[0].lag if known else None,
        "lag_last": known[-1].lag if known else None,
        "lag_max": largest.lag if largest else None,
        "evidence": evidence_of(quote_snapshot(p.snapshot_id, p.snapshot_at, _says(p)) for p in shown),
    }


def status_of(points: Sequence[Row]) -> str:
    """Burrow's verdict on one partition, for readings of a night instead of the last ten commits.

    Takes: rows with a committed_offset in order of time.
    Odd: Burrow calls a consumer well that had caught up once among its last ten commits. Over a night nearly all had,
    so here only the readings since then count. Readings do not show a commit that repeats an offset: an offset that
    did not move in the whole window is a stall, and one that moved, and now stands for longer than it ever had while
    there was something to read, is a stop.
    Source: Burrow, core/internal/evaluator/caching.go.
    """
    if not points or not points[-1].lag:
        return "ok"
    committed = [p.committed_offset for p in points]
    has_moved = len(set(committed)) > 1
    *former, now = _waits(points)
    if has_moved and len(now) >= MINIMUM_READINGS and all(_length(now) > _length(w) for w in former):
        return "stop"
    if _is_rewound(committed):
        return "rewind"
    behind = _since_caught_up(points)
    if len(behind) < MINIMUM_READINGS:
        return "ok"
    if not has_moved:
        return "stall"
    lags = [p.lag for p in behind]
    return "warn" if all(later >= earlier for earlier, later in pairwise(lags)) else "ok"


def _since_caught_up(points: Sequence[Row]) -> list[Row]:
    """The readings with a lag since the last one without."""
    known = [p for p in points if p.lag is not None]
    start = next((i for i in range(len(known), 0, -1) if known[i - 1].lag == 0), 0)
    return known[start:]


def _waits(points: Sequence[Row]) -> list[list[Row]]:
    """Runs of readings in which an offset stood while there was something to read."""
    waits: list[list[Row]] = []
    for before, point in zip([None, *points], points, strict=False):
        if not point.lag:
            continue
        stands = before is not None and before.lag and before.committed_offset == point.committed_offset
        if stands:
            waits[-1].append(point)
        else:
            waits.append([point])
    return waits


def _length(wait: Sequence[Row]) -> timedelta:
    length: timedelta = wait[-1].snapshot_at - wait[0].snapshot_at
    return length


def _is_rewound(committed: Sequence[int]) -> bool:
    """An offset fell, and no later one reached what was held before the fall."""
    return any(
        now < before and all(later < before for later in committed[i + 1 :])
        for i, (before, now) in enumerate(pairwise(committed))
    )


def _says(point: Row) -> str:
    return f"committed {point.committed_offset}, end {point.end_offset}, lag {point.lag}"
