"""Which verdicts of a window are others when it is judged again."""

from __future__ import annotations

from typing import Any

import pyarrow

from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.steps.reclassify import JUDGED, changed
from tests.support.lake import schema
from tests.support.rows import AT, values

OF = {judged.table: judged for judged in JUDGED}
Rows = list[dict[str, Any]]


def changes(table: Table, before: Rows, after: Rows) -> dict[str, dict[str, Any]]:
    """The changes by what became of a verdict."""
    old, new = (
        pyarrow.Table.from_pylist([values(table, **r) for r in rows], schema(table)) for rows in (before, after)
    )
    return {row["change"]: row for row in changed(old, new, OF[table])}


def test_new_removed_and_changed_verdicts_are_listed_and_equal_ones_are_not() -> None:
    def rebalance(rebalance_id: str, cause: str, knowledge: str, confidence: str = "certain") -> dict[str, Any]:
        about = {"group_id": f"group of {rebalance_id}", "knowledge_version": knowledge}
        return {"rebalance_id": rebalance_id, "cause": cause, "confidence": confidence, **about}

    before = [
        rebalance("same", "member_left", "1"),
        rebalance("gone", "member_dead", "1"),
        rebalance("c", "unknown", "1"),
    ]
    after = [
        rebalance("same", "member_left", "2"),
        rebalance("new", "member_dead", "2"),
        rebalance("c", "unknown", "2", "likely"),
    ]
    by_change = changes(gold.REBALANCES, before, after)
    nothing = {"verdict_before": None, "confidence_before": None, "knowledge_before": None}
    assert by_change.keys() == {"appeared", "gone", "changed"}
    assert by_change["appeared"] == {
        "table": "gold.rebalances",
        "row_id": "new",
        "subject": "group of new",
        "happened_at": AT,
        "change": "appeared",
        **nothing,
        "verdict_after": "member_dead",
        "confidence_after": "certain",
        "knowledge_after": "2",
    }
    assert (by_change["gone"]["row_id"], by_change["gone"]["verdict_before"], by_change["gone"]["verdict_after"]) == (
        "gone",
        "member_dead",
        None,
    )
    same_but = by_change["changed"]
    assert (same_but["row_id"], same_but["confidence_before"], same_but["confidence_after"]) == (
        "c",
        "certain",
        "likely",
    )


def test_verdict_change_of_each_table_names_its_subject() -> None:
    subjects = {
        gold.REBALANCES: ({"group_id": "orders"}, "orders"),
        gold.INCIDENTS: ({"kind": "single"}, "single"),
        gold.FAILOVERS: ({"topic": "orders", "partition": 3}, "orders-3"),
        gold.BROKER_OUTAGES: ({"broker": 2}, "broker 2"),
    }
    assert subjects.keys() == OF.keys()
    for table, (row, subject) in subjects.items():
        assert changes(table, [], [row])["appeared"]["subject"] == subject
