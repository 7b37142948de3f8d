"""Leader imbalance: Kafka's own formula, strictly above 10 %."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import PartitionSnapshot
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance
from tests.support.rows import row


def partition(number: int, preferred: int, leader: int | None, topic: str = "t") -> PartitionSnapshot:
    replicas = [preferred, *({1, 2, 3} - {preferred})]
    return row(
        PARTITION_SNAPSHOTS,
        topic=topic, partition=number, leader=leader, preferred_leader=preferred, replicas=replicas,
    )  # fmt: skip


def by_broker(partitions: list[PartitionSnapshot], *listed: int) -> dict[int, tuple[object, ...]]:
    rows = rebuild_imbalance(partitions, [row(BROKER_SNAPSHOTS, broker=b) for b in listed])
    return {r.broker: (r.preferred_partitions, r.led_elsewhere, r.ratio, r.over_threshold) for r in rows}


def test_one_in_ten_is_not_above_ten_percent() -> None:
    ten = [partition(i, 1, 2 if i == 0 else 1) for i in range(10)]
    nine = [partition(i, 1, 2 if i == 0 else 1) for i in range(9)]
    assert by_broker(ten)[1] == (10, 1, 0.1, False)
    assert by_broker(nine)[1] == (9, 1, 1 / 9, True)


def test_broker_without_preferred_partitions_has_no_ratio() -> None:
    rows = by_broker([partition(0, 1, 1)], 4)
    assert rows[4] == rows[2] == (0, 0, None, False)


def test_missing_broker_still_counts_as_preferred_leader() -> None:
    assert by_broker([partition(0, 3, 1), partition(1, 1, 1)], 1, 2)[3] == (1, 1, 1.0, True)


def test_leaderless_partition_of_internal_topic_counts_as_led_elsewhere() -> None:
    rows = rebuild_imbalance([partition(0, 1, None, "__consumer_offsets"), partition(0, 1, 1)])
    assert (rows[0].broker, rows[0].led_elsewhere, rows[0].over_threshold) == (1, 1, True)
    assert "__consumer_offsets-0 (no leader)" in rows[0].evidence[0].text


def test_each_snapshot_has_its_own_imbalance() -> None:
    later = replace(partition(0, 1, 2), snapshot_id="later")
    assert [r.led_elsewhere for r in rebuild_imbalance([partition(0, 1, 1), later]) if r.broker == 1] == [0, 1]


BROKERS = st.sampled_from([1, 2, 3])


@given(st.lists(st.tuples(BROKERS, st.none() | BROKERS), min_size=1, max_size=40))
def test_preferred_partitions_of_all_brokers_sum_to_all_partitions(led: list[tuple[int, int | None]]) -> None:
    rows = rebuild_imbalance([partition(i, preferred, leader) for i, (preferred, leader) in enumerate(led)])
    assert sum(r.preferred_partitions for r in rows) == len(led)
    assert sum(r.led_elsewhere for r in rows) == sum(preferred != leader for preferred, leader in led)
    for r in rows:
        assert (r.ratio is None) == (r.preferred_partitions == 0)
        assert r.over_threshold == (10 * r.led_elsewhere > r.preferred_partitions)
        assert r.evidence
