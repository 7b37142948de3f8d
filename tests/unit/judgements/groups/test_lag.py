"""Verdicts on lag: each rule holds, and does not hold just beside it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kafka_hindsight.catalog.bronze import OFFSET_SNAPSHOTS
from kafka_hindsight.catalog.rows import OffsetSnapshot
from kafka_hindsight.judgements.groups.lag_rulings import judge_lag
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, row

HOUR = Window(AT, AT + timedelta(hours=1))
Points = list[tuple[int | None, int | None]]


def readings(points: Points) -> list[OffsetSnapshot]:
    """One reading a minute: committed offset and end offset."""
    return [
        row(
            OFFSET_SNAPSHOTS,
            snapshot_id=str(i),
            snapshot_at=AT + timedelta(minutes=i),
            committed_offset=committed,
            end_offset=end,
            lag=None if committed is None or end is None else max(0, end - committed),
        )
        for i, (committed, end) in enumerate(points)
    ]


@pytest.mark.parametrize(
    ("status", "points"),
    [
        ("ok", [(10 * i, 10 * i) for i in range(20)]),
        ("ok", [(10 * i, 10 * i + 7 * (i % 2)) for i in range(20)]),
        # It never moved while there was something to read.
        ("stall", [(5, 10 + i) for i in range(20)]),
        # Nothing to read, then something that it does not read.
        ("stall", [(5, 5)] * 5 + [(5, 6 + i) for i in range(15)]),
        # It moved, and stands now for longer than ever.
        ("stop", [(10 * i, 10 * i) for i in range(8)] + [(70, 80 + i) for i in range(12)]),
        # It often stood as long: it commits every eleven minutes.
        ("ok", [(100 * (i // 11), 10 * i + 5) for i in range(21)]),
        # It fell behind all the time while it moved.
        ("warn", [(5 * i, 10 * i) for i in range(1, 20)]),
        ("ok", [(5 * i, 10 * i - 20 * (i == 12)) for i in range(1, 20)]),
        # It was set back, and has not come as far again.
        ("rewind", [(90 + i, 100 + i) for i in range(8)] + [(10 + i, 110 + i) for i in range(4)]),
        ("ok", [(90, 100), (10, 100), (50, 100), (90, 100), (95, 100)]),
        # Caught up at the end.
        ("ok", [(5, 10)] * 15 + [(20, 20)]),
        # Too few readings for a tendency.
        ("ok", [(5, 10 + i) for i in range(5)]),
        ("ok", [(5, None)] * 20),
    ],
)
def test_status_of_lag_follows_commits_and_end_offsets(status: str, points: Points) -> None:
    [verdict] = judge_lag(readings(points), HOUR)
    assert verdict.status == status
    assert status == "ok" or verdict.evidence


def test_lag_figures_count_readings_of_the_window_alone() -> None:
    [verdict] = judge_lag(
        readings([(0, 3), (0, 9), (2, 6)]), Window(AT + timedelta(minutes=1), AT + timedelta(hours=1))
    )
    assert (verdict.lag_first, verdict.lag_last, verdict.lag_max) == (9, 4, 9)
    assert (verdict.window_from, verdict.window_to) == (AT + timedelta(minutes=1), AT + timedelta(hours=1))


def test_a_partition_without_a_commit_has_no_verdict() -> None:
    assert judge_lag(readings([(None, 10)] * 20), HOUR) == []


def test_order_of_readings_does_not_change_the_lag_verdict() -> None:
    points = readings([(5 * i, 10 * i) for i in range(20)])
    assert judge_lag(points[::-1], HOUR) == judge_lag(points, HOUR)
