"""What each partition risked in a window: without a leader, short of replicas, one failure from worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import Failover, PartitionRisk
from kafka_hindsight.judgements.brokers.broker_settings import at_instant
from kafka_hindsight.judgements.partitions.incarnations import by_partition
from kafka_hindsight.judgements.partitions.replicas.replica_states import History, State
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.windows import Window


def rebuild_risks(
    histories: Iterable[History], failovers: Iterable[Failover], logs_end: datetime, window: Window
) -> list[PartitionRisk]:
    """Rows of gold.partition_risks: one for each partition that risked anything, in order.

    Each time lies within the window, and the times of two windows that touch add up to those of both together.
    """
    led = by_partition(failovers, "happened_at")
    rows = (_row(history, led[history.key], logs_end, window) for history in histories)
    return [row for row in rows if row]


def _row(history: History, failovers: Sequence[Failover], logs_end: datetime, window: Window) -> PartitionRisk | None:
    """What one partition risked in the window; None where that is nothing."""
    states, seen_until = history.states(window), min(max(logs_end, window.start), window.end)

    def until_logs_end(spans: Iterable[Interval[None] | None]) -> Intervals[None]:
        return Intervals(s for s in spans if s).clip(window.start, seen_until).union()

    def ms(spans: Intervals[Any]) -> int:
        return spans.total(window.start, window.end) // MS

    def risky_ms(holds: Callable[[State], bool], is_known: bool) -> int | None:
        return ms(Intervals(s for s in states if holds(s.value))) if is_known else None

    leaderless = until_logs_end(i.proven for i in history.leaderless)
    # Not known where no evidence bounds one of the elections.
    is_bounded = all(f.leader_to == NOBODY or f.leaderless_high_ms is not None for f in failovers)
    at_most = until_logs_end(i.possible or i.proven for i in history.leaderless) if is_bounded else None
    risky = [s for s in states if s.value.is_risky()]
    elections = [f for f in failovers if f.leader_to != NOBODY and window.holds(f.happened_at)]
    lost = [f for f in failovers if f.leader_to == NOBODY]
    ends = (at for span in (*risky, *(at_most or leaderless)) for at in (span.start, span.end) if at is not None)
    instants = [*(f.happened_at for f in elections), *ends]
    if not instants:
        return None
    min_isr = states.intervals[-1].value.min_isr if states else at_instant(history.min_isr, window.end)
    knows_replicas = any(s.value.replicas is not None for s in states)
    knows_least = any(s.value.least is not None for s in states)
    return PartitionRisk(
        cluster=history.key[0],
        topic=history.key[1],
        partition=history.key[2],
        window_from=window.start,
        window_to=window.end,
        replication_factor=history.replicas_at(window.end),
        min_insync_replicas=min_isr.number if min_isr else None,
        elections=len(elections),
        leaderless_low_ms=ms(leaderless),
        leaderless_high_ms=None if at_most is None else ms(at_most),
        under_replicated_ms=risky_ms(State.is_under_replicated, knows_replicas),
        under_min_isr_ms=risky_ms(State.is_under_min_isr, knows_least),
        at_min_isr_ms=risky_ms(State.is_at_min_isr, knows_least),
        one_from_offline_ms=risky_ms(State.is_one_from_offline, knows_replicas),
        one_from_unclean_ms=risky_ms(State.is_one_from_unclean, knows_replicas),
        worst_isr_size=min((s.value.isr_size for s in states), default=None),
        first_at=min(instants),
        last_at=max(instants),
        known_ms=ms(states),
        evidence=evidence_of(
            [*(q for s in risky for q in s.value.quotes), *(f.evidence[0] for f in (*elections, *lost))]
        ),
    )
