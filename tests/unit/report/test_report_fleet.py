"""All clusters of a lake: worst first, what was not audited, and what befell several; the same as metrics."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.catalog.rows import Incident, NightSummary
from kafka_hindsight.measures.record_losses import RecordLoss
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.build import night_of, report_of
from kafka_hindsight.report.fleet import (
    Fleet,
    fleet_lines,
    fleet_page,
    late_clusters,
    states_by_day,
    summary,
    together,
)
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.sections.first_screen import tiles
from tests.support.report_blocks import cells, found, rows, text
from tests.support.report_night import HOSTILE, night
from tests.support.report_rows import DAY, END

AT = END + timedelta(hours=3)


def a_night(**columns):
    page = PageRows.from_tables(*night())
    return {**night_of(page, "run", AT).as_dict(), **columns}


def calm(**columns):
    nothing = dict.fromkeys(
        ("incidents", "records_lost_low", "records_lost_high", "partitions_offline", "sudden_absences",
         "groups_stopped", "findings_critical", "findings_warning", "gaps", "lines_unread"), 0)  # fmt: skip
    return a_night(state="calm", harm=None, headline=None, incident_id=None, offline_ms=None, **nothing, **columns)


def shifted(row, days):
    return {**row, **{name: row[name] + timedelta(days=days) for name in ("window_from", "window_to")}}


def test_night_row_has_the_figures_of_the_first_screen():
    page = PageRows.from_tables(*night())
    row = night_of(page, "run", AT)
    lost, skipped, offline, refusing, away, stopped, critical, gaps = (text(tile).split()[0] for tile in tiles(page))
    assert (row.records_lost_low, row.records_lost_high) == (40, 52)
    assert lost == RecordLoss(row.records_lost_low, row.records_lost_high).number
    assert skipped == f"{row.records_skipped_low}+" == "70+" and row.records_read_again_low is None
    assert refusing == str(row.partitions_refusing) == "0" and row.offline_partition_seconds > 72
    assert offline == str(row.partitions_offline) == "31" and row.offline_ms == 72_000
    counts = (row.sudden_absences + row.orderly_absences, row.groups_stopped, row.findings_critical, row.gaps)
    assert [str(figure) for figure in counts] == [away, stopped, critical, gaps]
    assert row.harm == Harm.RECORDS_LOST
    assert row.headline == figures.ranked(page.of(Incident))[0].headline
    assert row.page == report_of(page).file_name


def test_night_without_a_known_cost_has_none():
    tables, about = night()
    costs = {"every cost": {}, "no cost": {"partition_seconds": None}}
    rows = {name: [r | columns for r in tables["gold.rebalances"]] for name, columns in costs.items()}
    pages = {name: PageRows.from_tables({**tables, "gold.rebalances": own}, about) for name, own in rows.items()}
    assert night_of(pages["every cost"], "run", AT).partition_seconds > 0
    assert night_of(pages["no cost"], "run", AT).partition_seconds is None
    empty = PageRows.from_tables({**tables, "gold.rebalances": []}, about)
    assert night_of(empty, "run", AT).partition_seconds == 0


def test_worst_cluster_is_listed_first_with_links_to_night_and_incident():
    nights = [calm(cluster="quiet"), a_night(cluster="loud"), a_night(cluster="loud-too", records_lost_low=7)]
    page = fleet_page(Fleet.of(nights, [], AT))
    assert [cells(row)[0] for row in rows(page, "clusters")] == ["loud", "loud-too", "quiet"]
    links = [link.page for link in found(ui.PageLink, page)]
    assert links.count(nights[0]["page"]) >= 1
    assert any(link.anchor.startswith("incident-") for link in found(ui.PageLink, page))
    assert summary(Fleet.of(nights, [], AT)) == "3 clusters: 2 to act on and 1 calm."


def test_newest_night_of_a_cluster_counts_and_older_ones_are_its_trend():
    fleet = Fleet.of([calm(cluster="c"), shifted(a_night(cluster="c"), -1), shifted(calm(cluster="c"), -29)], [], AT)
    assert [n.state for n in fleet.newest] == ["calm"]
    states = states_by_day(fleet, "c")
    assert list(states.values()) == ["calm", *[""] * 27, "act", "calm"]
    assert max(states) == DAY.date()


def test_day_has_the_state_of_its_worst_window():
    half = {**calm(cluster="c"), "window_from": DAY + timedelta(hours=12)}
    assert states_by_day(Fleet.of([half, a_night(cluster="c")], [], AT), "c")[DAY.date()] == "act"


def test_cluster_without_audit_of_the_last_night_is_named():
    fleet = Fleet.of([calm(cluster="on-time"), shifted(calm(cluster="late"), -2)], [], AT, ["on-time", "never"])
    late = late_clusters(fleet)
    assert list(late) == ["never", "late"]
    assert late["never"] == "no night was ever audited"
    assert "2 d" in late["late"]
    assert summary(fleet).endswith("2 were not audited last night.")
    assert "not audited  never" in "\n".join(fleet_lines(fleet))


def test_terminal_has_the_worst_headline_of_each_cluster_or_nothing():
    fleet = Fleet.of([calm(cluster="calm"), a_night(cluster="hurt", headline="40 records were lost")], [], AT)
    _, hurt, quiet = fleet_lines(fleet)
    assert hurt.endswith(": 40 records were lost")
    assert quiet.endswith(": nothing")


@pytest.mark.parametrize(("minutes", "expected"), [(9, [["a", "b"]]), (11, [])])
def test_incidents_of_several_clusters_within_ten_minutes_are_grouped(minutes, expected):
    begun = [
        {"cluster": c, "incident_id": c * 32, "headline": f"Broker of {c}", "started_at": DAY + timedelta(minutes=m)}
        for c, m in (("a", 60), ("b", 60 + minutes), ("a", 300), ("a", 301))
    ]
    fleet = Fleet.of([calm(cluster="a"), calm(cluster="b")], begun, AT)
    assert [[i.cluster for i in run] for run in together(fleet)] == expected


def test_hostile_names_are_inert_on_the_page_and_in_metrics():
    nights = [a_night(cluster=name, headline=name) for name in HOSTILE]
    html = render_html(fleet_page(Fleet.of(nights, [], AT, HOSTILE)))
    assert "<script>alert" not in html and "onerror=alert(1)>" not in html.replace("&gt;", "")
    for line in metrics_text(map(NightSummary.of, nights)).split("\n"):
        assert re.fullmatch(
            r'(# .*|hindsight_\w+\{cluster="(?:[^"\\]|\\.)*"(?:,\w+="\w+")?\} [\d.e+]+|)', line, re.DOTALL
        )


def test_metrics_show_figures_of_the_newest_night_of_each_cluster():
    row = a_night(cluster='a "b"', records_lost_high=None)
    text = metrics_text(map(NightSummary.of, [row, shifted(row, -1)]))
    assert text.endswith("# EOF\n")
    assert f'hindsight_night_end_timestamp_seconds{{cluster="a \\"b\\""}} {int(END.timestamp())}\n' in text
    assert dict(re.findall(r'hindsight_state.*state="(\w+)"} (\d)', text)) == {"act": "1", "look": "0", "calm": "0"}
    assert 'hindsight_records_lost_at_least{cluster="a \\"b\\""} 40\n' in text
    assert "hindsight_records_lost_at_most{" not in text
    assert text.count("# TYPE ") == text.count("# HELP ") == len(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    assert f'severity="critical"}} {row["findings_critical"]}\n' in text
