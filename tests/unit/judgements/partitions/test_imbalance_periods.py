"""How long a broker was above the threshold: the changes of leader between two readings, replayed."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import FAILOVERS, LEADER_IMBALANCE
from kafka_hindsight.catalog.rows import Failover, ImbalancePeriod, LeaderImbalance
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance_periods
from tests.support.rows import AT, QUOTE, row


def minute(n: float) -> datetime:
    return AT + timedelta(minutes=n)


def reading(n: float, elsewhere: int, preferred: int = 10, broker: int = 1) -> LeaderImbalance:
    ratio = elsewhere / preferred if preferred else None
    is_over = 10 * elsewhere > preferred
    return row(
        LEADER_IMBALANCE,
        snapshot_at=minute(n), broker=broker, origin="snapshot", preferred_partitions=preferred,
        led_elsewhere=elsewhere, ratio=ratio, over_threshold=is_over,
        evidence=[{**QUOTE, "line_id": str(n)}] if is_over else None,
    )  # fmt: skip


def moved(n: float, leader_from: int, leader_to: int, kind: str = "broker_crash", **columns: Any) -> Failover:
    """One of the partitions that broker 1 is preferred for changes its leader."""
    return row(
        FAILOVERS,
        happened_at=minute(n), topic="t", partition=0, leader_from=leader_from, leader_to=leader_to, epoch_to=1,
        preferred_leader=1, kind=kind, **columns,
    )  # fmt: skip


def columns_of(imbalance_periods: list[ImbalancePeriod], *columns: str) -> list[tuple[object, ...]]:
    return [tuple(getattr(s, c) for c in columns) for s in imbalance_periods]


def test_period_names_changes_that_cross_the_threshold() -> None:
    """One of ten is no more than 10 %: the second change crosses the threshold, the last but one crosses it back."""
    left = [moved(1 + i / 10, 1, 2, outage_id="o") for i in range(3)]
    back = [moved(7 + i / 10, 2, 1, "preferred_election", requested_by_operator=False) for i in range(3)]
    (period,) = rebuild_imbalance_periods([reading(0, 0), reading(5, 3), reading(10, 0)], [*left, *back])
    assert (period.started_at, period.started_at_is_exact) == (minute(1.1), True)
    assert (period.ended_at, period.ended_at_is_exact) == (minute(7.1), True)
    assert (period.started_by, period.outage_id, period.ended_by) == (
        "broker_crash",
        "o",
        "automatic_election",
    )
    assert (period.readings, period.max_ratio, period.worst_at) == (1, 0.3, minute(5))
    assert period.explanation.startswith("7 of the 10 partitions that prefer broker 1 were led by it at worst")
    assert "since 03:01:06, when it crashed. It ended after 6 min. A preferred election of Kafka's own" in (
        period.explanation
    )


def test_end_that_readings_alone_show_lies_between_two_of_them() -> None:
    """The next reading is a day later, as that of the next night."""
    left = [moved(1 + i / 10, 1, 2) for i in range(3)]
    (period,) = rebuild_imbalance_periods([reading(0, 0), reading(5, 3), reading(1440, 0)], left)
    assert (period.started_at, period.ended_at, period.ended_at_is_exact) == (minute(1.1), minute(1440), False)
    assert "It ended after 3 min 54 s to 23 h 58 min." in period.explanation


@pytest.mark.parametrize(
    ("kind", "requested_by_operator", "ended_by"),
    [
        ("preferred_election", True, "requested_election"),
        ("preferred_election", None, "preferred_election"),
        ("broker_crash", None, "failover"),
    ],
)
def test_period_names_election_or_failover_that_ended_it(
    kind: str, requested_by_operator: bool | None, ended_by: str
) -> None:
    left, back = [moved(1, 1, 2)] * 2, [moved(7, 2, 1, kind, requested_by_operator=requested_by_operator)] * 2
    (period,) = rebuild_imbalance_periods([reading(0, 0), reading(5, 2), reading(10, 0)], [*left, *back])
    assert period.ended_by == ended_by


def test_changes_that_contradict_a_reading_prove_no_exact_start() -> None:
    (period,) = rebuild_imbalance_periods(
        [reading(0, 0), reading(5, 3), reading(10, 0)], [moved(1, 1, 2, outage_id="o")] * 2
    )
    assert columns_of([period], "started_at", "started_at_is_exact", "ended_at", "ended_at_is_exact") == [
        (minute(5), False, minute(10), False)
    ]
    assert (period.started_by, period.outage_id, period.ended_by) == ("broker_crash", "o", None)


def test_reading_can_show_changes_logged_just_after_it() -> None:
    left = [moved(5.01, 1, 2)] * 3
    (period,) = rebuild_imbalance_periods([reading(0, 0), reading(5, 3), reading(10, 3)], left)
    assert (period.started_at, period.started_at_is_exact) == (minute(5), True), "no later than it was seen"


def test_new_partitions_between_readings_keep_the_start_exact() -> None:
    (period,) = rebuild_imbalance_periods([reading(0, 0, 10), reading(5, 4, 12)], [moved(1, 1, 2)] * 4)
    assert (period.started_at, period.started_at_is_exact) == (minute(1), True)


def test_changes_before_first_reading_are_undone_to_find_the_start() -> None:
    (period,) = rebuild_imbalance_periods(
        [reading(0, 3), reading(5, 3)], [moved(-9, 1, 3)] + [moved(-8, 1, 2, outage_id="o")] * 2
    )
    assert columns_of([period], "started_at", "started_at_is_exact", "outage_id", "ended_at") == [
        (minute(-8), False, "o", None)
    ]
    assert "It was not over at 03:05:00" in period.explanation
    (blind,) = rebuild_imbalance_periods([reading(0, 3)], [])
    assert columns_of([blind], "started_at", "started_at_is_exact", "started_by") == [(minute(0), False, None)]


def test_reading_without_preferred_partitions_ends_the_period() -> None:
    others = [reading(n, 0, broker=2) for n in (0, 5, 10)]
    for missing in ([], [reading(5, 0, 0)]):
        first, second = rebuild_imbalance_periods([reading(0, 3), *missing, reading(10, 3), *others], [])
        assert columns_of([first, second], "ended_at", "ended_at_is_exact") == [(minute(5), False), (None, False)]


COUNTS = st.lists(st.integers(0, 10), min_size=1, max_size=12)
STEPS = st.lists(st.tuples(st.floats(0, 12, exclude_max=True), st.booleans()), max_size=12)


@given(COUNTS, STEPS)
def test_periods_cover_exactly_the_readings_above_the_threshold_and_do_not_overlap(
    counts: list[int], steps: list[tuple[float, bool]]
) -> None:
    """Whatever changes are known, they may widen a period up to its neighbours, but contradict no reading."""
    readings = [reading(n, count) for n, count in enumerate(counts)]
    changes = [moved(at, *((1, 2) if away else (2, 1))) for at, away in steps]
    imbalance_periods = rebuild_imbalance_periods(readings, changes)
    for r in readings:
        covers = [s for s in imbalance_periods if s.first_reading_at <= r.snapshot_at <= s.last_reading_at]
        assert len(covers) == r.over_threshold
        overlaps = [s for s in imbalance_periods if s.started_at < r.snapshot_at < (s.ended_at or minute(99))]
        assert r.over_threshold or not overlaps
    for s in imbalance_periods:
        assert s.started_at <= s.first_reading_at
        assert s.ended_at is None or s.ended_at >= s.last_reading_at
        assert s.evidence
    assert all(before.ended_at <= after.started_at for before, after in pairwise(imbalance_periods))
    assert sum(s.readings for s in imbalance_periods) == sum(r.over_threshold for r in readings)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40))
def test_crossing_between_readings_is_exact_where_every_change_is_known(partitions: list[int]) -> None:
    """Each change moves one of ten partitions away, or back; a reading follows every third."""
    away: set[int] = set()
    changes, readings = [], [reading(-1, 0)]
    crossings: list[tuple[datetime, bool]] = []
    for n, p in enumerate(partitions):
        was_over = len(away) > 1
        changes.append(moved(n, *((2, 1) if p in away else (1, 2))))
        away ^= {p}
        if (len(away) > 1) != was_over:
            crossings.append((minute(n), not was_over))
        if n % 3 == 2:
            readings.append(reading(n + 0.5, len(away)))
    for period in rebuild_imbalance_periods(readings, changes):
        assert period.started_at_is_exact and (period.started_at, True) in crossings
        assert period.ended_at is None or (period.ended_at_is_exact and (period.ended_at, False) in crossings)
