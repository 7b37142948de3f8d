"""The risks of partitions: on lines as captured, and the laws that times lie within their window and add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.gold import FAILOVERS, PARTITION_RISKS
from kafka_hindsight.catalog.rows import Event, Failover, PartitionRisk, PartitionSnapshot
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, context_of
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from kafka_hindsight.judgements.partitions.replicas.replica_states import rebuild_risks
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, Reason
from kafka_hindsight.shared.timelines import Interval
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import histories_of, rebuild_leaders
from tests.support.rows import AT, row

SECOND = timedelta(seconds=1)
KEY = ("cluster", "t", 0)
TIMES = ("under_replicated_ms", "under_min_isr_ms", "at_min_isr_ms", "one_from_offline_ms", "one_from_unclean_ms")
OWN = row(EVENTS, kind="topic_configured", topic="t", happened_at=AT)


def risks_of_night(excerpt: str, settings: str | None, until: str) -> dict[int, PartitionRisk]:
    lines = events(excerpt)
    context = context_of(lines, rebuild_outages(lines, [], WHOLE))
    history = rebuild_leaders(lines, [], context, WHOLE)
    configured = settings_of(events(settings)) if settings else BrokerSettings()
    histories = histories_of(lines, [], history.leaders, history.leaderless, configured, context, at(until))
    return {r.partition: r for r in rebuild_risks(histories, history.failovers, at(until), WHOLE)}


def risks_of(
    lines: list[Event],
    over: Window,
    logs_end: datetime,
    readings: Sequence[PartitionSnapshot] = (),
    configured: BrokerSettings | None = None,
    failovers: Sequence[Failover] = (),
    leaderless: Sequence[BoundedInterval[None]] = (),
) -> list[PartitionRisk]:
    histories = histories_of(lines, readings, {}, {KEY: leaderless}, configured or WITH, ClusterContext(), logs_end)
    return rebuild_risks(histories, failovers, logs_end, over)


def isr(second: int, brokers: str, version: int, partition: int = 0, **fields: object) -> Event:
    happened_at = AT + second * SECOND
    named = {"line_id": f"{partition}-{version}", "topic": "t", "partition": partition, "isr": brokers}
    versioned = {"kind": "leadership_kept", "partition_epoch": version, "leader_epoch": 0, "replicas": "1,2,3"}
    return row(EVENTS, happened_at=happened_at, **{**versioned, **named, **fields})


def reading(second: int, *brokers: int, replicas: tuple[int, ...] = (1, 2, 3)) -> PartitionSnapshot:
    return row(
        PARTITION_SNAPSHOTS, snapshot_id=f"s{second}", snapshot_at=AT + second * SECOND, topic="t", partition=0,
        leader=1, isr=list(brokers), replicas=list(replicas),
    )  # fmt: skip


def led(second: int, leader: int, low_ms: int | None = None, high_ms: int | None = None) -> Failover:
    """A change of the partition's leader, and for how long it had no leader before."""
    bounds = {"leaderless_low_ms": low_ms, "leaderless_high_ms": high_ms}
    return row(FAILOVERS, topic="t", partition=0, leader_to=leader, happened_at=AT + second * SECOND, **bounds)


def without_leader(since: int, until: int | None, low: int = 0, high: int = 0) -> BoundedInterval[Reason]:
    """A time without a leader, with its bounds where it was over."""
    start, end = AT + since * SECOND, None if until is None else AT + until * SECOND
    proven, possible = (Interval(end - n * SECOND if end else start, end, None) for n in (low, high))
    why = Reason("f", None, "It was lost.", Confidence.CERTAIN, ())
    return BoundedInterval(start, end, proven, possible, why)


def settings(**values: str) -> BrokerSettings:
    detail = "\n".join(f"{name.replace('_', '.')} = {value}" for name, value in values.items())
    return settings_of([row(EVENTS, kind="broker_configured", broker=1, detail=detail, happened_at=AT), OWN])


WITH = settings(min_insync_replicas="2", unclean_leader_election_enable="false")


