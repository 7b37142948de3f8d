"""Each ruling on rebalances decides a case, and not the one that looks like it."""

from __future__ import annotations

import re
from functools import cache

import pytest

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.reasoning.proofs import always
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from kafka_hindsight.judgements.rebalances.case import Case
from tests.support.groups import Witnessed, excerpt, sample_night
from tests.support.histories import line
from tests.support.histories import rebalances as rebalances_of
from tests.support.made_groups import A2, MADE, A, B, MadeGroup, done, joins, own, stable, started
from tests.support.rulings import wording
from tools.pages.ruling_tables import RULING_TABLES

ALL = [ruling for table in RULING_TABLES["gold.rebalances.cause"].values() for ruling in table]
CASE_NAME = re.compile(
    r"(?P<night>groups|night-4\.1)/(?P<group>\S+) (?P<clock>\S+)(?P<brokers> \(brokers only\))?( \(contributor\))?"
)


@cache
def rebalances(night: str, group: str, brokers_only: bool) -> list[Rebalance]:
    group_lines: Witnessed
    (group_lines,) = [excerpt(group)] if night == "groups" else [g for g in sample_night() if g.group_id == group]
    return (group_lines.of("broker") if brokers_only else group_lines).history().rebalances


def row_of(case: str) -> Rebalance:
    """The rebalance that a ruling names: of an excerpt or the sample night by its start, or a made one."""
    if case.startswith("made: "):
        return MADE[case.removeprefix("made: ")].case()
    named = CASE_NAME.fullmatch(case)
    assert named, case
    rows = rebalances(named["night"], named["group"], bool(named["brokers"]))
    (row,) = [r for r in rows if f"{r.started_at:%H:%M:%S.%f}"[:-3] == named["clock"]]
    return row


def written_by(row: Rebalance) -> Ruling[Case]:
    """The ruling that wrote a row's explanation, found as a reader finds it: by its words, the most that fit."""
    fit = [r for r in ALL if row.cause in r.codes and wording(r).match(row.explanation)]
    return max(fit, key=lambda r: len(r.sentence))


@pytest.mark.parametrize("ruling", ALL, ids=lambda r: f"{r.code}-{r.cases[0]}")
def test_rebalance_ruling_decides_its_case_and_not_the_lookalike(ruling: Ruling[Case]) -> None:
    decided = row_of(ruling.cases[0])
    if ruling.cases[0].endswith("(contributor)"):
        assert ruling.code in {c.cause for c in decided.contributors}
    else:
        assert written_by(decided) is ruling, decided.explanation
        assert decided.confidence == ruling.confidence
    other = row_of(ruling.cases[1])
    assert written_by(other) is not ruling, other.explanation


ALIKE = [
    ("groups/topics-3.9 01:55:59.647", "topic_deleted", "certain"),
    ("groups/grown-2.8 01:46:51.810", "partitions_added", "certain"),
    ("night-4.1/stock-grow-12 01:47:58.689 (brokers only)", "partitions_added", "likely"),
    ("made: metadata changed after topic_deleted", "topic_deleted", "likely"),
    ("made: the leader rejoins after topic_deleted", "topic_deleted", "possible"),
    ("made: an epoch after topic_created", "topic_created", "possible"),
    ("made: moved before the generation was stored", "coordinator_moved", "likely"),
    ("made: rejoins after it left", "member_rejoined", "likely"),
    ("made: comes back while the group rebalances", "heartbeat_expired", "possible"),
    ("made: metadata changed again after one topic", "metadata_changed", "likely"),
    ("made: a connector changed a minute before", "metadata_changed", "possible"),
    ("made: a client joins an empty group that a nameless member had left", "member_joined", "likely"),
    ("made: an empty group of one client id", "member_rejoined", "likely"),
    ("made: a console consumer expires and is back", "heartbeat_expired", "likely"),
    ("made: the only member rejoins as a topic is made", "topic_created", "possible"),
    ("made: the only member rejoins at once after a topic is made", "topic_created", "likely"),
    ("made: expires as the log ends", "member_dead", "possible"),
    ("made: expires as the log ends, and the generation stands", "member_dead", "likely"),
    ("made: the leader rejoins after a move", "metadata_changed", "possible"),
    ("made: a follower rejoins after topic_created, which it reads", "subscription_changed", "possible"),
    ("made: an epoch of Streams with the same topics", "unknown", "unknown"),
    ("made: no reason, and no end", "unknown", "unknown"),
    ("made: no reason, and two clients ask to join", "member_joined", "likely"),
]


@pytest.mark.parametrize(("case", "cause", "confidence"), ALIKE)
def test_rebalance_has_cause_and_confidence_of_its_variant(case: str, cause: str, confidence: str) -> None:
    assert (row_of(case).cause, row_of(case).confidence) == (cause, confidence)


def test_every_cause_has_a_ruling_and_every_made_group_is_used() -> None:
    assert {code for r in ALL for code in r.codes} == set(Cause)
    cases = [*(case for r in ALL for case in (r.cases[0], r.cases[1])), *(case for case, *_ in ALIKE)]
    assert {case.removeprefix("made: ") for case in cases if case.startswith("made")} == set(MADE)


def test_rulings_have_distinct_sentences_and_always_stands_last() -> None:
    assert len({r.sentence for r in ALL}) == len(ALL)
    assert all(always not in ruling.proof[:-1] for ruling in ALL)


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
