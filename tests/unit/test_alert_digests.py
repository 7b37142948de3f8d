"""What is sent by itself, what a digest says, what has ended, and which routes want what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.alerts import memory as ledger
from kafka_hindsight.alerts import sightings
from kafka_hindsight.alerts.model import of_text, to_text
from kafka_hindsight.alerts.routes import AlertSettings, Route, settings_of
from kafka_hindsight.alerts.words import title_of
from tests.unit.test_alerts import BOTH, DAY, MORNING, NIGHT, sighting, told


def test_what_cannot_wait_is_sent_by_itself_and_all_else_is_one_digest() -> None:
    lost = sighting("40 records were lost", subject_kind="incident", rule="records_lost", cannot_wait=True)
    crash = sighting("Broker 1 crashed", subject_kind="incident", rule="broker_lost", severity="warning")
    weak = sighting("risky", rule="replication_factor_one", subject_kind="topic")
    seen = [lost, crash, weak, sighting()]
    state, messages = told(ledger.seen({}, seen, BOTH, MORNING))
    assert [m.title for m in messages if m.receiver == "c1"] == [
        "[critical] prod: 40 records were lost",
        "[critical] prod: night until 2026-11-21 00:00 UTC: 3 new",
    ]
    digest = next(m.body for m in messages if m.receiver == "c1" and "night until" in m.title)
    assert digest.startswith("Sent by itself:\ncritical  40 records were lost\n\nNew:\n")
    assert [m.title for m in messages if m.receiver == "p"][1].endswith("2 new"), "a warning is not of this route"
    assert told(ledger.seen(state, seen, BOTH, MORNING))[1] == []


def test_the_next_digest_says_what_is_new_what_is_still_so_and_what_is_no_longer_seen() -> None:
    nights = [("prod", NIGHT + n * DAY, NIGHT + (n + 1) * DAY) for n in range(3)]
    weak, crash = sighting("risky"), sighting("Broker 1 crashed", subject_kind="incident", rule="broker_lost")
    state, _ = told(ledger.seen({}, [weak, crash, sighting("gone")], BOTH, MORNING, nights[:1]))
    now = MORNING + DAY
    second = [sighting("risky", 1), sighting("fresh", 1)]
    state, messages = told(ledger.seen(state, second, BOTH, now, nights[:2]), now=now)
    (digest,) = [m for m in messages if m.receiver == "p"]
    assert digest.title.endswith("night until 2026-11-22 00:00 UTC: 1 new, 1 still so and 1 no longer seen")
    assert "Still so:\nsince 2026-11-20  critical  rebalances excessive: risky" in digest.body
    assert digest.body.endswith("No longer seen:\ncritical  rebalances excessive: gone"), "a crash is over anyway"
    assert told(ledger.seen(state, second, BOTH, now, nights[:2]), now=now)[1] == []
    _, messages = told(ledger.seen(state, [sighting("risky", 2), sighting("fresh", 2)], BOTH, now, nights), now=now)
    assert messages == [], "what is still so alone is no news"
    now = MORNING + 2 * DAY
    state, messages = told(ledger.seen(state, [sighting("gone", 2)], BOTH, now, nights), now=now)
    (digest,) = [m for m in messages if m.receiver == "p"]
    assert digest.title.endswith(": 1 new and 2 no longer seen"), "it is back"


def test_what_was_sent_by_itself_recovers_under_the_same_title() -> None:
    failed = sighting("run 1", rule="night_failed", subject_kind="run", cannot_wait=True)
    state, (first, *_) = told(ledger.seen({}, [failed], BOTH, MORNING))
    later = [("prod", NIGHT + DAY, NIGHT + 2 * DAY)]
    state, messages = told(ledger.seen(state, [], BOTH, MORNING + DAY, later), now=MORNING + DAY)
    assert {(m.title, m.severity) for m in messages} == {(first.title, "recovered")}
    assert told(ledger.seen(state, [], BOTH, MORNING + DAY, later), now=MORNING + DAY)[1] == []


PAGES = AlertSettings((Route("pager", ("critical",), sends=("pages",)), BOTH.routes[1]))
LATER = [("prod", NIGHT + n * DAY, NIGHT + (n + 1) * DAY) for n in range(4)]


def urgent(subject: str, nights_later: int = 0) -> Any:
    return sighting(subject, nights_later, rule="records_truncated", subject_kind="partition", cannot_wait=True)


def night_of(n: int, state: ledger.Ledger, *subjects: str) -> tuple[ledger.Ledger, list[tuple[str, str, str]]]:
    """The ledger after the n-th night showed these subjects, and each message: receiver, severity, title."""
    now = MORNING + n * DAY
    seen = ledger.seen(state, [urgent(s, n) for s in subjects], PAGES, now, LATER[: n + 1])
    state, messages = told(seen, PAGES, now)
    return state, [(m.receiver, m.severity, m.title) for m in messages]


def test_a_page_of_several_recovers_under_its_title_when_all_of_them_are_over() -> None:
    state, first = night_of(0, {}, "a-0", "b-0", "c-0")
    title = "[critical] prod: records truncated: 3 partitions"
    assert first == [(r, "critical", title) for r in ("p", "c1", "c2")]
    state, second = night_of(1, state, "b-0")
    digest = "[recovered] prod: night until 2026-11-22 00:00 UTC: 2 no longer seen"
    assert second == [("c1", "recovered", digest), ("c2", "recovered", digest)], "a pager of pages waits for the last"
    state, _ = of_text(to_text(state))
    assert night_of(1, state, "b-0")[1] == []
    state, third = night_of(2, state)
    assert third == [(r, "recovered", title) for r in ("p", "c1", "c2")]
    assert night_of(2, state)[1] == []


def test_two_pages_of_one_title_are_one_incident_of_a_pager_and_end_together() -> None:
    state, _ = night_of(0, {}, "a-0", "b-0")
    state, second = night_of(1, state, "a-0", "b-0", "c-0", "d-0")
    title = "[critical] prod: records truncated: 2 partitions"
    assert [m for m in second if m[0] == "p"] == [("p", "critical", title)]
    state, third = night_of(2, state, "d-0")
    assert [m for m in third if m[0] == "p"] == []
    assert [m for m in night_of(3, state)[1] if m[0] == "p"] == [("p", "recovered", title)]


def test_what_comes_back_is_a_page_of_its_own_and_holds_no_other_open() -> None:
    state, _ = night_of(0, {}, "a-0", "b-0")
    state, _ = night_of(1, state, "b-0")
    state, third = night_of(2, state, "a-0")
    pager = [m[1:] for m in third if m[0] == "p"]
    assert pager == [
        ("critical", "[critical] prod: records truncated: a-0"),
        ("recovered", "[critical] prod: records truncated: 2 partitions"),
    ]


@pytest.mark.parametrize(
    ("subjects", "title"),
    [
        (("orders-0",), "orders-0"),
        (("orders-0 and 71 more",), "orders-0 and 71 more"),
        (("orders-0 and 71 more", "pay-0 and 2 more", "mail-3"), "76 partitions of 3 topics"),
        (("orders-0", "orders-1"), "2 partitions of topic orders"),
    ],
)
def test_a_title_counts_all_that_its_subjects_stand_for(subjects: tuple[str, ...], title: str) -> None:
    seen = [
        sighting(s, rule="records_truncated", subject_kind="partition", topics=(s.split("-")[0],), cannot_wait=True)
        for s in subjects
    ]
    assert title_of(seen) == f"[critical] prod: records truncated: {title}"


@pytest.mark.parametrize(
    ("route", "wanted"),
    [
        ({"clusters": ["pr*"]}, True),
        ({"clusters": ["test-*"]}, False),
        ({"groups": ["pay-*"]}, True),
        ({"groups": ["mail-*"]}, False),
        ({"topics": ["payments.*"]}, True),
        ({"rules": ["broker_*"]}, False),
        ({"rules": ["records_*"], "groups": ["pay-*"]}, True),
        ({"owner": "payments"}, True),
        ({"owner": "mail"}, False),
        ({"sends": ["digest"]}, True),
        ({"labels": ["eu", "gold"]}, True),
        ({"labels": ["lab"]}, False),
        ({"labels": ["gold"], "groups": ["mail-*"]}, False),
        ({"owner": "gold"}, True),
    ],
)
def test_a_route_names_what_it_wants(route: dict[str, Any], wanted: bool) -> None:
    owners = [{"name": "payments", "groups": ["x"], "topics": ["payments.*"]}, {"name": "mail", "groups": ["mail-*"]},
              {"name": "gold", "labels": ["gold"]}]  # fmt: skip
    said = {"routes": [{"name": "r", "severities": ["critical"], **route}], "owners": owners}
    clusters = [{"name": "prod", "labels": ["gold"]}, {"name": "test", "labels": ["lab", "eu"]}, {"name": "other"}]
    seen = sighting(rule="records_lost", cannot_wait=True, groups=("pay-worker",), topics=("payments.v2",))
    assert settings_of({"alerts": said, "clusters": clusters}).routes[0].wants(seen) is wanted


def test_a_route_of_pages_gets_no_digest_and_one_of_digests_no_page() -> None:
    pages, digest = (Route(name, ("critical",), sends=(name,)) for name in ("pages", "digest"))
    both, receivers = AlertSettings((pages, digest)), {"pages": ("p",), "digest": ("d",)}
    state = ledger.seen({}, [sighting(), sighting("lost", cannot_wait=True)], both, MORNING)
    assert sorted((m.receiver, len(m.keys)) for m in ledger.due(state, both, receivers, MORNING)) == [
        ("d", 2),
        ("p", 1),
    ]


def incident(harm: str, **given: Any) -> dict[str, Any]:
    usual = {
        "cluster": "prod",
        "incident_id": "a" * 32,
        "harm": harm,
        "headline": "Broker 1 crashed",
        "advice": "Look.",
    }
    times = {"started_at": NIGHT + timedelta(hours=1), "ended_at": NIGHT + timedelta(hours=2)}
    intent = {"intent": "undeclared", "declared_until": None, "is_over": True}
    return {**usual, **times, **intent, "group_ids": ["g"], "topics": None, **given}


def test_an_incident_that_asks_to_act_is_told_and_what_cannot_be_undone_cannot_wait() -> None:
    window = {"cluster": "prod", "window_from": NIGHT, "window_to": NIGHT + DAY}
    harms = ("records_lost", "broker_lost", "consumers_stopped", "routine")
    gone = [incident(harm, ended_at=None, is_over=False) for harm in ("broker_lost", "data_at_risk")]
    told = sightings.of_incidents([*map(incident, harms), *gone], [window])
    assert [(s.rule, s.severity, s.cannot_wait) for s in told] == [
        ("records_lost", "critical", True),
        ("broker_lost", "warning", False),
        ("broker_lost", "critical", True),
        ("data_at_risk", "critical", True),
    ]
    assert told[0].anchor == "incident-" + "a" * 32


@pytest.mark.parametrize(
    ("harm", "columns", "is_muted"),
    [
        ("partitions_offline", {}, True),
        ("partitions_offline", {"declared_until": None}, True),
        ("partitions_offline", {"intent": "unknown"}, False),
        ("partitions_offline", {"declared_until": NIGHT + timedelta(minutes=90)}, False),
        ("partitions_offline", {"ended_at": None, "is_over": False}, False),
        ("records_lost", {}, False),
    ],
)
def test_what_was_declared_is_muted_where_it_was_over_in_time_and_lost_nothing(
    harm: str, columns: dict[str, Any], is_muted: bool
) -> None:
    window = {"cluster": "prod", "window_from": NIGHT, "window_to": NIGHT + DAY}
    declared = {"intent": "declared", "declared_until": NIGHT + timedelta(hours=3), **columns}
    (seen,) = sightings.of_incidents([incident(harm, **declared)], [window])
    assert seen.declared is is_muted