NO_RISK = row(PARTITION_RISKS, **dict.fromkeys(TIMES, 0))


def judged(
    lines: list[Event],
    readings: list[PartitionSnapshot] | None = None,
    configured: BrokerSettings = WITH,
    window: tuple[int, int] = (0, 100),
) -> PartitionRisk:
    over = Window(AT + window[0] * SECOND, AT + window[1] * SECOND)
    rows = risks_of(lines, over, AT + 100 * SECOND, readings or [], configured)
    return rows[0] if rows else NO_RISK


def test_crash_makes_partition_under_replicated_until_the_return() -> None:
    """The ISR shrinks at 01:52:31.810 and grows again at 01:52:41.929; min.insync.replicas is unknown."""
    (risk,) = risks_of_night("crash-2.8", None, "01:53:00").values()
    assert (risk.under_replicated_ms, risk.worst_isr_size, risk.elections) == (10_119, 2, 1)
    assert (risk.under_min_isr_ms, risk.at_min_isr_ms, risk.min_insync_replicas) == (None, None, None)
    assert (risk.one_from_offline_ms, risk.one_from_unclean_ms) == (0, 0)
    assert risk.leaderless_low_ms <= 7948 <= risk.leaderless_high_ms


def test_partition_with_restarted_epochs_counts_known_time_once() -> None:
    """Its metadata were restored: what was known of the former incarnation holds up to the next one."""
    begins = {"kind": "leader_started", "broker": 1}
    lines = [
        isr(0, "1,2,3", 5, leader_epoch=7, **begins),
        isr(5_000, "1", 6, leader_epoch=0, **begins),
        isr(5_010, "1,2,3", 7, leader_epoch=0),
    ]
    over = Window(AT, AT + 6_000 * SECOND)
    [risk] = risks_of(lines, over, over.end)
    assert (risk.known_ms, risk.under_replicated_ms) == (6_000_000, 10_000)


def test_lone_leader_with_unclean_election_enabled_is_one_failure_from_unclean() -> None:
    """fraud-risky-19-0: broker 1 is alone from 01:52:35.892 on, gone from 01:52:47.903 to 01:53:02.129, and then
    broker 2 is alone until 01:53:10.171."""
    risk = risks_of_night("unclean-4.1", "settings-4.1", "01:54:00")[0]
    assert risk.one_from_offline_ms == 0
    assert 0 < risk.one_from_unclean_ms < risk.under_replicated_ms == risk.at_min_isr_ms
    assert (risk.replication_factor, risk.min_insync_replicas) == (2, 1)
    unknown = risks_of_night("unclean-4.1", None, "01:54:00")[0]
    assert unknown.one_from_offline_ms == risk.one_from_unclean_ms
    assert unknown.one_from_unclean_ms == 0


def test_risk_counts_time_at_and_below_min_insync_replicas() -> None:
    lines = [isr(0, "1,2,3", 0), isr(10, "1,2", 1), isr(30, "1", 2), isr(60, "1,2,3", 3)]
    risk = judged(lines)
    assert [getattr(risk, name) for name in TIMES] == [50_000, 30_000, 20_000, 30_000, 0]
    assert (risk.known_ms, risk.worst_isr_size) == (100_000, 1)
    assert (risk.first_at, risk.last_at) == (AT + 10 * SECOND, AT + 60 * SECOND)
    assert {"0-1", "0-2"} <= {e.line_id for e in risk.evidence} != {"0-0"}
    unclean = judged(lines, configured=settings(min_insync_replicas="1", unclean_leader_election_enable="true"))
    assert [getattr(unclean, name) for name in TIMES] == [50_000, 0, 30_000, 0, 30_000]


def test_partition_without_risk_has_no_row() -> None:
    assert risks_of([isr(0, "1,2,3", 0)], WHOLE, AT + 9 * SECOND) == []


