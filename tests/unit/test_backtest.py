"""How often each rule fires in a window, each group by itself, with what restarts keep out of the findings."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    FAILOVERS,
    IMBALANCE_PERIODS,
    INCIDENTS,
    MEMBER_SETTINGS,
    REBALANCES,
)
from kafka_hindsight.catalog.quality import RULE_FIRINGS
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.findings import Facts, judge_findings
from kafka_hindsight.judgements.rebuild.cluster import back_test
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, row
from tests.support.unavailability import without_leader

DAY = Window(AT, AT + timedelta(days=1))
MINUTE = timedelta(minutes=1)


def firings(facts: Facts) -> dict[str, tuple[int, int, int]]:
    """Of the rules that fired: how often, how often in restarts, and how often restarts suppressed them."""
    rows = back_test(facts, DAY)
    return {r.rule_id: (r.fired, r.fired_in_restarts, r.suppressed) for r in rows if r.fired}


def rebalances(count: int, group: str = "orders", **columns: Any) -> list[Rebalance]:
    return [
        row(
            REBALANCES,
            rebalance_id=f"{group}{n}",
            group_id=group,
            started_at=AT + n * MINUTE,
            incident_id=group,
            **columns,
        )
        for n in range(count)
    ]


def test_every_rule_has_a_count_even_if_it_never_fired() -> None:
    rows = back_test(Facts("c"), DAY)
    assert [r.rule_id for r in rows] == [rule.rule_id for rule in RULES]
    assert {(r.fired, r.fired_in_restarts, r.suppressed, r.first_at) for r in rows} == {(0, 0, 0, None)}
    assert all(set(r.as_dict()) == set(RULE_FIRINGS.column_names) for r in rows)


def test_firings_suppressed_by_restarts_are_counted() -> None:
    deployed = row(
        INCIDENTS, incident_id="orders", group_ids=["orders"], kind="rolling_restart", ended_at=AT + 10 * MINUTE
    )
    facts = Facts("c", rebalances=[*rebalances(6), *rebalances(6, "bills")], incidents=[deployed])
    assert [(f.rule_id, f.subject) for f in judge_findings(facts)] == [("rebalances_frequent", "bills")]
    assert firings(facts) == {"rebalances_frequent": (2, 1, 1)}


def test_each_group_of_combined_finding_is_counted() -> None:
    many = [row(MEMBER_SETTINGS, settings_id=f"{n}", group_id=f"g{n}", session_timeout_ms=6_000) for n in range(9)]
    facts = Facts("c", settings=many)
    assert len(judge_findings(facts)) == 1
    assert firings(facts) == {"session_short": (9, 0, 0)}


def test_firings_within_controlled_shutdown_are_counted_separately() -> None:
    away = row(BROKER_OUTAGES, broker=2, kind="controlled_shutdown", down_at=AT, up_at=AT + MINUTE)
    offline = row(FAILOVERS, failover_id="t", kind="offline", topic="t", partition=0, happened_at=AT)
    late = replace(offline, failover_id="u", topic="u", happened_at=AT + 9 * MINUTE)
    led = [row(IMBALANCE_PERIODS, broker=b, first_reading_at=AT + MINUTE, max_ratio=0.5) for b in (2, 3)]
    lost = [replace(u, ended_at=u.started_at) for u in without_leader([offline, late])]
    facts = Facts("c", failovers=[offline, late], unavailability=lost, imbalance_periods=led, outages=[away])
    assert firings(facts) == {"offline_partitions": (2, 1, 0), "leader_imbalance": (2, 1, 0)}
