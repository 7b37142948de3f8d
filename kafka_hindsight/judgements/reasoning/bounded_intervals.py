"""Intervals whose two ends are known within bounds, and the rows of gold.unavailability that they give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from kafka_hindsight.catalog.codes import Confidence, Intent, UnavailabilityKind
from kafka_hindsight.catalog.rows import Quote, Unavailability
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.timelines import Interval
from kafka_hindsight.shared.words import bounded

T = TypeVar("T")


@value_class(slots=True)
class BoundedInterval(Generic[T]):
    """A value that held from `start` up to `end`, by the best witnesses; `end` None: it was not over.

    `proven` is the part in which it surely held, None without a proof; `possible` is all the time in which it can have
    held, None without a bound. Where it was not over, neither of them has an end.
    """

    start: datetime
    end: datetime | None
    proven: Interval[None] | None
    possible: Interval[None] | None
    value: T

    def low(self, until: datetime) -> timedelta:
        """The least time that it held. `until`: the instant up to which it is known that it was not over."""
        if self.proven is None:
            return timedelta(0)
        return max(timedelta(0), (self.proven.end or until) - self.proven.start)

    @property
    def high(self) -> timedelta | None:
        """The most time that it held; None where that is not bounded."""
        if self.possible is None or self.possible.end is None:
            return None
        return self.possible.end - self.possible.start

    def within(self, first: datetime | None, last: datetime | None) -> BoundedInterval[T]:
        """The same interval from `first` on and up to `last`; None: that end stays.

        The proven part lies within the interval and within the possible part, whatever the clocks say.
        """
        start, end = max(self.start, first or self.start), earliest(self.end, last)
        possible = self.possible and _cut(self.possible, first, last)
        proven = self.proven and _cut(self.proven, start, end)
        if proven and possible:
            proven = _cut(proven, possible.start, possible.end)
        return replace(self, start=start, end=end, proven=proven, possible=possible)


@dataclass(frozen=True)
class Reason:
    """Why a partition could not be used. `failover_id` is None where no change of leader shows it."""

    failover_id: str | None
    outage_id: str | None
    explanation: str
    confidence: Confidence
    quotes: Sequence[Quote]


def span(start: datetime | None, end: datetime | None) -> Interval[None] | None:
    """A part of an interval, without an end where that was not over; None without a start before the end."""
    return None if start is None or (end is not None and end < start) else Interval(start, end, None)


def one_after_another(intervals: Iterable[BoundedInterval[T]]) -> Iterator[BoundedInterval[T]]:
    """The intervals of one thing in order of time, each without the time of those before it.

    They do not overlap, and together they cover the same time.
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
    return span(max(interval.start, first or interval.start), earliest(interval.end, last))


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
    read_times: ReadTimes = ALL_READ,
) -> Unavailability:
    """One row of gold.unavailability.

    `subject`: the cluster with a group, or with a topic and a partition. `logs_end`: the last line of any broker, by
    which an interval without an end was not over. `confidence`: the most that the evidence allows; it is `likely` at
    most where no proof shows that it lasted at all. A failover or a rebalance began it, and `outage_id` is behind it.
    `read_times`: the times in which logs were read.
    """
    cluster, *names = subject
    read_until = read_times.until(min(interval.start, logs_end), logs_end)
    low, high, possible = interval.low(read_until), interval.high, interval.possible
    subject_name = "-".join(map(str, names))
    columns: dict[str, Any] = dict(zip(("topic", "partition") if len(names) > 1 else ("group_id",), names, strict=True))
    identity = failover_id or rebalance_id or interval.start
    lasted = f"from {interval.start:%H:%M:%S} on, and that was not over when the logs end"
    if read_until < logs_end:
        lasted = f"from {interval.start:%H:%M:%S} on; after {read_until:%H:%M:%S} no log was read for a while"
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
        explanation=f"{kind.noun.clause.format(subject=subject_name)} {lasted}. {why}",
        evidence=evidence_of(quotes),
        **columns,
    )
