"""The answer about an owner: its groups and topics, and what the cluster did to them."""

from __future__ import annotations

from kafka_hindsight.report.blocks import Item
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects import SUBJECTS, answers
from tests.support import report_blocks as seen
from tests.support.report_night import night
from tests.support.report_rows import empty, run, witnesses
from tests.unit.report.test_cluster_effects import move, outage

OWNERS = [
    {"name": "shop", "groups": ["checkout-*"], "topics": ["risky.*"]},
    {"name": "idle", "groups": ["absent-*"]},
    {"name": "ops", "clusters": ["prod-*"]},
]


def page() -> PageRows:
    tables, about = night()
    hit = {
        "gold.coordinator_moves": [move("02:00:09", 1, 2, "o") | {"group_id": "checkout-worker"}],
        "gold.broker_outages": [*tables["gold.broker_outages"], outage(1)],
    }
    return PageRows.from_tables(tables | hit, about | {"owners": OWNERS})


def test_owner_of_groups_and_topics_of_the_window_has_a_view() -> None:
    rows = page()
    assert SUBJECTS["owner"].names(rows) == ["shop"]
    (answer,) = [answer for answer in answers(rows) if answer.kind == "owner"]
    assert answer.title == "Owner shop"
    assert answer.verdict.startswith("The cluster hit 1 of 1 group (checkout-worker); ")
    assert "partitions of 1 of 1 topic (risky.raw) had no leader" in answer.verdict
    (groups,) = [s for s in answer.sections if s.name == "owner-groups"]
    (line,) = seen.found(Item, groups.blocks)
    assert seen.text(line).startswith("checkout-worker: Not yours: its coordinator, broker 1, crashed at 02:00:00.")


def test_owner_without_anything_in_the_window_is_answered_by_a_sentence() -> None:
    nothing = "Nothing of its groups and topics needs attention"
    assert SUBJECTS["owner"].answer(page(), "idle").verdict == f"{nothing}."
    hidden = PageRows.from_tables(empty() | {"quality.witnesses": witnesses(gap="no_log")}, run(owners=OWNERS))
    assert SUBJECTS["owner"].answer(hidden, "idle").verdict == f"{nothing} in what could be read."
