"""Balance of leaders by the definitions that people use besides Kafka's threshold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, GROUP_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import BrokerSnapshot, GroupSnapshot, LeaderBalance, PartitionSnapshot
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_balance
from tests.support.rows import row


def partition(number: int, preferred: int, leader: int | None, topic: str = "t") -> PartitionSnapshot:
    replicas = [preferred, *({1, 2, 3} - {preferred})]
    return row(
        PARTITION_SNAPSHOTS,
        topic=topic, partition=number, leader=leader, preferred_leader=preferred, replicas=replicas,
        is_internal=topic.startswith("__"),
    )  # fmt: skip


def brokers(**racks: str | None) -> list[BrokerSnapshot]:
    return [row(BROKER_SNAPSHOTS, broker=int(b[1:]), rack=rack) for b, rack in racks.items()]


def by_scope(
    partitions: list[PartitionSnapshot], listed: list[BrokerSnapshot], groups: list[GroupSnapshot] | None = None
) -> dict[str, LeaderBalance]:
    return {r.scope: r for r in rebuild_balance(partitions, listed, groups or [])}


# Broker 1 leads its two and one of broker 2's, which leads one; broker 3 is there and leads nothing.
LED = [partition(0, 1, 1), partition(1, 1, 1), partition(2, 2, 1), partition(3, 2, 2), partition(4, 3, None)]


def test_broker_without_leaders_counts_in_mean() -> None:
    balance = by_scope(LED, brokers(b1=None, b2=None, b3=None))["all"]
    assert (balance.leaders_max, balance.leaders_min, balance.brokers) == (3, 0, 3)
    assert balance.leader_spread == pytest.approx(3 / (4 / 3))
    assert balance.leader_excess == pytest.approx(3 / (4 / 3) - 1)
    assert balance.brokers_off_band == 3
    assert (balance.most_loaded_broker, balance.least_loaded_broker) == (1, 3)


def test_leaderless_partition_is_counted_separately() -> None:
    balance = by_scope(LED, [])["all"]
    assert (balance.partitions, balance.leaderless, balance.non_preferred) == (5, 1, 1)
    assert balance.non_preferred_share == 0.25
    leaderless = by_scope([partition(0, 1, None)], [])["all"]
    assert leaderless.non_preferred_share is leaderless.leader_spread is leaderless.leader_excess is None


def test_balance_is_counted_with_and_without_internal_topics() -> None:
    offsets = [partition(n, 2, 2, "__consumer_offsets") for n in range(4)]
    balances = by_scope([*LED, *offsets], brokers(b1=None, b2=None))
    assert (balances["all"].partitions, balances["without_internal"].partitions) == (9, 5)
    assert (balances["all"].coordinator_spread, balances["without_internal"].coordinator_spread) == (2.0, None)


def test_rack_scope_has_partitions_its_brokers_are_preferred_for() -> None:
    balances = by_scope(LED, brokers(b1="a", b2="b", b3="b"))
    assert set(balances) == {"all", "without_internal", "rack:a", "rack:b"}
    assert (balances["rack:a"].partitions, balances["rack:a"].non_preferred, balances["rack:a"].leaders_max) == (
        2,
        0,
        3,
    )
    assert (balances["rack:b"].partitions, balances["rack:b"].non_preferred, balances["rack:b"].leaders_max) == (
        3,
        1,
        1,
    )


def test_groups_are_counted_by_their_coordinator() -> None:
    groups = [row(GROUP_SNAPSHOTS, group_id=str(n), coordinator=c) for n, c in enumerate((1, 1, 2, None))]
    assert by_scope(LED, brokers(b1=None, b2=None), groups)["all"].group_spread == pytest.approx(1 / 1.5)
    assert by_scope(LED, [])["all"].group_spread is None


BROKERS = st.sampled_from([1, 2, 3])


@given(st.lists(st.tuples(BROKERS, st.none() | BROKERS), min_size=1, max_size=40))
def test_rack_counts_add_up_and_even_spread_is_zero(led: list[tuple[int, int | None]]) -> None:
    partitions = [partition(i, preferred, leader) for i, (preferred, leader) in enumerate(led)]
    balances = by_scope(partitions, brokers(b1="a", b2="a", b3="b"))
    whole, racks = balances["all"], [balances["rack:a"], balances["rack:b"]]
    for column in ("partitions", "leaderless", "non_preferred", "brokers"):
        assert getattr(whole, column) == sum(getattr(r, column) for r in racks)
    assert whole.non_preferred == sum(leader not in (None, preferred) for preferred, leader in led)
    is_even = whole.leaders_max == whole.leaders_min
    assert (whole.leader_spread in (0, None)) == is_even
    assert not is_even or whole.brokers_off_band == 0
    assert all(r.evidence for r in balances.values())
