"""The price of a rebalance as people feel it: what its time was spent on, and the backlog until it was worked off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Outcome, RebalanceWait
from kafka_hindsight.catalog.rows import Backlog, OffsetSnapshot, Quote, Rebalance
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL, MS, NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline

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


def backlogs_of(rebalances: Iterable[Rebalance], offsets: Iterable[OffsetSnapshot]) -> list[Backlog]:
    """Rows of gold.backlogs: one for each rebalance of a group before and after which readings show its whole lag.

    A backlog is a least one: it may have been larger between two readings. What the next rebalance adds is not counted,
    unless that one restarts it, or is its cooperative follow-up.
    """
    lags, until, backlogs = lags_of(offsets), NEVER, list[Backlog]()
    for rebalance in sorted(rebalances, key=turn_of, reverse=True):
        backlog = _backlog_of(rebalance, lags, until)
        backlogs += [] if backlog is None else [backlog]
        if rebalance.follows is None and not rebalance.cause.noun.is_follow_up:
            until = silent_since(rebalance)
    return backlogs[::-1]


def _backlog_of(rebalance: Rebalance, lags: Timeline[GroupLag], until: datetime) -> Backlog | None:
    """The backlog of a rebalance up to an instant.

    The lag before is the largest of the 10 minutes before, which a backlog of an earlier rebalance raises too.
    """
    since = silent_since(rebalance)
    before, later = lags.between(since - _USUAL, since - timedelta.resolution), lags.within(since, until)
    usual = max(before, key=lambda lag: lag.records, default=None)
    whole = [lag for lag in later if usual and lag.partitions >= usual.partitions]
    if usual is None or not whole:
        return None
    ended_at = rebalance.ended_at or rebalance.started_at
    caught_up = next((lag for lag in whole if lag.at >= ended_at and lag.records <= usual.records), None)
    peak = max((lag for lag in whole if caught_up is None or lag.at <= caught_up.at), key=lambda lag: lag.records)
    worked_off = caught_up if peak.records > usual.records else None
    return Backlog(
        cluster=rebalance.cluster,
        rebalance_id=rebalance.rebalance_id,
        group_id=rebalance.group_id,
        started_at=rebalance.started_at,
        lag_before=usual.records,
        lag_peak=peak.records,
        lag_peak_at=peak.at,
        backlog=max(peak.records - usual.records, 0),
        worked_off_at=worked_off.at if worked_off else None,
        evidence=evidence_of(lag.quote for lag in (usual, peak, worked_off) if lag is not None),
    )


def silent_since(rebalance: Rebalance) -> datetime:
    """Its start or, where a time-out had to run out first, the instant since which its member may have been silent."""
    timeout = _timeout_of(rebalance) if rebalance.waited_for == RebalanceWait.TIMEOUT_AWAITED else None
    return rebalance.started_at - (timeout or 0) * MS


def _timeout_of(rebalance: Rebalance) -> int | None:
    """The time-out in ms that had to run out before it began; None where no line shows it."""
    is_late_poll = rebalance.cause.noun.is_late_poll
    return rebalance.rebalance_timeout_ms if is_late_poll else rebalance.session_timeout_ms
