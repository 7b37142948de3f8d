"""Partitions that stand still or fall behind: each condition holds, and does not hold just beside it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import OFFSET_COMMITS, OFFSET_SNAPSHOTS
from kafka_hindsight.catalog.gold import OWNERSHIP, REBALANCES
from kafka_hindsight.catalog.rows import OffsetCommits, OffsetSnapshot, Ownership, PartitionStall, Rebalance
from kafka_hindsight.judgements.groups.stall_rulings import judge_stalls
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, row

HOUR = Window(AT, AT + timedelta(hours=1))
FLOW = [10 * n for n in range(20)]
"""The end of a log to which ten records a minute are written."""
Offsets = Sequence[int | None]


def minute(number: float) -> Any:
    return AT + timedelta(minutes=number)


def readings(committed: Offsets, ends: Offsets = FLOW, partition: int = 0) -> list[OffsetSnapshot]:
    """One reading a minute."""
    return [
        row(
            OFFSET_SNAPSHOTS,
            snapshot_id=str(n),
            snapshot_at=minute(n),
            partition=partition,
            committed_offset=offset,
            end_offset=end,
            lag=None if offset is None or end is None else max(0, end - offset),
        )
        for n, (offset, end) in enumerate(zip(committed, ends, strict=True))
    ]


def owned(first: float = 0, last: float | None = None, partition: int = 0, **columns: Any) -> Ownership:
    end = {"is_open": True} if last is None else {"valid_to": minute(last)}
    return row(OWNERSHIP, partition=partition, valid_from=minute(first), **{"member_id": "m-1", **end, **columns})


def judged(
    *offsets: list[OffsetSnapshot],
    owners: Sequence[Ownership] = (owned(),),
    rebalances: Sequence[Rebalance] = (),
    commits: Sequence[OffsetCommits] = (),
) -> list[PartitionStall]:
    return judge_stalls([r for rows in offsets for r in rows], owners, rebalances, HOUR, commits)


def kinds(*offsets: list[OffsetSnapshot], **more: Any) -> list[tuple[str, str]]:
    return [(stall.kind, stall.confidence) for stall in judged(*offsets, **more)]


STOPS = [*FLOW[:8], *[70] * 12]
KEEPS_UP = [max(0, end - 4) for end in FLOW]


@pytest.mark.parametrize(
    ("committed", "ends", "found"),
    [
        (KEEPS_UP, FLOW, []),
        (FLOW, FLOW, []),
        # Records wait for three times as long as they usually do, and for one reading less.
        ([*FLOW[:8], *[70] * 4, *FLOW[12:]], FLOW, [("owner_stands", "likely")]),
        ([*FLOW[:8], *[70] * 3, *FLOW[11:]], FLOW, []),
        # It commits every seven minutes: seven minutes are no stand, though the poll limit is five.
        ([n // 7 * 70 for n in range(20)], [n + 5 for n in FLOW], []),
        # It never moved: only after the poll limit, and only possibly.
        ([5] * 20, [n + 10 for n in FLOW], [("owner_stands", "possible")]),
        ([5] * 5 + [None] * 15, FLOW, []),
        # A lag that does not grow: what waits may be markers of transactions.
        ([*FLOW[:8], *[70] * 12], [*FLOW[:8], *[71] * 12], []),
        # Nothing waits.
        ([*FLOW[:8], *[70] * 12], [*FLOW[:8], *[70] * 12], []),
        # It reads half of what arrives.
        ([n // 2 for n in FLOW], FLOW, [("falls_behind", "likely")]),
        # A lag at other places of one commit interval.
        ([max(0, end - lag) for end, lag in zip(FLOW, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] * 2, strict=True)], FLOW, []),
        # Much arrives at once, and is worked off.
        ([n * 10 for n in range(20)], [*FLOW[:9], *[190] * 11], []),
        ([5] * 20, [None] * 20, []),
    ],
)
def test_partition_stands_or_falls_behind_by_its_readings(
    committed: Offsets, ends: Offsets, found: list[tuple[str, str]]
) -> None:
    assert kinds(readings(committed, ends)) == found


def test_stand_has_its_bounds_its_lag_its_pace_and_its_owner() -> None:
    (stall,) = judged(
        readings([*FLOW[:8], *[70] * 6, *FLOW[14:]]),
        owners=[owned(-5, 2, generation=3), owned(2, client_id="app", host="h", generation=4)],
    )
    assert (stall.started_low, stall.started_at, stall.ended_at) == (minute(7), minute(8), minute(14))
    assert (stall.committed_offset, stall.lag_first, stall.lag_max, stall.lag_last) == (70, 0, 60, 60)
    assert (stall.read_pace, stall.write_pace) == (0, 0.167)
    assert (stall.client_id, stall.host, stall.generation, stall.owned_since) == ("app", "h", 4, minute(2))
    assert "No reading shows topic-0 move for 5 min while 50 records arrived" in stall.explanation
    assert any(quote.text == "topic-0: committed 70, end 80, lag 10" for quote in stall.evidence)


@pytest.mark.parametrize(
    ("first", "last", "columns"),
    [
        (0, 75, {"moved_at": minute(7.5)}),
        (75, 200, {"first_at": minute(7.5)}),
        (0, 200, {"stood_at": minute(7.5), "stood_ms": 13 * 60_000}),
    ],
)
def test_commits_show_since_when_a_partition_stands(first: int, last: int, columns: dict[str, Any]) -> None:
    times = {"first_at": minute(0), "moved_at": minute(50), "stood_at": minute(0), "partition": 0, "topic": "topic"}
    run = row(OFFSET_COMMITS, first_offset=first, last_offset=last, **{**times, **columns})
    stands = readings([*KEEPS_UP[:8], *[75] * 12])
    (stall,) = judged(stands, commits=[run])
    assert (stall.started_low, stall.started_at) == (minute(7.5), minute(7.5))
    assert any(quote.source == "__consumer_offsets-1@0" for quote in stall.evidence)
    (of_another,) = judged(stands, commits=[replace(run, partition=1)])
    assert (of_another.started_low, of_another.started_at) == (minute(7), minute(8))
    (idle_before,) = judged(readings(STOPS), commits=[run])
    assert (idle_before.started_low, idle_before.started_at) == (minute(7), minute(8))


def test_stand_that_lasts_to_the_last_reading_is_open_and_one_whose_owner_goes_ends_with_it() -> None:
    (open_one,) = judged(readings(STOPS))
    (ended,) = judged(readings(STOPS), owners=[owned(0, 14.5)])
    assert (open_one.ended_at, open_one.lag_last) == (None, 120)
    assert (ended.ended_at, ended.lag_last) == (minute(14.5), 70)


def test_group_that_is_away_does_not_stand() -> None:
    assert judged(readings(STOPS), owners=[]) == []
    assert judged(readings(STOPS), owners=[owned(0, 8), owned(0, partition=7)]) == []


def test_time_in_which_the_group_rebalances_or_waits_for_a_silent_member_is_no_stand() -> None:
    expired = row(
        REBALANCES, started_at=minute(18), ended_at=minute(19.5), cause="member_dead", waited_for="timeout_awaited",
        session_timeout_ms=10 * 60_000,
    )  # fmt: skip
    assert judged(readings(STOPS), rebalances=[expired]) == []
    stays = judged(readings(STOPS), rebalances=[row(REBALANCES, started_at=minute(18), ended_at=minute(19.5))])
    assert [stall.kind for stall in stays] == ["owner_stands"]


def test_stand_since_before_a_rebalance_names_it() -> None:
    before, within = (row(REBALANCES, rebalance_id=str(n), started_at=minute(n), ended_at=minute(n)) for n in (3, 10))
    owners = [owned(0, 10, generation=1), owned(10, generation=2)]
    (stall,) = judged(readings(STOPS), owners=owners, rebalances=[before, within])
    assert (stall.rebalance_id, stall.generation, stall.owned_since) == ("10", 2, minute(10))
    assert judged(readings(STOPS), rebalances=[before])[0].rebalance_id is None


def test_partition_that_stands_alone_says_what_its_owners_others_did() -> None:
    moves, idle = readings(KEEPS_UP, FLOW, 1), readings([7] * 20, [7] * 20, 2)
    others = [owned(partition=1), owned(partition=2), owned(partition=3, member_id="m-2")]
    (stall,) = judged(readings(STOPS), moves, idle, readings(KEEPS_UP, FLOW, 3), owners=[owned(), *others])
    assert (stall.kind, stall.partition) == ("stands_alone", 0)
    assert (stall.owned_partitions, stall.moving_partitions, stall.idle_partitions) == (3, 1, 1)
    assert any(quote.text.startswith("topic-1: committed") for quote in stall.evidence)


def test_usual_wait_of_a_partition_that_never_moved_is_that_of_its_owners_others() -> None:
    moves = readings(KEEPS_UP[:5], FLOW[:5], 1)
    stands = readings([5] * 5, [n + 10 for n in FLOW[:5]])
    assert kinds(stands, moves, owners=[owned(), owned(partition=1)]) == [("stands_alone", "likely")]
    assert kinds(stands, moves, owners=[owned(), owned(partition=1, member_id="m-2")]) == []


def test_partition_that_falls_behind_has_both_paces_and_ends_when_it_has_caught_up() -> None:
    ends = [*range(0, 1200, 60), *[1200] * 20]
    committed = [30 * n for n in range(40)]
    (stall,) = judged(readings(committed, ends))
    assert (stall.kind, stall.committed_offset) == ("falls_behind", None)
    assert (stall.read_pace, stall.write_pace) == (0.5, 1.0)
    assert stall.lag_max == 600 and stall.ended_at == next(
        minute(n) for n, (c, e) in enumerate(zip(committed, ends, strict=True)) if n > 20 and e - c <= 120
    )
    assert stall.started_low is not None and stall.started_low < stall.started_at


def test_unknown_owner_shows_a_partition_that_falls_behind_as_long_as_it_is_committed() -> None:
    assert kinds(readings([n // 2 for n in FLOW]), owners=[]) == [("falls_behind", "likely")]


@pytest.mark.parametrize("seed", range(20))
def test_readings_anywhere_in_a_commit_interval_make_no_stall(seed: int) -> None:
    """A consumer commits the end at a steady interval, up to three readings long."""
    draw = random.Random(seed)
    interval, pace, offset = draw.uniform(0.2, 3), draw.uniform(1, 500), draw.random()
    committed = [int(pace * (((n - offset) // interval) * interval + offset)) if n > offset else 0 for n in range(60)]
    ends = [int(pace * n) for n in range(60)]
    assert judged(readings([min(c, e) for c, e in zip(committed, ends, strict=True)], ends)) == []


@pytest.mark.parametrize("seed", range(20))
def test_stall_law_holds_on_drawn_readings(seed: int) -> None:
    """Others add up, bounds are in order, and a stand began with its owner or names the rebalance before it."""
    draw = random.Random(seed)
    rows, owners, rebalances = [], [], []
    for at in sorted(draw.sample(range(1, 40), 3)):
        rebalances.append(row(REBALANCES, rebalance_id=str(at), started_at=minute(at), ended_at=minute(at)))
    bounds = [0.0, *((r.ended_at - AT).total_seconds() / 60 for r in rebalances), None]
    for partition in range(4):
        committed = end = 0
        points = []
        for _ in range(40):
            end += draw.choice((0, 10, 40))
            committed = draw.choice((committed, committed, committed, end))
            points.append((committed, end))
        rows.append(readings(*zip(*points, strict=True), partition=partition))
        for generation, (first, last) in enumerate(pairwise(bounds)):
            member = f"m-{draw.randrange(2)}"
            owners.append(owned(first or 0, last, partition, member_id=member, generation=generation))
    for stall in judged(*rows, owners=owners, rebalances=rebalances):
        assert (stall.moving_partitions or 0) + (stall.idle_partitions or 0) + 1 <= (stall.owned_partitions or 0)
        assert stall.started_low is None or stall.started_low < stall.started_at
        assert stall.ended_at is None or stall.ended_at > stall.started_at
        assert stall.lag_max >= max(stall.lag_last, 1)
        if stall.kind.noun.is_stand:
            assert stall.rebalance_id or (stall.owned_since and stall.owned_since <= stall.started_at)


def test_order_of_readings_does_not_change_stalls() -> None:
    points = readings(STOPS)
    assert judged(points[::-1]) == judged(points)
