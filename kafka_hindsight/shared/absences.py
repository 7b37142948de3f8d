"""When a broker went, and for how long it was away: headlines, alerts and pages say the same."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage
from kafka_hindsight.shared import words


def starts_exactly(outage: BrokerOutage) -> bool:
    """Whether the absence begins with more than the broker's last sign of life."""
    is_bounded = outage.away_low_ms == outage.away_high_ms is not None
    return is_orderly(outage) or outage.unreachable_at is not None or is_bounded


def is_orderly(outage: BrokerOutage) -> bool:
    """Whether the broker was shut down in order: who wanted that is another question."""
    return outage.kind == OutageKind.CONTROLLED_SHUTDOWN


def is_lost(outage: BrokerOutage) -> bool:
    """Whether the broker was not shut down in order, or had not come back by the end.

    Edge case: where only a start shows an absence, and nothing how it began, nothing shows that the broker was missed.
    """
    is_start_alone = outage.kind == OutageKind.UNKNOWN and outage.detected_at is None
    return outage.up_at is None or not (is_orderly(outage) or is_start_alone)


def away(outage: BrokerOutage) -> str:
    """For how long a broker was away; bounds where only its last sign of life is known. Empty: it did not come back."""
    gone = words.duration(words.elapsed_ms(outage.down_at, outage.up_at))
    if not gone or outage.unreachable_at is not None:
        return gone
    return words.bounded(outage.away_low_ms, outage.away_high_ms) or gone
