"""Changes of in-sync replicas, on lines as captured, and the law that they lead from the first to the last."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import IsrChange
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, context_of
from kafka_hindsight.shared.timelines import by_instant
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_isr_changes
from tests.support.rows import AT, row

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def shown(rows: Iterable[IsrChange]) -> list[tuple[object, ...]]:
    return [(r.happened_at, r.change, r.broker, r.isr_before, r.isr_after) for r in rows]


def test_crashed_broker_leaves_the_isr_and_rejoins_it() -> None:
    assert shown(rebuild_isr_changes(events("crash-2.8"), (), ClusterContext(), WHOLE)) == [
        (at("01:52:31.810"), "shrink", 1, [1, 2, 3], [2, 3]),
        (at("01:52:41.929"), "expand", 1, [2, 3], [1, 2, 3]),
    ]


def test_kraft_shrink_by_fencing_is_read_from_repeated_leader_state() -> None:
    """fraud-risky-19-0: broker 1 goes on leading in the same leader epoch, without broker 2."""
    rows = rebuild_isr_changes(events("unclean-4.1"), (), ClusterContext(), WHOLE)
    first = shown(r for r in rows if r.partition == 0)[0]
    assert first == (at("01:52:35.892"), "shrink", 2, [1, 2], [1])
    silent = [e for e in events("unclean-4.1") if e.kind not in ("leadership_kept", "unclean_partition_change")]
    assert at("01:52:35.892") not in {r.happened_at for r in rebuild_isr_changes(silent, (), ClusterContext(), WHOLE)}


def test_unclean_election_shrinks_and_expands_the_isr_at_once() -> None:
    rows = rebuild_isr_changes(events("unclean-2.8"), (), ClusterContext(), WHOLE)
    swap = [r for r in rows if r.happened_at == at("01:54:32.170")]
    assert [(r.change, r.broker) for r in swap] == [("shrink", 1), ("expand", 2)]


def test_isr_shrink_proposal_is_no_isr_change() -> None:
    proposal = row(EVENTS, kind="isr_shrink_proposed", topic="t", partition=0, previous_isr="1,2", isr="1")
    assert rebuild_isr_changes([proposal], (), ClusterContext(), Window(AT, AT + timedelta(days=1))) == []


@given(
    st.lists(st.sets(st.sampled_from([1, 2, 3]), min_size=1), min_size=1, max_size=8),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_isr_changes_lead_from_first_isr_to_last_in_any_order_of_lines(
    history: list[set[int]], late: int, chance: random.Random
) -> None:
    """However often a commit is repeated later, and in whatever order the lines arrive."""
    lines = [
        row(
            EVENTS,
            line_id=f"{version}-{again}",
            source=f"broker-{again}",
            kind="leadership_kept",
            topic="t",
            partition=0,
            partition_epoch=version,
            isr=",".join(map(str, isr)),
            happened_at=AT + timedelta(minutes=version + 60 * again),
        )
        for version, isr in enumerate(history)
        for again in range(late + 1)
    ]
    chance.shuffle(lines)
    rows = rebuild_isr_changes(lines, (), ClusterContext(), Window(AT, AT + timedelta(days=1)))
    isr = set(history[0])
    for change in rows:
        assert (change.change == "shrink") == (change.broker in isr)
        isr ^= {change.broker}
    assert isr == history[-1]
    assert len(rows) == sum(len(a ^ b) for a, b in pairwise(history))


def shrinks(excerpt: str, **more: Any) -> list[tuple[object, ...]]:
    lines = events(excerpt)
    context = context_of(lines, rebuild_outages(lines, (), WHOLE))
    return [
        (r.topic, r.partition, r.broker, r.shrink_cause, r.outage_id is not None, r.out_of_sync_until)
        for r in rebuild_isr_changes(lines, more.get("readings", ()), context, WHOLE)
        if r.change == "shrink"
    ]


class TestShrinkCause:
    def test_an_outage_causes_a_shrink_and_the_return_ends_it(self) -> None:
        ((_, _, *lines),) = shrinks("crash-2.8")
        assert lines == [1, "outage", True, at("01:52:41.929")]

    def test_failed_disk_of_running_broker_is_cause_disk(self) -> None:
        """Broker 2 lost one of two log directories and went on; broker 3 ended over its only one."""
        for excerpt in ("disk-3.9", "disk-4.3"):
            kinds = {(broker, kind, is_away, until) for _, _, broker, kind, is_away, until in shrinks(excerpt)}
            assert kinds == {(2, "disk", False, None), (3, "outage", True, None)}

    @pytest.mark.parametrize("excerpt", ["reassignment-2.8", "reassignment-4.3"])
    def test_shrink_of_reassigned_replica_ends_at_once(self, excerpt: str) -> None:
        lines = events(excerpt)
        rows = rebuild_isr_changes(lines, (), context_of(lines, ()), WHOLE)
        (gone,) = (r for r in rows if r.change == "shrink")
        (come,) = (r for r in rows if r.change == "expand")
        assert (gone.broker, gone.shrink_cause, gone.out_of_sync_until) == (
            1,
            "reassignment",
            gone.happened_at,
        )
        assert come.shrink_cause is None

    @pytest.mark.parametrize(("leader_end", "behind"), [(0, 0), (7, None)])
    def test_replica_that_never_fetched_lacks_nothing_of_empty_log(self, leader_end: int, behind: int | None) -> None:
        """As captured where a cluster of 4.2.2 began: highWatermark: 0, endOffset: 0."""
        commit = {"topic": "t", "partition": 48, "broker": 1, "source": "broker-1/server.log"}
        lines = [
            row(EVENTS, kind="isr_updated", isr="1,3", partition_epoch=0, happened_at=AT - MINUTE, order=0, **commit),
            row(
                EVENTS, kind="isr_shrink_proposed", previous_isr="1,3", isr="1", log_offset=leader_end, order=0,
                happened_at=AT, detail="(brokerId: 3, endOffset: -1, lastCaughtUpTimeMs: 1795267291716)", **commit,
            ),
            row(EVENTS, kind="isr_updated", isr="1", partition_epoch=1, happened_at=AT, order=1, **commit),
        ]  # fmt: skip
        (shrink,) = rebuild_isr_changes(lines, (), ClusterContext(), Window(AT - HOUR, AT + HOUR))
        assert shrink.records_behind == behind

    def test_shrink_by_leader_states_lag_of_removed_replica(self) -> None:
        """As captured: broker 1 had heard nothing of broker 3 since it led, and broker 3 was dead."""
        commit = {"topic": "t", "partition": 13, "broker": 1, "source": "broker-1/server.log"}
        line = row(
            EVENTS, kind="isr_shrink_proposed", previous_isr="1,3", isr="1", log_offset=110, order=0, happened_at=AT,
            detail="(brokerId: 3, endOffset: 80, lastCaughtUpTimeMs: 1795267291716)", **commit,
        )  # fmt: skip
        lines = [
            row(EVENTS, kind="isr_updated", isr="1,3", partition_epoch=4, happened_at=AT - MINUTE, order=0, **commit),
            line,
            row(EVENTS, kind="isr_updated", isr="1", partition_epoch=5, happened_at=AT, order=1, **commit),
        ]
        (shrink,) = rebuild_isr_changes(lines, (), ClusterContext(), Window(AT - HOUR, AT + HOUR))
        assert (shrink.shrink_cause, shrink.removed_by_leader, shrink.records_behind) == ("slow", 1, 30)
        assert shrink.behind_since == datetime(2026, 11, 21, 13, 21, 31, 716000, UTC)
        away = row(BROKER_OUTAGES, outage_id="o", broker=3, down_at=AT - MINUTE, up_at=None, detected_at=AT)
        context = ClusterContext(outages=(away,))
        (shrink,) = rebuild_isr_changes(lines, (), context, Window(AT - HOUR, AT + HOUR))
        assert (shrink.shrink_cause, shrink.outage_id, shrink.removed_by_leader) == ("outage", "o", 1)
        # A commit after the line shows that the broker was in sync again, or that the removal was refused.
        first, line, last = lines
        again = replace(first, partition_epoch=6, happened_at=AT + MINUTE)
        later = [first, line, again, replace(last, partition_epoch=8, happened_at=AT + 2 * MINUTE)]
        (shrink,) = rebuild_isr_changes(later, (), ClusterContext(), Window(AT - HOUR, AT + HOUR))
        assert (shrink.removed_by_leader, shrink.behind_since) == (None, None)

    def test_broker_removed_again_after_its_return_is_slow(self) -> None:
        """As a drill had it: a broker back from a pause was paused again three seconds later."""
        key = {"topic": "t", "partition": 0, "broker": 1, "source": "broker-1/server.log", "order": 0}
        commits = [
            row(EVENTS, kind="isr_updated", isr=isr, partition_epoch=n, happened_at=AT + timedelta(seconds=s), **key)
            for n, (s, isr) in enumerate(((-60, "1,3"), (9, "1"), (21, "1,3"), (29, "1"), (30, "1,3")))
        ]
        asked = row(
            EVENTS, kind="isr_shrink_proposed", previous_isr="1,3", isr="1", happened_at=AT + timedelta(seconds=29),
            **key,
        )  # fmt: skip
        away = row(BROKER_OUTAGES, outage_id="o", broker=3, down_at=AT, up_at=AT + timedelta(seconds=20))
        context = ClusterContext(outages=(away,))
        rows = rebuild_isr_changes([*commits, asked], (), context, Window(AT - HOUR, AT + HOUR))
        assert [r.shrink_cause for r in rows] == ["outage", "outage", "slow", "slow"]
        rows = rebuild_isr_changes(commits, (), context, Window(AT - HOUR, AT + HOUR))
        assert [r.shrink_cause for r in rows] == ["outage"] * 4

    def test_shrink_of_topic_created_after_the_outage_is_slow(self) -> None:
        key = {"topic": "t", "partition": 0, "broker": 1, "source": "broker-1/server.log"}
        lines = [
            row(EVENTS, kind="isr_updated", isr="1,3", partition_epoch=0, happened_at=AT, order=0, **key),
            row(
                EVENTS,
                kind="isr_shrink_proposed",
                previous_isr="1,3",
                isr="1",
                happened_at=AT + MINUTE / 20,
                order=0,
                **key,
            ),
            row(EVENTS, kind="isr_updated", isr="1", partition_epoch=1, happened_at=AT + MINUTE / 20, order=1, **key),
        ]
        for up_at, shrink_cause in ((AT - MINUTE / 30, "slow"), (AT + MINUTE / 30, "outage")):
            away = row(BROKER_OUTAGES, outage_id="o", broker=3, down_at=AT - MINUTE, up_at=up_at)
            context = ClusterContext(outages=(away,))
            (shrink,) = rebuild_isr_changes(lines, (), context, Window(AT - HOUR, AT + HOUR))
            assert shrink.shrink_cause == shrink_cause

    def test_disk_failure_before_a_restart_explains_no_later_shrink(self) -> None:
        failures = [row(EVENTS, kind="log_dir_failed", broker=3, happened_at=AT - MINUTE / 2, members="t-0")]
        key = {"topic": "t", "partition": 0, "broker": 1, "source": "broker-1/server.log"}
        lines = [
            row(
                EVENTS,
                kind="isr_updated",
                isr=isr,
                partition_epoch=n,
                happened_at=AT - MINUTE * (1 - n),
                order=n,
                **key,
            )
            for n, isr in enumerate(("1,3", "1"))
        ]
        back = row(BROKER_OUTAGES, broker=3, down_at=AT - MINUTE / 3, up_at=AT - MINUTE / 4)
        for outages, shrink_cause in (((), "disk"), ((back,), "unknown")):
            context = ClusterContext(outages=outages, disk_failures=by_instant(failures))
            (shrink,) = rebuild_isr_changes(lines, (), context, Window(AT - HOUR, AT + HOUR))
            assert shrink.shrink_cause == shrink_cause

    def test_snapshot_ends_shrink_that_no_log_line_ends(self) -> None:
        lines = [e for e in events("crash-2.8") if e.happened_at < at("01:52:41")]
        context = context_of(lines, rebuild_outages(lines, (), WHOLE))
        first = next(e for e in lines if e.topic)
        key = {"cluster": first.cluster, "topic": first.topic, "partition": first.partition}
        readings = [
            row(
                PARTITION_SNAPSHOTS,
                **key,
                snapshot_id=str(s),
                snapshot_at=at(f"01:52:{s}"),
                replicas=[1, 2, 3],
                isr=isr,
            )
            for s, isr in ((33, [1, 2, 3]), (45, [2, 3]), (55, [1, 2, 3]))
        ]
        (shrink,) = rebuild_isr_changes(lines, readings, context, WHOLE)
        assert shrink.out_of_sync_until == at("01:52:55")
        assert shrink.evidence[-1].source == "snapshots"
        (shrink,) = rebuild_isr_changes(lines, readings[:2], context, WHOLE)
        assert shrink.out_of_sync_until is None

    def test_deletion_of_topic_ends_its_shrink(self) -> None:
        lines = [e for e in events("crash-2.8") if e.happened_at < at("01:52:41")]
        topic = next(e.topic for e in lines if e.topic)
        cluster = lines[0].cluster
        gone = row(EVENTS, cluster=cluster, kind="topic_deleted", topic=topic, happened_at=at("01:52:50"), order=0)
        (shrink,) = rebuild_isr_changes([*lines, gone], (), ClusterContext(), WHOLE)
        assert shrink.out_of_sync_until == at("01:52:50")

    def test_late_line_of_deleted_topic_alone_is_no_isr_change(self) -> None:
        late = row(
            EVENTS, kind="isr_updated", topic="t", partition=0, isr="1", leader_epoch=3, happened_at=at("01:52:51")
        )
        deletion = row(EVENTS, kind="topic_deleted", topic="t", happened_at=at("01:52:50"), order=0)
        assert rebuild_isr_changes([deletion, late], (), ClusterContext(), WHOLE) == []
