"""When partitions could not be used: on lines as captured, and the laws that each time counts once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, Unavailability
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, context_of
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from kafka_hindsight.judgements.partitions.replicas.replica_states import ReplicaHistory, rebuild_risks
from kafka_hindsight.judgements.partitions.unavailability import rebuild_unavailability
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, one_after_another
from kafka_hindsight.shared.timelines import Interval, Intervals
from kafka_hindsight.shared.windows import Window
from tests.support.build import after, partition_line
from tests.support.clocks import clocks_apart
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import histories_of, rebuild_isr_changes, rebuild_leaders
from tests.support.rows import AT, row

HOURS = Window(AT - timedelta(hours=1), AT + timedelta(hours=1))
LOGS_END = 100.0


def unavailable(
    lines: Sequence[Event],
    outages: Sequence[BrokerOutage],
    logs_end: datetime,
    window: Window = HOURS,
    apart: timedelta = timedelta(0),
) -> list[Unavailability]:
    """What these events and outages show to be unavailable."""
    context = context_of(lines, outages, None, clocks_apart(apart, 1, 2, 3))
    histories = histories_by(lines, context, logs_end, window)
    changes = rebuild_isr_changes(lines, [], context, window)
    return rebuild_unavailability(histories, outages, changes, logs_end, window, context.clocks)


def histories_by(
    lines: Sequence[Event], context: ClusterContext, logs_end: datetime, window: Window
) -> list[ReplicaHistory]:
    leaders = rebuild_leaders(lines, [], context, window)
    settings = settings_of(lines).with_topics(lines) if lines else BrokerSettings()
    return histories_of(lines, [], leaders.leaders, leaders.leaderless, settings, context, logs_end)


def of_excerpt(name: str, until: str) -> list[Unavailability]:
    lines = events(name)
    return unavailable(lines, rebuild_outages(lines, [], WHOLE), at(until), WHOLE)


def seconds_of(rows: Sequence[Unavailability]) -> list[tuple[str, float, float | None]]:
    """Kind, start and end of each row, in seconds after AT."""
    return [
        (u.kind, (u.started_at - AT).total_seconds(), u.ended_at and (u.ended_at - AT).total_seconds()) for u in rows
    ]


def led(broker: int, second: float, epoch: int, isr: str = "1,2,3") -> Event:
    return partition_line(
        "leader_started", broker, second, leader_epoch=epoch, isr=isr, partition_epoch=10 * epoch, replicas="1,2,3"
    )


def committed(broker: int, second: float, isr: str, version: int, epoch: int = 0) -> Event:
    return partition_line("isr_updated", broker, second, isr=isr, partition_epoch=version, leader_epoch=epoch)


def outage(broker: int, kind: str, down: float, up: float | None, **times: float | None) -> BrokerOutage:
    """An absence that began at `down`; heard last, unreachable and detected as the times say."""
    instants = {f"{name}_at": None if second is None else after(second) for name, second in times.items()}
    defaults = {"last_heard_at": after(down), "unreachable_at": None, "detected_at": None}
    return row(
        BROKER_OUTAGES, outage_id=f"o{broker}", broker=broker, kind=kind, confidence="certain", down_at=after(down),
        up_at=None if up is None else after(up), **{**defaults, **instants},
    )  # fmt: skip


MINIMUM = row(EVENTS, kind="broker_configured", broker=1, detail="min.insync.replicas = 2", happened_at=AT)
OWN = row(EVENTS, kind="topic_configured", topic="t", happened_at=AT)


# --- no leader -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("excerpt", "start", "end", "bounds", "is_about"),
    [
        ("crash-2.8", "01:52:23.893", "01:52:31.841", (7_948, 10_195), "broker 1 had crashed"),
        # It was alive, and may have served whom it reached until it was fenced.
        ("pause-4.1", "01:51:57.578", "01:52:06.651", (66, 21_873), "the controller did not hear broker 1"),
        # No replica could take over: until the broker was back.
        ("offline-3.9", "02:03:39.464", "02:03:56.414", (8_761, 16_950), "no replica could take over"),
    ],
)  # fmt: skip
def test_partition_has_no_leader_from_loss_of_its_leader_to_the_next(
    excerpt: str, start: str, end: str, bounds: tuple[int, int], is_about: str
) -> None:
    [period] = of_excerpt(excerpt, "14:00:00")
    assert (period.kind, period.confidence) == ("no_leader", "certain")
    assert (period.started_at, period.ended_at) == (at(start), at(end))
    assert (period.low_ms, period.high_ms) == bounds
    assert is_about in period.explanation
    assert period.failover_id and period.outage_id and period.evidence


def test_partition_without_later_leader_is_leaderless_when_the_logs_end() -> None:
    """Its only replica was on the disk of broker 2, which failed at 11:58:05.757."""
    (period,) = [u for u in of_excerpt("disk-3.9", "11:59:05.757") if u.topic == "disk-single"]
    assert (period.started_at, period.ended_at) == (at("11:58:05.757"), None)
    assert (period.low_ms, period.high_ms, period.confidence) == (60_000, None, "certain")
    assert "not over when the logs end" in period.explanation


def test_deletion_of_topic_ends_its_leaderless_time() -> None:
    gone = partition_line("follower_started", 1, 10, leader=-1, leader_epoch=1)
    deleted = row(EVENTS, kind="topic_deleted", topic="t", happened_at=after(40))
    [period] = unavailable([led(1, 0, 0), gone, deleted], [], after(LOGS_END))
    assert seconds_of([period]) == [("no_leader", 10, 40)]
    assert period.low_ms == 30_000


def test_coordinator_that_forgets_offsets_of_topic_shows_its_deletion() -> None:
    """The log of the controller that deleted it is missing."""
    gone = partition_line("follower_started", 1, 10, leader=-1, leader_epoch=1)
    lines = [
        row(EVENTS, kind="partitions_deleted", broker=broker, members="other-0, t-1, t-0", happened_at=after(at))
        for broker, at in ((2, 40), (2, 40.1), (3, 41), (1, 90))
    ]
    [period] = unavailable([led(1, 0, 0), gone, *lines], [], after(LOGS_END))
    assert seconds_of([period]) == [("no_leader", 10, 40)]


def test_immediate_handover_leaves_no_leaderless_time() -> None:
    gave_way = partition_line("follower_started", 1, 30.1, leader=2, leader_epoch=1)
    assert unavailable([led(1, 0, 0), led(2, 30, 1), gave_way], [], after(LOGS_END)) == []


def test_leader_change_without_a_shown_loss_leaves_no_leaderless_time() -> None:
    lines = [
        partition_line("follower_started", 3, epoch * 30, leader=epoch + 1, leader_epoch=epoch) for epoch in (0, 1)
    ]
    assert unavailable(lines, [], after(LOGS_END)) == []


def test_unknown_epochs_leave_leaderless_time_without_lower_bound() -> None:
    lines = [
        led(1, 0, 0),
        partition_line("follower_started", 1, 10, leader=-1, leader_epoch=1),
        partition_line("leader_started", 2, 30, leader_epoch=4, previous_leader=-1, previous_leader_epoch=3),
    ]
    [period] = unavailable(lines, [], after(LOGS_END))
    assert seconds_of([period]) == [("no_leader", 10, 30)]
    assert (period.low_ms, period.high_ms, period.confidence) == (0, 30_000, "likely")


STOPS = [outage(b, "controlled_shutdown", 10 * b, None) for b in (1, 2, 3)]


def test_partition_is_leaderless_once_every_replica_has_stopped() -> None:
    """In ZooKeeper mode the last broker is the controller: none is left to take the leadership from it."""
    [period] = unavailable([led(3, 0, 0)], STOPS, after(LOGS_END))
    assert seconds_of([period]) == [("no_leader", 30, None)]
    assert (period.outage_id, period.failover_id, period.low_ms, period.confidence) == ("o3", None, 0, "likely")


def test_partition_with_a_running_replica_is_not_leaderless_without_a_line() -> None:
    assert unavailable([led(3, 0, 0)], STOPS[1:], after(LOGS_END)) == []


@pytest.mark.parametrize("epoch", [0, 1])
def test_partition_is_leaderless_while_its_returning_leader_is_down(epoch: int) -> None:
    away = replace(outage(3, "crash", 30, 50, unreachable=31), away_low_ms=19_000, away_high_ms=22_000)
    [period] = unavailable([led(3, 0, 0), led(3, 50, epoch)], [away], after(LOGS_END))
    assert seconds_of([period]) == [("no_leader", 30, 50)]
    assert (period.low_ms, period.high_ms, period.outage_id) == (19_000, 22_000, "o3")


SHUT_DOWN = outage(3, "controlled_shutdown", 30, 50)


@pytest.mark.parametrize("back", [led(3, 60, 2), committed(3, 60, "3,1", 25)])
def test_partition_whose_replicas_may_have_taken_over_is_not_leaderless(back: Event) -> None:
    """No line at hand shows the epochs between, as without state-change.log: a restart in order hands leaders over."""
    assert unavailable([led(3, 0, 0), back], [SHUT_DOWN], after(LOGS_END)) == []


def test_partition_is_leaderless_while_all_replicas_are_away() -> None:
    others = [outage(1, "controlled_shutdown", 35, 70), outage(2, "crash", 20, 55)]
    lines = [led(3, 0, 0), committed(3, 60, "3,1", 25)]
    periods = unavailable(lines, [SHUT_DOWN, *others], after(LOGS_END))
    [period] = [u for u in periods if u.kind == "no_leader"]
    assert seconds_of([period]) == [("no_leader", 35, 60)]


def test_replica_that_stops_as_leader_returns_leaves_no_time_that_ends_before_it_begins() -> None:
    others = [outage(1, "controlled_shutdown", 49, 70), outage(2, "crash", 20, 55)]
    periods = unavailable([led(3, 0, 0), committed(3, 48.5, "3", 25)], [SHUT_DOWN, *others], after(LOGS_END))
    assert [u for u in periods if u.kind == "no_leader"] == []


def test_unresponsive_leader_that_leads_on_leaves_no_leaderless_time() -> None:
    away = outage(3, "unresponsive", 30, 50)
    assert unavailable([led(3, 0, 0), led(3, 50, 0)], [away], after(LOGS_END)) == []


def test_differing_clocks_widen_bounds_of_leaderless_time() -> None:
    away = outage(1, "crash", 20, 50, last_heard=18, unreachable=20, detected=29)
    lines = [led(1, 0, 0), led(2, 30, 1, "2,3")]
    [period] = unavailable(lines, [away], after(LOGS_END), apart=timedelta(seconds=3))
    assert (period.low_ms, period.high_ms) == (5_000, 17_000)


# --- writes with acks=all --------------------------------------------------------------------------------------------


def test_isr_below_min_insync_replicas_refuses_writes_while_a_leader_exists() -> None:
    lines = [
        MINIMUM,
        OWN,
        led(1, 0, 0),
        committed(1, 10, "1,2", 1),
        committed(1, 20, "1", 2),
        committed(1, 60, "1,2", 3),
    ]
    [period] = unavailable(lines, [], after(LOGS_END))
    assert seconds_of([period]) == [("acks_all_refused", 20, 60)]
    assert (period.low_ms, period.high_ms, period.confidence) == (40_000, 40_000, "certain")
    assert "1 of 3 replicas were in sync, and min.insync.replicas is 2." in period.explanation
    gone = partition_line("follower_started", 1, 40, leader=-1, leader_epoch=1)
    assert seconds_of(unavailable([*lines[:-1], gone], [], after(LOGS_END))) == [
        ("no_leader", 40, None),
        ("acks_all_refused", 20, 40),
    ]


def test_unknown_isr_widens_upper_bound_of_refused_writes() -> None:
    """Versions 2 to 6 are not in the lines: what was in sync from second 20 to 60 is not known."""
    lines = [MINIMUM, OWN, led(1, 0, 0), committed(1, 20, "1,2", 1), committed(1, 60, "1", 7)]
    [period] = unavailable(lines, [], after(LOGS_END))
    assert seconds_of([period]) == [("acks_all_refused", 60, None)]
    lines += [committed(1, 80, "1,2", 8)]
    [period] = unavailable(lines, [], after(LOGS_END))
    assert (period.low_ms, period.high_ms) == (20_000, 60_000)


def test_unknown_min_insync_replicas_shows_no_refused_writes() -> None:
    lines = [led(1, 0, 0), committed(1, 20, "1", 1)]
    assert unavailable(lines, [], after(LOGS_END)) == []


CRASH = outage(2, "crash", 20, 50, last_heard=18, unreachable=21, detected=29)


def on_24th(clock: str) -> datetime:
    """An instant of the night of the excerpts that drills with canaries left."""
    return datetime.fromisoformat(f"2026-11-24T{clock}+00:00")


def hung(excerpt: str, *away: BrokerOutage) -> list[tuple[datetime, datetime | None, int, int | None, str]]:
    """When writes with acks=all waited in an excerpt: start, end, bounds and confidence of each time."""
    night = Window(on_24th("00:00:00"), on_24th("23:00:00"))
    rows = unavailable(events(excerpt), away, on_24th("12:00:00"), night)
    return [(u.started_at, u.ended_at, u.low_ms, u.high_ms, u.confidence) for u in rows if u.kind == "acks_all_hung"]


def crash_on_24th(broker: int, last_heard: str, down: str, up: str) -> BrokerOutage:
    return replace(
        outage(broker, "crash", 0, None), down_at=on_24th(down), up_at=on_24th(up), last_heard_at=on_24th(last_heard)
    )


def test_writes_hang_for_follower_that_never_fetched_from_its_new_leader() -> None:
    """The canary of the drill wrote nothing from 11:52:53.694 to 11:52:59.367."""
    start, end = on_24th("11:52:53.734"), on_24th("11:52:59.340")
    assert hung("unfetched-4.3") == [(start, end, 5_606, 5_606, "certain")]


def test_join_of_the_isr_ends_hanging_writes_before_the_controller_knows() -> None:
    """No controller was there. Broker 2 joined at 11:56:01.299, and the canary of the drill went on."""
    away = replace(
        crash_on_24th(2, "11:55:47.113", "11:55:50.585", "11:56:11.756"), unreachable_at=on_24th("11:55:50.585")
    )
    (before,) = hung("rejoined-4.3", away)
    assert before[:2] == (on_24th("11:55:50.585"), on_24th("11:55:59.645"))


def test_hanging_writes_start_after_the_broker_joined_the_isr() -> None:
    """As broker 2 did in a drill of 2.8.2: it joined at second 14.6, and was stopped by a signal at second 16.6."""
    lines = [MINIMUM, OWN, led(3, 0, 0, "1,3"), committed(3, 14.6, "1,3,2", 1), committed(3, 21, "1,3", 2)]
    away = outage(2, "unresponsive", 14.3, 37.3, last_heard=14.3, detected=27)
    (period,) = unavailable(lines, [away], after(LOGS_END))
    assert (period.kind, period.earliest_start_at, period.ended_at) == ("acks_all_hung", after(14.6), after(21))
    assert (period.low_ms, period.confidence) == (0, "likely")


def test_hanging_writes_before_an_unknown_epoch_have_no_lower_bound() -> None:
    """Leader epoch 12 is not known. Broker 1 was killed at 11:55:27.260, and its leader says when it fetched last."""
    away = crash_on_24th(1, "11:55:24.662", "11:55:29.693", "11:55:46.989")
    (period,) = hung("epoch-missing-4.3", away)
    assert period == (on_24th("11:55:29.693"), on_24th("11:55:32.732"), 0, 5_481, "likely")


@pytest.mark.parametrize("settings", [[], [MINIMUM, OWN]])
def test_writes_hang_for_crashed_follower_until_it_leaves_the_isr(settings: list[Event]) -> None:
    lines = [*settings, led(1, 0, 0), committed(1, 30, "1,3", 1), committed(1, 55, "1,3,2", 2)]
    [period] = unavailable(lines, [CRASH], after(LOGS_END))
    assert seconds_of([period]) == [("acks_all_hung", 20, 30)]
    assert (period.low_ms, period.high_ms) == (9_000, 12_000)
    assert (period.confidence, period.outage_id) == ("certain", "o2")


def test_writes_likely_hang_for_unresponsive_follower() -> None:
    """It may have fetched from the leader all the time: that it was fenced at 29 is proven."""
    paused = replace(CRASH, kind=OutageKind.UNRESPONSIVE, unreachable_at=None)
    [period] = unavailable([led(1, 0, 0), committed(1, 30, "1,3", 1)], [paused], after(LOGS_END))
    assert seconds_of([period]) == [("acks_all_hung", 20, 30)]
    assert (period.low_ms, period.high_ms, period.confidence) == (1_000, 12_000, "likely")


def test_return_of_follower_in_the_isr_ends_hanging_writes() -> None:
    undetected = replace(CRASH, detected_at=None)
    [period] = unavailable([led(1, 0, 0)], [undetected], after(LOGS_END))
    assert seconds_of([period]) == [("acks_all_hung", 20, 50)]
    assert (period.low_ms, period.high_ms) == (29_000, 42_000)
    [period] = unavailable([led(1, 0, 0)], [replace(undetected, up_at=None)], after(LOGS_END))
    assert (seconds_of([period]), period.low_ms) == ([("acks_all_hung", 20, None)], 89_000)


@pytest.mark.parametrize("up_at", [None, after(50)])
def test_controller_that_detects_follower_as_down_ends_hanging_writes(up_at: datetime | None) -> None:
    """It removes it from each ISR, whether a line at hand shows that or not."""
    [period] = unavailable([led(1, 0, 0)], [replace(CRASH, up_at=up_at)], after(LOGS_END))
    assert seconds_of([period]) == [("acks_all_hung", 20, 29)]
    assert (period.low_ms, period.high_ms) == (8_000, 13_000)
    assert unavailable([led(1, 30, 1)], [replace(CRASH, up_at=up_at)], after(LOGS_END)) == []


def test_less_is_proven_of_hanging_writes_where_clocks_differ() -> None:
    lines = [led(1, 0, 0), committed(1, 30, "1,3", 1)]
    for apart, low in ((0, 9_000), (4, 3_000), (20, 0)):
        [period] = unavailable(lines, [CRASH], after(LOGS_END), apart=timedelta(seconds=apart))
        assert (period.low_ms, period.confidence) == (low, "certain" if low else "likely")


def test_no_writes_hang_for_controlled_shutdown_or_crash_of_the_leader() -> None:
    lines = [led(1, 0, 0), committed(1, 30, "1,3", 1)]
    assert unavailable(lines, [outage(2, "controlled_shutdown", 20, 50)], after(LOGS_END)) == []
    lines = [led(2, 0, 0), led(1, 30, 1, "1,3")]
    assert seconds_of(unavailable(lines, [CRASH], after(LOGS_END))) == [("no_leader", 20, 30)]


def test_writes_that_hang_for_two_followers_count_once() -> None:
    other = outage(3, "crash", 25, 50, last_heard=18, unreachable=25, detected=34)
    lines = [led(1, 0, 0), committed(1, 30, "1,3", 1), committed(1, 35, "1", 2)]
    assert seconds_of(unavailable(lines, [CRASH, other], after(LOGS_END))) == [
        ("acks_all_hung", 20, 30),
        ("acks_all_hung", 30, 35),
    ]


# --- laws ------------------------------------------------------------------------------------------------------------

SECONDS = st.integers(0, 60)


@st.composite
def intervals(draw: st.DrawFn) -> BoundedInterval[None]:
    """Any interval whose proof lies in it, and that lies in what is possible."""
    since, start, by, end, until = sorted(draw(st.tuples(*[SECONDS] * 5)))
    if draw(st.booleans()):
        return BoundedInterval(
            after(start), after(end), Interval(after(by), after(end), None),
            Interval(after(since), after(until), None), None,
        )  # fmt: skip
    return BoundedInterval(after(start), None, Interval(after(by), None, None), None, None)


@given(st.lists(intervals(), max_size=8))
def test_separated_intervals_do_not_overlap_and_cover_the_same_time(drawn: list[BoundedInterval[None]]) -> None:
    ordered = list(one_after_another(drawn))
    assert all(before.end is not None and before.end <= now.start for before, now in pairwise(ordered))
    assert all(i.high is None or i.low(after(60)) <= i.high for i in ordered)
    covered, original = (Intervals(Interval(i.start, i.end, None) for i in some) for some in (ordered, drawn))
    assert covered.total(after(0), after(60)) == original.union().total(after(0), after(60))


@st.composite
def nights(draw: st.DrawFn) -> tuple[list[Event], list[BrokerOutage]]:
    """A partition that changes its leader, or has none, every few seconds, and brokers that go and come."""
    lines, second = [led(1, 0, 0)], 0.0
    for epoch, (lasts, broker) in enumerate(
        draw(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), max_size=8)), 1
    ):
        second += lasts
        lines.append(
            led(broker, second, epoch)
            if broker
            else partition_line("follower_started", 3, second, leader=-1, leader_epoch=epoch)
        )
    away = [
        outage(broker, kind, down, up, last_heard=down - 1, unreachable=down, detected=detected)
        for broker in (1, 2, 3)
        for down, detected, up in [sorted(draw(st.tuples(*[st.integers(1, 70)] * 3)))]
        for kind in [draw(st.sampled_from(["crash", "unresponsive", "controlled_shutdown"]))]
    ]
    return lines, away


@given(nights())
def test_rows_of_one_partition_and_kind_do_not_overlap(night: tuple[list[Event], list[BrokerOutage]]) -> None:
    """Whatever lines and outages say, and contradict."""
    assert_apart(unavailable(*night, after(LOGS_END)))


def assert_apart(rows: Sequence[Unavailability]) -> None:
    for kind in {u.kind for u in rows}:
        own = sorted((u for u in rows if u.kind == kind), key=lambda u: (u.started_at, u.ended_at or HOURS.end))
        assert all(before.ended_at and before.ended_at <= now.started_at for before, now in pairwise(own))
    assert all(u.low_ms <= (u.high_ms if u.high_ms is not None else u.low_ms) for u in rows)
    assert len({u.unavailability_id for u in rows}) == len(rows)


def proven(lines: list[Event], away: list[BrokerOutage], apart: timedelta) -> tuple[int, int]:
    """How long the partition surely had no leader: by the ledger, of what was over, and by what it risked."""
    rows = unavailable(lines, away, after(LOGS_END), apart=apart)
    assert_apart(rows)
    histories = histories_by(lines, context_of(lines, away, None, clocks_apart(apart, 1, 2, 3)), after(LOGS_END), HOURS)
    risked = sum(risk.leaderless_low_ms for risk in rebuild_risks(histories, [], after(LOGS_END), HOURS))
    return sum(u.low_ms for u in rows if u.kind == "no_leader" and u.ended_at), risked


def lost(second: float, epoch: int, by: int = 3) -> Event:
    return partition_line("follower_started", by, second, leader=-1, leader_epoch=epoch)


@given(nights(), st.sampled_from([1, 2, 3]), st.sampled_from([-180, -30, 30, 180]))
@example(([led(1, 0, 0), lost(4, 1), led(2, 9, 2)], []), 2, 180)
def test_leaderless_risk_is_at_least_the_proven_unavailability_for_any_clocks(
    night: tuple[list[Event], list[BrokerOutage]], broker: int, ahead: int
) -> None:
    """Clocks that are ahead write behind the last line of the others."""
    by = timedelta(seconds=ahead)
    read = [replace(e, happened_at=e.happened_at + by) if e.broker == broker else e for e in night[0]]
    lines = sorted(read, key=lambda e: e.happened_at)
    ledger, risked = proven(lines, night[1], abs(by))
    assert ledger <= risked


def test_recreated_topic_has_disjoint_leaderless_times() -> None:
    """Broker 1 is detected as down before the topic is deleted, and by its own clock leads the new one after that."""
    deleted = row(EVENTS, kind="topic_deleted", topic="t", happened_at=after(10))
    lines = [led(1, 0, 0), lost(5, 1), deleted, led(1, 20, 0), led(3, 20.2, 1)]
    away = outage(1, "unresponsive", 4, 26, last_heard=4, detected=6)
    rows = seconds_of(unavailable(lines, [away], after(LOGS_END)))
    assert [times for kind, *times in rows if kind == "no_leader"] == [[4, 10], [10, 20.2]]


def test_failover_and_unavailability_have_equal_lower_bound_with_differing_clocks() -> None:
    """Broker 3 took the leader away, and its clock is wrong; broker 1 was the controller that gave the next."""
    epochs = [partition_line("controller_elected", broker, at, controller_epoch=at) for broker, at in ((3, 1), (1, 20))]
    lines = [*epochs, led(1, 2, 0), lost(10, 1, by=1), led(2, 30, 2)]
    context = context_of(lines, [], None, clocks_apart(timedelta(seconds=7), 3))
    first, second = rebuild_leaders(lines, [], context, HOURS).failovers
    (period,) = rebuild_unavailability(
        histories_by(lines, context, after(LOGS_END), HOURS), [], [], after(LOGS_END), HOURS
    )
    assert period.failover_id == first.failover_id
    assert period.low_ms == first.leaderless_low_ms < second.leaderless_low_ms == 20_000


def test_hanging_writes_start_no_earlier_than_the_last_line_of_the_broker() -> None:
    """Another broker failed to reach it before that, by its own clock."""
    lines = [led(1, 0, 0), committed(1, 30, "1,3", 1)]
    [period] = unavailable(lines, [replace(CRASH, last_heard_at=after(25))], after(LOGS_END))
    assert (period.low_ms, period.high_ms) == (5_000, 5_000)


@given(st.lists(st.tuples(st.integers(5, 9), st.integers(1, 9), st.sampled_from([1, 2])), max_size=6))
def test_unavailability_sums_leaderless_time_as_the_failovers_do(steps: list[tuple[int, int, int]]) -> None:
    """A leader crashes after some seconds, and others take over some seconds later: what is lost is counted once."""
    lines, away, leader, second = [led(1, 0, 0)], [], 1, 0
    for epoch, (leads, leaderless, after_it) in enumerate(steps, 1):
        down, second = second + leads, second + leads + leaderless
        away.append(outage(leader, "crash", down, second + 1, unreachable=down, detected=second))
        leader = (leader + after_it - 1) % 3 + 1
        lines.append(led(leader, second, epoch))
    rows = [u for u in unavailable(lines, away, after(LOGS_END)) if u.kind == "no_leader"]
    failovers = rebuild_leaders(lines, [], context_of(lines, away), HOURS).failovers
    lost = sum(leaderless for _, leaderless, _ in steps) * 1_000
    assert sum(u.low_ms for u in rows) == sum(f.leaderless_low_ms or 0 for f in failovers) == lost
    assert sum((u.ended_at - u.started_at) / timedelta(milliseconds=1) for u in rows if u.ended_at) == lost
