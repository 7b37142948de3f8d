"""Readings that travel as states are the readings that were taken: a look-up finds what a list of them holds."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as some

from kafka_hindsight.catalog.bronze import OFFSET_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import PartitionSnapshot
from kafka_hindsight.judgements.partitions.partition_readings import (
    NO_READINGS,
    PartitionReadings,
    readings_by_partition,
)
from tests.support.partitions import states_of
from tests.support.rows import AT, row

MINUTE = timedelta(minutes=1)
shown = some.tuples(some.sampled_from([None, 1, 2]), some.sampled_from([[1], [1, 2], None]), some.integers(0, 3))
taken = some.lists(shown, max_size=12)


def rows_of(states: list[tuple[int | None, list[int] | None, int]]) -> list[PartitionSnapshot]:
    return [
        row(
            PARTITION_SNAPSHOTS, cluster="cluster", topic="t", partition=0,
            snapshot_id=str(n), snapshot_at=AT + n * MINUTE,
            leader=leader, isr=isr, replicas=[1, 2], end_offset=end,
        )
        for n, (leader, isr, end) in enumerate(states)
    ]  # fmt: skip


def readings_of(rows: list[PartitionSnapshot]) -> PartitionReadings:
    return readings_by_partition(states_of(reversed(rows))).get(("cluster", "t", 0), NO_READINGS)


@given(taken, some.integers(-1, 13), some.integers(-1, 13))
def test_look_ups_equal_those_of_a_list_of_readings(
    states: list[tuple[int | None, list[int] | None, int]], first: int, end: int
) -> None:
    rows, since, until = rows_of(states), AT + first * MINUTE, AT + end * MINUTE
    readings = readings_of(rows)
    assert list(readings) == rows and readings[-2:] == rows[-2:]
    part, inside = readings.within(since, until), [r for r in rows if since <= r.snapshot_at < until]
    assert list(part) == inside and len(part) == len(inside)
    assert list(part.where(lambda state: state.leader == 1)) == [r for r in inside if r.leader == 1]
    led = [r for r in rows if r.leader is not None]
    assert readings.last_until(since, lambda s: s.leader) == max(
        (r for r in led if r.snapshot_at <= since), key=lambda r: r.snapshot_at, default=None
    )
    assert readings.first_after(since, lambda s: s.leader) == next((r for r in led if r.snapshot_at > since), None)


@given(taken, some.lists(some.integers(-1, 13), max_size=3))
def test_omitted_readings_only_repeat_their_neighbours(
    states: list[tuple[int | None, list[int] | None, int]], minutes: list[int]
) -> None:
    rows, cuts = rows_of(states), [AT + m * MINUTE for m in minutes]
    kept = readings_of(rows).without_repeats(cuts)
    for n, reading in enumerate(rows):
        if reading not in kept:
            same = rows[n - 3 : n + 2]
            assert len(same) == 5 and len({repr((r.leader, r.isr)) for r in same}) == 1
            assert not any(same[0].snapshot_at < cut <= same[-1].snapshot_at for cut in cuts)


def test_reading_carries_committed_offsets_of_its_snapshot() -> None:
    rows = rows_of([(1, [1], 5), (1, [1], 5)])
    commit = row(OFFSET_SNAPSHOTS, cluster="cluster", topic="t", partition=0, snapshot_id="1", committed_offset=7)
    first, second = readings_by_partition(states_of(rows), [commit])["cluster", "t", 0]
    assert not hasattr(first, "commits") and getattr(second, "commits", None) == (commit,)
