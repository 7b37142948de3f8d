"""Stalls and backlogs in answers: of the group, of the topic and its partitions, and of the incident."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_hindsight.catalog.gold import BACKLOGS
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import backlog_words
from kafka_hindsight.report.subjects.group_answer import group_answer
from kafka_hindsight.report.subjects.incident_answer import incident_answer
from kafka_hindsight.report.subjects.topic_answer import partition_answer, topic_answer
from tests.support import report_blocks as seen
from tests.support.report_night import night
from tests.support.report_rows import at, made
from tests.support.rows import AT, row


@pytest.fixture(scope="module")
def page() -> PageRows:
    tables, run = night()
    (worst,) = [r for r in tables["gold.rebalances"] if r["group_id"] == "billing"][:1]
    of_billing = {"group_id": "billing", "rebalance_id": worst["rebalance_id"], "worked_off_at": at("04:00:00")}
    backlog = made("gold.backlogs", lag_peak=900, backlog=900, started_at=worst["started_at"], **of_billing)
    return PageRows.from_tables({**tables, "gold.backlogs": [backlog]}, run)


def cells_of(answer: Answer, section: str) -> list[list[str]]:
    (blocks,) = [s.blocks for s in answer.sections if s.name == section]
    return [seen.cells(r) for block in blocks for r in getattr(block, "rows", ())]


def facts_of(answer: Answer) -> dict[str, str]:
    return {fact.label: seen.text(fact) for fact in answer.cost}


def test_stalls_are_in_the_answers_of_their_group_topic_and_partition(page: PageRows) -> None:
    of_group = cells_of(group_answer(page, "billing"), "group-stalls")
    of_topic = cells_of(topic_answer(page, "payments.v2"), "topic-stalls")
    of_partition = cells_of(partition_answer(page, "payments.v2-3"), "topic-stalls")
    assert [[cells[2] for cells in rows] for rows in (of_group, of_topic, of_partition)] == [["0-3"], ["0-3"], ["3"]]
    assert "payments.v2" in page.topics and "mail-audit" in page.groups


def test_backlog_is_in_the_answers_of_its_group_and_incident(page: PageRows) -> None:
    says = "at least 900 records more than before waited, worked off by"
    assert says in facts_of(group_answer(page, "billing"))["Largest backlog"]
    (incident,) = [i for i in page.incidents.values() if "billing" in i.group_ids and i.rebalance_count]
    assert facts_of(incident_answer(page, incident.incident_id))["Backlog"].startswith(f"group billing: {says}")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"backlog": 0}, ""),
        ({"backlog": 1}, "at least 1 record more than before waited, no reading shows it worked off"),
        (
            {"backlog": 7, "worked_off_at": AT},
            "at least 7 records more than before waited, worked off by 2026-10-01 03:00:00",
        ),
    ],
)
def test_backlog_says_whether_it_was_worked_off(columns: dict[str, Any], says: str) -> None:
    assert backlog_words(row(BACKLOGS, **{"worked_off_at": None, **columns})) == says
