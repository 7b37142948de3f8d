"""Rebalances that another join phase or a move of the coordinator overtakes."""

from __future__ import annotations

from tests.support.histories import line
from tests.support.histories import rebalances as rebalances_of
from tests.support.made_groups import A2, A, B, MadeGroup, done, joins, own, stable, started


def test_member_of_superseded_join_phase_is_no_contributor_of_the_next() -> None:
    joined = own("client_joined", "01:06:02", client="web", member_id=B, generation=2)
    first, second = started("01:05:00", 1, joins(B)), started("01:06:00", 1, joins(A2))
    overtaken = MadeGroup([*stable(), first, second, *done("01:06:01", 2, 3), joined]).case()
    assert (overtaken.member_id, overtaken.to_generation, overtaken.contributors) == (A2, 2, [])


def test_coordinator_move_after_stored_generation_interrupts_no_rebalance() -> None:
    begun = [started("01:00:00", 1, joins(A)), line("join_completed", "01:00:01", generation=2, member_count=1)]
    unloaded = line("group_unloaded", "01:00:02", generation=2)
    for generation, outcome in ((1, "interrupted"), (2, "unfinished")):
        rows = rebalances_of([*begun, unloaded, started("01:11:00", generation, joins(B), broker=2)])
        assert [(r.outcome, r.cause == "coordinator_moved") for r in rows][:1] == [(outcome, outcome == "interrupted")]
