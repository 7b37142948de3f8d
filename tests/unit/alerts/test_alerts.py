"""Who gets which alert: once while it lasts, by severity and owner, never of declared things, never of history."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.alerts import delivery, ledger, sightings
from kafka_hindsight.alerts.alert_model import FIGURES, AlertRows, Ledger, LedgerEntry, Sighting, of_text, to_text
from kafka_hindsight.alerts.messages import LASTS, NOTICE, AppriseMessage, alert_of, message_of
from kafka_hindsight.catalog.gold import INCIDENTS
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.settings.alerts import AlertSettings, Receiver, alerts_of
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.page_names import page_name
from tests.support.rows import row

DAY = timedelta(days=1)
NIGHT = datetime(2026, 11, 20, tzinfo=UTC)
MORNING = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)
LATER = MORNING + timedelta(minutes=10)
BOTH = AlertSettings.model_validate(
    {
        "receivers": [
            {"name": "pager", "kind": "page", "severities": ["critical"]},
            {"name": "chat", "kind": "digest", "severities": ["critical", "warning"]},
        ]
    }
)
PAGER, CHAT = BOTH.receivers
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


def of_incident(headline: str, **given: Any) -> Sighting:
    return sighting(headline, **{"subject_kind": "incident", "incident_id": "f" * 32, "confidence": "certain", **given})


def crash(ended_at: datetime | None = NIGHT + timedelta(hours=3)) -> Sighting:
    return of_incident("40 records were lost", rule="records_lost", ended_at=ended_at, is_lasting=True)


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
                state = {**state, entry.sighting.key: ledger.mark_tried(entry, receiver, now)}
    return state, messages


def test_alert_goes_once_to_receivers_of_its_severity_gravest_first() -> None:
    gone = of_incident("Broker 2 is away", rule="broker_lost")
    alerts = [sighting("x", severity="info"), sighting("pay", severity="warning"), sighting(), crash(MORNING), gone]
    state, messages = send(ledger.record({}, alerts, MORNING))
    assert messages == [
        ("pager", "critical", "Broker 2 is away"),
        ("pager", "critical", "40 records were lost"),
        ("pager", "critical", "orders"),
        ("chat", "critical", "Broker 2 is away"),
        ("chat", "critical", "40 records were lost"),
        ("chat", "critical", "orders"),
        ("chat", "warning", "pay"),
    ]
    again = ledger.record(state, alerts, MORNING)
    assert again == state
    assert send(again)[1] == []
    assert send(again, LATER)[1] == [("pager", "recovered", "40 records were lost")]


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
            "receivers": [{"name": "team", "kind": "page", "severities": ["critical"], "owner": "team"}],
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


@pytest.mark.parametrize(("hours", "count"), [(35.9, 0), (36, 2)])
def test_alert_that_no_night_showed_for_36_hours_begins_anew(hours: float, count: int) -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING))
    start = NIGHT + DAY + timedelta(hours=hours)
    again = sighting(night_from=start, night_to=start + DAY, began_at=start)
    _, messages = send(ledger.record(state, [again], MORNING + 3 * DAY), MORNING + 3 * DAY)
    assert len(messages) == count


def test_rereading_previous_night_repeats_no_message() -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING, NIGHTS[:1]))
    now = MORNING + DAY
    for expected in (2, 0, 0):
        state, messages = send(ledger.record(state, [sighting()], now, NIGHTS[:2]), now)
        assert [m[1] for m in messages] == ["recovered"] * expected


def test_ended_incident_is_sent_once_and_its_page_is_closed_later() -> None:
    state, first = send(ledger.record({}, [crash()], MORNING))
    assert send(state)[1] == [], "a page that is closed at once calls no one"
    state, second = send(state, LATER)
    assert [m[:2] for m in (*first, *second)] == [("pager", "critical"), ("chat", "critical"), ("pager", "recovered")]
    assert send(ledger.record(state, [crash()], LATER), LATER + DAY)[1] == []


def test_incident_ends_only_where_its_own_night_shows_it() -> None:
    state, _ = send(ledger.record({}, [crash(None)], MORNING))
    state = ledger.record(state, [], MORNING + DAY, NIGHTS[:2])
    assert send(state, MORNING + DAY)[1] == []
    state = ledger.record(state, [crash()], MORNING)
    assert [m[:2] for m in send(state, LATER)[1]] == [("pager", "recovered"), ("chat", "recovered")]


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
    assert send(state, now)[1] == [], "a digest says that it is over"
    (over,) = state.values()
    assert message(CHAT, replace(over.sighting, ended_at=over.ended_at)).body.startswith(
        "critical, over since 2026-11-22"
    )


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


LINKED = BOTH.model_copy(update={"link": "https://airflow.example.org/hindsight/{cluster}/{page}"})
PLACE = "https://airflow.example.org/hindsight/prod/prod.html#finding-1"


def message(receiver: Receiver, *sightings: Sighting, settings: AlertSettings = BOTH) -> Any:
    return message_of([LedgerEntry(s, s.night_to, ended_at=s.ended_at) for s in sightings], receiver, settings, MORNING)


@pytest.mark.parametrize("kind", ["page", "digest", "webhook", "alertmanager"])
def test_hostile_name_is_printable_in_every_message(kind: Any) -> None:
    name = "a\r\nBcc: all@b\x1b[2J\u202e"
    named = {"reason": name, "advice": name, "groups": (name,), "topics": (name,), "commands": (name,)}
    seen = [sighting(name, cluster=name, **named), of_incident(name, rule="records_lost", **named)]
    receiver = Receiver(name="any", kind=kind, severities=["critical"])
    texts: list[Any] = [message(receiver, *seen[n:]) for n in (0, 1)]
    while texts:
        text = texts.pop()
        if isinstance(text, AppriseMessage):
            texts += [text.title, *text.body.split("\n")]
        elif isinstance(text, (list, dict)):
            texts += [*text] + ([*text.values()] if isinstance(text, dict) else [])
        elif isinstance(text, str):
            assert text.isprintable()


def test_page_has_reason_confidence_state_owner_link_and_advice() -> None:
    seen = sighting(cluster="a/b")
    owned = AlertSettings.model_validate(LINKED.model_dump() | {"owners": [{"name": "ops", "clusters": ["a/*"]}]})
    assert message(PAGER, seen, settings=owned) == (
        "critical",
        "[critical] a/b: Group 'orders' rebalanced 14 times",
        "2026-11-20 02:00 UTC  Group 'orders' rebalanced 14 times.\nState: ongoing. Owner: ops.\n"
        "https://airflow.example.org/hindsight/a%2Fb/prod.html#finding-1\nWhat to do: Use static membership.",
    )
    over = message(PAGER, crash())
    assert over.title == "[critical] prod: 40 records were lost"
    assert "Confidence: certain. State: over since 2026-11-20 03:00 UTC.\n" in over.body


def test_recovery_has_title_of_its_page_and_names_its_proof() -> None:
    state, _ = send(ledger.record({}, [sighting(), crash()], MORNING))
    found, lost = ledger.record(state, [], MORNING + DAY, NIGHTS[:2]).values()
    if found.sighting.is_incident:
        found, lost = lost, found
    assert [message_of([e], PAGER, BOTH, MORNING) for e in (found, lost)] == [
        (
            "recovered",
            "[critical] prod: Group 'orders' rebalanced 14 times",
            "Recovered. The night that ended at 2026-11-22 00:00 UTC no longer shows it.",
        ),
        ("recovered", "[critical] prod: 40 records were lost", "Recovered. It was over at 2026-11-20 03:00 UTC."),
    ]


def test_digest_names_worst_alert_and_counts_equal_ones() -> None:
    headline = "4 partitions had no leader: broker 2 crashed at 02:00"
    equal = [
        of_incident(headline, rule="partitions_offline", incident_id=f"{n:032}", recurrence_id="same")
        for n in range(12)
    ]
    settings = AlertSettings.model_validate(LINKED.model_dump() | {"owners": [{"name": "ops", "groups": ["orders"]}]})
    rest = [sighting(groups=("orders",)), sighting("pay"), sighting("elsewhere", cluster="test")]
    assert message(CHAT, *equal, *rest, settings=settings) == (
        "critical",
        "[critical] prod: 4 partitions had no leader, and 14 more",
        f"critical, certain, ongoing, 12 times: {headline} {PLACE}\n"
        f"critical: Group 'orders' rebalanced 14 times (and 1 other: pay) (ops) {PLACE}\n"
        f"critical, test: Group 'elsewhere' rebalanced 14 times {PLACE.replace('/prod/', '/test/')}",
    )


@pytest.mark.parametrize(("rules", "lines"), [(8, 8), (10, 10), (11, 10), (40, 10)])
def test_digest_has_ten_lines_at_most_each_with_a_link(rules: int, lines: int) -> None:
    body = message(CHAT, *[sighting(rule=f"rule_{n}") for n in range(rules)], settings=LINKED).body.split("\n")
    assert len(body) == lines
    page = PLACE.partition("#")[0]
    assert all(page in line for line in body)
    assert (body[-1] == f"and {rules - 9} more {page}") == (rules > 10)


def test_digest_of_ended_alerts_is_a_recovery() -> None:
    state, _ = send(ledger.record({}, [sighting()], MORNING))
    (over,) = ledger.record(state, [], MORNING + DAY, NIGHTS[:2]).values()
    assert message_of([over], CHAT, BOTH, MORNING) == (
        "recovered",
        "[recovered] prod: Group 'orders' rebalanced 14 times",
        "recovered: Group 'orders' rebalanced 14 times",
    )


def test_webhook_document_has_status_and_figures_of_incident() -> None:
    firing = alert_of(LedgerEntry(sighting(), NIGHT + DAY), BOTH)
    assert (firing.status, firing.state, firing.ended_at, firing.figures) == ("firing", "ongoing", None, None)
    costs = {**dict.fromkeys(FIGURES), "records_lost_low": 40, "offline_partition_seconds": 1.5}
    seen = of_incident("40 records were lost", rule="records_lost", ended_at=MORNING, figures=costs)
    resolved = alert_of(LedgerEntry(seen, NIGHT + DAY, ended_at=MORNING), BOTH)
    assert (resolved.status, resolved.state, resolved.ended_at) == ("resolved", "over", MORNING)
    assert resolved.model_dump(mode="json")["figures"] == costs
    assert resolved.id == alert_of(LedgerEntry(seen, NIGHT + DAY), BOTH).id != firing.id


ALERTMANAGER = Receiver(name="am", kind="alertmanager", severities=["critical"])


def ends_at(entry: LedgerEntry) -> datetime:
    (alert,) = message_of([entry], ALERTMANAGER, BOTH, MORNING)
    return datetime.fromisoformat(alert["endsAt"])


def test_open_alert_is_sent_to_alertmanager_again_for_36_hours() -> None:
    new = LedgerEntry(sighting(), NIGHT + DAY)
    sent_before = ledger.mark_tried(new, ALERTMANAGER, MORNING)
    assert ends_at(new) == ends_at(sent_before) == NIGHT + DAY + LASTS
    state = {"key": sent_before}
    assert ledger.open_entries(state, ALERTMANAGER, MORNING) == [sent_before]
    assert ledger.open_entries(state, ALERTMANAGER, NIGHT + DAY + LASTS + DAY) == []


def test_ended_alert_fires_for_an_hour_in_alertmanager() -> None:
    over = LedgerEntry(crash(), NIGHT + DAY, ended_at=crash().ended_at)
    assert ends_at(over) == MORNING + NOTICE
    assert not ledger.is_due(ledger.mark_tried(over, ALERTMANAGER, MORNING), ALERTMANAGER, BOTH, LATER)


def test_alert_that_ends_is_resolved_in_alertmanager() -> None:
    ended = ledger.end_entry(ledger.mark_tried(LedgerEntry(sighting(), NIGHT + DAY), ALERTMANAGER, MORNING), MORNING)
    assert ledger.is_due(ended, ALERTMANAGER, BOTH, LATER)
    assert ends_at(ended) == MORNING


WINDOW = {"cluster": "prod", "window_from": NIGHT, "window_to": NIGHT + DAY}


def finding(**given: Any) -> dict[str, Any]:
    at = NIGHT + timedelta(hours=3)
    usual = {"finding_id": "a" * 32, "rule_id": "r", "severity": "critical", "subject_kind": "group", "subject": "g"}
    return {**usual, "cluster": "prod", "first_at": at, "last_at": at, "message": "m", "advice": "a", **given}


def test_finding_alert_links_to_its_page() -> None:
    (alert,) = sightings.of_findings([finding(), finding(cluster="other")], [WINDOW], [])
    assert (alert.page, alert.anchor) == (page_name("prod", NIGHT, NIGHT + DAY), "finding-" + "a" * 32)
    assert not alert.declared


def test_broker_that_went_before_the_night_alerts_by_the_incident_of_that_time_only() -> None:
    assert sightings.of_findings([finding(rule_id="broker_gone")], [WINDOW], []) == []


@pytest.mark.parametrize(
    ("work", "declared"),
    [
        ({}, True),
        ({"to": None}, False),
        ({"subject": "other"}, False),
        ({"subject_kind": "broker"}, False),
        ({"from": NIGHT + timedelta(hours=4)}, False),
        ({"to": NIGHT + timedelta(hours=1)}, False),
        ({"from": finding()["first_at"], "to": finding()["last_at"]}, True),
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
    assert alerts[0].reason == "Nothing was published: 2 critical expectations failed. b is broken. a is broken."


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


def test_log_is_missing_by_the_nights_of_eight_days() -> None:
    last, now = coverage_row("app.log", -1), coverage_row("1/server.log", 0)
    assert log_alerts(coverage_row("app.log", -8), last, now) == [("log_missing", "app.log")]
    assert log_alerts(coverage_row("app.log", -9), last, now) == []


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
    linked = sightings.of_event({**EVENT, "link": "https://airflow.example.org/log"})
    page = message(PAGER, linked)
    assert page.title == "[critical] prod: The task failed"
    assert "https://airflow.example.org/log" in page.body.split("\n")


@pytest.mark.parametrize(
    "broken", [{"rule": "x"}, {"severity": "grave"}, {"at": "soon"}, {"cluster": None, "from": None}]
)
def test_incomplete_event_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="is incomplete"):
        sightings.of_event({**EVENT, **broken})


def test_unnamed_cluster_is_short_in_titles() -> None:
    unnamed = of_incident("Broker 1 crashed", cluster="M3qSc9eLQMSD2A9RXcqTKA", rule="broker_lost")
    assert message(PAGER, unnamed).title == "[critical] M3qSc9…: Broker 1 crashed"


def story(name: str, **given: Any) -> Sighting:
    return of_incident(f"{name}: broker 1 crashed", incident_id=name, **{"rule": "partitions_offline", **given})


OFFLINE, LOST, GROUP = (
    story("76 partitions had no leader", brokers=(1, 2)),
    story("40 records were lost", rule="records_lost", brokers=(2,), is_lasting=True, ended_at=MORNING),
    story("A group has no member", rule="consumers_stopped", groups=("pay",)),
)


def test_one_page_for_alerts_that_share_a_broker_which_is_over_with_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[AppriseMessage] = []
    monkeypatch.setattr(delivery, "sender", lambda *_: lambda message: sent.append(message) or "")
    settings = AlertSettings(receivers=[PAGER])

    def deliver(state: Ledger, now: datetime) -> Ledger:
        order = delivery.DeliveryOrder(str(tmp_path), now, {}, {PAGER.name: "json://pager"})
        return delivery.deliver(order, of_text(to_text(state))[0], settings, AlertRows()).state

    state = deliver(ledger.record({}, [OFFLINE, LOST, GROUP], MORNING), MORNING)
    story_title = "[critical] prod: 76 partitions had no leader; 40 records were lost"
    assert [m.title for m in sent] == [story_title, "[critical] prod: A group has no member: broker 1 crashed"]
    assert "\n\nAlso: 40 records were lost: broker 1 crashed\n" in sent[0].body
    state = deliver(state, LATER)
    assert len(sent) == 2, "what goes on keeps its page open"
    deliver(ledger.record(state, [replace(OFFLINE, ended_at=MORNING)], LATER), LATER + DAY)
    assert sent[2] == ("recovered", story_title, "Recovered. It was over at 2026-11-21 02:30 UTC.")


@pytest.mark.parametrize(("event", "count"), [(sighting(), 1), (None, 0)])
def test_an_event_sends_what_waits_and_nothing_is_sent_without_one(
    event: Sighting | None, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "sender", lambda *_: lambda message: "")
    order = delivery.DeliveryOrder(str(tmp_path), MORNING, {}, {PAGER.name: "json://pager"}, event)
    state = ledger.record({}, [sighting()], MORNING)
    done = delivery.deliver_event(order, state, AlertSettings(receivers=[PAGER]))
    assert (done.count, done.waiting) == (count, 0)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (replace(OFFLINE, ended_at=MORNING), "it was over before it was sent"),
        (sighting(calm_reason="it is about settings"), "it is about settings"),
        (LOST, ""),
        (OFFLINE, ""),
    ],
)
def test_no_page_for_what_is_over_or_about_settings(seen: Sighting, reason: str) -> None:
    (entry,) = ledger.record({}, [seen], MORNING).values()
    assert ledger.why_not(entry, PAGER, BOTH, MORNING) == reason
    assert ledger.why_not(entry, CHAT, BOTH, MORNING) == ""


@pytest.mark.parametrize(
    ("found", "is_over", "reason"),
    [
        ({"rule_id": "replication_factor_one", "subject_kind": "topic"}, True, "it is about settings"),
        ({"rule_id": "rebalances_excessive"}, True, "it was over before it was sent"),
        ({"rule_id": "rebalances_excessive"}, None, ""),
        ({"rule_id": "rebalances_excessive", "last_at": NIGHT + DAY - timedelta(minutes=1)}, True, ""),
        ({"rule_id": "rebalances_excessive", "subject": "of no incident"}, True, ""),
    ],
)
def test_finding_calls_no_one_for_settings_and_groups_that_are_well(
    found: dict[str, Any], is_over: bool | None, reason: str
) -> None:
    incidents = [incident("consumers_stopped", is_over=is_over)]
    (alert,) = sightings.of_findings([finding(**found)], [WINDOW], [], incidents)
    assert alert.calm_reason == reason


def incident(harm: str, **given: Any) -> Incident:
    usual = {
        "cluster": "prod",
        "incident_id": "a" * 32,
        "harm": harm,
        "headline": "Broker 1 crashed",
        "advice": "Look.",
    }
    times = {"started_at": NIGHT + timedelta(hours=1), "ended_at": NIGHT + timedelta(hours=2)}
    intent = {"intent": "undeclared", "declared_until": None, "is_over": True}
    more = {"explanation": "It crashed.", "confidence": "certain", "recurrence_id": "b" * 32, "commands": ["ls"]}
    made: Incident = row(INCIDENTS, **{**usual, **times, **intent, **more, "group_ids": ["g"], "topics": None, **given})
    return made


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
    over_at = NIGHT + timedelta(hours=2)
    assert [(s.ended_at, s.is_ongoing) for s in alerts] == [(over_at, False)] * 2 + [(None, True)] * 2


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
    section = {
        "rotes": [],
        "receivers": [
            {"name": "Chat!", "kind": "chat", "severities": ["bad"], "url": "mailto://user:s3cret@x"},
            {"severities": []},
        ],
        "owners": [{"name": "a", "groups": "x"}],
    }
    with pytest.raises(BadInput) as problem:
        alerts_of({"alerts": section}, Path("/h.toml"))
    assert sorted(problem.value.sentences) == [
        "/h.toml: owners.a.groups is 'x'. Needed: a valid list. Correct it.",
        "/h.toml: receivers.2.kind is not set. Needed: page (a message for alerts that belong together) or digest"
        " (one for all new ones), by a URL of Apprise; webhook (a JSON document for each alert) or alertmanager (its"
        " API), by a URL of HTTP. Add it.",
        "/h.toml: receivers.2.name is not set. Needed: names its connection hindsight_alerts_<name>: small letters,"
        " digits and underscores. Add it.",
        "/h.toml: receivers.2.severities is []. Needed: at least 1 item after validation, not 0. Correct it.",
        "/h.toml: receivers.Chat!.kind is 'chat'. Needed: 'page', 'digest', 'webhook' or 'alertmanager'. Correct it.",
        "/h.toml: receivers.Chat!.name is 'Chat!'. Needed: match pattern '^[a-z][a-z0-9_]{0,39}$'. Correct it.",
        "/h.toml: receivers.Chat!.severities.1 is 'bad'. Needed: 'critical', 'warning' or 'info'. Correct it.",
        "/h.toml: receivers.Chat!.url is not known. Needed: one of name, kind, severities, owner. Rename it.",
        "/h.toml: rotes is not known. Needed: one of link, receivers, owners. Rename it.",
    ]


def test_names_of_receivers_and_owners_are_known_and_unique() -> None:
    receiver = {"name": "a", "kind": "page", "severities": ["info"]}
    twice = [receiver, {**receiver, "owner": "who"}]
    with pytest.raises(BadInput) as problem:
        alerts_of({"alerts": {"receivers": twice, "owners": [{"name": "idle"}]}}, Path("/h.toml"))
    assert [s.split(". Needed")[0] for s in problem.value.sentences] == [
        "/h.toml: [alerts]: two receivers are named 'a'",
        "/h.toml: [alerts]: the owner of receiver a is 'who'",
        "/h.toml: [alerts]: owner idle owns nothing",
    ]
