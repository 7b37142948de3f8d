"""Why a broker was out of a partition's ISR, and until when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from spark_jobs.transforms.cluster import CLOCKS, ClusterContext, disk_owners, on_failed_disk
from spark_jobs.transforms.controllers import speaks_for_cluster
from spark_jobs.transforms.evidence import evidence_of, quote, quote_snapshot
from spark_jobs.transforms.groups.outage_attribution import CATCHING_UP
from spark_jobs.transforms.windows import OutRow, Row, broker_ids

SHRINK_CAUSE_KINDS = ("isr_shrink_proposed", "reassignment_changed", "leadership_kept")

_SHORTLY = timedelta(minutes=1)
"""A disk that failed, or a reassignment that ended, shows in the ISR this soon."""

_LAGGARD = re.compile(r"\(brokerId: (\d+), endOffset: (-?\d+)(?:, lastCaughtUpTimeMs: (\d+))?\)")


@dataclass(frozen=True)
class Life:
    """One life of a partition: its events of SHRINK_CAUSE_KINDS and its readings in order, and its deletion."""

    events: Sequence[Row]
    readings: Sequence[Row] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True)
class _Before:
    """What came before a shrink: the commit before it, and when the same broker had last come back."""

    commit_at: datetime | None
    back_at: datetime | None


@dataclass(frozen=True)
class _Owed:
    """What a shrink is owed to. `until`: when there was no more to be in."""

    kind: str
    outage: Row | None = None
    quotes: tuple[dict[str, Any], ...] = ()
    until: datetime | None = None


def explain_changes(changes: Sequence[OutRow], life: Life, context: ClusterContext) -> list[OutRow]:
    """The changes of one life of a partition with what each is owed to, and how long each shrink lasted.

    Takes: rows of gold.isr_changes of one life in the order of their commits.
    Keeps: a shrink ends with the next expansion of the same broker, and both are owed to the same.
    Odd: where no line tells of a return, a reading that finds the broker in sync does. A proposal of the leader says
    that the broker lagged, but one that is away lags too: then it is owed to the absence.
    """
    rows: list[OutRow] = []
    out: dict[int, OutRow] = {}
    back: dict[int, datetime] = {}
    since: datetime | None = None
    for change in changes:
        broker = change["broker"]
        row = {**change, **dict.fromkeys(_TOLD)}
        if change["change"] == "shrink":
            row |= _explained(row, life, _Before(since, back.get(broker)), context)
            out[broker] = row
        elif broker in out:
            back[broker] = row["happened_at"]
            gone = out.pop(broker)
            gone["out_of_sync_until"] = max(
                gone["happened_at"], min(gone["out_of_sync_until"] or row["happened_at"], row["happened_at"])
            )
            row |= {"shrink_cause": gone["shrink_cause"], "outage_id": gone["outage_id"]}
        since = change["happened_at"]
        rows.append(row)
    for row in out.values():
        _close_by_reading(row, life)
    return rows


_TOLD = ("shrink_cause", "outage_id", "out_of_sync_until", "removed_by_leader", "records_behind", "behind_since")


def _explained(row: OutRow, life: Life, before: _Before, context: ClusterContext) -> OutRow:
    proposal = _proposal(row, life.events, before.commit_at)
    owed = _owed(row, life, proposal, before.back_at, context)
    removed_at = _removed_at(row, life, context)
    ends = [at for at in (owed.until, removed_at, life.ended_at) if at is not None]
    quotes = [*row["evidence"], *owed.quotes, *([quote(proposal)] if proposal else [])]
    return {
        "shrink_cause": owed.kind,
        "outage_id": owed.outage["outage_id"] if owed.outage else None,
        "out_of_sync_until": max(row["happened_at"], min(ends)) if ends else None,
        **(_lag(row["broker"], proposal) if proposal else {}),
        "evidence": evidence_of(quotes),
    }


def _owed(row: OutRow, life: Life, proposal: Row | None, back_at: datetime | None, context: ClusterContext) -> _Owed:
    """The first that fits. Shortly after an absence a shrink belongs to it still, unless the broker had been back in
    this ISR and lagged, or was moved away.

    Source: a leader drops a follower that has not caught up with it for replica.lag.time.max.ms
    (Partition.isFollowerOutOfSync); the controller drops one that is fenced, shuts down, has lost the disk, or is
    a replica no more (ReplicationControlManager; ZooKeeper: KafkaController, ReplicaStateMachine).
    """
    broker, at = row["broker"], row["happened_at"]
    outage = _outage_of(broker, at, context)
    moves = [e for e in _reassignments(life, context) if -CLOCKS <= at - e["happened_at"] <= _SHORTLY]
    if outage and not (_was_in_again(outage, at, back_at, life) if proposal else _is_over(outage, at) and moves):
        return _Owed("outage", outage)
    failed = [
        e
        for e in context.disk_failures
        if -CLOCKS <= at - e["happened_at"] <= _SHORTLY
        and broker in disk_owners(e)
        and (not (held := on_failed_disk(e)) or f"{row['topic']}-{row['partition']}" in held)
        and not _was_restarted(broker, e["happened_at"], at, context)
    ]
    if failed:
        return _Owed("disk", quotes=(quote(failed[0]),))
    if proposal:
        return _Owed("slow")
    moves = [
        e for e in life.events if e["kind"] == "reassignment_changed" and -CLOCKS <= at - e["happened_at"] <= _SHORTLY
    ]
    if moves:
        return _Owed("reassignment", quotes=(quote(moves[-1]),), until=at)
    removed_at = _removed_at(row, life, context)
    if removed_at and removed_at - at <= _SHORTLY:
        return _Owed("reassignment", until=at)
    return _Owed("unknown")


def _is_over(outage: Row, at: datetime) -> bool:
    return outage["up_at"] is not None and outage["up_at"] < at


def _was_in_again(outage: Row, at: datetime, back_at: datetime | None, life: Life) -> bool:
    """Whether the broker had come back into this ISR after an absence, or was in it from its creation after that."""
    came_back = back_at is not None and back_at >= outage["down_at"]
    return _is_over(outage, at) and (came_back or life.events[0]["happened_at"] >= outage["up_at"])


def _outage_of(broker: int, at: datetime, context: ClusterContext) -> Row | None:
    """The broker's absence around an instant: of several the one that began last."""
    around = [
        o
        for o in context.outages
        if o["broker"] == broker
        and o["down_at"] - CLOCKS <= at
        and (o["up_at"] is None or at <= o["up_at"] + CATCHING_UP)
    ]
    return max(around, key=lambda o: (o["down_at"], o["outage_id"]), default=None)


