"""Members that share a client id: what shows that they are several, and what one that came back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.groups import EXCERPT_NAMES, excerpt
from tests.support.histories import line
from tests.support.made_groups import A2, A, MadeGroup, done, joins, started

WITHIN = timedelta(minutes=10)
A3 = "app-0b1f2c3d-1c1e-4e60-9f2d-5b0a7f6f1c11"


@pytest.mark.parametrize(
    ("removed", "says"),
    [("01:05:00", "the group had been empty"), ("01:00:11", "its client id alone identifies it")],
    ids=["heard", "silent"],
)
def test_members_that_are_heard_side_by_side_under_one_client_id_are_several(removed: str, says: str) -> None:
    limits = {"session_timeout_ms": 10_000, "client_id": "app"}
    told = [
        started("01:00:00", 0, joins(A)),
        *(line("member_joined", "01:00:00", member_id=member, **limits) for member in (A, A2)),
        *done("01:00:01", 1, count=2),
        *(line("member_failed", removed, member_id=member) for member in (A, A2)),
        line("group_emptied", removed, generation=2),
        started("01:09:00", 2, joins(A3)),
    ]
    rebalance = MadeGroup(told).case()
    assert (rebalance.cause, rebalance.confidence) == ("member_rejoined", "likely")
    assert says in rebalance.explanation


def test_a_member_of_which_the_logs_show_only_that_it_left_was_there() -> None:
    """It left 154 ms before, as in AndreasTraut/kafka_2.13-2.8.0, server.log.2021-04-27-17, lines 6 to 9."""
    former, later = (f"consumer-g-1-{own_id.removeprefix('app-')}" for own_id in (A2, A3))
    left = [
        line("member_left", "01:09:18.467", member_id=former),
        started("01:09:18.578", 1, f"removing member {former} on LeaveGroup"),
        line("group_emptied", "01:09:18.580", generation=2),
    ]
    rebalance = MadeGroup([*left, started("01:09:18.621", 2, joins(later)), *done("01:09:18.719", 3)]).case()
    assert (rebalance.cause, rebalance.confidence) == ("member_rejoined", "likely")
    assert "a member of the same client id was last heard in it" in rebalance.explanation


@pytest.mark.parametrize("name", EXCERPT_NAMES)
def test_no_row_says_that_a_member_did_not_come_back_that_may_have(name: str) -> None:
    group = excerpt(name)
    for witnessed in (group, group.of("broker")):
        rows = witnessed.history().rebalances
        gone = (r for r in rows if "did not come back" in r.explanation)
        for row in (r for r in gone if "under its member id" not in r.explanation):
            came = [
                o for o in rows if o.cause.noun.is_arrival and timedelta(0) < o.started_at - row.started_at <= WITHIN
            ]
            named = [o for o in came if o.client_id == row.client_id and o.instance_id == row.instance_id]
            assert [o for o in named if o.host in (None, row.host) or row.host is None] == [], row.explanation
