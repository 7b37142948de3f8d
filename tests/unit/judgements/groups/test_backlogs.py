"""What the time of a rebalance was spent on, and the backlog until it was worked off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import OFFSET_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, REBALANCES
from kafka_hindsight.catalog.rows import Backlog, BrokerOutage, OffsetSnapshot, Rebalance
from kafka_hindsight.catalog.rows.structs import Delay
from kafka_hindsight.judgements.groups.backlogs import backlogs_of, wait_of, with_waits
from tests.support.rows import AT, row


def second(n: float) -> Any:
    return AT + timedelta(seconds=n)


def reading(n: float, *lags: int | None) -> list[OffsetSnapshot]:
    fields = {"snapshot_at": second(n), "snapshot_id": f"{n}", "group_id": "g", "topic": "t", "committed_offset": 5}
    return [row(OFFSET_SNAPSHOTS, partition=p, lag=lag, **fields) for p, lag in enumerate(lags)]


def rebalance(cause: str = "member_left", **fields: Any) -> Rebalance:
    lasts = {"started_at": AT, "ended_at": second(4), "outcome": "completed", "protocol": "classic", "group_id": "g"}
    return row(REBALANCES, cause=cause, **{**lasts, **fields})


def backlog(*readings: list[OffsetSnapshot], of: Rebalance | None = None) -> Backlog | None:
    found = backlogs_of(with_waits([of or rebalance()]), [r for rows in readings for r in rows])
    return found[0] if found else None


def test_backlog_is_what_came_on_top_until_a_reading_shows_no_more_than_before() -> None:
    found = backlog(
        reading(-70, 30, 10), reading(-10, 5, 5), reading(2, 300, 20), reading(12, 90, 50), reading(22, 0, 40)
    )
    assert found is not None
    assert (found.lag_before, found.lag_peak, found.lag_peak_at, found.backlog) == (40, 320, second(2), 280)
    assert found.worked_off_at == second(22)
    assert [q.text for q in found.evidence] == [
        "lag of 2 partitions together: 40",
        "lag of 2 partitions together: 320",
        "lag of 2 partitions together: 40",
    ]


def test_backlog_that_no_reading_shows_worked_off_stays_open() -> None:
    found = backlog(reading(-10, 0), reading(10, 7), reading(20, 9))
    assert found is not None
    assert (found.backlog, found.lag_peak_at, found.worked_off_at) == (9, second(20), None)


def test_rebalance_without_more_lag_has_no_backlog_to_work_off() -> None:
    found = backlog(reading(-10, 5), reading(10, 5))
    assert found is not None
    assert (found.backlog, found.worked_off_at) == (0, None)


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param([reading(10, 7)], id="none before"),
        pytest.param([reading(-10, 0)], id="none after"),
        pytest.param([reading(-601, 0), reading(10, 7)], id="the last one before is too old"),
        pytest.param([reading(-10, 0, None), reading(10, 7, 7)], id="a lag before is not known"),
        pytest.param([reading(-10, 0, 0), reading(10, 7)], id="a partition is missing after"),
    ],
)
def test_without_whole_readings_before_and_after_no_backlog_is_known(readings: list[list[OffsetSnapshot]]) -> None:
    assert backlog(*readings) is None


def test_backlog_ends_where_the_next_rebalance_begins_unless_that_one_restarts_it() -> None:
    readings = [r for rows in (reading(-10, 0), reading(10, 5), reading(30, 90), reading(40, 0)) for r in rows]
    first = rebalance(rebalance_id="1")
    for cause, follows, largest in (
        ("member_left", None, (5, None)),
        ("member_left", "1", (90, second(40))),
        ("cooperative_followup", None, (90, second(40))),
    ):
        following = rebalance(cause, rebalance_id="2", follows=follows, started_at=second(20), ended_at=second(24))
        found = backlogs_of([first, following], readings)
        assert [(b.rebalance_id, b.lag_peak) for b in found] == [("1", largest[0]), ("2", 90)]
        assert found[0].worked_off_at == largest[1]


def test_backlog_of_a_silent_member_begins_with_its_session() -> None:
    expired = rebalance("heartbeat_expired", session_timeout_ms=45_000)
    found = backlog(reading(-50, 0), reading(-20, 400), reading(10, 0), of=expired)
    assert found is not None
    assert (found.lag_before, found.backlog, found.worked_off_at) == (0, 400, second(10))


def outage(down: float, up: float | None, outage_id: str = "o") -> BrokerOutage:
    return row(BROKER_OUTAGES, outage_id=outage_id, down_at=second(down), up_at=None if up is None else second(up))


def steady(lags: Sequence[int], first: float = -100) -> list[OffsetSnapshot]:
    """A reading every ten seconds of a log to which 100 records a second are written."""
    return [
        replace(r, end_offset=1000 * n, committed_offset=1000 * n - r.lag)
        for n, lag in enumerate(lags)
        for r in reading(first + 10 * n, lag)
    ]


def test_backlog_of_an_outage_without_a_rebalance_is_worked_off_after_the_broker_is_back() -> None:
    readings = steady([400] * 10 + [2400, 9400, 10_400, 300, 300])
    (found,) = backlogs_of([], readings, [outage(-1, 25)])
    assert (found.outage_id, found.rebalance_id, found.started_at) == ("o", None, second(-1))
    assert (found.lag_before, found.backlog, found.worked_off_at) == (400, 10_000, second(30))


def test_lag_that_one_commit_interval_brings_is_no_backlog_of_an_outage() -> None:
    assert backlogs_of([], steady([400] * 10 + [1400, 2300, 900, 300]), [outage(-1, 25)]) == []


def test_outage_in_which_the_group_rebalanced_leaves_the_backlog_to_the_rebalance() -> None:
    readings = steady([400] * 10 + [2400, 9400, 10_400, 300, 300])
    found = backlogs_of(with_waits([rebalance(rebalance_id="r")]), readings, [outage(-1, 25)])
    assert [(b.rebalance_id, b.outage_id, b.backlog) for b in found] == [("r", None, 10_000)]


def test_backlog_of_an_outage_ends_where_the_next_one_begins_and_stays_open_without_a_return() -> None:
    readings = steady([400] * 10 + [2400, 9400, 10_400, 20_000, 300])
    one, other = backlogs_of([], readings, [outage(-1, None), outage(25, None, "p")])
    assert (one.outage_id, one.lag_peak, one.worked_off_at) == ("o", 10_400, None)
    assert (other.outage_id, other.lag_before, other.worked_off_at) == ("p", 10_400, None)


@pytest.mark.parametrize(
    ("fields", "wait"),
    [
        ({}, "all_joined"),
        ({"delayed_by": [Delay(client_id="a", member_id="m", waited_ms=3_000)]}, "all_joined"),
        ({"delayed_by": [Delay(client_id="a", member_id="m", waited_ms=3_001)]}, "member_awaited"),
        ({"cause": "heartbeat_expired"}, "timeout_awaited"),
        ({"cause": "member_dead"}, "timeout_awaited"),
        ({"cause": "max_poll_exceeded"}, "timeout_awaited"),
        ({"cause": "member_dead", "follows": "r"}, "not_settled"),
        ({"outcome": "interrupted"}, "not_settled"),
        ({"outcome": "unfinished"}, None),
        ({"protocol": "consumer"}, None),
        ({"protocol": "consumer", "cause": "member_dead"}, "timeout_awaited"),
    ],
)
def test_time_was_spent_on_a_time_out_on_a_member_or_on_another_rebalance(
    fields: dict[str, Any], wait: str | None
) -> None:
    assert wait_of(rebalance(**fields)) == wait
