"""One figure, one function: page, terminal and alerts show the same numbers, whatever was declared."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.alerts import sightings
from kafka_hindsight.catalog.codes import Confidence, Harm, Intent, JumpHarm
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, INCIDENTS, REBALANCES, UNAVAILABILITY
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Failover,
    Finding,
    Incident,
    OffsetJump,
    Rebalance,
    Truncation,
    Unavailability,
)
from kafka_hindsight.measures.record_losses import total_loss
from kafka_hindsight.measures.records_moved import records_moved
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, unused
from kafka_hindsight.report import figures
from kafka_hindsight.report.phrases import lost_records
from kafka_hindsight.report.terminal import render_terminal
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END
from tests.support.rows import AT, row
from tests.support.unavailability import without_consumer


@given(st.lists(st.sampled_from(Confidence), min_size=1))
def test_several_incidents_are_as_sure_as_the_least_sure_of_them(confidences: list[Confidence]) -> None:
    together = figures.least_sure(row(INCIDENTS, confidence=c) for c in confidences)
    assert together in confidences
    assert all(together == c.at_most(together) for c in confidences)


def test_page_terminal_and_alerts_show_same_numbers() -> None:
    tables, about = night()
    page = build_report(tables, about)
    incidents = [Incident.of(r) for r in tables["gold.incidents"]]
    findings = [Finding.of(r) for r in tables["gold.findings"]]
    elections, cuts = map(Failover.of, tables["gold.failovers"]), map(Truncation.of, tables["gold.truncations"])
    lost, away = total_loss(elections, cuts), figures.absences(map(BrokerOutage.of, tables["gold.broker_outages"]))
    jumps = map(OffsetJump.of, tables["gold.offset_jumps"])
    rows = [Unavailability.of(r) for r in tables["gold.unavailability"]]
    rebalances = [Rebalance.of(r) for r in tables["gold.rebalances"]]
    offline, critical = unused(rows, LEADERLESS), [f for f in findings if f.severity == "critical"]
    (tiles,) = [each for each in seen.section(page, "verdict") if getattr(each, "style", "") == "tiles"]
    assert [seen.text(tile) for tile in tiles.items] == [
        f"{lost.number} committed records lost",
        f"{records_moved(jumps, JumpHarm.RECORDS_SKIPPED).low}+ records skipped by groups",
        f"{len(offline.subjects)} partitions had no leader, {offline.partition_seconds}",
        "0 partitions took no writes with acks=all",
        f"{away.least} times a broker went down: {away.sudden} crashed or hung, {away.orderly} shut down",
        f"{figures.groups_stopped(incidents, rows, rebalances).number} groups stopped by a failure",
        f"{len(critical)} critical findings",
        f"{len(figures.unseen(findings))} gap in coverage",
    ]
    window = {"cluster": CLUSTER, "window_from": DAY, "window_to": END}
    of_rules = sightings.of_findings([f.as_dict() for f in findings], [window], [])
    assert sum(s.severity == "critical" for s in of_rules) == len(critical)
    alerts = sightings.of_incidents(incidents, [window])
    terminal = " ".join(render_terminal(page).split())
    acted = [i for i in figures.ranked(incidents) if figures.needs(i) == "act"]
    assert [s.subject for s in alerts] == [i.headline for i in acted]
    assert all(str(i.headline) in terminal for i in acted)
    sudden = {r["outage_id"] for r in tables["gold.broker_outages"] if r["kind"] != "controlled_shutdown"}
    assert sudden <= {i.first_outage_id for i in acted} and len(sudden) == away.sudden


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ([(9_000, 9_500), (20_000, 20_500)], "30 partition-seconds"),
        ([(8_800, 16_900), (12_000, 76_000)], "21 to 93 partition-seconds"),
        ([(0, 16_900)], "0 to 17 partition-seconds"),
        ([(8_800, 16_900), (5_500, None)], "at least 14 partition-seconds"),
        ([(0, None)], "not known for how long"),
    ],
)
def test_partition_seconds_have_the_bounds_of_their_intervals(
    bounds: list[tuple[int, int | None]], sentence: str
) -> None:
    rows = [
        row(
            UNAVAILABILITY,
            kind="no_leader",
            partition=partition,
            started_at=AT,
            ended_at=AT + timedelta(milliseconds=high) if high else None,
            low_ms=low,
            high_ms=high,
            confidence="certain",
        )
        for partition, (low, high) in enumerate(bounds)
    ]
    assert unused(rows, LEADERLESS).partition_seconds == sentence


def test_interval_over_clocks_that_differ_adds_nothing_to_what_is_at_least_known() -> None:
    times = {"started_at": AT, "ended_at": AT + timedelta(hours=1), "high_ms": 3_600_000}
    shown, possible = (
        row(UNAVAILABILITY, kind="no_leader", topic="t", partition=n, low_ms=low, confidence=confidence, **times)
        for n, (low, confidence) in enumerate([(3_600_000, "likely"), (0, "possible")])
    )
    sums = unused([shown, possible], LEADERLESS)
    assert sums.partition_seconds == "at least 3,600 partition-seconds"
    assert (sums.subjects, sums.possible) == ([("t", 0)], [("t", 1)])
    assert sums.clause() == "1 partition had no leader for 1 h, and 1 more may have"
    sums = unused([possible, replace(possible, partition=2, ended_at=None)], LEADERLESS)
    assert (sums.count, sums.most, sums.still, sums.possibly_still) == (None, 2, [], [("t", 2)])
    assert sums.clause() == "2 partitions may have had no leader"


def incident(**columns: Any) -> Incident:
    return row(INCIDENTS, **columns)


@st.composite
def night_incidents(draw: st.DrawFn) -> list[Incident]:
    kinds = st.tuples(st.sampled_from([h for h in Harm if h != Harm.POSTURE]), st.booleans())
    rows = [
        incident(incident_id=f"i{n}", harm=harm, is_over=is_over, harm_rank=n, group_ids=[f"g{n}"], rebalance_count=n)
        for n, (harm, is_over) in enumerate(draw(st.lists(kinds, min_size=1, max_size=8)))
    ]
    return draw(st.permutations(rows))


@given(night_incidents(), st.sampled_from(Intent))
def test_intent_changes_no_figure_order_or_state(rows: list[Incident], intent: Intent) -> None:
    labelled = [replace(r, intent=intent) for r in rows]
    idle = without_consumer(
        [
            row(REBALANCES, rebalance_id=i.incident_id, group_id=g, incident_id=i.incident_id)
            for i in rows
            for g in i.group_ids
        ]
    )
    assert figures.groups_stopped(rows, idle, ()) == figures.groups_stopped(labelled, idle, ())
    assert figures.state_of(rows, (), is_known=True) == figures.state_of(labelled, (), is_known=True)
    assert [i.incident_id for i in figures.ranked(rows)] == [i.incident_id for i in figures.ranked(labelled)]
    order = [list(Harm).index(figures.harm_of(r)) for r in figures.ranked(rows)]
    assert order == sorted(order)
    worst = figures.ranked(rows)[0]
    lasting = any(r.is_over is False for r in rows)
    assert figures.state_of(rows, (), is_known=True) == ("act" if lasting else figures.harm_of(worst).noun.urgency)


def test_groups_whose_last_member_may_only_have_closed_raise_the_upper_bound_alone() -> None:
    causes = {"dead": "member_dead", "silent": "session_ended", "left": "member_left"}
    harm = {"member_left": Harm.ROUTINE}
    incidents = [
        incident(incident_id=i, cause=cause, harm=harm.get(cause, Harm.CONSUMERS_STOPPED))
        for i, cause in causes.items()
    ]
    idle = without_consumer([row(REBALANCES, rebalance_id=i, group_id=i, incident_id=i, ended_at=None) for i in causes])
    stopped = figures.groups_stopped(incidents, idle, ())
    assert ([group for group, _ in stopped.least], stopped.number) == (["dead"], "1–2")
    assert figures.groups_stopped(incidents[:1], idle, ()).number == "1"


@pytest.mark.parametrize(("cause", "number"), [("member_left", "0"), ("member_dead", "1")])
def test_deployment_that_read_records_again_has_not_failed(cause: str, number: str) -> None:
    again = incident(incident_id="i", cause=cause, harm=Harm.RECORDS_READ_AGAIN)
    idle = without_consumer([row(REBALANCES, rebalance_id="r", group_id="g", incident_id="i", ended_at=None)])
    assert figures.groups_stopped([again], idle, ()).number == number


@pytest.mark.parametrize(
    ("of_rebalance", "number"),
    [
        ({}, "0–1"),
        ({"kind": "eager"}, "0"),
        ({"from_generation": 0}, "0"),
        ({"duration_ms": 999}, "0"),
        ({"duration_ms": 999, "outcome": "interrupted"}, "0–1"),
        ({"incident_id": "routine"}, "0"),
    ],
)
def test_group_of_an_unknown_assignor_may_have_stopped_while_it_rebalanced(
    of_rebalance: dict[str, Any], number: str
) -> None:
    """Members give back all partitions under an eager assignor alone: without its name it is not known whether."""
    failed, routine = incident(incident_id="failed"), incident(incident_id="routine", harm=Harm.ROUTINE)
    defaults = {
        "kind": None, "from_generation": 3, "duration_ms": 1_000, "outcome": "completed", "incident_id": "failed",
    }  # fmt: skip
    rebalance = row(REBALANCES, group_id="g", **defaults | of_rebalance)
    assert figures.groups_stopped([failed, routine], (), [rebalance]).number == number


def test_absences_are_counted_by_kind_and_return() -> None:
    kinds = (("crash", AT), ("controlled_shutdown", None), ("controlled_shutdown", AT))
    rows = [row(BROKER_OUTAGES, outage_id=str(n), kind=kind, up_at=at) for n, (kind, at) in enumerate(kinds)]
    assert figures.absences(rows) == figures.Absences(sudden=1, orderly=2, not_back=1, most=3)
    twice = [replace(rows[0], echo_of="2"), rows[1], replace(rows[2], echo_of="0")]
    assert figures.absences(twice) == figures.Absences(sudden=1, orderly=1, not_back=1, most=3)


def test_incident_without_harm_is_consumers_stopped() -> None:
    assert figures.harm_of(incident(harm=None)) == Harm.CONSUMERS_STOPPED


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(5, 5, "5 records"), (3, 5, "3 to 5 records"), (0, 5, "up to 5 records"), (5, None, "at least 5 records")],
)
def test_loss_wording_follows_known_bounds(low: int, high: int | None, says: str) -> None:
    assert lost_records(low, high) == says
