"""When a broker went, and for how long it was away: headlines, alerts and pages say the same."""

from __future__ import annotations

from kafka_hindsight.catalog.rows import BrokerOutage
from kafka_hindsight.shared import words


def starts_exactly(outage: BrokerOutage) -> bool:
    """Whether the absence begins with more than the broker's last sign of life."""
    return outage.planned or outage.unreachable_at is not None or outage.away_low_ms == outage.away_high_ms is not None


def away(outage: BrokerOutage) -> str:
    """For how long a broker was away; bounds where only its last sign of life is known. Empty: it did not come back."""
    gone = words.duration(words.elapsed_ms(outage.down_at, outage.up_at))
    if not gone or outage.unreachable_at is not None:
        return gone
    return words.bounded(outage.away_low_ms, outage.away_high_ms) or gone