def test_single_replica_is_always_one_failure_from_offline() -> None:
    enabled = settings(min_insync_replicas="1", unclean_leader_election_enable="true")
    risk = judged([isr(0, "1", 0, replicas="1")], configured=enabled)
    assert [getattr(risk, name) for name in TIMES] == [0, 0, 100_000, 100_000, 0]


def test_eligible_leader_replica_keeps_partition_from_one_failure_to_offline() -> None:
    """As the metadata log shows it: under the minimum the replica that falls out stays eligible."""
    changed: dict[str, Any] = {"kind": "partition_changed", "previous_isr": "1,2", "previous_leader_epoch": 0}
    diff = "isr: [1, 2] -> [1], elr: [] -> [2], partitionEpoch: 1 -> 2"
    lines = [isr(0, "1,2", 1), isr(20, "1", 2, **changed, detail=diff), isr(60, "1", 3)]
    gone = isr(60, "1", 3, kind="partition_changed", previous_isr="1", detail="elr: [2] -> [], partitionEpoch: 2 -> 3")
    assert judged(lines).one_from_offline_ms == 0
    assert judged([*lines[:2], gone]).one_from_offline_ms == 40_000


def test_min_insync_replicas_is_capped_at_the_replication_factor() -> None:
    risk = judged([isr(0, "1,2,3", 0)], configured=settings(min_insync_replicas="5"))
    assert (risk.under_min_isr_ms, risk.at_min_isr_ms) == (0, 100_000)


def test_leaderless_time_does_not_count_as_one_failure_from_offline() -> None:
    lines = [isr(0, "1", 0)]
    failovers = [led(20, -1), led(50, 1, 30_000, 40_000)]
    window = Window(AT, AT + 100 * SECOND)
    inputs = {"lines": lines, "logs_end": window.end}
    gone = [without_leader(20, 50, 30, 40)]
    (risk,) = risks_of(over=window, failovers=failovers, leaderless=gone, **inputs)
    assert (risk.leaderless_low_ms, risk.leaderless_high_ms, risk.elections) == (30_000, 40_000, 1)
    assert risk.one_from_offline_ms == 70_000
    cut = Window(AT + 40 * SECOND, window.end)
    (late,) = risks_of(over=cut, failovers=failovers, leaderless=gone, **inputs)
    assert (late.leaderless_low_ms, late.leaderless_high_ms) == (10_000, 10_000)
    (open_,) = risks_of(over=window, failovers=failovers[:1], leaderless=[without_leader(20, None)], **inputs)
    assert (open_.leaderless_low_ms, open_.leaderless_high_ms, open_.elections) == (80_000, 80_000, 0)


def test_snapshot_that_agrees_or_lags_changes_no_risk() -> None:
    lines = [isr(0, "1,2,3", 0), isr(20, "1,2", 1), isr(60, "1,2,3", 2)]
    alone = judged(lines)
    late = [reading(10, 1, 2, 3), reading(22, 1, 2, 3), reading(40, 2, 1), reading(58, 1, 2, 3), reading(61, 1, 2)]
    assert replace(judged(lines, late), evidence=[]) == replace(alone, evidence=[])


def test_isr_contradicted_by_a_snapshot_is_unknown_until_then() -> None:
    """No line shows that broker 3 left: it did between 20 and 40, and what came after 40 the next line shows."""
    lines = [isr(0, "1,2,3", 0), isr(70, "1,2", 1)]
    risk = judged(lines, [reading(20, 1, 2, 3), reading(40, 1, 2)])
    assert (risk.under_replicated_ms, risk.known_ms) == (60_000, 80_000)


def test_isr_is_unknown_between_lines_with_missing_versions() -> None:
    assert judged([isr(0, "1,2,3", 0), isr(30, "1,2", 4)]).known_ms == 70_000
    assert judged([isr(0, "1,2", 0), isr(30, "1,2", 4)]).known_ms == 70_000, "a replica may have left and come back"
    assert judged([isr(0, "1,2", 0), isr(30, "1,2", 0)]).known_ms == 100_000


