"""How long a partition had no leader: between what witnesses prove; and whether an election was requested."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.quality import WITNESSES
from kafka_hindsight.catalog.rows import Event, Failover
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.shared.windows import Window
from tests.support.build import after, partition_line
from tests.support.clocks import clocks_apart
from tests.support.leaders import leaders
from tests.support.nights import WHOLE, events
from tests.support.partitions import rebuild_leaders
from tests.support.rows import AT, row

HOURS = Window(AT - timedelta(hours=1), AT + timedelta(hours=1))
ELECTED_AT = 30.0


def handover(
    outage: dict[str, Any] | None, *others: Event, elected_at: float = ELECTED_AT, apart: timedelta = timedelta()
) -> Failover:
    """Broker 1 leads from second 0 on, broker 2 from second 30 on. Takes: how far apart clocks are known to be."""
    columns = {k: after(v) if k.endswith("_at") and v is not None else v for k, v in (outage or {}).items()}
    outages = [row(BROKER_OUTAGES, broker=1, confidence="certain", **columns)] if outage else []
    lines = [
        partition_line("leader_started", 1, 0, leader_epoch=0),
        partition_line("leader_started", 2, elected_at, leader_epoch=1),
        *others,
    ]
    [change] = rebuild_leaders(lines, [], context_of([], outages, None, clocks_apart(apart, 1, 2)), HOURS).failovers
    return change


def bounds(change: Failover) -> tuple[int | None, int | None, int | None]:
    return change.leaderless_low_ms, change.leaderless_ms, change.leaderless_high_ms


CRASH = {"kind": "crash", "last_heard_at": 18, "down_at": 20, "unreachable_at": 20, "detected_at": 29, "up_at": 50}


@pytest.mark.parametrize(
    ("outage", "expected"),
    [
        # It was heard at 18, could not be reached from 20 on, and was detected as down at 29.
        (CRASH, (10_000, 10_000, 12_000)),
        # No broker tried to reach it: only the detection proves that it was down.
        (CRASH | {"unreachable_at": None}, (1_000, 10_000, 12_000)),
        # A broker that cannot be reached, and lives, may have served others until it was fenced.
        (CRASH | {"kind": "unresponsive"}, (1_000, 10_000, 12_000)),
        # Its log is not at hand: its last word is that it began to lead.
        (CRASH | {"last_heard_at": None}, (10_000, 10_000, 30_000)),
        # A shutdown that its log does not end with handing over: it led when its shutdown began.
        (CRASH | {"kind": "controlled_shutdown", "last_heard_at": 28, "down_at": 28, "unreachable_at": None},
         (None, None, 2_000)),
    ],
)  # fmt: skip
def test_leaderless_time_is_bounded_by_signs_of_outage_and_election(
    outage: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert bounds(handover(outage)) == expected


@pytest.mark.parametrize("ahead", [-7, 0, 7])
@pytest.mark.parametrize("outage", [CRASH, CRASH | {"unreachable_at": None}])
def test_bounds_of_leaderless_time_hold_the_true_time_despite_differing_clocks(
    outage: dict[str, Any], ahead: float
) -> None:
    """The new leader's clock is seconds ahead or behind: by its own words it began to lead 10 s after the crash."""
    low, shown, high = bounds(handover(outage, elected_at=ELECTED_AT + ahead, apart=timedelta(seconds=7)))
    assert shown is None
    assert high is not None and (low or 0) <= 10_000 <= high
    if ahead >= 0:  # Else it began to lead before the crash was detected, and no proof bounds it from below.
        assert low is not None and high - low <= 2 * (7_000 + 2_000) + 11_000


@pytest.mark.parametrize(("follower_line_at", "ms"), [(10, 20_000), (27, 2_000)])
def test_lines_of_returned_leader_do_not_shorten_its_leaderless_time(follower_line_at: float, ms: int) -> None:
    """It was away, and follows in the epoch without a leader that another broker has seen begin."""
    lines = [
        partition_line("leader_started", 1, 0, leader_epoch=0),
        partition_line("follower_started", 3, follower_line_at, leader_epoch=1, leader=-1),
        partition_line("follower_started", 1, 28, leader_epoch=1, leader=-1),
        partition_line("leader_started", 1, ELECTED_AT, leader_epoch=2),
    ]
    restored = rebuild_leaders(lines, [], context_of([], []), HOURS).failovers[-1]
    assert (restored.kind, restored.leaderless_ms) == ("leader_restored", ms)


@pytest.mark.parametrize(("gave_way", "ms"), [(29.9, 100), (30.1, 0)])
def test_line_of_former_leader_makes_leaderless_time_exact(gave_way: float, ms: int) -> None:
    """Some hand over before the new leader starts, some after: then the partition always had a leader."""
    line_of_leader = partition_line("follower_started", 1, gave_way, leader=2, leader_epoch=1)
    assert bounds(handover(None, line_of_leader)) == (ms, ms, ms)


