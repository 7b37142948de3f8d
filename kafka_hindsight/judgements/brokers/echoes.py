"""Echoes: the absences of a broker that clocks which differ may show twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.rows import BrokerOutage
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import duration, instant

_NEAR = timedelta(minutes=1)
"""By how much the beginnings of one absence may differ in two logs: one shows when the broker stopped, the other when
it was detected as down. Sessions of brokers last 18 s at most by default (zookeeper.session.timeout.ms)."""


def hedge_echoes(outages: Iterable[BrokerOutage], clocks: Sequence[ClockError]) -> list[BrokerOutage]:
    """Absences, each `possible` at most where clocks that differ may show it twice, with the other and a sentence.

    One log that shows both shows that they are two.
    """
    rows = list(outages)
    differing = [clock for clock in clocks if clock.differs]
    of_broker = grouped(rows, lambda o: o.broker) if differing else {}
    return [_hedged(row, of_broker.get(row.broker, ()), differing) for row in rows]


def _hedged(row: BrokerOutage, rows: Iterable[BrokerOutage], clocks: Sequence[ClockError]) -> BrokerOutage:
    for other in rows:
        apart = abs(row.down_at - other.down_at)
        is_near = any(abs(apart - clock.by) <= _NEAR for clock in clocks)
        if is_near and _sources(row).isdisjoint(_sources(other)):
            day = row.down_at.date()
            sentence = (
                f"Clocks of brokers differ by {duration(apart)}: this may be the absence that began at"
                f" {instant(other.down_at, day)}, shown by another clock."
            )
            confidence = row.confidence.at_most(Confidence.POSSIBLE)
            explanation = f"{row.explanation} {sentence}"
            return replace(row, echo_of=other.outage_id, confidence=confidence, explanation=explanation)
    return row


def _sources(row: BrokerOutage) -> set[str]:
    """The logs that show how it began, each by its own clock."""
    return {quote.source for quote in row.evidence if abs(quote.happened_at - row.down_at) <= _NEAR}
