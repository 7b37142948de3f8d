"""What the cluster did to a group: in its verdict, and line by line."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_hindsight.report.blocks import Item
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.group_answer import group_answer
from tests.support import report_blocks as seen
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


@pytest.mark.parametrize(
    ("tables", "verdict", "lines"),
    [
        ({}, "Nothing happened.", []),
        (
            {"gold.broker_outages": [outage(1)], "gold.coordinator_moves": [move("02:00:09", 1, 2, "o")]},
            "Its coordinator, broker 1, crashed.",
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
            "1 partition that it reads had no leader for 7.6 s.",
            ["clicks-0 had no leader for 7.6 s."],
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
    ids=["none", "coordinator crashed", "another broker's outage", "what it reads", "unnoticed", "before it read"],
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
