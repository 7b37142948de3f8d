"""What a report says of the nights before: what is new, what is gone, and how the numbers run."""

from datetime import timedelta

from spark_jobs.report.blocks import Link, Trend
from spark_jobs.report.build import build_report
from tests.support import report_blocks as seen
from tests.support.report_rows import DAY, at, empty, failover, made, rebalance, run


def told(tables, windows, findings=()):
    """The page of a night that holds these rows, after nights with these counts of rebalances."""
    numbers = {"partition_seconds": 0.0, "failovers": 0.0, "leaderless_ms": 0.0}
    days = [DAY - timedelta(days=len(windows) - i) for i in range(len(windows))]
    before = [{"window_from": d, "rebalances": float(n), **numbers} for d, n in zip(days, windows, strict=True)]
    about = run(history={"windows": before, "findings": list(findings)} if before else {})
    return build_report(empty() | tables, about)


def trends(tables, windows):
    """The numbers night by night."""
    return seen.found(Trend, seen.section(told(tables, windows), "history"))


def finding(subject, severity="warning", rule="lag_growing"):
    columns = {"rule_id": rule, "subject_kind": "group", "subject": subject, "message": f"group {subject} fell behind"}
    return made("gold.findings", finding_id=f"{subject} {severity}", severity=severity, **columns)


def test_a_first_night_has_no_history():
    assert seen.section(told({}, []), "history") == ()


def test_a_night_is_held_against_the_one_before():
    rows = [rebalance("orders", at("02:00:00", plus=60 * i), "member_left") for i in range(3)]
    page = told({"gold.rebalances": rows, "gold.failovers": [failover("t", 0, at("01:00:00"), "unknown")]}, [9, 5])
    assert seen.first_paragraph(page, "history") == (
        "Against the window from 2026-10-02 00:00:00: 3 rebalances, 2 fewer and 1 leader change, 1 more."
    )


def test_findings_that_came_are_told_worst_first_then_those_that_went():
    now = [finding("a"), finding("b", "critical", "rebalances_excessive"), finding("c"), finding("d", "info")]
    page = told({"gold.findings": now}, [1], [finding("c"), finding("e"), finding("f", "info")])
    assert seen.statements(page, "history") == [
        ("bad", "New: group b fell behind Show"),
        ("warn", "New: group a fell behind Show"),
        ("good", "Gone: group e fell behind"),
    ]
    assert seen.found(Link, seen.section(page, "history"))[0].anchor.startswith("finding-")


def test_many_new_findings_are_counted():
    changes = seen.statements(told({"gold.findings": [finding(f"g{i:02}") for i in range(15)]}, [1]), "history")
    assert len(changes) == 13
    assert changes[-1] == ("plain", "3 more new findings.")


def test_a_trend_takes_three_nights_and_ends_with_this_one():
    assert trends({}, [4]) == []
    rebalances, *_ = trends({"gold.rebalances": [rebalance("orders", at("02:00:00"), "member_left")]}, [4, 2, 2])
    assert (rebalances.label, rebalances.last, rebalances.usual) == ("Rebalances", "1", "2")
    assert [height for _, _, height, _ in rebalances.bars] == [100.0, 50.0, 50.0, 25.0]
    assert rebalances.bars[-1][3] == "2026-10-03: 1"


def test_nights_without_anything_have_bars_without_height():
    assert {height for trend in trends({}, [0, 0]) for _, _, height, _ in trend.bars} == {0.0}