@pytest.mark.parametrize(
    ("unseen", "until"),
    [
        ((), None),
        # Each replica would write which broker leads: the log of one that lives is enough.
        ((1,), None),
        ((1, 3), None),
        # Of the leader alone it is enough until it goes.
        ((2, 3), 20),
        ((1, 2, 3), 5),
    ],
)
def test_last_leader_is_known_as_long_as_a_log_would_show_another(unseen: tuple[int, ...], until: float | None) -> None:
    """Broker 1 leads brokers 2 and 3 from second 0 on, and crashes at second 20; logs are missing from second 5 on."""
    missing = [
        row(WITNESSES, broker=b, kind="leaders", first_at=after(5), last_at=after(60), gap="no_logger",
            loggers=["state.change.logger"])
        for b in unseen
    ]  # fmt: skip
    outage = row(BROKER_OUTAGES, broker=1, kind="crash", confidence="certain", down_at=after(20), up_at=None)
    lines = [partition_line("leader_started", 1, 0, leader_epoch=0, replicas="1,2,3")]
    history = rebuild_leaders(lines, [], context_of([], [outage], witnesses=missing), HOURS)
    [[leader]] = history.leaders.values()
    assert leader.end == (None if until is None else after(until))


def test_leaderless_time_without_evidence_has_no_bounds() -> None:
    lines = [
        partition_line("follower_started", 3, epoch * 30, leader=epoch + 1, leader_epoch=epoch) for epoch in (0, 1)
    ]
    [change] = rebuild_leaders(lines, [], context_of([], []), HOURS).failovers
    assert bounds(change) == (None, None, None)


def test_isr_commit_of_new_leader_bounds_leaderless_time() -> None:
    """Its start is lost; the ISR that it commits 2 s after the follower's line shows that it leads."""
    lines = [
        partition_line("leader_started", 1, 0, leader_epoch=0),
        partition_line("follower_started", 3, 30, leader=2, leader_epoch=1),
        partition_line("isr_updated", 2, 32, isr="2,3", partition_epoch=3),
    ]
    outage = row(BROKER_OUTAGES, broker=1, confidence="certain", kind="crash",
                 **{k: after(v) for k, v in CRASH.items() if k.endswith("_at")})  # fmt: skip
    [change] = rebuild_leaders(lines, [], context_of([], [outage]), HOURS).failovers
    assert bounds(change) == (None, 10_000, 14_000)


@given(st.tuples(*(st.none() | st.integers(0, 60) for _ in range(4))), st.sampled_from(["crash", "unresponsive"]),
       st.none() | st.integers(1, 60))  # fmt: skip
def test_leaderless_time_lies_within_its_bounds_for_any_clocks(
    times: tuple[int | None, ...], kind: str, gave_way: int | None
) -> None:
    """Whatever the clocks say."""
    heard, down, reached, detected = times
    outage = {
        "kind": kind, "last_heard_at": heard, "down_at": down or 0, "unreachable_at": reached, "detected_at": detected,
        "up_at": None,
    }  # fmt: skip
    lines = [partition_line("follower_started", 1, gave_way, leader=2, leader_epoch=1)] if gave_way else []
    low, ms, high = bounds(handover(outage, *lines))
    values = [b for b in (low, ms, high) if b is not None]
    assert values == sorted(values)
    assert all(b >= 0 for b in values)


@pytest.mark.parametrize(("excerpt", "low", "high"), [("offline-3.9", 8761, 16950), ("offline-4.1", None, None)])
def test_offline_partition_and_its_restored_leader_share_their_bounds(
    excerpt: str, low: int | None, high: int | None
) -> None:
    gone, back = leaders(events(excerpt), [], WHOLE).failovers
    for bound, value in (("leaderless_low_ms", low), ("leaderless_high_ms", high)):
        assert getattr(gone, bound) == getattr(back, bound)
        assert value in (None, getattr(gone, bound))
    assert gone.leaderless_low_ms <= back.leaderless_ms <= gone.leaderless_high_ms


def test_pause_of_leader_counts_as_leaderless_time() -> None:
    """Broker 3 is paused from 07:53:41.0 to 07:53:56.0, 15.1 s; it wrote last at 07:53:27.8, and leads again at once.

    Shut down in order, it leads again too, and its own lines show both ends.
    """
    week = replace(WHOLE, end=WHOLE.end + timedelta(days=7))
    paused, _, shut_down, _ = leaders(events("paused-leader-4.3"), [], week).failovers
    assert (paused.leader_from, paused.leader_to, paused.leaderless_low_ms) == (3, -1, 3_213)
    assert paused.leaderless_high_ms == 28_300
    assert bounds(shut_down) == (11_639, None, 11_639)


def test_later_leader_bounds_offline_time_across_unknown_epochs() -> None:
    lines = [
        partition_line("leader_started", 1, 0, leader_epoch=0),
        partition_line("follower_started", 1, 10, leader=-1, leader_epoch=1),
        partition_line("leader_started", 2, ELECTED_AT, leader_epoch=4, previous_leader=-1, previous_leader_epoch=3),
    ]
    gone, back = rebuild_leaders(lines, [], context_of([], []), HOURS).failovers
    assert (gone.leader_to, back.leader_to) == (-1, 2)
    assert bounds(gone) == (None, None, 30_000)


