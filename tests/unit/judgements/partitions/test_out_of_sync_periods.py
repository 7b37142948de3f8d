"""Periods out of ISRs: how spans merge, which broker they point to, and laws over any of them."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import BROKER_OUTAGES, ISR_CHANGES
from kafka_hindsight.catalog.rows import IsrSpan, OutOfSyncPeriod, Witness
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import (
    merge_spans,
    rebuild_out_of_sync_periods,
    shrink_spans,
)
from kafka_hindsight.judgements.partitions.replicas.replica_states import bound_shrinks
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import histories_of, rebuild_isr_changes
from tests.support.rows import AT, row

DAY = Window(AT - timedelta(hours=3), AT + timedelta(hours=21))


def after(minutes: float) -> Any:
    return AT + timedelta(minutes=minutes)


def span(broker: int, start: float, end: float | None, partition: int = 0, **more: Any) -> IsrSpan:
    """One partition without a broker, from minute to minute, removed by leader 1 unless said otherwise."""
    slow = {"shrink_cause": "slow", "removed_by_leader": 1, "isr_size": 2, **more}
    return row(
        IsrSpan.TABLE, topic="t", partition=partition, broker=broker, happened_at=after(start),
        out_of_sync_until=None if end is None else after(end), is_back=end is not None, **slow,
    )  # fmt: skip


def away(broker: int, start: float, end: float | None, outage_id: str = "o", **more: Any) -> IsrSpan:
    return span(broker, start, end, shrink_cause="outage", outage_id=outage_id, removed_by_leader=None, **more)


def out_of_sync_periods(*spans: IsrSpan) -> list[OutOfSyncPeriod]:
    outages = [row(BROKER_OUTAGES, outage_id=o, confidence="certain") for o in ("o", "p")]
    return rebuild_out_of_sync_periods(spans, outages, DAY)


def of_night(excerpt: str) -> list[OutOfSyncPeriod]:
    lines = events(excerpt)
    outages = rebuild_outages(lines, (), WHOLE)
    changes = rebuild_isr_changes(lines, (), context_of(lines, outages), WHOLE)
    return rebuild_out_of_sync_periods(shrink_spans(changes), outages, WHOLE)


def test_each_period_of_one_cause_has_evidence() -> None:
    """Another trouble lies between, so that what would be one period is three."""
    changes = [
        row(
            ISR_CHANGES,
            topic="t", partition=0, broker=2, change="shrink", shrink_cause="slow", removed_by_leader=1,
            happened_at=after(start), out_of_sync_until=None, isr_change_id=str(start),
            isr_after=[1],
        )
        for start in (0, 60, 120)
    ]  # fmt: skip
    ended = [replace(c, out_of_sync_until=c.happened_at + timedelta(minutes=1)) for c in changes]
    periods = rebuild_out_of_sync_periods(shrink_spans(ended), [], DAY)
    assert [p.started_at for p in periods] == [after(0), after(60), after(120)]
    assert all(p.evidence for p in periods)


@pytest.mark.parametrize("size", [1, 2])
def test_evidence_of_periods_does_not_depend_on_blocks_of_partitions(size: int) -> None:
    lines = events("metadata-3.9")
    outages = rebuild_outages(lines, (), WHOLE)
    changes = rebuild_isr_changes(lines, (), context_of(lines, outages), WHOLE)
    blocks = grouped(changes, lambda c: (c.topic, c.partition // size)).values()
    in_blocks = [span for own in blocks for span in shrink_spans(own)]
    topics = [span for own in grouped(changes, lambda c: c.topic).values() for span in shrink_spans(own)]
    assert sum(bool(s.evidence) for s in in_blocks) > sum(bool(s.evidence) for s in topics)
    assert rebuild_out_of_sync_periods(in_blocks, outages, WHOLE) == rebuild_out_of_sync_periods(topics, outages, WHOLE)


class TestOpenEnds:
    """A broker without a known return: it still was out of sync only where the logs would show its return."""

    def test_period_is_not_over_where_one_partition_is_shown_without_the_broker_to_the_end(self) -> None:
        (period,) = out_of_sync_periods(span(2, 0, None), span(2, 0, None, partition=1, observed_until=after(5)))
        assert (period.ended_at, period.observed_until, period.partitions_out) == (None, None, 2)
        assert "and is not back in all" in period.explanation

    def test_unobserved_end_is_not_known_and_its_time_ends_with_the_logs(self) -> None:
        rows = [span(2, 0, 1, partition=2), *(span(2, 0, None, partition=n, observed_until=after(n)) for n in (4, 5))]
        (period,) = out_of_sync_periods(*rows)
        assert (period.ended_at, period.observed_until, period.partitions_out) == (None, after(5), 2)
        assert "and the logs do not show whether it came back" in period.explanation
        assert period.partition_ms == (1 + 4 + 5) * 60_000

    def test_shrink_is_observed_until_its_leader_logs_are_missing(self) -> None:
        """The leader's own logs end at some instant of an hour: its return is known to be missing up to then only."""
        lines = [e for e in events("crash-2.8") if e.happened_at < at("01:52:41")]
        outages = rebuild_outages(lines, (), WHOLE)
        for gap_at in (None, at("01:52:35")):
            witnesses = [
                row(Witness.TABLE, broker=b, kind="in_sync", gap=gap, first_at=since, last_at=WHOLE.end)
                for b in (1, 2, 3)
                for since, gap in ([(WHOLE.start, None)] if gap_at is None else [(gap_at, "no_lines")])
            ]
            context = context_of(lines, outages, witnesses=witnesses)
            changes = rebuild_isr_changes(lines, (), context, WHOLE)
            histories = histories_of(lines, (), {}, {}, BrokerSettings(), context, at("01:52:50"))
            [shrink] = [c for c in bound_shrinks(changes, histories, at("01:52:50")) if c.change == "shrink"]
            assert (shrink.out_of_sync_until, shrink.observed_until) == (None, gap_at)


