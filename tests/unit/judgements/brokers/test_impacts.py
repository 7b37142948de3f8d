"""What an absence did, and when that was over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, COORDINATOR_MOVES, FAILOVERS, INCIDENTS
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, IsrSpan, OutOfSyncCount
from kafka_hindsight.judgements.brokers.outage_effects import add_impact, add_rebalances, explain_outages
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import count_out_of_sync
from tests.support.rows import AT, row


def after(seconds: int) -> Any:
    return AT + timedelta(seconds=seconds)


def outage(outage_id: str, down: int, up: int | None) -> BrokerOutage:
    up_at = None if up is None else after(up)
    return row(BROKER_OUTAGES, outage_id=outage_id, broker=1, down_at=after(down), up_at=up_at)


def failover(partition: int, seconds: int, leader_from: int, leader_to: int, outage_id: str | None = None) -> Failover:
    return row(
        FAILOVERS,
        topic="t", partition=partition, happened_at=after(seconds), leader_from=leader_from, leader_to=leader_to,
        outage_id=outage_id,
    )  # fmt: skip


def out(
    partition: int, seconds: int, until: int | None, outage_id: str | None = "first", is_back: bool = True
) -> IsrSpan:
    """One partition without broker 1."""
    return row(
        IsrSpan.TABLE,
        topic="t", partition=partition, broker=1, happened_at=after(seconds), outage_id=outage_id,
        out_of_sync_until=None if until is None else after(until), is_back=is_back and until is not None,
    )  # fmt: skip


LOST = [failover(0, 10, 1, 2, "first"), failover(1, 10, 1, 3, "first")]


def impact(
    failovers: list[Failover], spans: list[IsrSpan], outages: list[BrokerOutage] | None = None, **more: Any
) -> BrokerOutage:
    return add_impact(
        outages or [outage("first", 0, 20)], failovers, spans, more.get("moves", []), more.get("readings", []),
        more.get("in_sync", []),
    )[0]  # fmt: skip


def test_recovered_outage_counts_elections_and_isr_changes() -> None:
    first = impact([*LOST, failover(0, 30, 2, 1), failover(1, 40, 3, 1)], [out(0, 10, 21), out(1, 10, 22)])
    assert (first.elections, first.partitions_led_before) == (2, 2)
    assert first.leadership_restored_at == after(40)
    assert first.isr_recovered_at == after(22)
    assert (first.isr_shrinks, first.isr_expands) == (2, 2)


def test_outage_is_not_recovered_while_one_partition_is_missing() -> None:
    first = impact([*LOST, failover(0, 30, 2, 1)], [out(0, 10, 21), out(1, 10, None)])
    assert first.leadership_restored_at is first.isr_recovered_at is None


def test_return_after_second_outage_does_not_recover_the_first() -> None:
    first = impact(
        [*LOST, failover(0, 30, 2, 1), failover(1, 70, 3, 1)],
        [out(0, 10, 21), out(1, 10, 71)],
        [outage("first", 0, 20), outage("second", 50, 60)],
    )
    assert first.leadership_restored_at is first.isr_recovered_at is None


def test_changes_of_other_outages_do_not_count() -> None:
    first = impact([*LOST, failover(5, 12, 2, 3)], [out(0, 11, 12, "other")])
    assert first.elections == 2
    assert (first.isr_shrinks, first.isr_recovered_at) == (0, None)


def test_snapshot_shows_partitions_led_before_where_no_election_followed() -> None:
    led = [row(PARTITION_SNAPSHOTS, partition=i, snapshot_at=after(-5), leader=1 if i else 2) for i in range(4)]
    assert impact([], [], readings=led).partitions_led_before == 3
    assert impact([], []).partitions_led_before is None


def test_outage_counts_groups_whose_coordinator_moved() -> None:
    moves = [row(COORDINATOR_MOVES, group_id=g, outage_id=o) for g, o in (("b", "first"), ("a", "first"), ("c", None))]
    first = impact([], [], moves=moves)
    assert (first.group_ids, first.coordinator_moves) == (["a", "b"], 2)


def out_of_sync(seconds: int, partitions_out: int, broker: int = 1) -> OutOfSyncCount:
    quote = {"line_id": str(seconds), "source": "snapshots", "happened_at": after(seconds), "text": "a reading"}
    return row(
        OutOfSyncCount.TABLE,
        snapshot_at=after(seconds), broker=broker, partitions_out=partitions_out, evidence=[quote],
    )  # fmt: skip


def test_isr_recovery_is_shown_by_snapshots_alone() -> None:
    counts = [
        out_of_sync(-5, 0),
        out_of_sync(10, 3),
        out_of_sync(15, 0, broker=2),
        out_of_sync(25, 1),
        out_of_sync(35, 0),
        out_of_sync(45, 0),
    ]
    first = impact([], [], in_sync=counts)
    assert first.isr_recovered_at == after(35)
    assert [e.line_id for e in first.evidence][-2:] == ["10", "35"]
    assert impact([], [], in_sync=[out_of_sync(25, 0)]).isr_recovered_at is None
    assert impact([], [out(0, 10, None)], in_sync=counts).isr_recovered_at is None


def test_snapshot_counts_out_of_sync_partitions_of_each_broker() -> None:
    rows = [
        row(PARTITION_SNAPSHOTS, partition=p, replicas=[1, 2], isr=isr, snapshot_at=AT)
        for p, isr in enumerate(([1, 2], [1], [1], None))
    ]
    assert [(r.broker, r.partitions_out) for r in count_out_of_sync(rows)] == [(1, 0), (2, 2)]


class TestExplanation:
    def explained(self, moves: int = 0, **columns: Any) -> BrokerOutage:
        defaults = {"outage_id": "o", "broker": 1, "down_at": AT, "up_at": after(11), "detected_at": after(2)}
        away = [row(BROKER_OUTAGES, **defaults | columns)]
        moved = [row(COORDINATOR_MOVES, group_id=f"g{i}", outage_id="o") for i in range(moves)]
        spans = [out(0, 1, 13, "o"), out(1, 1, 15, "o")]
        incident = row(INCIDENTS, first_outage_id="o", group_ids=["g0", "h"], rebalance_count=3, partition_seconds=12.5)
        counted = add_rebalances(add_impact(away, [], spans, moved), [incident] if moves else [])
        return explain_outages(counted, {"o": "r"})[0]

    def test_explanation_names_recovery_time_and_rebalances(self) -> None:
        story = self.explained(moves=2, explanation="Broker 1 had a controlled shutdown.", kind="controlled_shutdown")
        assert story.explanation == (
            "Broker 1 had a controlled shutdown. The controller released it after 2 s and its replicas were back in"
            " sync after 15 s."
            " Group coordinators moved twice; the outage caused 3 rebalances (at most 12.5 partition-seconds)."
        )
        assert (story.rebalances, story.partition_seconds, story.restart_id) == (3, 12.5, "r")
        assert story.group_ids == ["g0", "g1", "h"]

    def test_coordinator_move_alone_counts_no_rebalance(self) -> None:
        moved = [row(COORDINATOR_MOVES, group_id="g", outage_id="o")]
        counted = add_rebalances(add_impact([outage("o", 0, None)], [], [], moved), [])
        (story,) = explain_outages(counted, {})
        assert story.explanation.endswith("Group coordinators moved once, and the outage caused no rebalance.")

    def test_explanation_omits_unknown_times(self) -> None:
        story = self.explained(explanation="Gone.", up_at=None, detected_at=None)
        assert story.explanation == "Gone."
        assert (story.rebalances, story.partition_seconds) == (0, None)
