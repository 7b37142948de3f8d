"""Rebalances with one origin are told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, COORDINATOR_MOVES, FAILOVERS, REBALANCES
from kafka_hindsight.catalog.rows import BrokerOutage, Contributor, CoordinatorMove, Failover, Rebalance
from kafka_hindsight.judgements.groups.coordinators import losses_of_groups, offsets_partition_of
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from tests.support.histories import BOTH, lines, rebalances
from tests.support.judged_lines import judged_lines
from tests.support.nights import EXCERPTS
from tests.support.rows import AT, row


def rebalance(second: int, cause: str, client: str = "a", group: str = "g", **columns: Any) -> Rebalance:
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


def kinds_and_counts(
    rows: Sequence[Rebalance], outages: Sequence[BrokerOutage] = (), moves: Sequence[CoordinatorMove] = ()
) -> list[tuple[str, int]]:
    incidents, _ = group_incidents(rows, outages, moves)
    return [(i.kind, i.rebalance_count) for i in incidents]


def test_cooperative_followup_belongs_to_its_first_rebalance() -> None:
    assert kinds_and_counts([rebalance(0, "member_joined"), rebalance(1, "cooperative_followup")]) == [
        ("cooperative_pair", 2)
    ]


def test_members_that_leave_and_rejoin_in_turn_are_a_rolling_restart() -> None:
    one = [rebalance(0, "member_left", "a"), rebalance(5, "member_rejoined", "a")]
    two = [rebalance(9, "member_left", "b"), rebalance(14, "member_rejoined", "b")]
    assert kinds_and_counts([*one, *two]) == [("rolling_restart", 4)]
    assert kinds_and_counts(one) == [("single", 1)] * 2


def slow_or_closed(confidence: str, second: str) -> list[tuple[str, int]]:
    """Two members in turn: one left for its poll limit, as sure as that is, and the other one so."""
    first = replace(rebalance(0, "max_poll_exceeded", "a"), confidence=confidence)
    other = replace(rebalance(9, second, "b"), confidence=confidence)
    return kinds_and_counts([
        first, rebalance(5, "member_rejoined", "a"), other, rebalance(14, "member_rejoined", "b"),
    ])  # fmt: skip


def test_leave_that_may_be_a_close_is_one_where_another_member_closed_in_turn() -> None:
    """Clients of librdkafka give no reason as they leave: a close and an exceeded limit look alike to brokers."""
    assert slow_or_closed("possible", "member_left") == [("rolling_restart", 4)]
    assert slow_or_closed("likely", "member_left") == [("single", 1)] * 4
    assert slow_or_closed("possible", "max_poll_exceeded") == [("single", 1)] * 4


def test_rolling_restart_has_the_cause_of_its_close() -> None:
    first = replace(rebalance(0, "max_poll_exceeded", "a"), confidence="possible")
    rows = [
        first,
        rebalance(5, "member_rejoined", "a"),
        rebalance(9, "member_left", "b"),
        rebalance(14, "member_rejoined", "b"),
    ]
    (incident,), _ = group_incidents(rows, [], [])
    assert incident.cause == "member_left"


def test_members_that_crash_and_rejoin_are_no_rolling_restart() -> None:
    crashes = [
        rebalance(n * 9 + s, cause, client)
        for n, client in enumerate("ab")
        for s, cause in ((0, "member_dead"), (5, "member_rejoined"))
    ]
    assert {kind for kind, _ in kinds_and_counts(crashes)} == {"single"}


def acts(*members: tuple[int, str, str], **columns: Any) -> list[Rebalance]:
    """A rebalance for each: when, whether the member left or joined, and which."""
    return [rebalance(second, f"member_{what}", client, **columns) for second, what, client in members]


def test_members_that_leave_as_others_join_in_turn_are_replaced() -> None:
    """A deployment under new client ids: what is known is who left and who joined."""
    deployed = acts((0, "left", "a"), (5, "joined", "c"), (20, "left", "b"), (25, "joined", "d"))
    (incident,), _ = group_incidents(deployed, [], [])
    assert (incident.kind, incident.rebalance_count, incident.cause) == ("members_replaced", 4, "member_left")
    assert incident.explanation == (
        "Members of group 'g' were replaced: 2 left and 2 others joined within 25 s. The logs do not show whether the"
        " same program goes on under new names."
    )
    started = acts((-300, "joined", "a"), (-290, "joined", "b"))
    assert kinds_and_counts([*started, *deployed]) == [("single", 1), ("single", 1), ("members_replaced", 4)]


@pytest.mark.parametrize(
    "members",
    [
        ((0, "joined", "c"), (5, "left", "a"), (20, "joined", "d"), (25, "left", "b")),
        ((0, "joined", "c"), (5, "joined", "d"), (20, "left", "a"), (25, "left", "b")),
    ],
    ids=["one after another", "all at once"],
)
def test_members_that_join_before_others_leave_replace_them(members: Sequence[tuple[int, str, str]]) -> None:
    """Orchestrators start new instances first: a surge."""
    assert kinds_and_counts(acts(*members)) == [("members_replaced", 4)]
    started = acts((-300, "joined", "a"), (-290, "joined", "b"))
    assert kinds_and_counts([*started, *acts(*members)]) == [("single", 1), ("single", 1), ("members_replaced", 4)]


def test_surge_as_captured_under_one_client_id_is_members_that_were_replaced(tmp_path: Path) -> None:
    """Five instances with one client id, as frameworks give by default: a new one joins, then an old one closes."""
    folder = EXCERPTS / "groups" / "surge-4.2" / "logs"
    tables = judged_lines(tmp_path, {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*.log")})
    *started, replaced = sorted(tables["gold.incidents"], key=lambda i: i.started_at)
    assert [(i.kind, i.rebalance_count) for i in started] == [("single", 1)] * 5
    assert (replaced.kind, replaced.rebalance_count, replaced.harm) == ("members_replaced", 10, "routine")
    assert ": 5 left and 5 others joined within 2 min 15 s." in replaced.explanation
    assert [f.rule_id for f in tables["gold.findings"] if f.subject_kind == "group" and not f.is_standing] == []


def test_member_that_leaves_and_joins_again_and_again_replaces_none() -> None:
    """Under a client id that others have too, each of its processes has a member id of its own."""
    turns = [
        replace(row, member_id=f"m{n + (row.cause == 'member_joined')}", client_id="app", confidence=confidence)
        for n in range(5)
        for row in acts((60 * n, "left", "app"), (60 * n + 9, "joined", "app"))
        for confidence in ["possible" if row.cause == "member_joined" else "certain"]
    ]
    assert {kind for kind, _ in kinds_and_counts(turns)} == {"single"}


def test_deployment_as_captured_under_new_names_is_members_that_were_replaced(tmp_path: Path) -> None:
    """The lines of a recorded deployment; the two processes that are started again have another client id."""
    folder = EXCERPTS / "groups" / "deployment-4.1" / "logs"
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.log")}
    for second_id in ("a-d93f8f40", "b-1c8a6a1f"):
        files = {
            name: text.replace(f"billing-deploy-9-{second_id}", f"billing-deploy-10-{second_id}")
            for name, text in files.items()
        }
    replaced = [i for i in judged_lines(tmp_path, files)["gold.incidents"] if i.kind == "members_replaced"]
    assert [(i.rebalance_count, i.harm, i.headline) for i in replaced] == [
        (4, "routine", "Group billing-deploy-9 had members replaced, in 4 rebalances within 9.8 s")
    ]
    assert ": 2 left and 2 others joined within 9 s." in replaced[0].explanation


def test_group_that_is_made_larger_or_smaller_has_no_members_replaced() -> None:
    def kinds(*members: tuple[int, str, str], **columns: Any) -> set[str]:
        return {kind for kind, _ in kinds_and_counts(acts(*members, **columns))}

    both_leave = ((0, "left", "a"), (5, "left", "b"))
    assert kinds(*both_leave) == {"single"}
    assert kinds(*both_leave, (606, "joined", "c"), (607, "joined", "d")) == {"single"}, "more than ten minutes later"
    assert kinds((0, "left", "a"), (5, "joined", "c")) == {"single"}
    in_turn = acts((0, "left", "a"), (5, "joined", "c"), (20, "left", "b"), (25, "joined", "d"), (30, "joined", "e"))
    sizes = [replace(r, members_before=n, members_after=m) for r, (n, m) in zip(
        in_turn, ((2, 1), (1, 2), (2, 1), (1, 2), (2, 3)), strict=True
    )]  # fmt: skip
    assert kinds_and_counts(sizes) == [("members_replaced", 4), ("single", 1)]
    larger = [replace(r, members_before=n, members_after=m) for r, (n, m) in zip(
        in_turn[:4], ((2, 1), (1, 3), (3, 2), (2, 3)), strict=True
    )]  # fmt: skip
    assert {kind for kind, _ in kinds_and_counts(larger)} == {"single"}


def test_members_that_die_are_not_replaced() -> None:
    dying = acts((0, "left", "a"), (5, "joined", "c"), (20, "dead", "b"), (25, "joined", "d"))
    assert {kind for kind, _ in kinds_and_counts(dying)} == {"single"}


def test_repeated_removals_are_a_storm_and_joins_at_start_up_are_not() -> None:
    loop = [rebalance(n * 60, "member_dead" if n % 2 else "member_joined", f"c{n}") for n in range(6)]
    assert kinds_and_counts(loop) == [("storm", 6)]
    assert {kind for kind, _ in kinds_and_counts([rebalance(n * 60, "member_joined", f"c{n}") for n in range(9)])} == {
        "single"
    }


def test_rebalances_of_groups_on_failed_coordinator_are_one_incident() -> None:
    outage = row(BROKER_OUTAGES, outage_id="o", broker=7, down_at=AT, up_at=AT + timedelta(seconds=30))
    lost = [
        rebalance(20, "heartbeat_expired", group="g1", coordinator=7),
        rebalance(25, "heartbeat_expired", group="g2", coordinator=7),
        rebalance(25, "member_left", group="g3", coordinator=7),
    ]
    assert kinds_and_counts(lost, [outage]) == [("broker_outage", 2), ("single", 1)]
    move = row(COORDINATOR_MOVES, group_id="g4", moved_at=AT + timedelta(seconds=9), outage_id="o")
    assert kinds_and_counts([rebalance(10, "coordinator_moved", group="g4", coordinator=8)], [outage], [move]) == [
        ("broker_outage", 1)
    ]


def outage(broker: int = 7, outage_id: str = "o", up_after: int = 30) -> BrokerOutage:
    up_at = AT + timedelta(seconds=up_after)
    columns = {"outage_id": outage_id, "broker": broker, "up_at": up_at, "isr_recovered_at": None}
    return row(BROKER_OUTAGES, down_at=AT, **columns)


def test_outage_incident_states_its_share_of_all_rebalances() -> None:
    lost = [rebalance(20, "heartbeat_expired", group=g, coordinator=7) for g in ("g1", "g2")]
    (owed, _), _ = group_incidents([*lost, rebalance(20, "member_left", group="g3")], [outage()], [])
    assert owed.explanation == (
        "Broker 7, away from 03:00:00 on, accounts for 2 of 3 rebalances, in 2 groups (2 × heartbeat session expired)."
    )


def test_outage_of_offsets_partition_leader_explains_the_rebalance() -> None:
    """No line of the group tells who coordinated it before: the partition that keeps it does."""
    at = AT + timedelta(seconds=9)
    lost = row(FAILOVERS, topic="__consumer_offsets", happened_at=at, outage_id="o")
    home = offsets_partition_of("g", 50)
    rows = [rebalance(20, "heartbeat_expired", coordinator=8), rebalance(200, "unknown", coordinator=8)]

    def kinds(*failovers: Failover) -> list[str]:
        losses = losses_of_groups(["g"], failovers, 50)
        return [i.kind for i in group_incidents(rows, [outage()], [], losses)[0]]

    assert kinds(replace(lost, partition=home)) == ["broker_outage", "single"]
    assert kinds(replace(lost, partition=home + 1)) == ["single", "single"]
    assert kinds(replace(lost, partition=home, topic="orders")) == ["single", "single"]
    assert losses_of_groups(["g"], [replace(lost, partition=home)], None) == {}


def test_storage_error_of_coordinator_belongs_to_outage_of_missing_replica() -> None:
    """Its own outage is over; the broker that went last is missing from its in-sync replicas."""
    own = outage(broker=7, outage_id="own", up_after=20)
    late = replace(outage(broker=9, outage_id="late", up_after=60), down_at=AT + timedelta(seconds=30))
    failed = [rebalance(n, "storage_error", coordinator=7, outcome="completed") for n in (40, 65)]
    for outages in ([own, late], [late, own]):
        (incident,), _ = group_incidents(failed, outages, [])
        assert (incident.first_outage_id, incident.rebalance_count) == ("late", 2)
    over = rebalance(200, "storage_error", coordinator=7)
    assert kinds_and_counts([over], [own, late]) == [("single", 1)]


def test_rebalances_after_coordinator_outage_belong_to_it_and_member_crash_does_not() -> None:
    cut = rebalance(5, "coordinator_moved", coordinator=7, outcome="interrupted")
    again = rebalance(9, "member_joined", "b", coordinator=8, follows=cut.rebalance_id)
    silent = rebalance(20, "heartbeat_expired", "a", coordinator=7)
    back = rebalance(60, "member_rejoined", "a", coordinator=8)
    other = rebalance(61, "member_rejoined", "c", coordinator=8)
    dead = rebalance(62, "member_dead", "d", coordinator=7)
    assert kinds_and_counts([cut, again, silent, back, other, dead], [outage()]) == [
        ("broker_outage", 4),
        ("single", 1),
        ("single", 1),
    ]


def test_a_crash_loop_is_no_rolling_restart() -> None:
    def restarts(client: str, at: int) -> list[Rebalance]:
        return [rebalance(at, "member_left", client), rebalance(at + 5, "member_rejoined", client)]

    deployed = [*restarts("a", 0), *restarts("b", 9)]
    assert kinds_and_counts(deployed) == [("rolling_restart", 4)]
    # A client that closes and comes back again and again crashes in order: its application ends, and starts again.
    looping = [r for n in range(3) for r in (*restarts("a", 20 * n), *restarts("b", 20 * n + 9))]
    assert "rolling_restart" not in {kind for kind, _ in kinds_and_counts(looping)}
    ran_out = Contributor(client_id="c", cause=Cause.MEMBER_DEAD, at=AT)
    broken = [replace(deployed[0], contributors=[ran_out]), *deployed[1:]]
    assert "rolling_restart" not in {kind for kind, _ in kinds_and_counts(broken)}


def test_leaves_of_members_with_one_client_id_are_no_storm() -> None:
    """A library's default name, as `rdkafka`, is that of all members: a deployment closes each of them once."""
    deployed = [
        rebalance(20 * n + after, cause, "rdkafka")
        for n in range(4)
        for after, cause in ((0, "member_left"), (5, "member_joined"))
    ]
    assert "storm" not in {kind for kind, _ in kinds_and_counts(deployed)}
    looping = [replace(r, cause=Cause.MEMBER_REJOINED) if r.cause == "member_joined" else r for r in deployed]
    assert "storm" in {kind for kind, _ in kinds_and_counts(looping)}