class TestNights:
    def test_crashed_broker_has_one_period_until_its_return(self) -> None:
        (period,) = of_night("crash-2.8")
        assert (period.broker, period.kind, period.confidence) == (1, "outage", "certain")
        assert (period.started_at, period.ended_at) == (at("01:52:31.810"), at("01:52:41.929"))
        assert (period.partition_ms, period.worst_topics) == (10_119, ["shop-events"])
        assert period.explanation == "Broker 1 was out of the ISR of 1 partition for 10.1 s, because it was away."

    def test_failed_disk_of_running_broker_is_a_disk_period(self) -> None:
        periods = {(r.broker, r.kind, r.partitions_out, r.ended_at) for r in of_night("disk-4.3")}
        assert periods == {(2, "disk", 2, None), (3, "outage", 2, None)}

    def test_follower_paused_three_times_within_its_session_is_slow(self) -> None:
        """As a drill had it, with replica.lag.time.max.ms at 4 s: alive all the time, and removed by its leader."""
        (period,) = of_night("slow-4.1")
        assert (period.broker, period.kind, period.confidence) == (1, "slow", "possible")
        assert (period.shrinks, period.expands, period.flaps, period.cycles) == (3, 3, 2, 3)
        assert (period.removed_by_leader, period.records_behind) == ([3], 10)
        assert (period.started_at, period.ended_at) == (at("15:36:56.383"), at("15:37:12.890"))

    def test_paused_follower_in_zookeeper_mode_is_slow(self) -> None:
        (period,) = of_night("slow-3.9")
        assert (period.broker, period.kind, period.removed_by_leader, period.records_behind) == (
            1,
            "slow",
            [3],
            10,
        )


class TestMerging:
    def test_many_partitions_and_flaps_are_one_period(self) -> None:
        (period,) = out_of_sync_periods(
            *(span(2, m, m + 1, p) for m in (0, 5, 10) for p in range(3)), span(2, 0, 30, 3)
        )
        assert (period.partitions, period.shrinks, period.flaps, period.cycles) == (4, 10, 6, 3)
        assert period.ended_at == after(30)
        assert period.explanation.endswith("Partitions lost it again 6 times.")

    def test_spans_far_apart_are_two_periods_and_so_are_two_outages(self) -> None:
        assert len(out_of_sync_periods(span(2, 0, 1), span(2, 12, 13))) == 2
        assert [r.outage_id for r in out_of_sync_periods(away(2, 0, 1), away(2, 2, 3, "p"))] == ["o", "p"]

    def test_cycles_far_apart_do_not_add_up(self) -> None:
        (period,) = out_of_sync_periods(*(span(2, m, m + 9) for m in (0, 18, 36, 54)))
        assert period.explanation.startswith(
            "Broker 2 was out of the ISR of 1 partition again and again for 1 h 3 min,"
        )
        assert (period.flaps, period.cycles) == (3, 2)

    def test_second_outage_before_recovery_is_in_the_same_period(self) -> None:
        (period,) = out_of_sync_periods(away(2, 0, 9), away(2, 3, 4, "p", partition=1))
        assert (period.kind, period.outage_id) == ("outage", "o")
        assert "It went down again before it was back, 2 times." in period.explanation

    def test_open_span_counts_to_the_end_of_the_window(self) -> None:
        (period,) = out_of_sync_periods(span(2, 0, None), span(2, 0, 1, 1))
        assert (period.ended_at, period.partitions_out, period.expands) == (None, 1, 1)
        assert period.partition_ms == 21 * 3_600_000 + 60_000


