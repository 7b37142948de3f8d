"""Declared changes on the page and in the terminal: on the strip, below it, and beside the incidents that they meet."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report.blocks import Fact, Page, StripLane
from kafka_hindsight.report.build import page_of, report_of
from kafka_hindsight.report.declared_changes import CHANGES, changes_met
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects import SUBJECTS
from kafka_hindsight.report.terminal import render_terminal, render_view
from kafka_hindsight.settings.changes import MOST_LETTERS, MOST_SUBJECTS, Change
from tests.support import report_blocks as seen
from tests.support.report_night import HOSTILE, night
from tests.support.report_rows import DAY, END, at, coverage, empty, made, run, witnesses

UNRESPONSIVE = "0387c12985ea43b92d6e8046fd8aeb81"
"""The incident of broker 2, 02:13:04 to 02:22:09.725."""


def change(start: datetime, end: datetime, **columns: Any) -> dict[str, Any]:
    return {"what": "upgrade", "summary": "4.0 to 4.1", **columns, "from": start.isoformat(), "to": end.isoformat()}


def declared(*changes: dict[str, Any]) -> tuple[Page, PageRows]:
    """The page of the night with these changes, and its rows."""
    tables, about = night()
    about |= {"changes": [*changes]}
    return seen.build_report(tables, about), PageRows.from_tables(tables, about)


def incident(**columns: Any) -> Incident:
    times = {"started_at": at("02:00:00"), "ended_at": at("02:10:00"), "intent": "unknown", "confidence": "certain"}
    return Incident.of(made("gold.incidents", kind="broker_outage", harm="broker_lost", **times | columns))


UPGRADE = change(at("02:10:00"), at("02:40:00"), brokers=[3, 1, 2])


@pytest.mark.parametrize(
    ("first", "last", "is_met"),
    [
        ("01:00:00", "02:00:00", False),
        ("01:00:00", "02:00:01", True),
        ("02:05:00", "02:06:00", True),
        ("02:10:00", "03:00:00", True),
        ("02:10:01", "03:00:00", False),
    ],
)
def test_change_meets_an_incident_of_its_time(first: str, last: str, is_met: bool) -> None:
    own = Change.model_validate(change(at(first), at(last)))
    assert changes_met([own], incident(), END) == ([own] if is_met else [])


def test_open_incident_meets_a_change_until_the_end() -> None:
    later = Change.model_validate(change(at("20:00:00"), at("21:00:00")))
    assert changes_met([later], incident(ended_at=None), END) == [later]
    assert changes_met([later], incident(ended_at=None), at("19:00:00")) == []


@pytest.mark.parametrize(
    ("subject", "of_incident", "is_met"),
    [
        ({}, {}, True),
        ({"brokers": [1, 2]}, {"brokers": [2]}, True),
        ({"brokers": [1, 2]}, {"brokers": [3]}, False),
        ({"brokers": [1]}, {"brokers": None, "topics": None}, False),
        ({"groups": ["billing-*"]}, {"group_ids": ["ads", "billing-eu"]}, True),
        ({"groups": ["billing-*"]}, {"group_ids": ["billing"]}, False),
        ({"topics": ["orders"]}, {"topics": ["orders"]}, True),
        ({"topics": ["orders"], "brokers": [1]}, {"topics": ["clicks"], "brokers": [1]}, True),
        ({"groups": ["[!a"]}, {"group_ids": ["[!a"]}, True),
    ],
)
def test_change_meets_an_incident_of_its_subject(
    subject: dict[str, Any], of_incident: dict[str, Any], is_met: bool
) -> None:
    own = Change.model_validate(change(at("02:00:00"), at("03:00:00"), **subject))
    assert changes_met([own], incident(**{"group_ids": [], **of_incident}), END) == ([own] if is_met else [])


def test_incident_names_the_changes_that_it_meets_and_claims_no_cause() -> None:
    elsewhere = change(at("02:10:00"), at("02:40:00"), cluster="prod-us", summary="of another cluster")
    of_group = change(at("02:10:00"), at("02:40:00"), what="deployment", groups=["crm"], summary="crm 7.2")
    page, rows = declared(UPGRADE, elsewhere, of_group)
    facts = {
        view.name: [seen.text(fact.value) for fact in seen.found(Fact, view.sections) if fact.label == "Declared"]
        for view in page.views
    }
    assert {name: own for name, own in facts.items() if own} == {
        f"incident-{UNRESPONSIVE}": ["upgrade of brokers 1-3, 02:10:00 to 02:40:00 (4.0 to 4.1)"]
    }
    answer = SUBJECTS["incident"].answer(rows, UNRESPONSIVE)
    alone = SUBJECTS["incident"].answer(PageRows.from_tables(*night()), UNRESPONSIVE)
    assert (answer.explanation, answer.advice, answer.verdict) == (alone.explanation, alone.advice, alone.verdict)
    text = " ".join(render_view(page_of(rows, [answer.view(rows)])).split())
    assert "Declared upgrade of brokers 1-3, 02:10:00 to 02:40:00 (4.0 to 4.1)" in text
    assert "another cluster" not in render_html(page)


def test_changes_stand_on_the_strip_and_below_it() -> None:
    page, rows = declared(UPGRADE, change(at("23:00:00"), END + timedelta(hours=2), what="deployment", groups=["a"]))
    (lane,) = (lane for lane in seen.found(StripLane, seen.section(page, "verdict")) if lane.label == "Declared")
    assert (lane.says, [mark[:2] for mark in lane.marks]) == (
        "2 changes",
        [(9.03, 2.08), (95.83, 4.17)],
    )
    (own,) = (
        x
        for x in seen.found(StripLane, SUBJECTS["incident"].answer(rows, UNRESPONSIVE).sections)
        if x.label == "Declared"
    )
    assert own.says == "1 change"
    text = " ".join(render_terminal(page).split())
    assert "Declared: upgrade of brokers 1-3, 02:10:00 to 02:40:00 (4.0 to 4.1); deployment of group a," in text


def test_calm_night_shows_its_change() -> None:
    tables = empty() | {"quality.coverage": [coverage()], "quality.witnesses": witnesses()}
    calm = seen.build_report(tables, run(changes=[change(DAY, DAY + timedelta(hours=1))]))
    assert [lane.label for lane in seen.found(StripLane, seen.section(calm, "verdict"))] == ["Declared"]
    assert "Declared: upgrade of the cluster, 00:00:00 to 01:00:00 (4.0 to 4.1)." in render_terminal(calm)
    before = seen.build_report(tables, run(changes=[change(DAY - timedelta(hours=1), DAY)]))
    assert "Declared" not in render_terminal(before)


RESTARTED = "5c5e1b6a0f2d4a6f9b8c7d6e5f4a3b2c"


def restart(
    *changes: dict[str, Any], intent: str = "undeclared", until: datetime | None = None, **columns: Any
) -> PageRows:
    """The rows of a window in which brokers 1 and 2 were restarted in turn, 02:00 to 02:09, with nothing harmed."""
    own = {"brokers": [1, 2], "intent": intent, "declared_until": until, "confidence": "certain"}
    times = {"started_at": at("02:00:00"), "ended_at": at("02:09:00"), "is_over": True}
    headline = {"headline": "Brokers 1 and 2 were restarted one after another", "explanation": "Two restarts."}
    columns = {"incident_id": RESTARTED, "kind": "cluster_restart", "harm": "brokers_restarted"} | columns
    outages = [
        made(
            "gold.broker_outages",
            outage_id=f"o{broker}",
            incident_id=RESTARTED,
            broker=broker,
            kind="controlled_shutdown",
            down_at=at(f"02:0{start}:00"),
            up_at=at(f"02:0{start + 3}:00"),
            isr_recovered_at=at(f"02:0{start + 4}:00"),
        )
        for broker, start in ((1, 0), (2, 5))
    ]
    tables = empty() | {
        "quality.coverage": [coverage()],
        "quality.witnesses": witnesses(),
        "gold.incidents": [made("gold.incidents", **own, **headline, **times | columns)],
        "gold.broker_outages": outages,
    }
    return PageRows.from_tables(tables, run(changes=[*changes]))


WHOLE = change(at("02:00:00"), at("02:09:00"), brokers=[1, 2])


@pytest.mark.parametrize(
    ("changes", "columns", "state"),
    [
        ((WHOLE,), {}, "calm"),
        ((change(at("01:00:00"), at("03:00:00")),), {}, "calm"),
        # Each broker has a change of its own.
        (
            (
                change(at("02:00:00"), at("02:04:00"), brokers=[1]),
                change(at("02:05:00"), at("02:09:00"), brokers=[2]),
            ),
            {},
            "calm",
        ),
        ((), {"intent": "declared", "until": at("02:09:00")}, "calm"),
        # Nobody declared it, or something else: another broker, another time, a group.
        ((), {}, "look"),
        ((change(at("02:00:00"), at("02:09:00"), brokers=[1]),), {}, "look"),
        ((change(at("02:00:00"), at("02:08:59"), brokers=[1, 2]),), {}, "look"),
        ((change(at("02:00:01"), at("02:09:00"), brokers=[1, 2]),), {}, "look"),
        ((change(at("02:00:00"), at("02:09:00"), groups=["*"]),), {}, "look"),
        ((), {"intent": "declared", "until": at("02:08:59")}, "look"),
        ((), {"intent": "unknown"}, "look"),
        # What was declared hides no harm.
        ((WHOLE,), {"harm": "data_at_risk"}, "look"),
        ((WHOLE,), {"harm": "partitions_offline"}, "act"),
        ((WHOLE,), {"is_over": False}, "act"),
        ((), {"harm": "consumers_stopped", "intent": "declared", "until": at("02:09:00")}, "look"),
    ],
)
def test_declared_work_that_harmed_nothing_asks_for_nothing(
    changes: tuple[dict[str, Any], ...], columns: dict[str, Any], state: str
) -> None:
    rows = restart(*changes, **columns)
    assert rows.state == state
    text = render_terminal(report_of(rows))
    planned = "Planned, as declared: Brokers 1 and 2 were restarted one after another."
    assert (planned in " ".join(text.split())) == (state == "calm")


def test_incident_does_not_say_that_it_was_not_declared_beside_what_was() -> None:
    def planned(rows: PageRows) -> list[str]:
        answer = SUBJECTS["incident"].answer(rows, RESTARTED)
        return [
            f"{fact.label}: {seen.text(fact.value)}" for fact in answer.cost if fact.label in ("Planned", "Declared")
        ]

    declared_as = "Declared: upgrade of brokers 1 and 2, 02:00:00 to 02:09:00 (4.0 to 4.1)"
    assert planned(restart()) == ["Planned: Not declared as maintenance."]
    assert planned(restart(WHOLE)) == ["Planned: All of it was declared.", declared_as.replace("1 and 2", "1-2")]
    assert planned(restart(change(at("02:00:00"), at("02:05:00")))) == [
        "Planned: Declared work meets it. That does not show that all of it was planned.",
        "Declared: upgrade of the cluster, 02:00:00 to 02:05:00 (4.0 to 4.1)",
    ]


def test_of_many_changes_the_first_stand_in_words() -> None:
    page, _ = declared(*(change(at("02:10:00"), at("02:40:00"), summary=f"step {n}") for n in range(CHANGES + 2)))
    text = render_terminal(page)
    assert "(step 2); and 2 more." in " ".join(text.split()) and "step 3" not in text


@pytest.mark.parametrize("hostile", [text[:MOST_LETTERS] for text in HOSTILE if text.isprintable()])
def test_hostile_texts_of_changes_are_harmless(hostile: str) -> None:
    columns = {
        "summary": hostile,
        "groups": [hostile] * 9,
        "topics": [hostile],
        "brokers": [*range(0, 2 * MOST_SUBJECTS, 2)],
    }
    page, rows = declared(change(at("02:10:00"), at("02:40:00"), **columns), UPGRADE)
    html, text = render_html(page), render_terminal(page)
    view = render_view(page_of(rows, [SUBJECTS["incident"].answer(rows, UNRESPONSIVE).view(rows)]))
    assert all(line.isprintable() for line in [*text.split("\n"), *view.split("\n")])
    assert "<img src=x" not in html and "<script>alert" not in html
    assert len(html) - len(render_html(declared(UPGRADE)[0])) < 20_000