def test_rolling_restart_of_static_members_is_not_grouped() -> None:
    rows = rebalances(lines("static-4.1", *BOTH))
    assert [i.kind for i in group_incidents(rows, [], [])[0]] == ["single"] * len(rows)
    assert "member_rejoined" not in {r.cause for r in rows}


def test_captured_deployment_is_one_rolling_restart_of_four_rebalances() -> None:
    incidents, _ = group_incidents(rebalances(lines("deployment-4.1", *BOTH)), [], [])
    assert [i.rebalance_count for i in incidents if i.kind == "rolling_restart"] == [4]


def test_cost_of_incident_sums_known_costs_of_its_rebalances() -> None:
    rows = [
        rebalance(0, "member_joined", partition_seconds=18.0),
        rebalance(1, "cooperative_followup", partition_seconds=4.5),
        rebalance(2, "cooperative_followup"),
    ]
    (incident,), _ = group_incidents(rows, [], [])
    assert incident.partition_seconds == 22.5
    assert incident.knowledge_version is None
    (unknown,), _ = group_incidents(rows[2:], [], [])
    assert unknown.partition_seconds is None


@given(
    st.lists(st.tuples(st.integers(0, 7200), st.sampled_from(Cause), st.sampled_from("ab"), st.sampled_from("gh"))),
    st.randoms(),
)
def test_every_rebalance_is_in_exactly_one_incident_whatever_the_order(acts: list[Any], chance: Any) -> None:
    rows = list({r.rebalance_id: r for r in (rebalance(*a, coordinator=7) for a in acts)}.values())
    outages = [outage(up_after=900)]
    incidents, home = group_incidents(rows, outages, [])
    assert set(home) == {r.rebalance_id for r in rows}
    assert sum(i.rebalance_count for i in incidents) == len(rows)
    chance.shuffle(rows)
    assert group_incidents(rows, outages, [])[0] == incidents


def test_only_certain_removal_by_admin_declares_rebalances() -> None:
    removed = rebalance(0, "removed_by_admin", confidence="certain")
    deployed = [
        rebalance(n, cause, c) for n, (cause, c) in enumerate(product(("member_left", "member_rejoined"), "ab"))
    ]
    for rows, intent in (
        ([removed], "declared"),
        ([replace(removed, confidence=Confidence.LIKELY)], "unknown"),
        (deployed, "unknown"),
    ):
        assert {i.intent for i in group_incidents(rows, [], [])[0]} == {intent}
