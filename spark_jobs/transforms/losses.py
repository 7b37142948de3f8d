"""How many records an unclean election threw away."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.transforms.evidence import quote, quote_snapshot
from spark_jobs.transforms.leaderships import Leadership
from spark_jobs.transforms.windows import Row

LOSS_KINDS = ("leader_started", "follower_started", "log_end_loaded", "log_truncated")


@dataclass(frozen=True)
class Loss:
    """Bounds of the records lost. `high` is None where no witness bounds them from above."""

    low: int
    high: int | None
    quotes: tuple[dict[str, Any], ...]


def loss_of(
    change: Leadership, last_leader: int, holders: Collection[int], life: Sequence[Row], readings: Sequence[Row]
) -> Loss:
    """The records that were in the old leader's log and are in no log of the cluster any more.

    Takes: the unclean leadership; the last real leader before it; the replicas in sync before it;
    the partition's events in order and its rows of bronze.partition_snapshots in order of time.
    Odd: an old leader that comes back says how long its log is (as it loads it, and as it follows), then cuts it where
    the new leader's log parts from it: the difference is the loss, exactly. Other replicas that were in sync hold no
    more than the leader did, so theirs bounds it from below only. Without any of them a reading of the high watermark
    before the election does. Source: KIP-101, Partition.makeFollower, UnifiedLog.truncateTo.
    """
    assert change.at is not None
    starts = (e for e in life if e["kind"] == "leader_started" and e["leader_epoch"] == change.epoch)
    start = next((e for e in starts if e["broker"] == change.leader), None)
    quotes = [quote(start)] if start else []
    low, high = 0, None
    for replica in sorted({last_leader, *holders} - {change.leader}):
        end, cut = _log_end(replica, change, life), _cut(replica, change, life)
        kept = cut["log_offset"] if cut else start["log_offset"] if start else None
        if end is None or kept is None:
            continue
        quotes += [quote(e) for e in (end, cut) if e]
        lost = max(0, end["log_offset"] - kept)
        low = max(low, lost)
        if replica == last_leader:
            high = lost
    if high is None and start:
        reading = _last_reading(change, readings)
        if reading and reading["end_offset"] > start["log_offset"] + low:
            low = reading["end_offset"] - start["log_offset"]
            says = f"{reading['topic']}-{reading['partition']} ends at offset {reading['end_offset']}"
            quotes.append(quote_snapshot(reading["snapshot_id"], reading["snapshot_at"], says))
    return Loss(low, None if high is None else max(low, high), tuple(quotes))


def _log_end(replica: int, change: Leadership, life: Sequence[Row]) -> Row | None:
    """The replica's own word on where its log ended when it met the new leader."""
    for event in life:
        if event["broker"] != replica or event["log_offset"] is None or event["happened_at"] < change.at:
            continue
        if event["kind"] == "log_end_loaded":
            return event
        if event["kind"] == "follower_started" and event["leader_epoch"] >= change.epoch:
            return event
    return None


def _cut(replica: int, change: Leadership, life: Sequence[Row]) -> Row | None:
    """Where the replica cut its log first, once it followed the new leader."""
    follows = next(
        (
            e["happened_at"]
            for e in life
            if e["kind"] == "follower_started" and e["broker"] == replica and e["leader_epoch"] >= change.epoch
        ),
        change.at,
    )
    return next(
        (
            e
            for e in life
            if e["kind"] == "log_truncated"
            and e["broker"] == replica
            and e["happened_at"] >= follows
            and e["log_offset"] is not None
        ),
        None,
    )


def _last_reading(change: Leadership, readings: Sequence[Row]) -> Row | None:
    assert change.at is not None
    told = [r for r in readings if r["snapshot_at"] < change.at and r["end_offset"] is not None]
    return told[-1] if told else None
