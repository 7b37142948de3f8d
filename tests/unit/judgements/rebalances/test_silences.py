"""What silenced a member whose process lived, where lines of its own log are lost, late or early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.codes import Silence
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Rebalance
from tests.support.groups import Witnessed, excerpt
from tests.support.rows import row

CUT_OFF, PAUSED, SLOW = "12:49:57.653", "12:50:29.751", "12:50:52.447"


def at(group: Witnessed, clock: str) -> Rebalance:
    (found,) = (r for r in group.history().rebalances if f"{r.started_at:%H:%M:%S.%f}"[:-3] == clock)
    return found


def where(group: Witnessed, change: Callable[[Event], Event | None]) -> Witnessed:
    changed = (change(e) for e in group.events)
    return replace(group, events=tuple(e for e in changed if e is not None))


def after(rebalance: Rebalance, line: Event, seconds: float) -> bool:
    since = rebalance.started_at - timedelta(seconds=1)
    return line.origin == "client" and since <= line.happened_at <= since + timedelta(seconds=seconds)


@pytest.fixture
def java() -> Witnessed:
    return excerpt("silent-java-4.3")


def test_three_ways_of_one_member_are_told_apart(java: Witnessed) -> None:
    found = {clock: at(java, clock) for clock in (CUT_OFF, PAUSED, SLOW)}
    assert [(r.cause, r.confidence, r.silence, r.silence_confidence) for r in found.values()] == [
        ("heartbeat_expired", "certain", "network", "likely"),
        ("heartbeat_expired", "certain", "pause", "likely"),
        ("max_poll_exceeded", "certain", "slow", "likely"),
    ]
    begins = [silence.noun.advice.partition(". ")[0] for silence in (Silence.NETWORK, Silence.PAUSE)]
    assert [r.advice.partition(". ")[0] for r in found.values()][:2] == begins
    assert "max.poll.records" in found[SLOW].advice


def test_without_its_own_log_a_silence_is_not_known(java: Witnessed) -> None:
    rows = [r for r in java.of("broker").history().rebalances if r.cause == "heartbeat_expired"]
    assert {(r.silence, r.silence_confidence) for r in rows} == {("unknown", "unknown")}
    assert not any("cut off:" in r.explanation or "stood still:" in r.explanation for r in rows)


def test_a_cut_shows_in_requests_or_in_the_time_until_the_coordinator_is_found(java: Witnessed) -> None:
    cut = at(java, CUT_OFF)
    lost, found = Kind.CLIENT_REQUEST_CANCELLED, Kind.CLIENT_COORDINATOR_FOUND
    without_requests = where(java, lambda e: None if e.kind == lost else e)
    assert at(without_requests, CUT_OFF).silence == "network"
    neither = where(without_requests, lambda e: None if e.kind == found and after(cut, e, 30) else e)
    assert at(neither, CUT_OFF).silence == "unknown"


@pytest.mark.parametrize(("late_by", "silence"), [(1.0, "unknown"), (2.9, "unknown"), (3.1, "pause")])
def test_a_pause_that_ends_soon_after_the_session_is_not_known(java: Witnessed, late_by: float, silence: str) -> None:
    """Clocks of member and coordinator may differ by 2 s."""
    paused = at(java, PAUSED)
    first = min(e.happened_at for e in java.events if e.origin == "client" and e.happened_at > paused.started_at)
    shift = paused.started_at + timedelta(seconds=late_by) - first
    moved = where(java, lambda e: replace(e, happened_at=e.happened_at + shift) if after(paused, e, 12) else e)
    assert at(moved, PAUSED).silence == silence


def test_a_line_within_the_silence_of_a_paused_member_shows_no_pause(java: Witnessed) -> None:
    paused = at(java, PAUSED)
    line = next(e for e in java.events if e.kind == Kind.CLIENT_ASSIGNED)
    meanwhile = replace(line, line_id="x", happened_at=paused.started_at - timedelta(seconds=3))
    assert at(replace(java, events=(*java.events, meanwhile)), PAUSED).silence == "unknown"


@pytest.mark.parametrize("clock", [CUT_OFF, PAUSED])
def test_a_coordinator_that_was_away_explains_the_silence(java: Witnessed, clock: str) -> None:
    expired = at(java, clock)
    away = row(
        BROKER_OUTAGES,
        broker=3,
        down_at=expired.started_at - timedelta(seconds=20),
        up_at=expired.started_at - timedelta(seconds=10),
    )
    outage = replace(java, context=replace(java.context, outages=[away]))
    assert (at(outage, clock).silence, at(outage, clock).silence_confidence) == ("coordinator", "likely")


def test_librdkafka_measures_its_silence_by_its_own_clock() -> None:
    group = excerpt("silent-librdkafka-4.3")
    timeouts = [e for e in group.events if e.kind == Kind.CLIENT_SESSION_TIMEOUT]
    assert [e.took_ms for e in timeouts] == [8011, 18049]
    assert [at(group, c).silence for c in ("12:51:36.031", "12:52:06.135")] == ["network", "pause"]


def test_a_slow_member_without_known_session_may_have_stood_still() -> None:
    row_of_kip848 = at(excerpt("silent-kip848-4.3"), "12:52:39.329")
    assert (row_of_kip848.confidence, row_of_kip848.silence, row_of_kip848.silence_confidence) == (
        "certain",
        "slow",
        "possible",
    )


def test_session_in_the_settings_of_member_under_kip848_is_not_its_session() -> None:
    """Brokers set it: the member prints session.timeout.ms = 45000, and was removed after 9 s of silence."""
    rows = excerpt("silent-kip848-4.3").history().rebalances
    assert {r.session_timeout_ms for r in rows} == {None}
    assert not any("session of 45 s" in r.explanation for r in rows)
