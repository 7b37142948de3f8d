"""What a report says of the nights before: what is new, what is gone, and how the numbers run."""

from datetime import timedelta

import pytest

from kafka_hindsight.report.blocks import Badge, Fact, Link, Paragraph, Strip, Trend
from kafka_hindsight.report.terminal import render_terminal
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_rows import DAY, at, coverage, empty, failover, made, rebalance, run, witnesses


def days_before(count):
    """So many days before the night, the first one first."""
    return [DAY - timedelta(days=count - i) for i in range(count)]


def page_after(tables, windows, findings=(), incidents=()):
    """The page of a night that holds these rows, after nights with these counts of rebalances."""
    numbers = {"partition_seconds": 0.0, "failovers": 0.0, "leaderless_ms": 0.0, "state": "calm"}
    days = days_before(len(windows))
    before = [{"window_from": d, "rebalances": float(n), **numbers} for d, n in zip(days, windows, strict=True)]
    history = {"windows": before, "findings": list(findings), "incidents": list(incidents)}
    about = run(history=history if before else {})
    return build_report(empty() | tables, about)


def trends(tables, windows):
    """The numbers night by night."""
    return seen.found(Trend, seen.section(page_after(tables, windows), "history-list"))


def finding(subject, severity="warning", rule="lag_growing"):
    columns = {"rule_id": rule, "subject_kind": "group", "subject": subject, "message": f"group {subject} fell behind"}
    return made("gold.findings", finding_id=f"{subject} {severity}", severity=severity, **columns)


def test_first_night_has_no_history():
    assert not {view.name for view in page_after({}, []).views} & {"history"}
    assert seen.section(page_after({}, []), "changes") == ()


def test_night_is_compared_with_the_one_before():
    rows = [rebalance("orders", at("02:00:00", plus=60 * i), "member_left") for i in range(3)]
    page = page_after(
        {"gold.rebalances": rows, "gold.failovers": [failover("t", 0, at("01:00:00"), "unknown")]}, [9, 5]
    )
    assert seen.first_paragraph(page, "changes") == (
        "Against the window from 2026-10-02 00:00:00: 3 rebalances, 2 fewer; 1 leader change, 1 more."
        " The 2 windows before."
    )


def test_window_of_another_length_is_compared_by_its_incidents_alone():
    before = {"window_from": DAY - timedelta(hours=1), "is_comparable": False, "rebalances": 9.0}
    numbers = {"partition_seconds": 0.0, "failovers": 0.0, "leaderless_ms": 0.0, "state": "act"}
    page = build_report(empty(), run(history={"windows": [before | numbers]}))
    assert "That window had another length: no number is compared." in seen.first_paragraph(page, "changes")
    texts = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "history-list"))]
    assert texts[0].startswith("1 window before this one, since 2026-10-02: 1 act.")
    assert "1 window has another length than this one" in texts[1]


def test_new_findings_are_listed_worst_first_before_ended_ones():
    now = [finding("a"), finding("b", "critical", "rebalances_excessive"), finding("c"), finding("d", "info")]
    page = page_after({"gold.findings": now}, [1], [finding("c"), finding("e"), finding("f", "info")])
    assert seen.statements(page, "changes") == [
        ("bad", "New: group b fell behind"),
        ("warn", "New: group a fell behind"),
        ("good", "No longer found: group e fell behind"),
    ]
    assert seen.found(Link, seen.section(page, "changes"))[1].anchor.startswith("finding-")


def test_new_findings_beyond_a_limit_are_counted():
    changes = seen.statements(page_after({"gold.findings": [finding(f"g{i:02}") for i in range(15)]}, [1]), "changes")
    assert len(changes) == 4
    assert changes[-1] == ("plain", "12 more new findings.")


def test_trend_needs_three_nights_and_ends_with_this_one():
    assert trends({}, [4]) == []
    rebalances, *_ = trends({"gold.rebalances": [rebalance("orders", at("02:00:00"), "member_left")]}, [4, 2, 2])
    assert (rebalances.label, rebalances.last, rebalances.usual) == ("Rebalances", "1", "2")
    assert [height for _, _, height, _ in rebalances.bars] == [100.0, 50.0, 50.0, 25.0]
    assert rebalances.bars[-1][3] == "2026-10-03: 1"


def test_nights_of_zero_have_bars_without_height():
    assert {height for trend in trends({}, [0, 0]) for _, _, height, _ in trend.bars} == {0.0}


def page_of_crash(recurrence, *days_ago, harm="broker_lost"):
    """The page of a night with a crash, after seven nights that had an incident on so many days before."""
    crash = {"incident_id": "a" * 32, "kind": "broker_outage", "harm": harm, "harm_rank": 1}
    row = made("gold.incidents", **crash, recurrence_id="crash", headline="Broker 1 crashed", started_at=at("02:00:00"))
    days = [DAY - timedelta(days=n) for n in sorted(days_ago, reverse=True)]
    times = {"first_at": days[0] + timedelta(hours=2), "last_at": days[-1] + timedelta(hours=2)}
    earlier = [{"recurrence_id": recurrence, "headline": "Broker 1 crashed", "windows": days, **times}]
    return page_after({"gold.incidents": [row]}, [0] * 7, incidents=earlier)


def nights_before(recurrence, *days_ago, **columns):
    """What the view of the incident says of the nights before, and the first line of what changed."""
    page = page_of_crash(recurrence, *days_ago, **columns)
    facts = {f.label: seen.text(f.value) for f in seen.found(Fact, seen.section(page, f"incident-{'a' * 32}/answer"))}
    return facts.get("Nights before"), seen.first_paragraph(page, "changes").partition(": ")[2]


