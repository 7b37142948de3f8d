"""What a move of the coordinator did to its group; the recordings hold moves that did nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.gold import COORDINATOR_MOVES, REBALANCES
from kafka_hindsight.catalog.rows import CoordinatorMove, Rebalance
from kafka_hindsight.judgements.groups.coordinators import add_effects
from tests.support.rows import AT, row


def after(seconds: float) -> Any:
    return AT + timedelta(seconds=seconds)


def move(at: float = 0, broker_from: int = 1, broker_to: int = 2) -> CoordinatorMove:
    return row(COORDINATOR_MOVES, moved_at=after(at), broker_from=broker_from, broker_to=broker_to)


def rebalance(start: float, coordinator: int, cause: str = "coordinator_moved", **more: Any) -> Rebalance:
    return row(
        REBALANCES,
        rebalance_id=f"{coordinator}@{start}",
        started_at=after(start),
        ended_at=after(start + 3),
        coordinator=coordinator,
        cause=cause,
        **more,
    )


def effects(moves: list[CoordinatorMove], rebalances: list[Rebalance], until: float = 3600) -> list[tuple[Any, Any]]:
    return [(m.effect, m.rebalance_id) for m in add_effects(moves, rebalances, after(until))]


def test_coordinator_move_without_rebalance_has_effect_none() -> None:
    assert effects([], [rebalance(5, 2)]) == []
    assert effects([move()], []) == [("none", None)]
    assert effects([move()], [rebalance(5, 2, "member_joined"), rebalance(90, 2)]) == [("none", None)]


def test_rebalance_on_new_coordinator_is_effect_of_the_move() -> None:
    assert effects([move()], [rebalance(-2, 2), rebalance(9, 2)]) == [("rebalanced", "2@-2")]
    assert effects([move()], [rebalance(-60, 1), rebalance(40, 2, "heartbeat_expired")]) == [("rebalanced", "2@40")]


def test_interrupted_rebalance_of_former_coordinator_is_cut_short_by_the_move() -> None:
    cut = rebalance(-4, 1, "member_left", outcome="interrupted")
    assert effects([move()], [cut, rebalance(1, 2)]) == [("cut_short", "1@-4")]
    long_over = rebalance(-600, 1, "member_left", outcome="interrupted")
    assert effects([move()], [long_over]) == [("none", None)]


@pytest.mark.parametrize("until", [0, 74])
def test_effect_of_move_near_the_end_of_logs_is_unknown(until: float) -> None:
    assert effects([move()], [], until) == [(None, None)]


def test_rebalance_after_two_moves_belongs_to_the_last_one() -> None:
    assert effects([move(), move(20, 2, 3)], [rebalance(25, 3)]) == [("none", None), ("rebalanced", "3@25")]
