"""What the cluster did to a group: in its verdict, and line by line."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.knowledge.commit_errors import is_of_the_cluster
from kafka_hindsight.report.blocks import Item, PagedTable
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.group_answer import group_answer
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_night import night
from tests.support.report_rows import at, made, quote

PROOF = [quote(at("02:00:00"), "broker-1/server.log", "a line")]
OWNED = made(
    "gold.ownership", group_id="quiet", topic="clicks", partition=0, valid_from=at("01:30:00"), valid_to=at("02:30:00")
)


def outage(broker: int) -> dict[str, Any]:
    return made(
        "gold.broker_outages",
        outage_id="o",
        broker=broker,
        kind="crash",
        down_at=at("02:00:00"),
        up_at=at("02:00:20"),
        confidence="certain",
        evidence=PROOF,
    )


def move(clock: str, broker_from: int, broker_to: int, outage_id: str | None = None) -> dict[str, Any]:
    facts = {"coordinator_move_id": clock, "group_id": "quiet", "moved_at": at(clock), "outage_id": outage_id}
    return made("gold.coordinator_moves", broker_from=broker_from, broker_to=broker_to, evidence=PROOF, **facts)


def leaderless(partition: int, clock: str, low: int, high: int) -> dict[str, Any]:
    times = {"started_at": at(clock), "ended_at": at("02:00:08"), "low_ms": low, "high_ms": high}
    facts = {"unavailability_id": f"{partition}", "kind": "no_leader", "topic": "clicks", "partition": partition}
    return made("gold.unavailability", confidence="certain", evidence=PROOF, **facts, **times)


def commits(error: str) -> dict[str, Any]:
    times = {"first_at": at("02:00:00"), "last_at": at("02:00:09")}
    return {"group_id": "quiet", "client_id": "quiet-a", "error": error, "lines": 2, "commits": 2, **times}


@pytest.mark.parametrize(
    ("tables", "verdict", "lines"),
    [
        ({}, "Nothing happened.", []),
        (
            {"gold.broker_outages": [outage(1)], "gold.coordinator_moves": [move("02:00:09", 1, 2, "o")]},
            "Not yours: its coordinator, broker 1, crashed at 02:00:00.",
            ["Its coordinator moved from broker 1 to broker 2: broker 1 crashed."],
        ),
        (
            {
                "gold.broker_outages": [outage(3)],
                "gold.coordinator_moves": [move("02:00:09", 1, 2, "o"), move("02:10:00", 2, 1)],
            },
            "Its coordinator moved twice.",
            ["Its coordinator moved from broker 1 to broker 2.", "Its coordinator moved from broker 2 to broker 1."],
        ),
        (
            {
                "gold.ownership": [OWNED],
                "gold.unavailability": [leaderless(0, "02:00:00", 7600, 8000), leaderless(1, "02:00:00", 9000, 9000)],
            },
            "Not yours: 1 partition that it reads had no leader for 7.6 s.",
            ["clicks-0 had no leader for 7.6 s."],
        ),
        (
            {"gold.broker_outages": [outage(1) | {"kind": "controlled_shutdown"}]}
            | {"gold.coordinator_moves": [move("02:00:09", 1, 2, "o")]},
            "Its coordinator, broker 1, was shut down at 02:00:00.",
            ["Its coordinator moved from broker 1 to broker 2: broker 1 was shut down."],
        ),
        (
            {"gold.ownership": [OWNED | {"valid_to": at("01:59:59")}]}
            | {"gold.broker_outages": [outage(1)], "gold.coordinator_moves": [move("02:00:09", 1, 2, "o")]},
            "Nothing happened.",
            [
                "Its coordinator moved from broker 1 to broker 2, when no member owned a partition: broker 1 crashed.",
            ],
        ),
        (
            {"silver.events": [commits("This is not the correct coordinator."), commits("The request timed out.")]},
            "Not yours: 2 of its commits failed.",
            ["2 commits of quiet-a failed: This is not the correct coordinator."],
        ),
        (
            {"gold.ownership": [OWNED]}
            | {"gold.unavailability": [leaderless(0, "02:00:07", 0, 50) | {"started_at": at("02:00:07", 0.95)}]},
            "Nothing happened.",
            ["clicks-0 had no leader for at most 50 ms."],
        ),
        (
            {"gold.ownership": [OWNED | {"valid_from": at("02:10:00")}]}
            | {"gold.unavailability": [leaderless(0, "02:00:00", 7600, 8000)]},
            "Nothing happened.",
            [],
        ),
    ],
    ids=[
        "none",
        "coordinator crashed",
        "another broker's outage",
        "what it reads",
        "coordinator shut down",
        "coordinator crashed later",
        "commits",
        "unnoticed",
        "before it read",
    ],
)
def test_effects_of_the_cluster_are_said_of_the_group(
    tables: dict[str, list[dict[str, Any]]], verdict: str, lines: list[str]
) -> None:
    others, run = night()
    page = PageRows.from_tables({name: rows for name, rows in others.items() if name not in tables} | tables, run)
    answer = group_answer(page, "quiet")
    assert answer.verdict == verdict
    (section,) = [s for s in answer.sections if s.name == "group-cluster"]
    items = seen.found(Item, section.blocks)
    assert len(items) == len(lines) and all(seen.text(i).endswith(line) for i, line in zip(items, lines, strict=True))


def test_verdict_of_a_group_names_the_member_that_it_waited_for_longest() -> None:
    tables, run = night()
    (own, *_) = (r for r in tables["gold.rebalances"] if r["group_id"] == "checkout-worker")
    waits = [
        {"client_id": name, "member_id": f"{name}-1", "waited_ms": ms} for name, ms in (("a", 9_000), ("b", 60_000))
    ]
    page = PageRows.from_tables({"gold.rebalances": [own | {"delayed_by": waits}]}, run)
    assert group_answer(page, "checkout-worker").verdict.endswith(" The group waited 1 min for b.")


def test_routine_rebalances_of_a_group_that_the_cluster_hit_are_said_behind_that() -> None:
    tables, run = night()
    own = [r for r in tables["gold.rebalances"] if r["group_id"] == "checkout-worker"]
    hit = [move("02:00:09", 1, 2, "o") | {"group_id": "checkout-worker"}]
    page = PageRows.from_tables(
        {"gold.rebalances": own, "gold.coordinator_moves": hit, "gold.broker_outages": [outage(1)]}, run
    )
    answer = group_answer(page, "checkout-worker")
    assert answer.verdict.startswith("Not yours: its coordinator, broker 1, crashed at 02:00:00. Its own ")
    assert answer.confidence == "certain"
    assert answer.advice[0] == Cause.COORDINATOR_MOVED.noun.advice


@pytest.mark.parametrize(
    ("error", "is_clusters"),
    [
        ("This is not the correct coordinator.", True),
        ("NOT_COORDINATOR: This is not the correct coordinator.", True),
        ("Broker: Not coordinator", True),
        ("[Error 16] NotCoordinatorError", True),
        ("Broker: Coordinator load in progress", True),
        ("The coordinator is loading and hence can't process requests.", True),
        ("The coordinator is not available.", True),
        ("Broker: Not enough in-sync replicas", True),
        ("Messages are rejected since there are fewer in-sync replicas than required.", True),
        ("The coordinator is not aware of this member.", False),
        ("the consumer is not part of an active group", False),
        ("This server does not host this topic-partition.", False),
        ("The request timed out.", False),
        (None, False),
    ],
)
def test_the_cluster_answers_for_commits_that_a_coordinator_refused_for_its_own_state(
    error: str | None, is_clusters: bool
) -> None:
    assert is_of_the_cluster(error) is is_clusters


def test_list_of_groups_marks_those_that_the_cluster_hit() -> None:
    tables, run = night()
    hit = [move("02:00:09", 1, 2, "o") | {"group_id": "checkout-worker"}]
    rows = tables | {"gold.coordinator_moves": hit, "gold.broker_outages": [outage(1)]}
    (table,) = seen.found(PagedTable, seen.section(build_report(rows, run), "group-list"))
    causes = {seen.text(cells[0]): seen.text(cells[4]) for _, cells in table.rows}
    assert [group for group, cause in causes.items() if "hit by the cluster" in cause] == ["checkout-worker"]