@pytest.mark.parametrize(("hours", "count"), [(0.5, 2), (2.0, 0)])
def test_leader_epoch_that_falls_for_good_starts_other_metadata(hours: float, count: int) -> None:
    lines = [
        partition_line("leader_started", 1, 0, leader_epoch=2),
        partition_line("leader_started", 1, 10, leader_epoch=4),
        partition_line("leader_started", 2, hours * 3600, leader_epoch=3),
    ]
    day = Window(AT - timedelta(hours=1), AT + timedelta(hours=23))
    assert len(rebuild_leaders(lines, [], context_of([], []), day).failovers) == count


def test_offline_partition_without_later_leader_has_no_bounds() -> None:
    [gone, _] = leaders(events("offline-3.9"), [], WHOLE).failovers
    until_then = [e for e in events("offline-3.9") if e.happened_at <= gone.happened_at]
    [still] = leaders(until_then, [], WHOLE).failovers
    assert (still.kind, *bounds(still)) == ("offline", None, None, None)


def test_failed_log_dir_makes_leaderless_time_exact() -> None:
    lost = [f for f in leaders(events("disk-4.3"), [], WHOLE).failovers if f.kind == "log_dir_failed"]
    assert lost
    assert all(f.leaderless_low_ms == f.leaderless_ms == f.leaderless_high_ms for f in lost)


@pytest.mark.parametrize(
    ("excerpt", "kind", "expected"),
    [
        ("preferred-2.8", "preferred_election", {True}),
        ("reassignment-2.8", "reassignment", {True}),
        ("reassignment-4.3", "reassignment", {True}),
        ("unclean-2.8", "unclean_election", {False}),
        ("unclean-4.1", "unclean_election", {False}),
        ("crash-2.8", "broker_crash", {None}),
        ("offline-3.9", "offline", {None}),
    ],
)
def test_election_is_requested_automatic_or_unknown_by_its_lines(
    excerpt: str, kind: str, expected: set[bool | None]
) -> None:
    failovers = [f for f in leaders(events(excerpt), [], WHOLE).failovers if f.kind == kind]
    assert {f.requested_by_operator for f in failovers} == expected


def test_election_within_lost_logs_has_unknown_trigger() -> None:
    """All logs of 12:44:23 to 12:45:00 are lost, and broker 2 was killed meanwhile; later lines name the new leader."""
    night = replace(WHOLE, end=WHOLE.end + timedelta(days=2))
    [_, change] = leaders(events("election-lost-4.3"), [], night).failovers
    assert (change.kind, change.confidence, change.leader_to) == ("preferred_election", "possible", 1)
    assert change.requested_by_operator is None


def elected(*around: Event) -> bool | None:
    """Whether an election of broker 2, the preferred leader, at second 30 was requested."""
    lines = [
        partition_line("leader_started", 1, 0, leader_epoch=0, replicas="2,1"),
        partition_line("leader_started", 2, 30, leader_epoch=1, replicas="2,1"),
    ]
    active = row(EVENTS, kind="controller_elected", broker=9, controller_epoch=1, happened_at=after(-600))
    [change] = rebuild_leaders(lines, [], context_of([active, *around], []), HOURS).failovers
    assert change.kind == "preferred_election"
    asked: bool | None = change.requested_by_operator
    return asked


def task(second: float, count: int, broker: int = 9) -> Event:
    return row(EVENTS, kind="periodic_election", reason="electPreferred", event_count=count, broker=broker,
               happened_at=after(second))  # fmt: skip


def test_kraft_election_without_periodic_task_is_requested() -> None:
    assert elected(task(30.1, 3)) is False
    assert elected(task(-270, 0)) is True, "its task is reported, and was not at work"
    assert elected(task(-270, 0), task(30.1, 3, broker=8)) is True, "a standby controller's word counts nothing"
    assert elected() is None, "a controller of a former release reports no task"


@pytest.mark.parametrize(("trigger", "expected"), [(None, None), ("AutoTriggered", False), ("ZkTriggered", True)])
def test_election_before_kafka_2_4_has_no_known_trigger(trigger: str | None, expected: bool | None) -> None:
    started = row(EVENTS, kind="election_started", reason="PREFERRED", members="t-0", detail=trigger, broker=9,
                  happened_at=after(29.9))  # fmt: skip
    assert elected(started) is expected


def test_a_list_of_replicas_that_a_line_repeats_cuts_no_span() -> None:
    lines = [
        partition_line("leader_started", 1, n, leader_epoch=0, replicas=r) for n, r in enumerate(("1,2", "1,2", "1,3"))
    ]
    spans = rebuild_leaders(lines, [], context_of([], []), HOURS).spans
    assert [(s.leader, s.replicas) for s in spans] == [(1, [1, 2]), (1, [1, 3])]
