"""Who is told what: once while it lasts, by severity, never of declared or muted things, never of history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.alerts import memory as ledger
from kafka_hindsight.alerts import sightings
from kafka_hindsight.alerts.model import Entry, Ledger, Message, Sighting, of_text, to_text
from kafka_hindsight.alerts.routes import AlertSettings, Mute, Quiet, Route, settings_of
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.page_names import page_name

DAY = timedelta(days=1)
NIGHT = datetime(2026, 11, 20, tzinfo=UTC)
MORNING = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)
PAGER, CHAT = Route("pager", ("critical",)), Route("chat", ("critical", "warning"))
BOTH = AlertSettings((PAGER, CHAT))
RECEIVERS = {"pager": ("p",), "chat": ("c1", "c2")}


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


def told(state: Ledger, settings: AlertSettings = BOTH, now: datetime = MORNING) -> tuple[Ledger, list[Message]]:
    messages = ledger.due(state, settings, RECEIVERS, now)
    for message in messages:
        state = ledger.delivered(state, message, RECEIVERS, now)
    return state, messages


def whom(messages: list[Message]) -> list[tuple[str, str]]:
    return [(m.route, m.receiver) for m in messages]


def test_severity_decides_the_route_and_each_receiver_is_told_once() -> None:
    seen = [sighting(), sighting("pay", rule="rebalances_frequent", severity="warning"), sighting("x", severity="info")]
    state, messages = told(ledger.seen({}, seen, BOTH, MORNING))
    assert sorted((m.route, m.receiver, m.severity) for m in messages) == [
        ("chat", "c1", "critical"),
        ("chat", "c2", "critical"),
        ("pager", "p", "critical"),
    ]
    again = ledger.seen(state, seen, BOTH, MORNING)
    assert again == state
    assert told(again)[1] == []


def test_many_subjects_of_one_rule_are_one_message() -> None:
    seen = [sighting(f"topic-{n:02d}", reason=f"Partition {n} is offline.", cannot_wait=True) for n in range(30)]
    _, messages = told(ledger.seen({}, seen, BOTH, MORNING))
    assert len(messages) == 3
    body = messages[0].body
    assert messages[0].title == "[critical] prod: rebalances excessive: 30 groups"
    assert "Partition 0 is offline." in body and "And 20 more" in body
    assert body.count("What to do: Use static membership.") == 1


def test_what_lasts_is_told_once_and_what_comes_back_is_told_again() -> None:
    state: Ledger = {}
    sent: list[int] = []
    for night in (0, 1, 2, 6):
        now = MORNING + night * DAY
        state, messages = told(ledger.seen(state, [sighting(nights_later=night)], BOTH, now), now=now)
        sent.append(len(messages))
    assert sent == [3, 0, 0, 3]


def test_what_becomes_critical_is_told_again() -> None:
    warned, _ = told(ledger.seen({}, [sighting(severity="warning")], BOTH, MORNING))
    _, messages = told(ledger.seen(warned, [sighting(nights_later=1)], BOTH, MORNING + DAY), now=MORNING + DAY)
    assert ("pager", "p") in whom(messages)


def test_history_tells_nobody() -> None:
    assert ledger.seen({}, [sighting(nights_later=-2)], BOTH, MORNING) == {}


def test_declared_work_tells_nobody_and_the_same_undeclared_does() -> None:
    declared, none = told(ledger.seen({}, [sighting(declared=True)], BOTH, MORNING))
    assert (none, next(iter(declared.values())).held) == ([], "declared")
    _, messages = told(ledger.seen(declared, [sighting(nights_later=1)], BOTH, MORNING + DAY), now=MORNING + DAY)
    assert len(messages) == 3


@pytest.mark.parametrize(
    "named",
    [
        {"rule": "rebalances_excessive"},
        {"group": "orders"},
        {"cluster": "prod"},
        {"rule": "rebalances_excessive", "group": "orders", "cluster": "prod"},
    ],
)
def test_a_mute_holds_until_it_ends(named: dict[str, str]) -> None:
    muting = AlertSettings(BOTH.routes, (Mute(MORNING + timedelta(hours=8), "known", **named),))
    state, none = told(ledger.seen({}, [sighting()], muting, MORNING), muting)
    assert none == []
    after = MORNING + timedelta(hours=10)
    state, none = told(ledger.seen(state, [sighting()], muting, after), muting, after)
    assert none == [], "the night that was muted stays muted"
    _, messages = told(ledger.seen(state, [sighting(nights_later=1)], muting, MORNING + DAY), muting, MORNING + DAY)
    assert len(messages) == 3, "what still lasts when the mute has ended is told"


@pytest.mark.parametrize("named", [{"rule": "other"}, {"group": "pay"}, {"cluster": "prod", "group": "pay"}])
def test_a_mute_silences_nothing_else(named: dict[str, str]) -> None:
    muting = AlertSettings(BOTH.routes, (Mute(MORNING + DAY, "", **named),))
    assert len(told(ledger.seen({}, [sighting()], muting, MORNING), muting)[1]) == 3


def test_a_quiet_route_waits_and_the_others_do_not() -> None:
    quiet = Quiet(datetime(1, 1, 1, 22).time(), datetime(1, 1, 1, 7).time(), "Europe/Berlin")
    settings = AlertSettings((PAGER, Route("chat", CHAT.severities, quiet)))
    state, messages = told(ledger.seen({}, [sighting()], settings, MORNING), settings)
    assert whom(messages) == [("pager", "p")]
    assert told(state, settings, MORNING.replace(hour=5, minute=59))[1] == []
    state, messages = told(state, settings, MORNING.replace(hour=6, minute=0))
    assert whom(messages) == [("chat", "c1"), ("chat", "c2")]
    assert told(state, settings, MORNING.replace(hour=7))[1] == []


def test_one_receiver_that_is_down_owes_nothing_to_the_others() -> None:
    state = ledger.seen({}, [sighting()], BOTH, MORNING)
    for message in ledger.due(state, BOTH, RECEIVERS, MORNING):
        if message.receiver != "c2":
            state = ledger.delivered(state, message, RECEIVERS, MORNING)
    assert whom(ledger.due(state, BOTH, RECEIVERS, MORNING + 9 * DAY)) == [("chat", "c2")]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b"]), st.booleans()), max_size=12))
def test_whatever_goes_down_and_up_each_receiver_hears_of_a_trouble_once(looks: list[tuple[int, str, bool]]) -> None:
    state: Ledger = {}
    heard: list[tuple[str, str]] = []
    for night, subject, is_up in sorted(looks):
        now = MORNING + night * DAY
        state, _ = of_text(to_text(ledger.seen(state, [sighting(subject, night % 2)], BOTH, now)))
        for message in ledger.due(state, BOTH, RECEIVERS, now):
            if is_up:
                heard += [(message.receiver, key) for key in message.keys]
                state = ledger.delivered(state, message, RECEIVERS, now)
    assert len(heard) == len(set(heard))


def test_an_entry_survives_its_line() -> None:
    strange = sighting("näme\n\u202e\u2028\x85\x0c")
    state, _ = told(ledger.seen({}, [strange, sighting(severity="warning")], BOTH, MORNING))
    assert of_text(to_text(state)) == (state, 0)
    assert all(isinstance(e, Entry) for e in state.values())


def test_a_name_of_a_stranger_commands_nothing() -> None:
    state = ledger.seen({}, [sighting("a\r\nBcc: all@b\x1b[2J", reason="x\ny")], BOTH, MORNING)
    (message, *_) = ledger.due(state, BOTH, RECEIVERS, MORNING)
    assert message.title.isprintable()
    assert "\x1b" not in message.body and "x\\ny" in message.body


def test_the_link_leads_to_the_place_in_the_report() -> None:
    settings = AlertSettings(BOTH.routes, (), "https://airflow.example.org/hindsight/{cluster}/{page}")
    state = ledger.seen({}, [sighting(cluster="a/b")], settings, MORNING)
    assert (
        "https://airflow.example.org/hindsight/a%2Fb/prod.html#finding-1"
        in ledger.due(state, settings, RECEIVERS, MORNING)[0].body
    )


WINDOW = {"cluster": "prod", "window_from": NIGHT, "window_to": NIGHT + DAY}


def finding(**given: Any) -> dict[str, Any]:
    at = NIGHT + timedelta(hours=3)
    usual = {"finding_id": "a" * 32, "rule_id": "r", "severity": "critical", "subject_kind": "group", "subject": "g"}
    return {**usual, "cluster": "prod", "first_at": at, "last_at": at, "message": "m", "advice": "a", **given}


def test_a_finding_is_told_with_its_page() -> None:
    (seen,) = sightings.of_findings([finding(), finding(cluster="other")], [WINDOW], [])
    assert (seen.page, seen.anchor) == (page_name("prod", NIGHT, NIGHT + DAY), "finding-" + "a" * 32)
    assert not seen.declared


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
def test_a_finding_within_declared_work_is_declared(work: dict[str, Any], declared: bool) -> None:
    usual = {"cluster": "prod", "subject_kind": "group", "subject": "g", "from": NIGHT, "to": NIGHT + DAY}
    (seen,) = sightings.of_findings([finding()], [WINDOW], [{**usual, **work}])
    assert seen.declared is declared


def check(expectation: str, severity: str = "critical", **given: Any) -> dict[str, Any]:
    return {
        **WINDOW,
        "table": "gold.rebalances",
        "expectation": expectation,
        "description": "s",
        "severity": severity,
        "sentences": [f"{expectation} is broken."],
        **given,
    }


def test_a_refused_night_is_one_thing_whatever_broke() -> None:
    seen = sightings.of_validations([check("b"), check("a"), check("w", "warning")])
    assert [(s.rule, s.severity, s.subject) for s in seen] == [
        ("publication_refused", "critical", "gold.rebalances.a, gold.rebalances.b"),
        ("expectation_failed", "warning", "gold.rebalances.w"),
    ]
    assert seen[0].reason == "2 critical expectations are broken, nothing was published. b is broken. a is broken."


def covered(source: str, night: int, **given: Any) -> dict[str, Any]:
    start = NIGHT + night * DAY
    usual = {"lines_in": 5, "last_at": start + DAY - timedelta(minutes=5), "longest_silence_ms": 60_000}
    return {"cluster": "prod", "source": source, "window_from": start, "window_to": start + DAY, **usual, **given}


def logs(*rows: dict[str, Any]) -> list[tuple[str, str]]:
    return [(s.rule, s.subject) for s in sightings.of_coverage(rows, MORNING - 2 * DAY)]


def test_a_log_that_was_always_there_is_missed() -> None:
    former = [covered(s, n) for s in ("1/server.log", "2/server.log") for n in (-2, -1)]
    assert logs(*former, covered("1/server.log", 0)) == [("log_missing", "2/server.log")]
    assert logs(*former, covered("1/server.log", 0), covered("2/server.log", 0)) == []


def test_a_log_that_came_and_went_is_not_missed() -> None:
    former = [covered("1/server.log", -2), covered("1/server.log", -1), covered("app.log", -1)]
    assert logs(*former, covered("1/server.log", 0)) == []
    assert logs(covered("app.log", -1), covered("1/server.log", 0)) == [], "one night is no habit"
    assert logs(*former, covered("1/server.log", 0), covered("app.log", -2, lines_in=0)) == []


def test_a_log_that_falls_silent_before_the_night_is_over_is_told_where_that_is_unusual() -> None:
    early = {"last_at": NIGHT + timedelta(hours=12)}
    busy = [covered("1/server.log", n) for n in (-2, -1)]
    quiet = [covered("1/server.log", n, longest_silence_ms=5 * 3_600_000) for n in (-2, -1)]
    assert logs(*busy, covered("1/server.log", 0, **early)) == [("log_silent", "1/server.log")]
    assert logs(*quiet, covered("1/server.log", 0, **early)) == []


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


def test_what_a_scheduler_says_is_a_sighting_with_advice() -> None:
    seen = sightings.of_event(EVENT)
    assert (seen.rule, seen.advice) == ("night_failed", sightings.OWN["night_failed"])


@pytest.mark.parametrize("broken", [{"rule": "x"}, {"at": "soon"}, {"cluster": None, "from": None}])
def test_half_an_event_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="is not whole"):
        sightings.of_event({**EVENT, **broken})


def test_settings_are_read_from_the_file() -> None:
    read = settings_of(
        {
            "alerts": {
                "link": "https://x/{page}",
                "routes": [{"name": "chat", "severities": ["warning"], "quiet": {"from": "22:00", "to": "07:00"}}],
                "mutes": [{"group": "g", "until": MORNING, "why": "known"}],
            }
        }
    )
    assert read.routes[0].quiet and read.routes[0].quiet.zone == "UTC"
    assert (read.routes[0].variable, read.routes[0].connection) == ("HINDSIGHT_ALERTS_CHAT", "hindsight_alerts_chat")
    assert read.mutes == (Mute(MORNING, "known", group="g"),)


def test_every_problem_of_the_settings_is_named_at_once() -> None:
    with pytest.raises(BadInput) as problem:
        settings_of(
            {
                "alerts": {
                    "rotes": [],
                    "routes": [
                        {"name": "Chat!", "severities": ["bad"], "urls": ["mailto://"]},
                        {"name": "a", "severities": ["info"], "quiet": {"from": "late"}},
                        {"name": "a", "severities": ["info"], "sends": ["pagers"], "owner": "who", "rules": "x"},
                        {"name": "b", "severities": ["info"], "labels": ["nowhere"]},
                    ],
                    "mutes": [{"why": "x"}],
                }
            }
        )
    told = "\n".join(problem.value.sentences)
    for word in (
        "'rotes'",
        "no cluster has the label 'nowhere'",
        "'Chat!'",
        "['bad']",
        "'urls' is not known",
        "environment",
        "late",
        "twice",
        "until",
        "rule",
        "sends is ['pagers']",
        "owner is 'who'",
        "rules is 'x'",
    ):
        assert word in told
