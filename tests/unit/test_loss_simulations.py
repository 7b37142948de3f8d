"""What the loss of a broker or a rack would cost, compared with a recomputation, one partition after another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import BrokerSnapshot, PartitionSnapshot
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from kafka_hindsight.judgements.groups.coordinators import offsets_partition_of
from kafka_hindsight.judgements.partitions.replicas.loss_simulations import Reading, simulate_losses
from tests.support.groups import SAMPLE
from tests.support.rows import AT, row

RACKS = {1: "a", 2: "b", 3: "b"}
COUNTS = ("partitions_offline", "partitions_unclean", "partitions_unwritable", "partitions_unjudged", "leaders_to_move")


def partition(
    number: int, isr: list[int], replicas: list[int] | None = None, leader: int | None = 0, topic: str = "t"
) -> PartitionSnapshot:
    return row(
        PARTITION_SNAPSHOTS, topic=topic, partition=number, isr=isr, replicas=replicas or isr,
        leader=isr[0] if leader == 0 and isr else leader,
    )  # fmt: skip


def broker(number: int, rack: str | None = None) -> BrokerSnapshot:
    return row(BROKER_SNAPSHOTS, broker=number, rack=rack)


def set_up(topic: str = "t", **values: object) -> BrokerSettings:
    detail = ", ".join(f"{name.replace('_', '.')}={str(value).lower()}" for name, value in values.items())
    return settings_of([row(EVENTS, kind="topic_configured", topic=topic, detail=detail, happened_at=AT)])


SAFE = set_up(min_insync_replicas=2, unclean_leader_election_enable=False)


def counts(reading: Reading) -> dict[str, tuple[int, ...]]:
    return {r.scope: tuple(getattr(r, name) for name in COUNTS) for r in simulate_losses(reading)}


def test_loss_of_only_in_sync_replica_takes_the_partition_offline() -> None:
    alone = [partition(0, [1], [1, 2]), partition(1, [2, 3], [2, 3])]
    simulations = simulate_losses(Reading(alone, [broker(b, r) for b, r in RACKS.items()], settings=SAFE))
    assert {r.scope: tuple(getattr(r, n) for n in COUNTS) for r in simulations} == {
        "1": (1, 0, 0, 0, 0),
        "2": (0, 0, 1, 0, 1),
        "3": (0, 0, 1, 0, 0),
        "a": (1, 0, 0, 0, 0),
        "b": (1, 0, 0, 0, 0),
    }
    one, *_, rack = simulations
    assert one.explanation == (
        "Without broker 1, 1 partition would have no leader; no leaders would move;"
        " the reading does not show the groups that it coordinates."
    )
    assert (one.worst_partitions, rack.worst_partitions, rack.broker_ids) == (["t-0"], ["t-1"], [2, 3])
    assert "t-0: leader 1, isr [1], replicas [1, 2]" in [e.text for e in one.evidence]


def test_loss_with_unclean_election_enabled_elects_another_replica() -> None:
    unclean = set_up(min_insync_replicas=1, unclean_leader_election_enable=True)
    alone = [partition(0, [1], [1, 2])]
    assert counts(Reading(alone, [broker(1), broker(2)], settings=unclean))["1"] == (0, 1, 0, 0, 1)
    assert counts(Reading(alone, [broker(1)], settings=unclean))["1"] == (1, 0, 0, 0, 0)
    assert counts(Reading(alone, [broker(1), broker(2)]))["1"] == (1, 0, 0, 0, 0)


def test_partition_already_offline_or_below_min_isr_costs_nothing() -> None:
    down, short = partition(0, [1], leader=None), partition(1, [1, 2], [1, 2, 3])
    strict = set_up(min_insync_replicas=3)
    assert counts(Reading([down, short], [broker(1), broker(2)], settings=strict))["1"] == (0, 0, 0, 0, 1)


def test_writes_are_unjudged_without_known_min_insync_replicas() -> None:
    assert counts(Reading([partition(0, [1, 2])], [broker(1), broker(2)]))["2"] == (0, 0, 0, 1, 0)


def test_groups_move_with_the_leader_of_their_offsets_partition() -> None:
    offsets = [partition(n, [1, 2] if n else [2], topic="__consumer_offsets") for n in range(4)]
    groups = [f"g{n}" for n in range(20)]
    simulations = simulate_losses(Reading(offsets, [broker(1), broker(2)], groups))
    home = {g: offsets_partition_of(g, 4) for g in groups}
    assert simulations[0].group_ids == sorted(g for g in groups if home[g] != 0)
    assert simulations[0].stranded_group_ids == []
    assert (
        simulations[1].group_ids == simulations[1].stranded_group_ids == sorted(g for g in groups if home[g] == 0) != []
    )
    assert simulate_losses(Reading(offsets, [broker(1)]))[0].group_ids is None
    assert simulate_losses(Reading([partition(0, [1])], [broker(1)], groups))[0].group_ids is None


def test_without_a_reading_no_loss_is_simulated() -> None:
    assert simulate_losses(Reading()) == []


def recomputed(reading: dict[str, Any], lost: set[int], least: int, unclean: set[str]) -> tuple[int, int, int, int]:
    """Offline, unclean, unwritable and moved, by the raw reading."""
    alive = {b["id"] for b in reading["brokers"]}
    partitions = [(t["topic"], p) for t in reading["topics"] for p in t["partitions"] if (p["leader"] or 0) > 0]
    bare = [(t, p) for t, p in partitions if p["isr"] and all(b in lost for b in p["isr"])]
    taken = [p for t, p in bare if t in unclean and any(b in alive and b not in lost for b in p["replicas"])]
    fewer = [p for _, p in partitions if 0 < sum(b not in lost for b in p["isr"]) < min(least, len(p["replicas"]))]
    newly = [p for p in fewer if len(p["isr"]) >= min(least, len(p["replicas"]))]
    moved = sum(p["leader"] in lost for _, p in partitions) - (len(bare) - len(taken))
    return len(bare) - len(taken), len(taken), len(newly), moved


@pytest.mark.parametrize("least", [1, 2])
def test_simulations_of_the_recorded_night_equal_a_recomputation(least: int) -> None:
    readings = [json.loads(line) for line in (SAMPLE / "snapshots.jsonl").read_text().splitlines()]
    has_cost = set()
    for reading in (r for r in readings if r.get("topics")):
        topics = {t["topic"] for t in reading["topics"]}
        unclean = {t for t in topics if "risky" in t}
        own = [
            f"min.insync.replicas={least},unclean.leader.election.enable={str(t in unclean).lower()}" for t in topics
        ]
        settings = settings_of(
            row(EVENTS, kind="topic_configured", topic=t, detail=d, happened_at=AT)
            for t, d in zip(topics, own, strict=True)
        )
        partitions = [
            partition(p["partition"], p["isr"], p["replicas"], max(p["leader"] or 0, 0) or None, t["topic"])
            for t in reading["topics"]
            for p in t["partitions"]
        ]  # fmt: skip
        brokers = [broker(b["id"], b["rack"]) for b in reading["brokers"]]
        for simulation in simulate_losses(
            Reading(partitions, brokers, [g["group"] for g in reading["groups"]], settings)
        ):
            counts = tuple(getattr(simulation, name) for name in COUNTS if name != "partitions_unjudged")
            assert counts == recomputed(reading, set(simulation.broker_ids), least, unclean)
            assert simulation.partitions_unjudged == 0
            has_cost.add(counts[:3] != (0, 0, 0))
    assert True in has_cost


BROKERS = st.sampled_from([1, 2, 3, 4])
PARTITIONS = st.lists(st.tuples(st.lists(BROKERS, min_size=1, max_size=3, unique=True), st.integers(0, 3)), max_size=12)


@given(PARTITIONS, st.integers(1, 3), st.booleans())
def test_loss_of_rack_costs_at_least_the_loss_of_each_of_its_brokers(
    drawn: list[tuple[list[int], int]], least: int, unclean: bool
) -> None:
    partitions = [partition(n, sorted(r)[: max(1, size)], r) for n, (r, size) in enumerate(drawn)]
    settings = set_up(min_insync_replicas=least, unclean_leader_election_enable=unclean)
    rows = simulate_losses(Reading(partitions, [broker(b, "r") for b in (1, 2)], settings=settings))
    for simulation in rows:
        assert sum(getattr(simulation, name) for name in COUNTS[:4]) <= simulation.partitions_hosted
        assert simulation.evidence
    bare = {r.scope: r.partitions_offline + r.partitions_unclean for r in rows}
    if rows:
        assert bare["r"] >= max(bare.get("1", 0), bare.get("2", 0))
