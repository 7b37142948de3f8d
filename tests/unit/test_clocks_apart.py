"""Clocks of two brokers are said to run in different zones only where leader epochs show it again and again."""

from __future__ import annotations

import pytest

from spark_jobs.transforms.intake.clocks_apart import Distance, apart


def test_two_brokers_whose_epochs_lie_whole_quarters_apart_are_named() -> None:
    found = [Distance(1, 2, -8, 60, 5), Distance(2, 1, 8, 58, 6), Distance(1, 3, 0, 70, 9), Distance(1, 2, None, 2, 2)]
    (said,) = apart(found)
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
    said = apart([Distance(1, other, 4, 10, 3) for other in range(2, 8)])
    assert len(said) == 4
    assert said[-1] == "3 more pairs of brokers write times that lie apart so."
