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
    ids=["heard for minutes", "silent since joining"],
)
def test_members_alive_at_once_with_one_client_id_are_several(removed: str, says: str) -> None:
    limits = {"session_timeout_ms": 10_000, "client_id": "app"}
    group_lines = [
        started("01:00:00", 0, joins(A)),
        *(line("member_joined", "01:00:00", member_id=member, **limits) for member in (A, A2)),
        *done("01:00:01", 1, count=2),
        *(line("member_failed", removed, member_id=member) for member in (A, A2)),
        line("group_emptied", removed, generation=2),
        started("01:09:00", 2, joins(A3)),
    ]
    rebalance = MadeGroup(group_lines).case()
    assert (rebalance.cause, rebalance.confidence) == ("member_rejoined", "likely")
    assert says in rebalance.explanation


def test_member_seen_only_at_its_leave_was_in_the_group() -> None:
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
def test_member_that_may_have_rejoined_is_never_said_to_be_gone(name: str) -> None:
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
