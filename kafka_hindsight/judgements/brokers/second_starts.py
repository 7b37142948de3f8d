"""Rows of gold.second_starts: each start of a broker that failed while another process of it served."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.rows import Event, SecondStart
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS, LivenessSignal, Signal, is_lock_held
from kafka_hindsight.judgements.brokers.lives import Life
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote
from kafka_hindsight.knowledge.start_failures import QUOTED, why_start_failed
from kafka_hindsight.shared.grouping import runs


def second_starts_of(cluster: str, lives: Iterable[Life]) -> list[SecondStart]:
    """Each start of a broker that failed while another process of it served, in the order of the lives and by time."""
    return [
        _second_start(cluster, life.broker, [signal.event for signal in start])
        for life in lives
        for start in runs(life.second_signals, _goes_on)
    ]


def _goes_on(start: Sequence[LivenessSignal], signal: LivenessSignal) -> bool:
    """Whether a signal is of the same start. After one that exits, the lines of the next try follow."""
    return signal.shows is not Signal.RESTARTED and signal.at - start[-1].at <= SHUTDOWN_LASTS


def _second_start(cluster: str, broker: int, lines: Sequence[Event]) -> SecondStart:
    reason, line = why_start_failed(lines)
    return SecondStart(
        cluster=cluster,
        broker=broker,
        happened_at=line.happened_at,
        start_failure=reason,
        confidence=Confidence.CERTAIN if is_lock_held(line) else Confidence.LIKELY,
        explanation=f"{reason.noun.clause}{f' ({line.error[:QUOTED]})' if line.error else ''}",
        evidence=evidence_of(map(quote, lines)),
    )