def test_incident_is_shown_as_new_as_before_or_back_again():
    fact, changed = nights_before("another", 1)
    assert fact == "new: in none of the 7 windows before"
    assert changed.startswith("Incidents: 1 new and 1 of that window is gone.")
    fact, changed = nights_before("crash", 1, 3)
    assert fact.startswith("as in the window before; in 2 of the 7 windows before, first at 2026-09-30")
    assert changed.startswith("Incidents: 1 as in the window before.")
    fact, changed = nights_before("crash", 3, 5)
    assert fact.startswith("back again; in 2 of the 7 windows before")
    assert changed.startswith("Incidents: 1 back again.")


def test_incidents_of_one_headline_are_named_once_on_the_first_screen():
    columns = {"kind": "broker_outage", "harm": "broker_lost", "harm_rank": 1, "started_at": at("02:00:00")}
    rows = [made("gold.incidents", incident_id=f"{n:032}", headline="Broker 1 crashed", **columns) for n in range(6)]
    text = " ".join(render_terminal(page_after({"gold.incidents": rows}, [0])).split())
    assert "! Broker 1 crashed (declared); and 5 more like these. " in text


def test_incident_that_asks_for_nothing_is_not_called_new():
    assert nights_before("another", 1, harm="routine")[0] is None


def badge_and_lead(tables, incidents=(), findings=(), windows=7):
    """The badge of the first screen, and its sentences."""
    coverages = {"quality.coverage": [coverage()], "quality.witnesses": witnesses()}
    page = page_after(coverages | tables, [0] * windows, findings=findings, incidents=incidents)
    lead = seen.section(page, "verdict")[0]
    return seen.found(Badge, lead)[0].text, [seen.text(p) for p in seen.found(Paragraph, lead)]


def restart_and_history(*days_ago):
    """Brokers that were restarted in turn tonight, and windows before that had the same."""
    columns = {"kind": "cluster_restart", "harm": "brokers_restarted", "harm_rank": 1, "recurrence_id": "roll"}
    row = made("gold.incidents", headline="Brokers were restarted", started_at=at("02:00:00"), is_over=True, **columns)
    days = [DAY - timedelta(days=n) for n in sorted(days_ago, reverse=True)]
    earlier = [{"recurrence_id": "roll", "windows": days, "first_at": day, "last_at": day} for day in days[:1]]
    return {"gold.incidents": [row]}, earlier


@pytest.mark.parametrize(("days_ago", "badge"), [((), "Look"), ((3,), "Look"), ((1, 3), "Calm")])
def test_only_what_the_window_before_had_not_asks_to_look(days_ago, badge):
    tables, earlier = restart_and_history(*days_ago)
    assert badge_and_lead(tables, earlier)[0] == badge


def test_what_the_window_before_had_too_is_said_and_nothing_is_called_a_zero():
    tables, earlier = restart_and_history(1)
    _, sentences = badge_and_lead(tables, earlier)
    assert "As in the window before: Brokers were restarted." in sentences
    assert not [s for s in sentences if s.startswith("No ")]


def test_what_asks_to_act_does_so_night_after_night():
    tables, earlier = restart_and_history(1)
    lost = {"gold.incidents": [tables["gold.incidents"][0] | {"harm": "records_lost"}]}
    assert badge_and_lead(lost, earlier)[0] == "Act"


@pytest.mark.parametrize(
    ("severity", "rule", "is_former", "badge"),
    [
        ("warning", "lag_growing", False, "Look"),
        ("warning", "lag_growing", True, "Calm"),
        ("critical", "member_silent", True, "Look"),
        ("critical", "replication_factor_one", False, "Calm"),
    ],
)
def test_warning_of_the_window_before_and_setting_are_no_news(severity, rule, is_former, badge):
    row = finding("orders", severity, rule)
    assert badge_and_lead({"gold.findings": [row]}, findings=[row] if is_former else [])[0] == badge


def test_settings_are_standing_facts_apart_from_findings():
    rows = [finding("orders", "critical", "replication_factor_one"), finding("orders")]
    page = page_after({"gold.findings": rows, "quality.witnesses": witnesses()}, [])
    names = {name: [e.headline for e in seen.entries(page, name)] for name in ("findings", "standing")}
    assert names == {"findings": ["Lag growing"], "standing": ["Replication factor one"]}
    text = render_terminal(page)
    assert text.index("Findings") < text.index("Standing facts")
    tiles = [seen.text(item.words) for item in seen.section(page, "verdict")[1].items]
    assert "1 critical finding" in tiles, "quality.nights, SQL and metrics count both lists"


def test_incident_that_came_back_is_listed_with_its_windows():
    (row,) = seen.rows(page_of_crash("crash", 3, 5), "history-list")
    assert [seen.text(cell) for cell in (row.cells[1], row.cells[5])] == ["2 of 7", "yes"]
    (strip,) = seen.found(Strip, row.cells[2])
    assert [tone for tone, _ in strip.squares] == ["calm", "calm", "act", "calm", "act", "calm", "calm"]


def test_group_shows_its_rebalances_window_by_window():
    days = days_before(3)
    earlier = [{"kind": "group", "name": "orders", "window_from": days[1], "events": 5.0, "seconds": 60.0}]
    windows = [
        {"window_from": d, "rebalances": 9.0, "partition_seconds": 0.0, "failovers": 0.0, "leaderless_ms": 0.0}
        for d in days
    ]
    rows = {"gold.rebalances": [rebalance("orders", at("02:00:00"), "member_left")]}
    page = build_report(empty() | rows, run(history={"windows": windows, "subjects": earlier}))
    (group,) = (view.name for view in page.views if view.title == "Group orders")
    rebalances, _ = seen.found(Trend, seen.section(page, f"{group}/nights"))
    assert [height for _, _, height, _ in rebalances.bars] == [0.0, 100.0, 0.0, 20.0]
