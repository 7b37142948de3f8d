"""Storms, and what their rhythm resembles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from tests.support.build import loop, rebalance_of
from tests.support.histories import BOTH, lines, rebalances


def storms(rows: Sequence[Rebalance]) -> list[tuple[str | None, str, str]]:
    incidents, _ = group_incidents(rows, [], [])
    return [(i.fingerprint, i.cause, i.explanation) for i in incidents if i.kind == "storm"]


IRREGULAR = (0, 40, 300, 330, 900, 1400)
EVERY_52_S = tuple(52.3 * n for n in range(8))


@pytest.mark.parametrize(
    ("rows", "fingerprint"),
    [
        # back after 5 s, done 1 s later, gone 46 s after that: a session of 45 s
        (loop(EVERY_52_S, "member_dead", 5, session_timeout_ms=45_000), "session_timeout"),
        (loop(EVERY_52_S, "member_dead", 5, session_timeout_ms=10_000), "steady"),
        (loop(EVERY_52_S, "member_dead", 5), "steady"),
        (loop([311 * n for n in range(7)], "heartbeat_expired", 20), "steady"),
        (loop(IRREGULAR, "member_dead", 5), None),
        # too few removals to tell a rhythm from
        (loop((0, 52, 104), "member_dead", 5), None),
    ],
)
def test_fingerprint_of_a_storm_follows_from_its_intervals(rows: list[Rebalance], fingerprint: str | None) -> None:
    assert [kind for kind, _, _ in storms(rows)] == [fingerprint]


def test_explanation_of_a_storm_states_its_interval_and_session_timeout() -> None:
    ((_, _, says),) = storms(loop(EVERY_52_S, "member_dead", 5, session_timeout_ms=45_000))
    assert "46.3 s after the rebalance before (median; half of them within 0 ms of it)" in says
    assert "the session timeout is 45 s" in says


def test_client_that_leaves_and_rejoins_repeatedly_is_a_storm() -> None:
    goes = [rebalance_of(60 * n, "member_left") for n in range(4)]
    comes = [rebalance_of(60 * n + 20, "member_rejoined") for n in range(4)]
    assert [(f, c) for f, c, _ in storms(goes + comes)] == [("steady", "member_left")]
    once_each = [rebalance_of(60 * n, "member_left", f"c{n}") for n in range(8)]
    assert storms(once_each) == []


def test_kip_848_removals_are_not_attributed_to_the_session_timeout() -> None:
    # A KIP-848 member is not heard with each epoch of its group.
    rows = loop(EVERY_52_S, "member_dead", 5, session_timeout_ms=45_000, protocol="consumer")
    assert [kind for kind, _, _ in storms(rows)] == ["steady"]


def test_captured_crash_loop_is_a_steady_storm() -> None:
    ((fingerprint, cause, says),) = storms(rebalances(lines("storm-2.8", *BOTH)))
    assert (fingerprint, cause) == ("steady", "member_dead")
    assert "come every 15 s" in says


def repeated(rows: Sequence[Rebalance], times: int) -> list[Rebalance]:
    """Captured rebalances, as if they had come every minute."""
    return [
        replace(r, rebalance_id=f"{n} {r.rebalance_id}", started_at=r.started_at + timedelta(minutes=n))
        for n in range(times)
        for r in rows
    ]


def test_three_join_timeouts_are_a_storm() -> None:
    """A member joins, another one is dropped, and that one joins: audit-sink-17c8d at 12:19:29 and 12:19:32."""
    captured = rebalances(lines("dropped-4.3", *BOTH))[2:4]
    incidents, _ = group_incidents(repeated(captured, 3), [], [])
    assert [(i.kind, i.cause, i.confidence, i.rebalance_count) for i in incidents] == [
        ("storm", "join_timeout", "likely", 6)
    ]
    assert "3 of them left members behind that did not join in time" in incidents[0].explanation
    assert "max.poll.interval.ms" in incidents[0].advice
    twice, _ = group_incidents(repeated(captured, 2), [], [])
    assert {i.kind for i in twice} == {"single"}


def test_repeated_storage_errors_are_a_storm() -> None:
    """min.insync.replicas of __consumer_offsets was above its ISR at 12:35:46."""
    [captured] = [r for r in rebalances(lines("storage-4.3", *BOTH)) if r.cause == "storage_error"]
    ((incident,), _) = group_incidents(repeated([captured], 6), [], [])
    assert (incident.kind, incident.cause, incident.confidence) == ("storm", "storage_error", "certain")
    assert "min.insync.replicas" in incident.advice
