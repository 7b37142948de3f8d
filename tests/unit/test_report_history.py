"""What a report says of the nights before: what is new, what is gone, and how the numbers run."""

from datetime import timedelta

from kafka_hindsight.report.blocks import Fact, Link, Trend
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_rows import DAY, at, empty, failover, made, rebalance, run


def page_after(tables, windows, findings=(), incidents=()):
    """The page of a night that holds these rows, after nights with these counts of rebalances."""
    numbers = {"partition_seconds": 0.0, "failovers": 0.0, "leaderless_ms": 0.0}
    days = [DAY - timedelta(days=len(windows) - i) for i in range(len(windows))]
    before = [{"window_from": d, "rebalances": float(n), **numbers} for d, n in zip(days, windows, strict=True)]
    history = {"windows": before, "findings": list(findings), "incidents": list(incidents)}
    about = run(history=history if before else {})
    return build_report(empty() | tables, about)


def trends(tables, windows):
    """The numbers night by night."""
    return seen.found(Trend, seen.section(page_after(tables, windows), "history"))


def finding(subject, severity="warning", rule="lag_growing"):
    columns = {"rule_id": rule, "subject_kind": "group", "subject": subject, "message": f"group {subject} fell behind"}
    return made("gold.findings", finding_id=f"{subject} {severity}", severity=severity, **columns)


def test_first_night_has_no_history():
    assert seen.section(page_after({}, []), "history") == ()


def test_night_is_compared_with_the_one_before():
    rows = [rebalance("orders", at("02:00:00", plus=60 * i), "member_left") for i in range(3)]
    page = page_after(
        {"gold.rebalances": rows, "gold.failovers": [failover("t", 0, at("01:00:00"), "unknown")]}, [9, 5]
    )
    assert seen.first_paragraph(page, "history") == (
        "Against the window from 2026-10-02 00:00:00: 3 rebalances, 2 fewer and 1 leader change, 1 more."
    )


def test_new_findings_are_listed_worst_first_before_ended_ones():
    now = [finding("a"), finding("b", "critical", "rebalances_excessive"), finding("c"), finding("d", "info")]
    page = page_after({"gold.findings": now}, [1], [finding("c"), finding("e"), finding("f", "info")])
    assert seen.statements(page, "history") == [
        ("bad", "New: group b fell behind Show"),
        ("warn", "New: group a fell behind Show"),
        ("good", "No longer found: group e fell behind"),
    ]
    assert seen.found(Link, seen.section(page, "history"))[0].anchor.startswith("finding-")


def test_new_findings_beyond_a_limit_are_counted():
    changes = seen.statements(page_after({"gold.findings": [finding(f"g{i:02}") for i in range(15)]}, [1]), "history")
    assert len(changes) == 13
    assert changes[-1] == ("plain", "3 more new findings.")


def test_trend_needs_three_nights_and_ends_with_this_one():
    assert trends({}, [4]) == []
    rebalances, *_ = trends({"gold.rebalances": [rebalance("orders", at("02:00:00"), "member_left")]}, [4, 2, 2])
    assert (rebalances.label, rebalances.last, rebalances.usual) == ("Rebalances", "1", "2")
    assert [height for _, _, height, _ in rebalances.bars] == [100.0, 50.0, 50.0, 25.0]
    assert rebalances.bars[-1][3] == "2026-10-03: 1"


def test_nights_of_zero_have_bars_without_height():
    assert {height for trend in trends({}, [0, 0]) for _, _, height, _ in trend.bars} == {0.0}


def nights_before(recurrence, *days_ago):
    """What an incident says of the nights before, where its trouble began so many days ago."""
    crash = {"incident_id": "a" * 32, "kind": "broker_outage", "harm": "broker_lost", "harm_rank": 1}
    row = made("gold.incidents", **crash, recurrence_id="crash", headline="Broker 1 crashed", started_at=at("02:00:00"))
    days = [DAY - timedelta(days=n) + timedelta(hours=2) for n in sorted(days_ago, reverse=True)]
    earlier = [{"recurrence_id": recurrence, "nights": len(days), "first_at": days[0], "last_at": days[-1]}]
    page = page_after({"gold.incidents": [row]}, [0] * 7, incidents=earlier)
    facts = {f.label: seen.text(f.value) for f in seen.found(Fact, seen.section(page, "incidents"))}
    return facts["Nights before"]


def test_incident_is_shown_as_new_ongoing_or_back_again():
    assert nights_before("another", 1) == "new: on none of the 7 nights before"
    assert nights_before("crash", 1, 3).startswith(
        "as on the night before; on 2 of the 7 nights before, first at 2026-09-30"
    )
    assert nights_before("crash", 3, 5).startswith("back again; on 2 of the 7 nights before")