def test_two_equal_snapshots_in_a_row_show_the_isr_between() -> None:
    risk = judged([], [reading(0, 1, 2), reading(30, 1, 2), reading(60, 1, 2, 3), reading(100, 1, 2, 3)])
    assert (risk.under_replicated_ms, risk.known_ms) == (30_000, 70_000)
    assert {e.source for e in risk.evidence} > {"snapshots"}


def test_deletion_of_topic_ends_its_risk() -> None:
    deleted = row(EVENTS, kind="topic_deleted", topic="t", happened_at=AT + 40 * SECOND)
    assert judged([isr(0, "1,2", 0), deleted]).under_replicated_ms == 40_000


@pytest.mark.parametrize("excerpt", ["crash-2.8", "pause-4.1", "offline-3.9", "unclean-2.8", "reassignment-4.3"])
def test_every_risk_has_evidence_and_lies_in_its_window(excerpt: str) -> None:
    for risk in risks_of_night(excerpt, None, "14:00:00").values():
        assert risk.evidence
        assert risk.window_from <= risk.first_at <= risk.last_at <= risk.window_to


ISRS = st.sets(st.sampled_from([1, 2, 3]), min_size=1)
HISTORY = st.lists(st.tuples(st.integers(1, 30), ISRS), min_size=1, max_size=7)


@given(HISTORY, st.integers(1, 4), st.booleans(), st.integers(1, 99))
def test_risk_times_equal_a_count_of_seconds_and_add_up_over_windows(
    history: list[tuple[int, set[int]]], least: int, unclean: bool, cut: int
) -> None:
    configured = settings(min_insync_replicas=str(least), unclean_leader_election_enable=str(unclean).lower())
    lines, second = [], 0
    in_sync: dict[int, set[int]] = {}
    for version, (lasts, brokers) in enumerate(history):
        lines.append(isr(second, ",".join(map(str, brokers)), version))
        in_sync |= dict.fromkeys(range(second, second + lasts), brokers)
        second += lasts
    in_sync |= dict.fromkeys(range(second - history[-1][0], 300), history[-1][1])
    sizes = [len(in_sync[s]) for s in range(100)]
    wanted = min(least, 3)
    risk = judged(lines, configured=configured)
    assert risk.under_replicated_ms == 1000 * sum(n < 3 for n in sizes)
    assert risk.under_min_isr_ms == 1000 * sum(n < wanted for n in sizes)
    assert risk.at_min_isr_ms == 1000 * sum(n == wanted for n in sizes)
    assert getattr(risk, "one_from_unclean_ms" if unclean else "one_from_offline_ms") == 1000 * sum(
        n == 1 for n in sizes
    )
    assert getattr(risk, "one_from_offline_ms" if unclean else "one_from_unclean_ms") == 0
    halves = [judged(lines, configured=configured, window=w) for w in ((0, cut), (cut, 100))]
    for name in TIMES:
        assert getattr(risk, name) == sum(getattr(h, name) for h in halves)
        assert all(0 <= getattr(h, name) <= h.known_ms for h in halves)


@given(HISTORY, st.lists(st.tuples(st.integers(0, 99), ISRS), max_size=5))
def test_arbitrary_snapshots_break_no_law_of_the_risk_table(
    history: list[tuple[int, set[int]]], read: list[tuple[int, set[int]]]
) -> None:
    lines, second = [], 0
    for version, (lasts, brokers) in enumerate(history):
        lines.append(isr(second, ",".join(map(str, brokers)), version))
        second += lasts
    risk = judged(lines, [reading(s, *sorted(brokers)) for s, brokers in sorted(read, key=lambda r: r[0])])
    assert risk.known_ms <= 100_000
    assert risk.under_min_isr_ms + risk.at_min_isr_ms <= risk.known_ms
    assert risk.one_from_offline_ms <= risk.under_replicated_ms <= risk.known_ms
    instants: list[datetime] = [risk.first_at, risk.last_at]
    assert instants == sorted(instants, key=lambda i: i or AT)
