"""What each partition risked in a window: without a leader, short of replicas, one failure from worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Any

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import Failover, PartitionRisk, Quote
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
    risks = (_Risk(history, led[history.key], logs_end, window) for history in histories)
    return [_row(risk) for risk in risks if risk.instants]


@dataclass(frozen=True)
class _Risk:
    """What one partition risked in one window."""

    history: History
    failovers: Sequence[Failover]
    logs_end: datetime
    window: Window

    @cached_property
    def states(self) -> Intervals[State]:
        return self.history.states(self.window)

    @cached_property
    def leaderless(self) -> Intervals[None]:
        """When it surely had no leader."""
        return self._until_logs_end(i.proven for i in self.history.leaderless)

    @cached_property
    def may_be_leaderless(self) -> Intervals[None] | None:
        """When it had none at most; None where no evidence bounds one of the elections."""
        if any(f.leader_to != NOBODY and f.leaderless_high_ms is None for f in self.failovers):
            return None
        return self._until_logs_end(i.possible or i.proven for i in self.history.leaderless)

    def _until_logs_end(self, spans: Iterable[Interval[None] | None]) -> Intervals[None]:
        ends = max(self.logs_end, self.window.start)
        return Intervals(s for s in spans if s).clip(self.window.start, min(ends, self.window.end)).union()

    @cached_property
    def risky(self) -> list[Interval[State]]:
        return [s for s in self.states if s.value.is_risky()]

    @cached_property
    def elections(self) -> list[Failover]:
        return [f for f in self.failovers if f.leader_to != NOBODY and self.window.holds(f.happened_at)]

    @cached_property
    def instants(self) -> list[datetime]:
        """When anything began or ended that is a risk."""
        spans = (*self.risky, *(self.may_be_leaderless or self.leaderless))
        ends = (at for span in spans for at in (span.start, span.end) if at is not None)
        return [*(f.happened_at for f in self.elections), *ends]

    @property
    def quotes(self) -> Iterator[Quote]:
        for state in self.risky:
            yield from state.value.quotes
        lost = (f for f in self.failovers if f.leader_to == NOBODY)
        yield from (f.evidence[0] for f in (*self.elections, *lost))

    def min_isr(self) -> int | None:
        """The last known minimum."""
        at_end = at_instant(self.history.min_isr, self.window.end)
        last = self.states.intervals[-1].value.min_isr if self.states else at_end
        return last.number if last else None

    def ms(self, spans: Intervals[Any]) -> int:
        return spans.total(self.window.start, self.window.end) // MS

    def risky_ms(self, holds: Callable[[State], bool], needs: Callable[[State], int | None]) -> int | None:
        """How long a risk held; None where what it needs is never known."""
        is_known = any(needs(s.value) is not None for s in self.states)
        return self.ms(Intervals(s for s in self.states if holds(s.value))) if is_known else None


def _row(risk: _Risk) -> PartitionRisk:
    history, window = risk.history, risk.window
    replicas, least = attrgetter("replicas"), attrgetter("least")
    return PartitionRisk(
        cluster=history.key[0],
        topic=history.key[1],
        partition=history.key[2],
        window_from=window.start,
        window_to=window.end,
        replication_factor=history.replicas_at(window.end),
        min_insync_replicas=risk.min_isr(),
        elections=len(risk.elections),
        leaderless_low_ms=risk.ms(risk.leaderless),
        leaderless_high_ms=None if risk.may_be_leaderless is None else risk.ms(risk.may_be_leaderless),
        under_replicated_ms=risk.risky_ms(State.is_under_replicated, replicas),
        under_min_isr_ms=risk.risky_ms(State.is_under_min_isr, least),
        at_min_isr_ms=risk.risky_ms(State.is_at_min_isr, least),
        one_from_offline_ms=risk.risky_ms(State.is_one_from_offline, replicas),
        one_from_unclean_ms=risk.risky_ms(State.is_one_from_unclean, replicas),
        worst_isr_size=min((s.value.isr_size for s in risk.states), default=None),
        first_at=min(risk.instants),
        last_at=max(risk.instants),
        known_ms=risk.ms(risk.states),
        evidence=evidence_of(risk.quotes),
    )
