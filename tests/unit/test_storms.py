"""Storms, and what their rhythm resembles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from tests.support.histories import BOTH, lines, rebalances
from tests.support.rows import AT, row


def rebalance(second: float, cause: str, client: str = "a", **columns: Any) -> Rebalance:
    at = AT + timedelta(seconds=second)
    own = {"rebalance_id": f"{second:09.1f}", "group_id": "g", "client_id": client, "protocol": "classic"} | columns
    return row(REBALANCES, started_at=at, ended_at=at + timedelta(seconds=1), cause=cause, **own)


def loop(seconds: Sequence[float], back_after: float, cause: str, **columns: Any) -> list[Rebalance]:
    """A member that is removed at those seconds and is back a while later."""
    gone = [rebalance(s, cause, f"a{n}", **columns) for n, s in enumerate(seconds)]
    return gone + [rebalance(s + back_after, "member_rejoined", f"a{n}") for n, s in enumerate(seconds)]


def storms(rows: Sequence[Rebalance]) -> list[tuple[str | None, str, str]]:
    incidents, _ = group_incidents(rows, [], [])
    return [(i.fingerprint, i.cause, i.explanation) for i in incidents if i.kind == "storm"]


IRREGULAR = (0, 40, 300, 330, 900, 1400)
EVERY_52_S = tuple(52.3 * n for n in range(8))


@pytest.mark.parametrize(
    ("rows", "fingerprint"),
    [
        # back after 5 s, done 1 s later, gone 46 s after that: a session of 45 s
        (loop(EVERY_52_S, 5, "member_dead", session_timeout_ms=45_000), "session_timeout"),
        (loop(EVERY_52_S, 5, "member_dead", session_timeout_ms=10_000), "steady"),
        (loop(EVERY_52_S, 5, "member_dead"), "steady"),
        (loop([311 * n for n in range(7)], 20, "heartbeat_expired"), "steady"),
        (loop(IRREGULAR, 5, "member_dead"), None),
        # too few removals to tell a rhythm from
        (loop((0, 52, 104), 5, "member_dead"), None),
    ],
)
def test_the_rhythm_of_a_storm(rows: list[Rebalance], fingerprint: str | None) -> None:
    assert [found for found, _, _ in storms(rows)] == [fingerprint]


def test_a_rhythm_is_told_with_its_numbers() -> None:
    ((_, _, says),) = storms(loop(EVERY_52_S, 5, "member_dead", session_timeout_ms=45_000))
    assert "46.3 s after the rebalance before (median; half of them within 0 ms of it)" in says
    assert "the session timeout is 45 s" in says


def test_a_client_that_closes_again_and_again_is_a_loop_too() -> None:
    goes = [rebalance(60 * n, "member_left") for n in range(4)]
    comes = [rebalance(60 * n + 20, "member_rejoined") for n in range(4)]
    assert [(f, c) for f, c, _ in storms(goes + comes)] == [("steady", "member_left")]
    once_each = [rebalance(60 * n, "member_left", f"c{n}") for n in range(8)]
    assert storms(once_each) == []


def test_removals_that_do_not_follow_the_limit_are_not_put_down_to_it() -> None:
    # A KIP-848 member is not heard with each epoch of its group.
    rows = loop(EVERY_52_S, 5, "member_dead", session_timeout_ms=45_000, protocol="consumer")
    assert [found for found, _, _ in storms(rows)] == ["steady"]


def test_a_captured_crash_loop() -> None:
    ((fingerprint, cause, says),) = storms(rebalances(lines("storm-2.8", *BOTH)))
    assert (fingerprint, cause) == ("steady", "member_dead")
    assert "15 s apart" in says
