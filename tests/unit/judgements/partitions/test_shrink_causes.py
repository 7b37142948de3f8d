"""Why followers left ISRs, and that rows have the sentences of their rulings."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.rows import IsrChange
from tests.support.nights import events
from tests.support.ruling_cases.replicas import MADE, Night, clock, judged
from tests.support.rulings import wording


@pytest.mark.parametrize(
    "excerpt", ["crash-2.8", "slow-4.1", "disk-4.3", "cancelled-4.1", "preferred-2.8", "unclean-4.1", "truncation-3.9"]
)
def test_row_has_the_sentence_of_its_ruling(excerpt: str) -> None:
    decisions, rows = judged(Night(events(excerpt)))
    shown = [r.explanation for r in rows if not isinstance(r, IsrChange)]
    assert decisions
    assert all(any(wording(d.ruling).search(text) for text in shown) for d in decisions)


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        ("crash-2.8 shop-events-2 broker 1 01:52:31.810", "outage"),
        ("slow-4.1 email-89-reader-t-0 broker 1 15:36:56.383", "slow"),
        ("disk-3.9 disk-t-3 broker 2 11:58:05.839", "disk"),
        ("disk-3.9 disk-t-3 broker 3 11:58:36.946", "outage"),
        ("unauthenticated-3.9 search.75-t-0 broker 2 20:43:46.642", "not_authenticated"),
        ("cancelled-4.1 parcels.83-t-0 broker 1 15:35:14.780", "reassignment"),
        ("cancelled-4.1 parcels.83-t-0 broker 1 15:36:13.214", "unknown"),
        ("preferred-2.8 shop-events-3 broker 2 01:53:08.842", "unknown"),
    ],
)
def test_shrink_has_the_cause_that_lines_show(case: str, cause: str) -> None:
    excerpt, _, key = case.partition(" ")
    shrinks = [r for r in judged(Night(events(excerpt)))[1] if isinstance(r, IsrChange) and r.change == "shrink"]
    causes = {f"{r.topic}-{r.partition} broker {r.broker} {clock(r.happened_at)}": r.shrink_cause for r in shrinks}
    assert causes[key] == cause


def test_broker_that_is_no_replica_any_more_left_by_a_reassignment() -> None:
    shrink = next(r for r in judged(MADE["the next list of replicas lacks the broker"]())[1])
    assert isinstance(shrink, IsrChange) and shrink.shrink_cause == "reassignment"
