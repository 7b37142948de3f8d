"""The settings to change, in the answer about a group: what can be pasted, and what it would have gained."""

from __future__ import annotations

from typing import Any

from kafka_hindsight.report.blocks import Badge, Item
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.group_answer import group_answer
from tests.support import report_blocks as seen
from tests.support.report_rows import at, empty, made, rebalance, run

PLACE = "each consumer's properties"
NONE = {"paste": None, "gain": None, "how": None, "command": None}


def change(key: str, now: str | None, new: str, **columns: Any) -> dict[str, Any]:
    return {"key": key, "value_now": now, "value_new": new, "place": PLACE, **NONE, **columns}


def test_settings_that_a_replay_shows_to_help_are_said_with_what_to_paste() -> None:
    longer = change(
        "session.timeout.ms", "7000", "45000", paste="session.timeout.ms=45000", gain="12 s would not have ended it"
    )
    other = change("session.timeout.ms", "7000", "20000")
    rows = [rebalance("orders", at("01:00:00"), "heartbeat_expired", changes=[other])]
    remedy = made("gold.remedies", group_id="orders", setting="session_timeout", rebalance_ids=[], changes=[longer])
    page = PageRows.from_tables(empty() | {"gold.rebalances": rows, "gold.remedies": [remedy]}, run())
    answer = group_answer(page, "orders")
    assert [c["value_new"] for c in answer.data()["changes"]] == ["45000"]
    items = [item for item in seen.found(Item, answer.view(page)) if "->" in seen.text(item)]
    (item,) = items
    assert seen.text(item).startswith("session.timeout.ms: 7000 -> 45000 each consumer's properties; 12 s would")
    assert [badge.text for badge in seen.found(Badge, item)] == ["session.timeout.ms=45000"]


def test_group_without_settings_to_change_has_none() -> None:
    rows = [rebalance("orders", at("01:00:00"), "member_joined")]
    page = PageRows.from_tables(empty() | {"gold.rebalances": rows}, run())
    assert group_answer(page, "orders").changes == ()
