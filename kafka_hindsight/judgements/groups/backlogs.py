"""The price as people feel it: what the time of a rebalance was spent on, and backlogs until they were worked off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Outcome, RebalanceWait
from kafka_hindsight.catalog.rows import Backlog, BrokerOutage, OffsetSnapshot, Quote, Rebalance
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.groups.commit_intervals import most_in_one_interval
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot, row_id
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL, MS, NEVER, OUTAGE_SHADOW
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline

_USUAL = timedelta(minutes=10)
"""How long before a rebalance readings show the usual lag: it rises and falls with each commit. Our choice."""


@dataclass(frozen=True)
class GroupLag:
    """The lag of a group at one reading: the sum over its partitions, of which each has a lag."""

    at: datetime
    records: int
    partitions: int
    reading: OffsetSnapshot

    @property
    def quote(self) -> Quote:
        """The reading as evidence."""
        return quote_snapshot(self.reading, f"lag of {self.partitions} partitions together: {self.records}")


def lags_of(offsets: Iterable[OffsetSnapshot]) -> Timeline[GroupLag]:
    """The lag of one group at each reading that shows the lag of every partition with a committed offset."""
    lags = []
    for at, rows in grouped((o for o in offsets if o.committed_offset is not None), lambda o: o.snapshot_at).items():
        numbers = [o.lag for o in rows if o.lag is not None]
        if len(numbers) == len(rows):
            first = min(rows, key=lambda o: (o.topic, o.partition))
            lags.append(GroupLag(at, sum(numbers), len(numbers), first))
    return Timeline(lags, at=lambda lag: lag.at)


def with_waits(rebalances: Iterable[Rebalance]) -> list[Rebalance]:
    """The rebalances with what their time was spent on."""
    return [replace(r, waited_for=wait_of(r)) for r in rebalances]


def wait_of(rebalance: Rebalance) -> RebalanceWait | None:
    """The reason for the time of a rebalance; None where its end is not known, or the coordinator assigns."""
    if rebalance.outcome == Outcome.INTERRUPTED or rebalance.follows is not None:
        return RebalanceWait.NOT_SETTLED
    if rebalance.cause.noun.is_silence or rebalance.cause.noun.is_late_poll:
        return RebalanceWait.TIMEOUT_AWAITED
    if rebalance.outcome == Outcome.UNFINISHED or rebalance.protocol.has_epochs:
        return None
    longest = max((d.waited_ms for d in rebalance.delayed_by), default=0)
    return RebalanceWait.MEMBER_AWAITED if longest * MS > HEARTBEAT_INTERVAL else RebalanceWait.ALL_JOINED


@value_class()
class Trouble:
    """A rebalance of a group, or an outage without one, as the origin of a backlog.

    `since`: from when on it may have stopped consumers; `continues`: it is a part of the rebalance before it.
    """

    cluster: str
    since: datetime
    started_at: datetime
    ended_at: datetime
    rebalance_id: str | None = None
    outage_id: str | None = None
    continues: bool = False


@dataclass(frozen=True)
class Span:
    """The largest usual lag before something, the largest one since, and the first that is as small again, if any."""

    usual: GroupLag
    peak: GroupLag
    worked_off: GroupLag | None

    @property
    def backlog(self) -> int:
        """How many records more than usual waited at the peak."""
        return max(self.peak.records - self.usual.records, 0)


def backlogs_of(
    rebalances: Iterable[Rebalance], offsets: Sequence[OffsetSnapshot], outages: Iterable[BrokerOutage] = ()
) -> list[Backlog]:
    """Rows of gold.backlogs of one group, where readings show its whole lag before and after.

    There is one for each rebalance, and one for each outage without a rebalance in which more records waited than one
    commit interval brings. A backlog is a least one: it may have been larger between two readings. What the next
    rebalance or outage adds is not counted, unless that is a rebalance that restarts it, or its cooperative follow-up.
    """
    lags, until, backlogs = lags_of(offsets), NEVER, list[Backlog]()
    ordered = [_of_rebalance(r) for r in sorted(rebalances, key=turn_of)]
    moved = Intervals(Interval(t.since, t.ended_at, None) for t in ordered)
    away = [_of_outage(o) for o in outages]
    alone = [t for t in away if not moved.between(t.since, min(t.ended_at, NEVER - OUTAGE_SHADOW) + OUTAGE_SHADOW)]
    for trouble in sorted((*ordered, *alone), key=lambda t: t.started_at)[::-1]:
        span = _span_of(trouble, lags, until)
        if span and (trouble.outage_id is None or span.backlog > _most_in_one_interval_of(offsets, trouble.since)):
            backlogs.append(_row(trouble, span))
        until = until if trouble.continues else trouble.since
    return backlogs[::-1]


def _of_rebalance(row: Rebalance) -> Trouble:
    continues = row.follows is not None or row.cause.noun.is_follow_up
    ended_at = row.ended_at or row.started_at
    return Trouble(row.cluster, silent_since(row), row.started_at, ended_at, row.rebalance_id, None, continues)


def _of_outage(row: BrokerOutage) -> Trouble:
    return Trouble(row.cluster, row.down_at, row.down_at, row.up_at or NEVER, None, row.outage_id)


def _span_of(trouble: Trouble, lags: Timeline[GroupLag], until: datetime) -> Span | None:
    """The lags around a rebalance or an outage, up to an instant.

    The lag before is the largest of the 10 minutes before, which a backlog of an earlier one raises too.
    """
    before = lags.between(trouble.since - _USUAL, trouble.since - timedelta.resolution)
    usual = max(before, key=lambda lag: lag.records, default=None)
    whole = [lag for lag in lags.within(trouble.since, until) if usual and lag.partitions >= usual.partitions]
    if usual is None or not whole:
        return None
    caught_up = next((lag for lag in whole if lag.at >= trouble.ended_at and lag.records <= usual.records), None)
    peak = max((lag for lag in whole if caught_up is None or lag.at <= caught_up.at), key=lambda lag: lag.records)
    return Span(usual, peak, caught_up if peak.records > usual.records else None)


def _most_in_one_interval_of(offsets: Iterable[OffsetSnapshot], since: datetime) -> int:
    """The most records that one commit interval of each partition brought in the 10 minutes before an instant."""
    before = (o for o in offsets if since - _USUAL <= o.snapshot_at < since and o.lag is not None)
    ordered = sorted(before, key=lambda o: o.snapshot_at)
    return sum(most_in_one_interval(own) for own in grouped(ordered, lambda o: (o.topic, o.partition)).values())


def _row(trouble: Trouble, span: Span) -> Backlog:
    group_id, worked_off = span.usual.reading.group_id, span.worked_off
    return Backlog(
        cluster=trouble.cluster,
        backlog_id=row_id("backlog", trouble.cluster, group_id, trouble.rebalance_id or "", trouble.outage_id or ""),
        rebalance_id=trouble.rebalance_id,
        outage_id=trouble.outage_id,
        group_id=group_id,
        started_at=trouble.started_at,
        lag_before=span.usual.records,
        lag_peak=span.peak.records,
        lag_peak_at=span.peak.at,
        backlog=span.backlog,
        worked_off_at=worked_off.at if worked_off else None,
        evidence=evidence_of(lag.quote for lag in (span.usual, span.peak, worked_off) if lag is not None),
    )


def silent_since(rebalance: Rebalance) -> datetime:
    """Its start or, where a time-out had to run out first, the instant since which its member may have been silent."""
    timeout = _timeout_of(rebalance) if rebalance.waited_for == RebalanceWait.TIMEOUT_AWAITED else None
    return rebalance.started_at - (timeout or 0) * MS


def _timeout_of(rebalance: Rebalance) -> int | None:
    """The time-out in ms that had to run out before it began; None where no line shows it."""
    is_late_poll = rebalance.cause.noun.is_late_poll
    return rebalance.rebalance_timeout_ms if is_late_poll else rebalance.session_timeout_ms
