"""Clocks of two brokers are said to run in different zones only where leader epochs show it again and again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.engine.reduce import BETWEEN_BROKERS
from kafka_hindsight.intake.clocks_apart import Distance, ahead, apart, set_back
from tests.support.rows import AT


def test_two_brokers_whose_epochs_lie_whole_quarters_apart_are_named() -> None:
    found = [Distance(1, 2, -8, 60, 5), Distance(2, 1, 8, 58, 6), Distance(1, 3, 0, 70, 9), Distance(1, 2, None, 2, 2)]
    ((by, said),) = apart(found)
    assert by == timedelta(hours=2)
    assert "The clocks of brokers 1 and 2 seem to run in different zones" in said
    assert "in the log of broker 1 118 of 120 leader epochs begin 2 h later than in that of broker 2" in said


@pytest.mark.parametrize(
    "found",
    [
        [],
        [Distance(1, 2, 0, 500, 50)],
        [Distance(1, 2, 4, 4, 4)],
        [Distance(1, 2, 4, 100, 1)],
        [Distance(1, 2, 4, 80, 8), Distance(1, 2, 0, 20, 5)],
        [Distance(1, 2, None, 100, 20)],
    ],
    ids=["nothing", "one zone", "few epochs", "one return", "not most", "no whole quarters"],
)
def test_without_clear_evidence_nothing_is_said(found: list[Distance]) -> None:
    assert apart(found) == []


def test_of_many_pairs_the_first_are_named() -> None:
    found = apart([Distance(1, other, 4, 10, 3) for other in range(2, 8)])
    assert len(found) == 4
    assert found[-1].sentence == "3 more pairs of brokers write times that lie apart so."


def early(leader: int, follower: int, count: int, *minutes: int, by: float = 7.1) -> Distance:
    return Distance(leader, follower, 0, 90, 30, count, [AT + timedelta(minutes=m) for m in minutes], by, by + 0.4)


def test_a_leader_that_is_later_than_its_followers_again_and_again_has_a_clock_ahead() -> None:
    ((by, said),) = ahead([early(1, 2, 21, 1), early(1, 3, 4, 1, 5, by=6.9), Distance(2, 1, 0, 90, 30)])
    assert by == timedelta(seconds=7.5)
    assert said.startswith("The clock of broker 1 seems to be 7.1 s ahead of that of broker 2 and broker 3")
    assert "25 leader epochs of broker 1 began so much earlier in the logs of its followers" in said
    assert "no verdict about brokers and leaders is certain" in said


@pytest.mark.parametrize(
    "found",
    [
        [],
        [Distance(1, 2, 0, 500, 50)],
        [early(1, 2, 30, 1), early(1, 3, 30, 1)],
        [early(1, 2, 2, 1, 2), early(1, 3, 2, 3)],
    ],
    ids=["nothing", "none early", "once, as a leader that stood still", "few epochs"],
)
def test_a_leader_that_was_late_once_has_no_clock_ahead(found: list[Distance]) -> None:
    assert ahead(found) == []


def test_a_log_that_goes_back_by_seconds_shows_that_its_clock_was_set_back() -> None:
    """Broker 3 was stopped with a clock 7 s ahead, and started with the right one: its next line came 6.2 s earlier."""
    ((by, said),) = set_back(
        {f"broker-{n}/server.log": timedelta(seconds=by) for n, by in ((1, 0), (2, 0.4), (3, 6.221))}
    )
    assert by == timedelta(seconds=6.221)
    assert said.startswith("A clock was set back by 6.2 s, as the times in broker-3/server.log show:")
    assert "no verdict about brokers and leaders is certain" in said
    assert set_back({"broker-1/server.log": timedelta(seconds=2)}) == []


def test_every_table_whose_verdicts_compare_brokers_has_a_confidence() -> None:
    assert [name for name in BETWEEN_BROKERS if "confidence" not in BY_NAME[name].column_names] == []
