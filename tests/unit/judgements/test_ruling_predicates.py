"""Each predicate of each ruling decides something: without it some captured or made case has another verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from kafka_hindsight.judgements.reasoning.proofs import always
from kafka_hindsight.judgements.reasoning.rulings import Ruling, Verdict
from tests.support.groups import GROUPS, SAMPLE
from tests.support.nights import EXCERPTS
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.ruling_cases import ALL_CASES, brokers, groups, rebalances, replicas
from tools.pages.ruling_tables import RULING_TABLES
from tools.plain_reader import read_logs

TABLES = [tuple(table) for tables in RULING_TABLES.values() for table in tables.values()]
IDLE = {
    ("static_member_changed", "made: a static member returns with other metadata", "<lambda>"),
    ("member_joined", "made: a group begins once more", "names_do_not_identify"),
    ("unclean_election", "unclean-2.8 ads-risky-18-0 epoch 3", "alone_in_isr"),
    ("unclean_election", "made: an ISR of two epochs before in ZooKeeper mode", "in_zookeeper_mode"),
    ("unclean_election", "made: an ISR of two epochs before in ZooKeeper mode", "alone_in_isr"),
    ("no_majority", "sample epoch 5", "same_controller"),
    ("crash", "disk-4.3 broker 3", "ends_shown"),
    ("crash", "made: a fatal fault while it served", "ends_shown"),
    ("unresponsive", "pause-4.1 broker 1", "no_start_hidden"),
    ("unresponsive", "pause-4.1 broker 1", "ends_shown"),
    ("unresponsive", "pause-2.8 broker 1", "ends_shown"),
    ("unresponsive", "made: its session expired", "no_start_hidden"),
    ("unresponsive", "made: its session expired", "ends_shown"),
    ("crash", "made: silent for 15 minutes", "logs_reach_on"),
    ("outage", "made: crash-2.8, all brokers were down", "predecessor_unknown"),
    ("slow", "made: one leader removes two followers", "<lambda>"),
    ("falls_behind", "made: a consumer reads half of what arrives", "falls_behind"),
    ("held_by_transaction", "made: a transaction is open", "stands"),
    ("log_truncated", "made: a cut that the client did not see", "<lambda>"),
    ("owner_stands", "made: a consumer never moves", "end_grew"),
    ("owner_stands", "made: a consumer never moves", "has_usual_wait"),
    ("owner_stands", "made: a consumer never moves", "outlasts_the_poll_limit"),
    ("owner_stands", "made: a consumer never moves", "stands"),
    ("owner_stands", "made: a consumer stops", "end_grew"),
    ("records_deleted", "offsets-4.3 email-lapse-14 without clients", "<lambda>"),
    ("reset_by_administrator", "made: reset between two owners", "<lambda>"),
    ("retention", "offsets-4.3 crm-overrun-28 without clients", "<lambda>"),
    ("stands_alone", "made: one of two partitions stops", "end_grew"),
    ("stands_alone", "made: one of two partitions stops", "outlasts_its_usual_wait"),
    ("stands_alone", "made: one of two partitions stops", "stands"),
}
"""Predicates that no case needs yet, by the ruling's code and case: one that a case needs leaves this list."""

Shown = tuple[Any, ...]

pytestmark = pytest.mark.long


def shown(verdict: Verdict | None) -> Shown:
    """What a reader sees of a verdict."""
    return (verdict.code, verdict.confidence, verdict.sentence, verdict.evidence, verdict.facts) if verdict else ()


@cache
def asked() -> dict[int, list[tuple[Any, Shown]]]:
    """The cases in which each ruling is asked, by its identity, each with the verdict of its table."""
    cases: dict[int, list[Any]] = defaultdict(list)
    decide = Ruling.decide

    def noted(ruling: Ruling[Any], case: Any) -> Verdict | None:
        cases[id(ruling)].append(case)
        return decide(ruling, case)

    for cached in (cached for room in ALL_CASES for cached in room.caches):
        cached.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ruling, "decide", noted)
        judge_all()
    return {id(r): [(case, verdict_on(table, case)) for case in cases[id(r)]] for table in TABLES for r in table}


def judge_all() -> None:
    """Judges all excerpts, the sample night, and the cases that tests of the rooms make."""
    for place in (*(p for p in EXCERPTS.iterdir() if p.is_dir() and p != GROUPS), SAMPLE / "logs"):
        lines = read_logs(place, "broker")[0]
        outages = list(rebuild_outages(lines, [], brokers.EVER))
        rebuild_controller_changes(lines, outages, brokers.EVER)
        rebuild_leaders(lines, [], context_of(lines, outages), brokers.EVER)
        replicas.judged(replicas.Night(lines))
    for group in (p.name for p in GROUPS.iterdir()):
        groups.decided(f"groups/{group}")
        rebalances.rebalances("groups", group, True)
    groups.decided("night-4.1")
    for room in ALL_CASES:
        for case in sorted(room.named | {f"made: {case}" for case in room.made}):
            room.decided(case)


def verdict_on(table: tuple[Ruling[Any], ...], case: Any) -> Shown:
    return next((shown(v) for r in table if (v := r.decide(case)) is not None), ())


def weaker(ruling: Ruling[Any]) -> Iterator[tuple[str, Ruling[Any]]]:
    """The ruling without each of its predicates in turn."""
    for n, predicate in enumerate(ruling.proof):
        if predicate is not always:
            yield predicate.__name__, replace(ruling, proof=[*ruling.proof[:n], *ruling.proof[n + 1 :]])
    for n, predicate in enumerate(ruling.unless):
        yield predicate.__name__, replace(ruling, unless=[*ruling.unless[:n], *ruling.unless[n + 1 :]])


def is_another(ruling: Ruling[Any], case: Any, verdict: Shown) -> bool:
    """Whether a ruling without a predicate decides a case in another way, or cannot say its sentence."""
    with suppress(AttributeError, KeyError, IndexError, TypeError, ValueError):
        now = shown(ruling.decide(case))
        return now not in ((), verdict)
    return True


def test_each_predicate_changes_the_verdict_of_some_case() -> None:
    idle = {
        (ruling.code, ruling.cases[0], name)
        for table in TABLES
        for ruling in table
        for name, without in weaker(ruling)
        if not any(is_another(without, case, verdict) for case, verdict in asked()[id(ruling)])
    }
    assert idle == IDLE
