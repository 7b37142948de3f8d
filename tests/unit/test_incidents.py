"""Rebalances with one origin are told once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.catalog.codes import CAUSES
from spark_jobs.catalog.gold import BROKER_OUTAGES, COORDINATOR_MOVES, INCIDENTS, REBALANCES
from spark_jobs.transforms.incidents import group_incidents
from tests.support.rows import AT, row

Row = dict[str, Any]


def rebalance(second: int, cause: str, client: str = "a", group: str = "g", **columns: Any) -> Row:
    return row(
        REBALANCES,
        rebalance_id=f"{group}-{second}-{cause}",
        group_id=group,
        started_at=AT + timedelta(seconds=second),
        ended_at=AT + timedelta(seconds=second + 1),
        cause=cause,
        client_id=client,
        **columns,
    )


def told(rows: list[Row], outages: list[Row] = [], moves: list[Row] = []) -> list[tuple[str, bool, int]]:  # noqa: B006
    incidents, _ = group_incidents(rows, outages, moves, {})
    return [(i["kind"], i["planned"], i["rebalance_count"]) for i in incidents]


def test_a_cooperative_follow_up_belongs_to_what_began_it() -> None:
    assert told([rebalance(0, "member_joined"), rebalance(1, "cooperative_followup")]) == [
        ("cooperative_pair", False, 2)
    ]


def test_members_that_close_and_come_back_one_after_another_are_a_deployment() -> None:
    one = [rebalance(0, "member_left", "a"), rebalance(5, "member_rejoined", "a")]
    two = [rebalance(9, "member_left", "b"), rebalance(14, "member_rejoined", "b")]
    assert told([*one, *two]) == [("rolling_restart", True, 4)]
    assert told(one) == [("single", False, 1)] * 2


def test_members_that_crash_and_come_back_are_none() -> None:
    crashes = [
        rebalance(n * 9 + s, cause, client)
        for n, client in enumerate("ab")
        for s, cause in ((0, "member_dead"), (5, "member_rejoined"))
    ]
    assert {kind for kind, _, _ in told(crashes)} == {"single"}


def test_a_loop_of_removals_is_a_storm_and_a_start_up_is_none() -> None:
    loop = [rebalance(n * 60, "member_dead" if n % 2 else "member_joined", f"c{n}") for n in range(6)]
    assert told(loop) == [("storm", False, 6)]
    assert {kind for kind, _, _ in told([rebalance(n * 60, "member_joined", f"c{n}") for n in range(9)])} == {"single"}


def test_groups_that_a_broker_took_along_are_one_incident() -> None:
    outage = row(BROKER_OUTAGES, outage_id="o", broker=7, down_at=AT, up_at=AT + timedelta(seconds=30), planned=False)
    lost = [
        rebalance(20, "heartbeat_expired", group="g1", coordinator=7),
        rebalance(25, "heartbeat_expired", group="g2", coordinator=7),
        rebalance(25, "member_left", group="g3", coordinator=7),
    ]
    assert told(lost, [outage]) == [("broker_outage", False, 2), ("single", False, 1)]
    move = row(COORDINATOR_MOVES, group_id="g4", moved_at=AT + timedelta(seconds=9), outage_id="o")
    assert told([rebalance(10, "coordinator_moved", group="g4", coordinator=8)], [outage], [move]) == [
        ("broker_outage", False, 1)
    ]


def test_the_cost_counts_the_partitions_that_stood_still() -> None:
    rows = [rebalance(0, "member_joined", duration_ms=2_000), rebalance(1, "cooperative_followup", duration_ms=500)]
    (incident,), _ = group_incidents(rows, [], [], {"g": 9})
    assert incident["partition_seconds"] == 9 * 2.5
    assert set(incident) == set(INCIDENTS.column_names) - {"knowledge_version"}


@given(
    st.lists(st.tuples(st.integers(0, 7200), st.sampled_from(CAUSES), st.sampled_from("ab"), st.sampled_from("gh"))),
    st.randoms(),
)
def test_every_rebalance_is_in_exactly_one_incident_whatever_the_order(acts: list[Any], chance: Any) -> None:
    rows = list({r["rebalance_id"]: r for r in (rebalance(*a) for a in acts)}.values())
    incidents, home = group_incidents(rows, [], [], {})
    assert set(home) == {r["rebalance_id"] for r in rows}
    assert sum(i["rebalance_count"] for i in incidents) == len(rows)
    chance.shuffle(rows)
    assert group_incidents(rows, [], [], {})[0] == incidents