class TestSuspect:
    """Each leader judges its own followers: Partition.isFollowerOutOfSync."""

    def test_broker_removed_by_several_leaders_is_likely_slow(self) -> None:
        (period,) = out_of_sync_periods(
            span(3, 0, 1, records_behind=120), span(3, 0, 1, 1, removed_by_leader=2, records_behind=7)
        )
        assert (period.suspected_broker, period.confidence, period.removed_by_leader) == (3, "likely", [1, 2])
        assert "up to 120 records behind" in period.explanation
        assert "broker 3 itself is slow" in period.explanation

    def test_leader_that_alone_removes_several_followers_is_likely_slow(self) -> None:
        rows = out_of_sync_periods(span(2, 0, 1), span(3, 0.25, 1, 1))
        assert [(r.broker, r.suspected_broker, r.confidence) for r in rows] == [
            (2, 1, "likely"),
            (3, 1, "likely"),
        ]

    def test_follower_removed_by_others_too_clears_its_leader(self) -> None:
        rows = out_of_sync_periods(span(2, 0, 1), span(3, 0, 1, 1), span(3, 0, 1, 2, removed_by_leader=2))
        assert [(r.broker, r.suspected_broker, r.confidence) for r in rows] == [
            (2, 2, "possible"),
            (3, 3, "likely"),
        ]

    def test_one_leader_and_one_follower_are_possible_at_most(self) -> None:
        (period,) = out_of_sync_periods(span(2, 0, 1))
        assert (period.suspected_broker, period.confidence) == (2, "possible")
        assert "or the network between them" in period.explanation

    @pytest.mark.parametrize(("shrink_cause", "suspect", "sure"), [("disk", 2, "likely"), ("unknown", None, "unknown")])
    def test_disk_period_suspects_its_broker_and_unknown_period_no_broker(
        self, shrink_cause: str, suspect: int | None, sure: str
    ) -> None:
        (period,) = out_of_sync_periods(span(2, 0, 1, shrink_cause=shrink_cause, removed_by_leader=None))
        assert (period.kind, period.suspected_broker, period.confidence) == (shrink_cause, suspect, sure)

    def test_period_with_known_and_unknown_cause_has_the_known_one(self) -> None:
        (period,) = out_of_sync_periods(span(2, 0, 2, shrink_cause="unknown", removed_by_leader=None), span(2, 1, 2, 1))
        assert period.kind == "slow"


@st.composite
def any_spans(draw: st.DrawFn) -> list[IsrSpan]:
    """Spans of a few brokers over a few partitions: one broker is out of one partition once at a time."""
    spans = []
    for broker in (1, 2):
        for partition in range(draw(st.integers(0, 3))):
            minute = 0.0
            for _ in range(draw(st.integers(0, 4))):
                minute += draw(st.integers(1, 15))
                length = draw(st.integers(0, 15))
                how = draw(st.sampled_from([("slow", None), ("outage", "o"), ("outage", "p"), ("reassignment", None)]))
                is_open = draw(st.integers(0, 9)) == 0
                more = {
                    "shrink_cause": how[0],
                    "outage_id": how[1],
                    "removed_by_leader": 3 if how[0] == "slow" else None,
                }
                spans.append(span(broker, minute, None if is_open else minute + length, partition, **more))
                minute += length
                if is_open:
                    break
    return spans


@given(any_spans(), st.randoms(use_true_random=False))
def test_periods_are_disjoint_and_sum_to_their_spans_in_any_order(spans: list[IsrSpan], chance: random.Random) -> None:
    rows = out_of_sync_periods(*spans)
    shuffled = list(spans)
    chance.shuffle(shuffled)
    assert out_of_sync_periods(*shuffled) == rows
    for broker in (1, 2):
        own = [r for r in rows if r.broker == broker]
        of_broker = [s for s in spans if s.broker == broker]
        merged = merge_spans(of_broker)
        assert sorted(map(id, (s for period in merged for s in period))) == sorted(map(id, of_broker))
        assert sum(r.shrinks for r in own) == len(of_broker)
        for before, following in pairwise(own):
            assert before.ended_at is not None
            assert before.ended_at < following.started_at
        naive = sum(((s.out_of_sync_until or DAY.end) - s.happened_at).total_seconds() * 1000 for s in of_broker)
        assert sum(r.partition_ms for r in own) == naive
