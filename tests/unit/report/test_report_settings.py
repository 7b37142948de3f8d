"""Findings about settings in a report: below what happened, and never more than one for a fault that many share."""

from __future__ import annotations

from datetime import timedelta

from kafka_hindsight.catalog.gold import MEMBER_SETTINGS, REBALANCES
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.report.blocks import Item, Page
from kafka_hindsight.report.terminal import render_terminal
from tests.support import report_blocks as seen
from tests.support.findings import raised
from tests.support.report_blocks import build_report
from tests.support.report_rows import DAY, empty, run
from tests.support.rows import row

MINUTE = timedelta(minutes=1)


def report_of(findings: list[Finding]) -> Page:
    return build_report({**empty(), "gold.findings": [f.as_dict() for f in findings]}, run())


def test_short_sessions_of_fifty_groups_are_one_finding_below_excessive_rebalances() -> None:
    defaults = {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 5_000, "first_seen_at": DAY, "last_seen_at": DAY}
    settings = [row(MEMBER_SETTINGS, settings_id=f"{n}", group_id=f"g{n:02}", **defaults) for n in range(50)]
    often = [
        row(REBALANCES, rebalance_id=f"{group}{n}", group_id=group, started_at=DAY + n * MINUTE)
        for group, count in (("orders", 12), ("bills", 6))
        for n in range(9, 9 + count)
    ]
    report = report_of(raised("prod-eu", member_settings=settings, rebalances=often))
    in_sections = {
        name: [(e.tone, e.headline, len(seen.found(Item, e))) for e in seen.entries(report, name)]
        for name in ("findings", "standing")
    }
    assert in_sections == {
        "findings": [("critical", "Rebalances excessive", 1), ("warning", "Rebalances frequent", 1)],
        "standing": [("warning", "Poll below session", 1), ("info", "Session short", 1)],
    }
    text = " ".join(render_terminal(report).split())
    assert text.index("critical Group 'orders' rebalanced 12 times") < text.index(
        "Group 'g00' and 49 more used a session"
    )
    assert "the worst are 'g00' 10 s; 'g01' 10 s; 'g02' 10 s" in text
