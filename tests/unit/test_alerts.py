"""Who gets which alert: once while it lasts, by severity and owner, never of declared things, never of history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.alerts import memory as ledger
from kafka_hindsight.alerts import sightings
from kafka_hindsight.alerts.alert_model import Ledger, Sighting, of_text, to_text
from kafka_hindsight.alerts.messages import body_of, recovery_of, title_of
from kafka_hindsight.settings.alerts import AlertSettings, alerts_of
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.page_names import page_name

DAY = timedelta(days=1)
NIGHT = datetime(2026, 11, 20, tzinfo=UTC)
MORNING = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)
BOTH = AlertSettings.model_validate(
    {
        "receivers": [
            {"name": "pager", "severities": ["critical"]},
            {"name": "chat", "severities": ["critical", "warning"]},
        ]
    }
)
NIGHTS = [("prod", NIGHT + n * DAY, NIGHT + (n + 1) * DAY) for n in range(8)]


def sighting(subject: str = "orders", nights_later: int = 0, **given: Any) -> Sighting:
    start = NIGHT + nights_later * DAY
    usual: dict[str, Any] = {
        "cluster": "prod",
        "rule": "rebalances_excessive",
        "severity": "critical",
        "subject_kind": "group",
        "subject": subject,
        "night_from": start,
        "night_to": start + DAY,
        "began_at": start + timedelta(hours=2),
        "reason": f"Group {subject!r} rebalanced 14 times.",
        "advice": "Use static membership.",
        "page": "prod.html",
        "anchor": "finding-1",
    }
    return Sighting(**{**usual, **given})


Message = tuple[str, str, str]
"""A receiver, what kind of message it got, and what that is about."""


def send(
    state: Ledger, now: datetime = MORNING, settings: AlertSettings = BOTH, down: str = ""
) -> tuple[Ledger, list[Message]]:
    """The ledger after a look at what is due, and the messages; one receiver may be down."""
    messages: list[Message] = []
    for receiver in settings.receivers:
        for entry in ledger.due_entries(state, receiver, settings, now):
            if receiver.name != down:
                kind = "recovered" if receiver.name in entry.sent else entry.sighting.severity
                messages.append((receiver.name, kind, entry.sighting.subject))
                state = {**state, entry.sighting.key: ledger.mark_delivered(entry, receiver, now)}
    return state, messages


def test_alert_goes_once_to_receivers_of_its_severity_gravest_first() -> None:
    lost = sighting("40 records were lost", subject_kind="incident", rule="records_lost", began_at=MORNING)
    alerts = [sighting("x", severity="info"), sighting("pay", severity="warning"), sighting(), lost]
    state, messages = send(ledger.record({}, alerts, MORNING))
    assert messages == [
        ("pager", "critical", "40 records were lost"),
        ("pager", "critical", "orders"),
        ("chat", "critical", "40 records were lost"),
        ("chat", "critical", "orders"),
        ("chat", "warning", "pay"),
    ]
    again = ledger.record(state, alerts, MORNING)
    assert again == state
    assert send(again)[1] == []


@pytest.mark.parametrize(
    ("owner", "is_wanted"),
    [
        ({"clusters": ["pr*"]}, True),
        ({"clusters": ["test-*"]}, False),
        ({"groups": ["pay-*"]}, True),
        ({"groups": ["mail-*"]}, False),
        ({"topics": ["payments.*"]}, True),
        ({"groups": ["mail-*"], "topics": ["payments.*"]}, True),
    ],
)
def test_receiver_with_owner_gets_only_alerts_of_owner(owner: dict[str, Any], is_wanted: bool) -> None:
    settings = AlertSettings.model_validate(
        {
            "receivers": [{"name": "team", "severities": ["critical"], "owner": "team"}],
            "owners": [{"name": "team", **owner}],
        }
    )
    alert = sighting(groups=("pay-worker",), topics=("payments.v2",))
    assert len(send(ledger.record({}, [alert], MORNING), settings=settings)[1]) == is_wanted


def test_lasting_alert_is_sent_once_recovers_and_is_sent_again_on_return() -> None:
    state: Ledger = {}
    by_night = []
    for night, is_shown in enumerate((True, True, False, False, True)):
        now = MORNING + night * DAY
        alerts = [sighting(nights_later=night)] if is_shown else []
        state, messages = send(ledger.record(state, alerts, now, NIGHTS[: night + 1]), now)
        by_night.append([m[:2] for m in messages])
        assert send(ledger.record(state, alerts, now, NIGHTS[: night + 1]), now)[1] == []
    begins = [("pager", "critical"), ("chat", "critical")]
    assert by_night == [begins, [], [("pager", "recovered"), ("chat", "recovered")], [], begins]


def test_unaudited_night_keeps_alert_open_but_a_week_ends_it() -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING))
    state, messages = send(ledger.record(state, [sighting(nights_later=2)], MORNING + 2 * DAY), MORNING + 2 * DAY)
    assert messages == []
    _, messages = send(ledger.record(state, [sighting(nights_later=7)], MORNING + 7 * DAY), MORNING + 7 * DAY)
    assert len(messages) == 2


def test_rereading_previous_night_repeats_no_message() -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING, NIGHTS[:1]))
    now = MORNING + DAY
    for expected in (2, 0, 0):
        state, messages = send(ledger.record(state, [sighting()], now, NIGHTS[:2]), now)
        assert [m[1] for m in messages] == ["recovered"] * expected


def test_incident_alert_sends_no_recovery() -> None:
    crash = sighting("Broker 1 crashed", subject_kind="incident", rule="broker_lost")
    state, _ = send(ledger.record({}, [crash], MORNING, NIGHTS[:1]))
    assert send(ledger.record(state, [], MORNING + DAY, NIGHTS[:2]), MORNING + DAY)[1] == []


def test_night_of_other_cluster_ends_no_alert() -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING))
    other = [("test", *NIGHTS[1][1:])]
    assert send(ledger.record(state, [], MORNING + DAY, other), MORNING + DAY)[1] == []


def test_alert_that_becomes_critical_is_sent_again() -> None:
    state, _ = send(ledger.record({}, [sighting(severity="warning")], MORNING))
    _, messages = send(ledger.record(state, [sighting(nights_later=1)], MORNING + DAY), MORNING + DAY)
    assert ("pager", "critical", "orders") in messages


def test_old_night_sends_no_alert() -> None:
    assert ledger.record({}, [sighting(nights_later=-2)], MORNING) == {}


def test_declared_work_is_not_alerted_until_undeclared() -> None:
    declared = ledger.record({}, [sighting(declared=True)], MORNING)
    assert send(declared)[1] == []
    _, messages = send(ledger.record(declared, [sighting(nights_later=1)], MORNING + DAY), MORNING + DAY)
    assert len(messages) == 2


def test_receiver_back_within_a_week_gets_missed_alert() -> None:
    state, messages = send(ledger.record({}, [sighting()], MORNING), down="chat")
    assert messages == [("pager", "critical", "orders")]
    assert send(state, MORNING + 6 * DAY)[1] == [("chat", "critical", "orders")]
    assert send(state, MORNING + 8 * DAY)[1] == []


def test_receiver_that_was_down_gets_alert_then_recovery() -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING, NIGHTS[:1]), down="chat")
    now = MORNING + DAY
    state, messages = send(ledger.record(state, [], now, NIGHTS[:2]), now)
    assert messages == [("pager", "recovered", "orders"), ("chat", "critical", "orders")]
    assert send(state, now)[1] == [("chat", "recovered", "orders")]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b"]), st.booleans()), max_size=12))
def test_each_receiver_gets_each_alert_once_despite_downtime(looks: list[tuple[int, str, bool]]) -> None:
    state: Ledger = {}
    delivered: list[Message] = []
    for night, subject, is_up in sorted(looks):
        now = MORNING + night * DAY
        state, _ = of_text(to_text(ledger.record(state, [sighting(subject, night % 2)], now)))
        state, messages = send(state, now, down="" if is_up else "chat")
        delivered += messages
    assert len(delivered) == len(set(delivered))


def test_ledger_survives_round_trip_and_counts_damaged_lines() -> None:
    strange = sighting("näme\n\u202e\u2028\x85\x0c", groups=("g",), topics=("t",))
    state, _ = send(ledger.record({}, [strange, sighting(severity="warning")], MORNING, NIGHTS[:1]))
    state, _ = send(ledger.record(state, [], MORNING + DAY, NIGHTS[:2]), MORNING + DAY)
    assert of_text(to_text(state)) == (state, 0)
    assert of_text(to_text(state) + "{}\n[1]\nnonsense\n") == (state, 3)


def test_hostile_subject_is_escaped_in_message() -> None:
    alert = sighting("a\r\nBcc: all@b\x1b[2J", reason="x\ny")
    assert title_of(alert).isprintable()
    body = body_of(alert, "")
    assert "\x1b" not in body and "x\\ny" in body


def test_message_has_reason_report_link_and_advice() -> None:
    alert = sighting(cluster="a/b")
    assert title_of(alert) == "[critical] a/b: rebalances excessive: orders"
    assert body_of(alert, "https://airflow.example.org/hindsight/{cluster}/{page}") == (
        "2026-11-20 02:00 UTC  Group 'orders' rebalanced 14 times.\n"
        "https://airflow.example.org/hindsight/a%2Fb/prod.html#finding-1\n\n"
        "What to do: Use static membership."
    )
    crash = sighting("Broker 1 crashed", subject_kind="incident", rule="broker_lost")
    assert title_of(crash) == "[critical] prod: Broker 1 crashed"
    (over,) = ledger.record(ledger.record({}, [alert], MORNING), [], MORNING + DAY, [("a/b", *NIGHTS[1][1:])]).values()
    assert recovery_of(over) == "Recovered. The night that ended at 2026-11-22 00:00 UTC no longer shows it."


WINDOW = {"cluster": "prod", "window_from": NIGHT, "window_to": NIGHT + DAY}


def finding(**given: Any) -> dict[str, Any]:
    at = NIGHT + timedelta(hours=3)
    usual = {"finding_id": "a" * 32, "rule_id": "r", "severity": "critical", "subject_kind": "group", "subject": "g"}
    return {**usual, "cluster": "prod", "first_at": at, "last_at": at, "message": "m", "advice": "a", **given}


def test_finding_alert_links_to_its_page() -> None:
    (alert,) = sightings.of_findings([finding(), finding(cluster="other")], [WINDOW], [])
    assert (alert.page, alert.anchor) == (page_name("prod", NIGHT, NIGHT + DAY), "finding-" + "a" * 32)
    assert not alert.declared


@pytest.mark.parametrize(
    ("work", "declared"),
    [
        ({}, True),
        ({"to": None}, False),
        ({"subject": "other"}, False),
        ({"subject_kind": "broker"}, False),
        ({"from": NIGHT + timedelta(hours=4)}, False),
        ({"to": NIGHT + timedelta(hours=1)}, False),
    ],
)
def test_finding_within_declared_work_is_declared(work: dict[str, Any], declared: bool) -> None:
    usual = {"cluster": "prod", "subject_kind": "group", "subject": "g", "from": NIGHT, "to": NIGHT + DAY}
    (alert,) = sightings.of_findings([finding()], [WINDOW], [{**usual, **work}])
    assert alert.declared is declared


def validation_row(expectation: str, severity: str = "critical", **given: Any) -> dict[str, Any]:
    return {
        **WINDOW,
        "table": "gold.rebalances",
        "expectation": expectation,
        "description": "s",
        "severity": severity,
        "sentences": [f"{expectation} is broken."],
        **given,
    }


def test_refused_publication_is_one_alert() -> None:
    alerts = sightings.of_validations([validation_row("b"), validation_row("a"), validation_row("w", "warning")])
    assert [(s.rule, s.severity, s.subject) for s in alerts] == [
        ("publication_refused", "critical", "gold.rebalances.a, gold.rebalances.b"),
        ("expectation_failed", "warning", "gold.rebalances.w"),
    ]
    assert alerts[0].reason == "2 critical expectations are broken, nothing was published. b is broken. a is broken."


def coverage_row(source: str, night: int, **given: Any) -> dict[str, Any]:
    start = NIGHT + night * DAY
    usual = {"lines_in": 5, "last_at": start + DAY - timedelta(minutes=5), "longest_silence_ms": 60_000}
    return {"cluster": "prod", "source": source, "window_from": start, "window_to": start + DAY, **usual, **given}


def log_alerts(*rows: dict[str, Any]) -> list[tuple[str, str]]:
    return [(s.rule, s.subject) for s in sightings.of_coverage(rows, MORNING - 2 * DAY)]


def test_log_present_on_two_nights_is_reported_missing() -> None:
    former = [coverage_row(s, n) for s in ("1/server.log", "2/server.log") for n in (-2, -1)]
    assert log_alerts(*former, coverage_row("1/server.log", 0)) == [("log_missing", "2/server.log")]
    assert log_alerts(*former, coverage_row("1/server.log", 0), coverage_row("2/server.log", 0)) == []


def test_irregular_log_is_not_reported_missing() -> None:
    former = [coverage_row("1/server.log", -2), coverage_row("1/server.log", -1), coverage_row("app.log", -1)]
    assert log_alerts(*former, coverage_row("1/server.log", 0)) == []
    assert log_alerts(coverage_row("app.log", -1), coverage_row("1/server.log", 0)) == [], "one night is no habit"
    assert log_alerts(*former, coverage_row("1/server.log", 0), coverage_row("app.log", -2, lines_in=0)) == []


def test_log_silent_early_is_reported_unless_usual() -> None:
    early = {"last_at": NIGHT + timedelta(hours=12)}
    busy = [coverage_row("1/server.log", n) for n in (-2, -1)]
    quiet = [coverage_row("1/server.log", n, longest_silence_ms=5 * 3_600_000) for n in (-2, -1)]
    assert log_alerts(*busy, coverage_row("1/server.log", 0, **early)) == [("log_silent", "1/server.log")]
    assert log_alerts(*quiet, coverage_row("1/server.log", 0, **early)) == []


EVENT = {
    "rule": "night_failed",
    "severity": "critical",
    "cluster": "prod",
    "subject": "run 1",
    "reason": "The task failed.",
    "at": "2026-11-21T02:20:00+00:00",
    "from": "2026-11-20T00:00:00+00:00",
    "to": "2026-11-21T00:00:00+00:00",
}


def test_scheduler_event_becomes_sighting_with_advice() -> None:
    alert = sightings.of_event(EVENT)
    assert (alert.rule, alert.advice) == ("night_failed", sightings.OWN_TROUBLES["night_failed"])


@pytest.mark.parametrize(
    "broken", [{"rule": "x"}, {"severity": "grave"}, {"at": "soon"}, {"cluster": None, "from": None}]
)
def test_incomplete_event_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="is incomplete"):
        sightings.of_event({**EVENT, **broken})


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


def test_harmful_incident_is_sent_and_irreversible_harm_is_critical() -> None:
    harms = ("records_lost", "broker_lost", "consumers_stopped", "routine")
    gone = [incident(harm, ended_at=None, is_over=False) for harm in ("broker_lost", "data_at_risk")]
    alerts = sightings.of_incidents([*map(incident, harms), *gone], [WINDOW])
    assert [(s.rule, s.severity) for s in alerts] == [
        ("records_lost", "critical"),
        ("broker_lost", "warning"),
        ("broker_lost", "critical"),
        ("data_at_risk", "critical"),
    ]
    assert alerts[0].anchor == "incident-" + "a" * 32


def test_incident_of_other_cluster_is_not_sent() -> None:
    assert sightings.of_incidents([incident("records_lost", cluster="other")], [WINDOW]) == []


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
def test_declared_incident_is_muted_only_if_over_in_time_without_loss(
    harm: str, columns: dict[str, Any], is_muted: bool
) -> None:
    declared = {"intent": "declared", "declared_until": NIGHT + timedelta(hours=3), **columns}
    (alert,) = sightings.of_incidents([incident(harm, **declared)], [WINDOW])
    assert alert.declared is is_muted


def test_every_problem_of_alert_settings_is_named_at_once() -> None:
    given = {
        "rotes": [],
        "receivers": [
            {"name": "Chat!", "severities": ["bad"], "url": "mailto://user:s3cret@x"},
            {"severities": []},
        ],
        "owners": [{"name": "a", "groups": "x"}],
    }
    with pytest.raises(BadInput) as problem:
        alerts_of({"alerts": given}, Path("/h.toml"))
    assert sorted(problem.value.sentences) == [
        "/h.toml: owners.a.groups is 'x'. Needed: a valid list. Correct it.",
        "/h.toml: receivers.2.name is not set. Needed: names its connection hindsight_alerts_<name>: small letters,"
        " digits and underscores. Add it.",
        "/h.toml: receivers.2.severities is []. Needed: at least 1 item after validation, not 0. Correct it.",
        "/h.toml: receivers.Chat!.name is 'Chat!'. Needed: match pattern '^[a-z][a-z0-9_]{0,39}$'. Correct it.",
        "/h.toml: receivers.Chat!.severities.1 is 'bad'. Needed: 'critical', 'warning' or 'info'. Correct it.",
        "/h.toml: receivers.Chat!.url is not known. Needed: one of name, severities, owner. Rename it.",
        "/h.toml: rotes is not known. Needed: one of link, receivers, owners. Rename it.",
    ]


def test_receiver_and_owner_names_must_be_unique_and_known() -> None:
    twice = [{"name": "a", "severities": ["info"]}, {"name": "a", "severities": ["info"], "owner": "who"}]
    with pytest.raises(BadInput) as problem:
        alerts_of({"alerts": {"receivers": twice, "owners": [{"name": "idle"}]}}, Path("/h.toml"))
    assert [s.split(". Needed")[0] for s in problem.value.sentences] == [
        "/h.toml: [alerts]: two receivers are named 'a'",
        "/h.toml: [alerts]: the owner of receiver a is 'who'",
        "/h.toml: [alerts]: owner idle owns nothing",
    ]
