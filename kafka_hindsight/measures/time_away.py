"""The start and the length of a broker's absence, in the same words in headlines, alerts and pages."""

from __future__ import annotations

from datetime import date, datetime

from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import MS, OUTAGE_SHADOW


def away_until(outage: BrokerOutage) -> datetime | None:
    """The instant up to which an absence is shown to have lasted, its end where that is known; None: no bound."""
    return outage.up_at or least_until(outage)


def least_until(outage: BrokerOutage) -> datetime | None:
    """The instant up to which an absence surely lasted, if its end is left out; None: no bound."""
    if outage.away_low_ms is None:
        return None
    return max(outage.down_at, outage.detected_at or outage.down_at) + outage.away_low_ms * MS


def shown_until(outage: BrokerOutage) -> datetime | None:
    """The end of an absence; where it is not known, how long the absence may explain what happens. None: no bound."""
    last = away_until(outage)
    return outage.up_at or (last and last + OUTAGE_SHADOW)


def is_away_until(outage: BrokerOutage, at: datetime) -> bool:
    """Whether an absence without a known end may be taken to last until an instant, such as the end of the logs."""
    last = shown_until(outage)
    return outage.up_at is None and (last is None or last >= at)


def starts_exactly(outage: BrokerOutage) -> bool:
    """Whether the start of the absence is known, and not only the broker's last sign of life."""
    is_bounded = outage.away_low_ms == outage.away_high_ms is not None
    return is_orderly(outage) or outage.unreachable_at is not None or is_bounded


def is_orderly(outage: BrokerOutage) -> bool:
    """Whether the broker had a controlled shutdown, whoever asked for it."""
    return outage.kind == OutageKind.CONTROLLED_SHUTDOWN


def is_lost(outage: BrokerOutage) -> bool:
    """Whether the broker stopped without a controlled shutdown, or had not come back by the end.

    An absence that only a later start shows does not count: nothing shows that anything missed the broker.
    """
    is_unknown = outage.kind == OutageKind.UNKNOWN and is_start_alone(outage)
    return outage.up_at is None or not (is_orderly(outage) or is_unknown)


def is_start_alone(outage: BrokerOutage) -> bool:
    """Whether only the start of a new process shows the absence, which began at an unknown time before."""
    return outage.detected_at is None and outage.last_heard_at is None


def gone_by(outage: BrokerOutage) -> datetime | None:
    """The instant by which the broker was away: its start where that is known, else its detection; None: not known."""
    return outage.down_at if starts_exactly(outage) else outage.detected_at


def since_when(outage: BrokerOutage, day: date | None) -> str:
    """The start of an absence in words, `at` a time or between two; instants of the date `day` without it."""
    last_sign, end = words.instant(outage.down_at, day), words.instant(gone_by(outage), day)
    if is_start_alone(outage):
        return f"before {last_sign}"
    if not end:
        return f"after {last_sign}"
    return f"at {end}" if end == last_sign else f"between {last_sign} and {end}"


def away(outage: BrokerOutage) -> str:
    """The length of an absence in words, with its bounds if its start is not known.

    It is empty if the broker did not come back.
    """
    duration = words.duration(words.elapsed_ms(outage.down_at, outage.up_at))
    if not duration or outage.unreachable_at is not None:
        return duration
    is_unbounded = outage.away_low_ms == 0 and outage.away_high_ms is None
    return words.bounded(outage.away_low_ms, outage.away_high_ms) or f"{'about ' * is_unbounded}{duration}"