def _was_restarted(broker: int, start: datetime, end: datetime, context: ClusterContext) -> bool:
    """Whether a broker came back between two instants: one that starts has the disks that it needs."""
    return any(o["broker"] == broker and o["up_at"] is not None and start < o["up_at"] <= end for o in context.outages)


def _proposal(row: OutRow, events: Sequence[Row], since: datetime | None) -> Row | None:
    """The leader's line that asked for a shrink, since the commit before it."""
    broker, at = row["broker"], row["happened_at"]
    asked = (
        e
        for e in events
        if e["kind"] == "isr_shrink_proposed"
        and e["happened_at"] - CLOCKS <= at
        and (since is None or since <= e["happened_at"] + CLOCKS)
        and broker in (broker_ids(e["previous_isr"]) or ())
        and broker not in (broker_ids(e["isr"]) or ())
    )
    return max(asked, key=lambda e: (e["happened_at"], e["source"], e["order"]), default=None)


def _lag(broker: int, proposal: Row) -> OutRow:
    """How far behind the leader says that it was.

    Odd: an end offset of -1 is a follower that the leader has not heard from since it leads.
    """
    told = next((m for m in _LAGGARD.finditer(proposal["detail"] or "") if int(m[1]) == broker), None)
    end, own_end = (int(told[2]) if told else -1), proposal["log_offset"]
    caught_up = int(told[3]) if told and told[3] else 0
    return {
        "removed_by_leader": proposal["broker"],
        "records_behind": max(0, own_end - end) if end >= 0 and own_end is not None else None,
        "behind_since": datetime.fromtimestamp(caught_up / 1000, UTC) if caught_up > 0 else None,
    }


def _reassignments(life: Life, context: ClusterContext) -> list[Row]:
    """Odd: every controller repeats former reassignments when it starts; only the active one's are news."""
    return [e for e in life.events if e["kind"] == "reassignment_changed" and speaks_for_cluster(context.terms, e)]


def _removed_at(row: OutRow, life: Life, context: ClusterContext) -> datetime | None:
    """When the broker was a replica of the partition no more, as a line or a reading tells."""
    lines = [*_reassignments(life, context), *(e for e in life.events if e["kind"] == "leadership_kept")]
    told: Iterable[tuple[datetime, tuple[int, ...]]] = (
        *((e["happened_at"], broker_ids(e["replicas"]) or ()) for e in lines if e["replicas"]),
        *((r["snapshot_at"], tuple(r["replicas"])) for r in life.readings if r["replicas"]),
    )
    early = row["happened_at"] - CLOCKS
    return min((at for at, replicas in told if at >= early and row["broker"] not in replicas), default=None)


def _close_by_reading(row: OutRow, life: Life) -> None:
    """Ends a shrink by the first reading that finds the broker in sync; readings lag behind the brokers."""
    late = row["happened_at"] + CATCHING_UP
    seen = next((r for r in life.readings if r["snapshot_at"] > late and row["broker"] in (r["isr"] or ())), None)
    if seen and (row["out_of_sync_until"] is None or seen["snapshot_at"] < row["out_of_sync_until"]):
        row["out_of_sync_until"] = seen["snapshot_at"]
        says = f"{row['topic']}-{row['partition']}: isr {seen['isr']}"
        row["evidence"] = evidence_of(
            [*row["evidence"], quote_snapshot(seen["snapshot_id"], seen["snapshot_at"], says)]
        )
