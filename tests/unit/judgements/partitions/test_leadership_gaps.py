"""Gaps in leader epochs: explained, or marked as unknown; the chain of failovers holds whatever is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, PartitionSnapshot
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, context_of
from kafka_hindsight.judgements.partitions.leaders.failovers import LeaderHistory
from kafka_hindsight.shared.windows import Window
from tests.support import nights
from tests.support.draws import drawn
from tests.support.leaders import leaders, unmarked_breaks
from tests.support.nights import WHOLE
from tests.support.partitions import rebuild_leaders
from tests.support.rows import AT, row

HOURS = Window(AT, AT + timedelta(hours=2))
SECOND = timedelta(seconds=1)
EXCERPTS = (
    "crash-2.8", "pause-2.8", "pause-4.1", "preferred-2.8", "unclean-2.8", "unclean-4.1", "offline-3.9", "offline-4.1",
    "reassignment-2.8", "reassignment-4.3", "disk-3.9", "disk-4.3", "deletion-2.8", "shutdown-3.9",
)  # fmt: skip


@cache
def captured(excerpt: str) -> list[Event]:
    return nights.events(excerpt)


def led(epoch: int, broker: int, second: int, **columns: Any) -> Event:
    """What a broker says that starts to lead the partition t-0."""
    return row(
        EVENTS,
        line_id=f"{epoch}-{broker}-{second}", kind="leader_started", topic="t", partition=0, broker=broker,
        leader_epoch=epoch, happened_at=AT + second * SECOND, **columns,
    )  # fmt: skip


def history(
    lines: list[Event],
    outages: tuple[BrokerOutage, ...] = (),
    readings: tuple[PartitionSnapshot, ...] = (),
    by_zookeeper: bool = False,
) -> LeaderHistory:
    elected = row(EVENTS, kind="controller_elected", pattern_id="zookeeper.controller_elected", broker=9)
    context = context_of([replace(elected, controller_epoch=1)] if by_zookeeper else [], outages)
    return rebuild_leaders(lines, readings, context, HOURS)


def away(broker: int, since: int, until: int) -> BrokerOutage:
    down_at, up_at = AT + since * SECOND, AT + until * SECOND
    return row(BROKER_OUTAGES, broker=broker, kind="crash", down_at=down_at, detected_at=down_at, up_at=up_at)


def test_epoch_raised_by_two_with_same_leader_is_an_unexplained_gap() -> None:
    rebuilt = history([led(3, 1, 0), led(5, 1, 60)])
    assert rebuilt.failovers == []
    [gap] = rebuilt.gaps
    assert (gap.after_epoch, gap.next_epoch, gap.leader_before, gap.leader_after) == (3, 5, 1, 1)
    assert gap.explained_by is None
    assert gap.explanation.endswith("no line shows the leader in between: a failover and a return are possible.")
    assert {q.line_id for q in gap.evidence} == {"3-1-0", "5-1-60"}


def test_epoch_raised_by_one_with_same_leader_is_no_gap() -> None:
    assert history([led(3, 1, 0), led(4, 1, 60)]).gaps == []


def test_failover_across_skipped_epoch_is_at_most_possible() -> None:
    rebuilt = history([led(3, 1, 0), led(5, 2, 60)], (away(1, 30, 90),))
    [change], [gap] = rebuilt.failovers, rebuilt.gaps
    assert (change.leader_from, change.leader_to, change.epoch_to) == (1, 2, 5)
    assert change.confidence not in ("certain", "likely")
    assert "The leader in leader epoch 4 is not known" in change.explanation
    assert (gap.next_epoch, gap.explained_by, gap.seen_at) == (5, None, change.happened_at)


def test_shrink_by_zookeeper_controller_explains_raised_epoch() -> None:
    lines = [led(3, 1, 0, replicas="1,2,3"), led(5, 1, 60, replicas="1,2,3")]
    [explained] = history(lines, (away(2, 10, 20),), by_zookeeper=True).gaps
    assert "broker 2, which was away, out of the ISR" in explained.explained_by
    # KRaft raises it no more since 3.6; a replica elsewhere has nothing to do with it; neither has another hour.
    for gaps in (
        history(lines, (away(2, 10, 20),)).gaps,
        history(lines, (away(4, 10, 20),), by_zookeeper=True).gaps,
        history(lines, (away(2, 100, 120),), by_zookeeper=True).gaps,
    ):
        assert [g.explained_by for g in gaps] == [None]


def test_reassignment_explains_one_raised_epoch() -> None:
    moved = row(EVENTS, kind="reassignment_changed", topic="t", partition=0, happened_at=AT + 30 * SECOND, detail="")
    [gap] = history([led(3, 1, 0), moved, led(5, 1, 60)]).gaps
    assert gap.explained_by == "its replicas were reassigned"
    [gap] = history([led(3, 1, 0), moved, led(6, 1, 60)]).gaps
    assert gap.explained_by is None, "two rises are left, and two changes of leader fit into them"


def test_commits_of_leader_for_all_changes_explain_raised_epoch() -> None:
    """Below metadata.version 3.6 each shrink raises the epoch; each change of a partition raises its own epoch too."""
    commits = [
        row(EVENTS, line_id=f"isr-{v}", kind="isr_updated", topic="t", partition=0, broker=1, isr=isr,
            partition_epoch=v, happened_at=AT + v * SECOND)
        for v, isr in ((11, "1,2"), (12, "1"))
    ]  # fmt: skip
    ends = [led(3, 1, 0, partition_epoch=10), led(5, 1, 60, partition_epoch=12)]
    [gap] = history([*ends, *commits]).gaps
    assert gap.explained_by.startswith("the leader itself committed all that changed")
    assert history([*ends, *(replace(c, broker=2) for c in commits)]).gaps[0].explained_by is None
    later = led(5, 1, 60, partition_epoch=14)
    assert history([ends[0], later, *commits]).gaps[0].explained_by is None, "nothing explains the other two changes"


def test_two_epochs_of_new_zookeeper_controller_are_one_election() -> None:
    rebuilt = leaders(captured("unclean-2.8"), [], WHOLE)
    assert {g.explained_by for g in rebuilt.gaps} <= {"one election in two steps of a new controller"}


def test_snapshots_alone_show_a_gap_in_epochs() -> None:
    readings = tuple(
        row(PARTITION_SNAPSHOTS, cluster="c", snapshot_id=f"{n}", topic="t", partition=0, leader=1, leader_epoch=epoch,
            snapshot_at=AT + n * 10 * SECOND)
        for n, epoch in enumerate((3, 3, 5, 5))
    )  # fmt: skip
    [gap] = history([], readings=readings).gaps
    assert (gap.after_epoch, gap.next_epoch, gap.explained_by) == (3, 5, None)


def test_leader_named_only_by_later_line_is_a_gap_and_no_failover() -> None:
    """Broker 3 writes that broker 2 led before it; no line shows when that began."""
    lines = [led(0, 1, 0), led(2, 3, 60, previous_leader=2, previous_leader_epoch=1)]
    rebuilt = history(lines)
    assert [(f.leader_from, f.leader_to) for f in rebuilt.failovers] == [(2, 3)]
    [gap] = rebuilt.gaps
    assert (gap.after_epoch, gap.next_epoch, gap.leader_after, gap.explained_by) == (0, 1, 2, None)
    assert unmarked_breaks(rebuilt) == []
    # The outage of the former leader shows when.
    rebuilt = history(lines, (away(1, 20, 90),))
    assert [(f.leader_from, f.leader_to) for f in rebuilt.failovers] == [(1, 2), (2, 3)]
    assert (rebuilt.failovers[0].happened_at, rebuilt.gaps) == (AT + 20 * SECOND, [])


def test_recreated_topic_starts_another_chain_of_failovers() -> None:
    lines = [
        led(0, 1, 0),
        led(1, 2, 10),
        row(EVENTS, kind="topic_deleted", topic="t", broker=1, happened_at=AT + 20 * SECOND),
        led(0, 3, 30),
        led(1, 1, 40),
    ]
    rebuilt = history(lines)
    assert [(f.topic_incarnation, f.leader_from, f.leader_to) for f in rebuilt.failovers] == [
        (0, 1, 2),
        (1, 3, 1),
    ]
    assert (rebuilt.gaps, unmarked_breaks(rebuilt)) == ([], [])


@drawn(5)
@given(
    excerpt=st.sampled_from(EXCERPTS),
    lost=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.4)), max_size=3),
    silent=st.none() | st.integers(1, 4),
    chance=st.randoms(use_true_random=False),
)
def test_break_in_leader_chain_is_always_marked_whatever_lines_are_lost(
    excerpt: str, lost: list[tuple[float, float]], silent: int | None, chance: random.Random
) -> None:
    """Spans of lines, a broker's whole log; in any order of arrival."""
    whole = captured(excerpt)
    removed = {
        i for start, share in lost for i in range(int(start * len(whole)), int((start + share) * len(whole)) + 1)
    }
    left = [e for i, e in enumerate(whole) if i not in removed and e.broker != silent]
    history = leaders(chance.sample(left, len(left)), [], WHOLE)
    assert unmarked_breaks(history) == []
    assert history == leaders(left, [], WHOLE)


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=9), st.sets(st.integers(0, 8)))
def test_every_epoch_without_a_line_lies_in_a_gap(led_by: list[int], unseen: set[int]) -> None:
    """Followers' lines show the leaders of some epochs: rows and gaps together cover each step of the chain."""
    lines = [
        row(EVENTS, line_id=f"{epoch}", kind="follower_started", topic="t", partition=0, broker=9, leader=leader,
            leader_epoch=epoch, happened_at=AT + epoch * SECOND)
        for epoch, leader in enumerate(led_by)
        if epoch not in unseen
    ]  # fmt: skip
    rebuilt = rebuild_leaders(lines, [], ClusterContext(), HOURS)
    skipped = {e for g in rebuilt.gaps for e in range(g.after_epoch + 1, g.next_epoch)}
    epochs = [e.leader_epoch for e in lines]
    assert skipped == {e for e in unseen if epochs and epochs[0] < e < epochs[-1]}
    assert unmarked_breaks(rebuilt) == []
