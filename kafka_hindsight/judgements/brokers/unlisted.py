"""Absences of brokers that only readings show: of a broker that they list, then do not list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, pairwise

from kafka_hindsight.catalog.rows import BrokerSnapshot
from kafka_hindsight.judgements.brokers.absences import LATE_REPORT, Absence
from kafka_hindsight.judgements.brokers.liveness import SignsOfLife
from kafka_hindsight.judgements.brokers.observed import Observed
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.shared.durations import CATCHING_UP
from kafka_hindsight.shared.instants import earliest


def unlisted_absences(
    readings: Iterable[BrokerSnapshot], in_lines: Mapping[int, Sequence[Absence]], observed: Observed | None
) -> Iterator[Absence]:
    """Absences that only snapshots show: of a broker that they list, then do not list."""
    ordered = sorted(readings, key=lambda r: (r.snapshot_at, r.broker))
    snapshots = [{r.broker: r for r in rows} for _, rows in groupby(ordered, key=lambda r: r.snapshot_at)]
    for broker in sorted({r.broker for r in ordered}):
        listing = [n for n, snapshot in enumerate(snapshots) if broker in snapshot]
        for last, back in pairwise([*listing, len(snapshots)]):
            if back > last + 1:
                last_reading, without = snapshots[last][broker], next(iter(snapshots[last + 1].values()))
                up_at = snapshots[back][broker].snapshot_at if back < len(snapshots) else None
                if not any(a.meets(last_reading.snapshot_at - LATE_REPORT, up_at) for a in in_lines.get(broker, ())):
                    yield _absence_between(last_reading, without, up_at, observed)


def _absence_between(
    last_reading: BrokerSnapshot, without: BrokerSnapshot, up_at: datetime | None, observed: Observed | None
) -> Absence:
    """The absence between two readings, or between lines of the broker that lie closer to it."""
    signs = observed.signs if observed else SignsOfLife(())
    last = observed and observed.signs.last_service(last_reading.broker, without.snapshot_at, observed.missed_within)
    first = signs.first_service(last_reading.broker, without.snapshot_at + CATCHING_UP, is_over=False)
    return Absence(
        broker=last_reading.broker,
        down_at=max(last_reading.snapshot_at, last or last_reading.snapshot_at),
        observed_until=observed.until if observed else without.snapshot_at,
        gone_by=without.snapshot_at,
        proven_until=without.snapshot_at,
        silent_from=without.snapshot_at,
        detected_at=without.snapshot_at,
        last_seen_at=last_reading.snapshot_at,
        up_at=earliest(first.happened_at if first else None, up_at),
        is_end_exact=not (first and up_at and first.happened_at < up_at),
        snapshots=(
            quote_snapshot(last_reading, f"broker {last_reading.broker} is listed"),
            quote_snapshot(without, f"broker {last_reading.broker} is not listed"),
        ),
    )
