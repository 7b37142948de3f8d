"""Intervals whose two ends are known within bounds, and the rows of gold.unavailability that they give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from kafka_hindsight.catalog.codes import Confidence, Intent, UnavailabilityKind
from kafka_hindsight.catalog.rows import Quote, Unavailability
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.judgements.reasoning.timelines import Interval
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.words import bounded

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BoundedInterval(Generic[T]):
    """A value that held from `start` up to `end`, as witnesses show it best; `end` None: it was not over.

    `proven` is the part in which it surely held, None where no proof shows one; `possible` is all the time in which it
    can have held, None where no proof bounds it. What was not over has none of their ends.
    """

    start: datetime
    end: datetime | None
    proven: Interval[None] | None
    possible: Interval[None] | None
    value: T

    def low(self, until: datetime) -> timedelta:
        """How long it held at least. Takes: up to when it is known that it was not over."""
        if self.proven is None:
            return timedelta(0)
        return max(timedelta(0), (self.proven.end or until) - self.proven.start)

    @property
    def high(self) -> timedelta | None:
        """How long it held at most; None where that is not bounded."""
        if self.possible is None or self.possible.end is None:
            return None
        return self.possible.end - self.possible.start

    def within(self, first: datetime | None, last: datetime | None) -> BoundedInterval[T]:
        """The same, begun no earlier than one instant, and over no later than another; None: that end stays.

        Keeps: what is proven lies within the interval and within what is possible, whatever the clocks say.
        """
        start, end = max(self.start, first or self.start), _first(self.end, last)
        possible = self.possible and _cut(self.possible, first, last)
        proven = self.proven and _cut(self.proven, start, end)
        if proven and possible:
            proven = _cut(proven, possible.start, possible.end)
        return replace(self, start=start, end=end, proven=proven, possible=possible)


def span(start: datetime | None, end: datetime | None) -> Interval[None] | None:
    """A part of an interval, without an end where that was not over; None where nothing shows it to begin before."""
    return None if start is None or (end is not None and end < start) else Interval(start, end, None)


def one_after_another(intervals: Iterable[BoundedInterval[T]]) -> Iterator[BoundedInterval[T]]:
    """The intervals of one thing in order of time, each without what belongs to one before it.

    Keeps: they do not overlap, and together they cover the same time.
    """
    reached: datetime | None = None
    for interval in sorted(intervals, key=lambda i: i.start):
        if reached is None or interval.start >= reached:
            yield interval.within(None, None)
        elif interval.end is None or interval.end > reached:
            yield interval.within(reached, None)
        else:
            continue
        reached = interval.end
        if reached is None:
            return


def _cut(interval: Interval[None], first: datetime | None, last: datetime | None) -> Interval[None] | None:
    return span(max(interval.start, first or interval.start), _first(interval.end, last))


def _first(end: datetime | None, other: datetime | None) -> datetime | None:
    return min((at for at in (end, other) if at is not None), default=None)


_SENTENCES = {
    UnavailabilityKind.NO_LEADER: "{subject} had no leader",
    UnavailabilityKind.ACKS_ALL_REFUSED: "{subject} refused writes with acks=all",
    UnavailabilityKind.ACKS_ALL_HUNG: "Writes with acks=all to {subject} waited",
    UnavailabilityKind.NO_CONSUMER: "Group {subject} consumed nothing",
}


def ledger_row(
    kind: UnavailabilityKind,
    subject: tuple[str, str] | tuple[str, str, int],
    interval: BoundedInterval[Any],
    logs_end: datetime,
    why: str,
    confidence: Confidence,
    quotes: Iterable[Quote],
    failover_id: str | None = None,
    rebalance_id: str | None = None,
    outage_id: str | None = None,
) -> Unavailability:
    """One row of gold.unavailability.

    Args:
        kind: What could not be done.
        subject: The cluster with a group, or with a topic and a partition.
        interval: From when to when.
        logs_end: The last line of any broker: until then what has no end was not over.
        why: What caused it, in a sentence.
        confidence: The most that the evidence allows; `likely` at most where no proof shows that it lasted at all.
        quotes: The evidence.
        failover_id, rebalance_id: What began it.
        outage_id: The outage behind it.
    """
    cluster, *names = subject
    low, high, possible = interval.low(logs_end), interval.high, interval.possible
    subject_name = "-".join(map(str, names))
    columns: dict[str, Any] = dict(zip(("topic", "partition") if len(names) > 1 else ("group_id",), names, strict=True))
    identity = failover_id or rebalance_id or interval.start
    lasted = f"from {interval.start:%H:%M:%S} on, and that was not over when the logs end"
    if interval.end is not None:
        length = bounded(low / MS, None if high is None else high / MS)
        lasted = f"for {length}" if length else "for a time that no evidence bounds"
    return Unavailability(
        cluster=cluster,
        unavailability_id=row_id(cluster, "unavailability", kind, *names, identity),
        kind=kind,
        started_at=interval.start,
        ended_at=interval.end,
        earliest_start_at=min(possible.start, interval.start) if possible else None,
        latest_end_at=max(possible.end, interval.end) if possible and possible.end and interval.end else None,
        low_ms=low // MS,
        high_ms=None if high is None else high // MS,
        failover_id=failover_id,
        rebalance_id=rebalance_id,
        outage_id=outage_id,
        intent=Intent.UNKNOWN,
        confidence=confidence if low else confidence.at_most(Confidence.LIKELY),
        explanation=f"{_SENTENCES[kind].format(subject=subject_name)} {lasted}. {why}",
        evidence=evidence_of(quotes),
        **columns,
    )
