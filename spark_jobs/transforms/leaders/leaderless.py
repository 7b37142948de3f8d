"""How long nobody led a partition: told, or bounded by what witnesses prove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from spark_jobs.transforms.cluster import CLOCKS, ClusterContext, on_failed_disk
from spark_jobs.transforms.leaders.verdicts import Change
from spark_jobs.transforms.leaderships import NOBODY
from spark_jobs.transforms.windows import Row, elapsed_ms

_LEADS = ("leader_started", "isr_updated")
"""Kinds that a broker writes only of partitions that it leads."""


@dataclass(frozen=True)
class Leaderless:
    """How long it was, as the witnesses tell it, and its bounds. None: not told, not bounded."""

    ms: int | None = None
    low_ms: int | None = None
    high_ms: int | None = None


def leaderless_of(change: Change, context: ClusterContext) -> Leaderless:
    """How long nobody led the partition before a change that gave it a leader.

    Keeps: low_ms <= ms <= high_ms, where they are told.
    Odd: the instant at which a leader crashed or fell silent is unknown: it lies between its own last line and the
    first failure to reach it, or its being missed. One that was cut off may have served whom it still reached.
    """
    if change.after.leader == NOBODY or change.last_leader is None:
        return Leaderless()
    outage = _outage_of(change, context)
    sudden = outage if outage and outage["kind"] != "controlled_shutdown" else None
    gave_way_at = _gave_way_at(change, context)
    started_at = _first(e for e in change.life if _starts_leading(e, change))
    since = sudden["down_at"] if sudden else gave_way_at
    until = started_at or (change.at if change.after.is_exact else None)
    ms = _between(since, until)
    low = _between(_gone_by(sudden, gave_way_at), started_at)
    high = _between(_led_until(change, outage, sudden, gave_way_at), started_at or _proved_at(change))
    if ms is None:
        return Leaderless(None, low, high)
    return Leaderless(ms, None if low is None else min(low, ms), None if high is None else max(high, ms))


def _between(start: datetime | None, end: datetime | None) -> int | None:
    return elapsed_ms(start, end) if start and end else None


def _first(events: Iterable[Row]) -> datetime | None:
    return next((e["happened_at"] for e in events), None)


def _outage_of(change: Change, context: ClusterContext) -> Row | None:
    """The absence of the last leader that the change fell into, or the loss of leadership before it did."""
    outage = context.outage_at(change.last_leader, change.at)
    if outage is None and change.before.leader == NOBODY and change.before.at:
        outage = context.outage_at(change.last_leader, change.before.at)
    return outage


def _gone_by(sudden: Row | None, gave_way_at: datetime | None) -> datetime | None:
    """The first proof that the last leader led no more: it said so, the cluster missed it, or its process had ended."""
    ended_at = sudden["unreachable_at"] if sudden and sudden["kind"] == "crash" else None
    missed_at = sudden["detected_at"] if sudden else None
    return min((at for at in (ended_at, missed_at, gave_way_at) if at), default=None)


def _led_until(change: Change, outage: Row | None, sudden: Row | None, gave_way_at: datetime | None) -> datetime | None:
    """The last proof that the last leader led."""
    if gave_way_at and not sudden:
        return gave_way_at
    proofs = [e["happened_at"] for e in change.life if _leads(e, change.last_leader) and e["happened_at"] <= change.at]
    heard_at = outage["last_heard_at"] if outage else None
    return max([*proofs, *([heard_at] if heard_at else [])], default=None)


def _leads(event: Row, broker: int | None) -> bool:
    return bool(event["kind"] in _LEADS and event["broker"] == broker)


def _proved_at(change: Change) -> datetime | None:
    """The first later line that only the new leader writes."""
    return _first(e for e in change.life if e["happened_at"] >= change.at and _leads(e, change.after.leader))


def _starts_leading(event: Row, change: Change) -> bool:
    return bool(
        event["kind"] == "leader_started"
        and event["broker"] == change.after.leader
        and event["leader_epoch"] == change.after.epoch
    )


def _gave_way_at(change: Change, context: ClusterContext) -> datetime | None:
    """When the last leader said that it leads no more: at the epoch after its own, or since its disk had failed."""
    told = [e["happened_at"] for e in change.life if _stops_leading(e, change)]
    told += [
        e["happened_at"]
        for e in context.disk_failures
        if e["broker"] == change.last_leader
        and change.partition in on_failed_disk(e)
        and (change.before.at is None or change.before.at - CLOCKS <= e["happened_at"])
        and e["happened_at"] <= change.at + CLOCKS
    ]
    return min(told, default=None)


def _stops_leading(event: Row, change: Change) -> bool:
    return bool(
        event["kind"] == "follower_started"
        and event["broker"] == change.last_leader
        and event["leader_epoch"] > change.before.epoch - (change.before.leader == NOBODY)
        and event["leader_epoch"] <= change.after.epoch
    )
