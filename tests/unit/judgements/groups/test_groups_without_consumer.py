"""When no member of a group consumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Cause, Protocol, RebalanceKind
from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.rows import Event, Rebalance
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.groups import costs as groups
from kafka_hindsight.judgements.groups.costs import Stop
from tests.support.build import after
from tests.support.rows import row
from tests.unit.judgements.partitions.test_unavailability import LOGS_END, seconds_of

KINDS = {True: RebalanceKind.EAGER, False: RebalanceKind.COOPERATIVE, None: None}


def rebalance(start: float, generation: int, joined: float | None, end: float | None, **columns: Any) -> Rebalance:
    defaults = {
        "rebalance_id": f"r{generation}-{start}",
        "group_id": "g",
        "from_generation": generation,
        "started_at": after(start),
        "joined_at": None if joined is None else after(joined),
        "ended_at": None if end is None else after(end),
        "outcome": "completed",
    }
    return row(REBALANCES, **{**defaults, **columns})


def without_consumer(*rebalances: Rebalance, is_eager: bool | None = True, events: Sequence[Event] = ()) -> Any:
    """Start, end and bounds of each row, in seconds."""
    stops = {r.rebalance_id: Stop(kind=KINDS[is_eager]) for r in rebalances}
    rows = groups.rebuild_group_stops(rebalances, stops, events, after(LOGS_END))
    assert all((u.kind, u.group_id, u.topic) == ("no_consumer", "g", None) and u.evidence for u in rows)
    return [
        (*t[1:], u.low_ms / 1000, u.high_ms and u.high_ms / 1000) for t, u in zip(seconds_of(rows), rows, strict=True)
    ]


EMPTIED = rebalance(10, 3, None, 10, outcome="emptied", cause=Cause.MEMBER_LEFT)


def test_eager_group_consumes_nothing_until_its_next_assignment() -> None:
    """Its members stop one after another, and all have stopped when the last one has joined."""
    assert without_consumer(rebalance(10, 3, 14, 15)) == [(10, 15, 1, 5)]
    cut = rebalance(10, 3, 14, 20, outcome="interrupted")
    assert without_consumer(cut, rebalance(20, 4, 22, 23)) == [(10, 23, 9, 13)]


@pytest.mark.parametrize("is_eager", [False, None])
def test_rebalance_not_known_as_eager_stops_no_consumption(is_eager: bool | None) -> None:
    assert without_consumer(rebalance(10, 3, 14, 15), is_eager=is_eager) == []


def test_first_rebalances_of_new_group_stop_no_consumption() -> None:
    first = rebalance(5, 0, 8, 9, outcome="interrupted")
    assert without_consumer(first, rebalance(9, 0, 10, 11), rebalance(20, 1, 21, 22)) == [(20, 22, 1, 2)]


@pytest.mark.parametrize("is_eager", [True, False])
def test_empty_group_consumes_nothing_until_a_member_is_assigned(is_eager: bool) -> None:
    assert without_consumer(EMPTIED, rebalance(40, 4, 43, 44), is_eager=is_eager) == [(10, 44, 34, 34)]
    assert without_consumer(EMPTIED, is_eager=is_eager) == [(10, None, 90, None)]


def test_removal_of_group_ends_its_time_without_consumer() -> None:
    removed = row(EVENTS, kind="group_dead", group_id="g", happened_at=after(30))
    assert without_consumer(EMPTIED, events=[removed]) == [(10, 30, 20, 20)]


@pytest.mark.parametrize(("session", "high"), [(6_000, 40), (None, None)])
def test_session_timeout_of_expired_last_member_widens_upper_bound(session: int | None, high: float | None) -> None:
    silent = replace(EMPTIED, cause=Cause.MEMBER_DEAD, session_timeout_ms=session)
    assert without_consumer(silent, rebalance(40, 4, 43, 44)) == [(10, 44, 34, high)]


def test_kip_848_group_stops_consuming_only_when_its_last_member_leaves() -> None:
    """The first member of the next epoch can consume before all are stable."""
    epoch = {"protocol": Protocol.CONSUMER}
    back = rebalance(40, 4, None, 46, **epoch)
    assert without_consumer(rebalance(5, 2, None, 6, **epoch), replace(EMPTIED, **epoch), back, is_eager=False) == [
        (10, 46, 30, 36)
    ]
    open_end = replace(back, ended_at=None, outcome="unfinished")
    more = rebalance(60, 5, None, 61, **epoch)
    assert without_consumer(replace(EMPTIED, **epoch), open_end, more, is_eager=False) == [(10, 40, 0, None)]


def test_rebalance_without_observed_end_has_no_upper_bound() -> None:
    lost = rebalance(10, 3, 14, None, outcome="unfinished")
    assert without_consumer(lost, rebalance(50, 5, 51, 52)) == [(10, 14, 0, None), (50, 52, 1, 2)]
    assert without_consumer(lost) == [(10, None, 0, None)]
