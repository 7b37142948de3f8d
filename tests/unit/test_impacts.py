"""What an absence did, and when that was over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from spark_jobs.catalog.bronze import PARTITION_SNAPSHOTS
from spark_jobs.catalog.gold import BROKER_OUTAGES, COORDINATOR_MOVES, FAILOVERS, ISR_CHANGES_TABLE
from spark_jobs.transforms.impacts import add_impact
from tests.support.nights import Row
from tests.support.rows import AT, row


def after(seconds: int) -> Any:
    return AT + timedelta(seconds=seconds)


def outage(outage_id: str, down: int, up: int | None) -> Row:
    up_at = None if up is None else after(up)
    return row(BROKER_OUTAGES, outage_id=outage_id, broker=1, down_at=after(down), up_at=up_at)


def failover(partition: int, seconds: int, leader_from: int, leader_to: int, outage_id: str | None = None) -> Row:
    return row(
        FAILOVERS,
        topic="t", partition=partition, happened_at=after(seconds), leader_from=leader_from, leader_to=leader_to,
        outage_id=outage_id,
    )  # fmt: skip


def isr(partition: int, seconds: int, change: str, broker: int = 1) -> Row:
    return row(
        ISR_CHANGES_TABLE,
        topic="t", partition=partition, happened_at=after(seconds), change=change, broker_out_or_in=broker,
    )  # fmt: skip


LOST = [failover(0, 10, 1, 2, "first"), failover(1, 10, 1, 3, "first")]
OUT = [isr(0, 10, "shrink"), isr(1, 10, "shrink")]


def impact(failovers: list[Row], changes: list[Row], outages: list[Row] | None = None, **more: Any) -> Row:
    return add_impact(
        outages or [outage("first", 0, 20)], failovers, changes, more.get("moves", []), more.get("readings", [])
    )[0]


def test_counted_and_over() -> None:
    first = impact(
        [*LOST, failover(0, 30, 2, 1), failover(1, 40, 3, 1)], [*OUT, isr(0, 21, "expand"), isr(1, 22, "expand")]
    )
    assert (first["elections"], first["partitions_led_before"]) == (2, 2)
    assert first["leadership_restored_at"] == after(40)
    assert first["isr_recovered_at"] == after(22)


def test_not_over_while_one_partition_is_missing() -> None:
    first = impact([*LOST, failover(0, 30, 2, 1)], [*OUT, isr(0, 21, "expand")])
    assert first["leadership_restored_at"] is first["isr_recovered_at"] is None


def test_what_comes_back_after_it_went_again_does_not_count() -> None:
    first = impact(
        [*LOST, failover(0, 30, 2, 1), failover(1, 70, 3, 1)],
        [*OUT, isr(0, 21, "expand"), isr(1, 71, "expand")],
        [outage("first", 0, 20), outage("second", 50, 60)],
    )
    assert first["leadership_restored_at"] is first["isr_recovered_at"] is None


def test_other_brokers_do_not_count() -> None:
    first = impact(
        [*LOST, failover(5, 12, 2, 3)], [*OUT, isr(0, 11, "shrink", broker=2), isr(0, 12, "expand", broker=2)]
    )
    assert first["elections"] == 2
    assert first["isr_recovered_at"] is None


def test_a_reading_tells_what_it_led_where_no_election_followed() -> None:
    led = [row(PARTITION_SNAPSHOTS, partition=i, snapshot_at=after(-5), leader=1 if i else 2) for i in range(4)]
    assert impact([], [], readings=led)["partitions_led_before"] == 3
    assert impact([], [])["partitions_led_before"] is None


def test_the_groups_whose_coordinator_it_was() -> None:
    moves = [row(COORDINATOR_MOVES, group_id=g, outage_id=o) for g, o in (("b", "first"), ("a", "first"), ("c", None))]
    assert impact([], [], moves=moves)["group_ids"] == ["a", "b"]
