"""One figure, one function: page, terminal and alerts show the same numbers, and planned work is told apart."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.alerts import sightings
from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, INCIDENTS
from kafka_hindsight.catalog.rows import BrokerOutage, Finding, Incident
from kafka_hindsight.knowledge.harms import HARM_NOTES
from kafka_hindsight.knowledge.rules import INCIDENT_RULES
from kafka_hindsight.report import figures
from kafka_hindsight.report.blocks import Tile
from kafka_hindsight.report.build import build_report
from kafka_hindsight.report.terminal import render_terminal
from kafka_hindsight.shared import words
from tests.support import report_blocks as seen
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END
from tests.support.rows import row


def test_page_terminal_and_alerts_show_the_same_numbers() -> None:
    tables, about = night()
    page = build_report(tables, about)
    incidents = [Incident.of(r) for r in tables["gold.incidents"]]
    findings = [Finding.of(r) for r in tables["gold.findings"]]
    lost, away = figures.lost_records(incidents), figures.absences(map(BrokerOutage.of, tables["gold.broker_outages"]))
    offline, critical = figures.offline(incidents), figures.critical(findings)
    assert [(t.value, t.label) for t in seen.found(Tile, seen.section(page, "verdict"))] == [
        (lost.number, "committed records lost"),
        (words.duration(offline.longest_ms), f"offline at least: {offline.partitions} partition"),
        (f"{away.unplanned}", f"unplanned absence of a broker, {away.planned} planned"),
        (f"{len(figures.groups_stopped(incidents))}", "groups stopped by a failure"),
        (f"{len(critical)}", "critical findings"),
        (f"{len(figures.unseen(findings))}", "gap in what was seen"),
    ]
    window = {"cluster": CLUSTER, "window_from": DAY, "window_to": END}
    of_rules = sightings.of_findings([f.as_dict() for f in findings], [window], [])
    of_incidents = [f for f in critical if f.rule_id in INCIDENT_RULES]
    assert sum(s.severity == "critical" for s in of_rules) + len(of_incidents) == len(critical)
    told = sightings.of_incidents([i.as_dict() for i in incidents if not i.planned], [window])
    terminal = " ".join(render_terminal(page).split())
    acted = [i for i in figures.ranked(incidents) if figures.needs(i) == "act"]
    assert [s.subject for s in told] == [i.headline for i in acted]
    assert all(str(i.headline) in terminal for i in acted)
    assert sum(s.rule == Harm.BROKER_LOST for s in told) == away.unplanned


def incident(**columns: Any) -> Incident:
    return row(INCIDENTS, **columns)


@st.composite
def incidents_of_a_night(draw: st.DrawFn) -> list[Incident]:
    planned = [incident(planned=True, harm=Harm.PLANNED, partitions_offline=3, offline_ms=9_000, group_ids=["p"])]
    harms = draw(st.lists(st.sampled_from([h for h in Harm if h not in (Harm.PLANNED, Harm.POSTURE)]), max_size=8))
    rows = [
        incident(incident_id=f"i{n}", planned=False, harm=harm, harm_rank=n, group_ids=[f"g{n}"], rebalance_count=n)
        for n, harm in enumerate(harms)
    ]
    return draw(st.permutations([*rows, *planned]))


@given(incidents_of_a_night())
def test_planned_work_is_in_no_figure_and_never_the_first(rows: list[Incident]) -> None:
    unplanned = [r for r in rows if not r.planned]
    for figure in (figures.lost_records, figures.offline, figures.groups_stopped):
        assert figure(rows) == figure(unplanned)
    assert figures.state_of(rows, ()) == figures.state_of(unplanned, ())
    assert figures.ranked(rows)[-1].planned
    order = [list(Harm).index(figures.harm_of(r)) for r in figures.ranked(rows)]
    assert order == sorted(order)
    worst = figures.ranked(rows)[0]
    assert figures.state_of(rows, ()) == HARM_NOTES[figures.harm_of(worst)].state


def test_absences_are_counted_apart() -> None:
    rows = [row(BROKER_OUTAGES, planned=planned) for planned in (True, False, True)]
    assert figures.absences(rows) == figures.Absences(unplanned=1, planned=2)


def test_a_row_of_an_earlier_version_has_a_harm_too() -> None:
    assert figures.harm_of(incident(harm=None, planned=True)) == Harm.PLANNED
    assert figures.harm_of(incident(harm=None, planned=False)) == Harm.CONSUMERS_STOPPED
