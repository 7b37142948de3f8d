"""Each change of an ISR with its cause, and how long each broker was out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kafka_hindsight.catalog.codes import IsrChangeKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import Event, IsrChange
from kafka_hindsight.judgements.partitions.replicas.isr_shrink_rulings import SHRINK_RULINGS, Incarnation, Shrink
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.shared.durations import CATCHING_UP

SHRINK_CAUSE_KINDS = ("isr_shrink_proposed", "reassignment_changed", "leadership_kept")

_LAGGARD = re.compile(r"\(brokerId: (\d+), endOffset: (-?\d+)(?:, lastCaughtUpTimeMs: (\d+))?\)")


def explain_changes(changes: Sequence[IsrChange], incarnation: Incarnation) -> list[IsrChange]:
    """The changes of one incarnation of a partition with the cause of each, and how long each shrink lasted.

    Takes: rows of gold.isr_changes of one incarnation in the order of their commits.
    Keeps: a shrink ends with the next expansion by the same broker, and both have the same cause.
    Edge case: where no line shows the return, the first reading that finds the broker in sync ends the shrink.
    """
    rows: list[IsrChange] = []
    open_shrinks: dict[int, int] = {}
    returned_at: dict[int, datetime] = {}
    for change in changes:
        broker, row = change.broker, change
        if change.change is IsrChangeKind.SHRINK:
            row = _explained(
                Shrink(change, incarnation, rows[-1].happened_at if rows else None, returned_at.get(broker))
            )
            open_shrinks[broker] = len(rows)
        elif broker in open_shrinks:
            place = open_shrinks.pop(broker)
            shrink = rows[place] = _ended(rows[place], change.happened_at)
            row = replace(change, shrink_cause=shrink.shrink_cause, outage_id=shrink.outage_id)
            returned_at[broker] = change.happened_at
        rows.append(row)
    for place in open_shrinks.values():
        rows[place] = _ended_by_reading(rows[place], incarnation)
    return rows


def _explained(shrink: Shrink) -> IsrChange:
    verdict = judge(SHRINK_RULINGS, shrink)
    change = _with_lag(shrink.change, shrink.proposal) if shrink.proposal else shrink.change
    # A replica that was moved away has no ISR to come back to.
    moved_at = shrink.at if verdict.code is OutOfSyncKind.REASSIGNMENT else None
    ends = [at for at in (moved_at, shrink.replica_removed_at, shrink.incarnation.deleted_at) if at is not None]
    return replace(
        change,
        shrink_cause=OutOfSyncKind(verdict.code),
        outage_id=verdict.facts.get("outage_id"),
        out_of_sync_until=max(shrink.at, min(ends)) if ends else None,
        evidence=evidence_of([*change.evidence, *verdict.evidence]),
    )


def _with_lag(change: IsrChange, proposal: Event) -> IsrChange:
    """The change with how far behind the broker was, as its leader logged it.

    Edge case: an end offset of -1 is a follower that has not fetched since the leader became leader.
    """
    listed = next((m for m in _LAGGARD.finditer(proposal.detail or "") if int(m[1]) == change.broker), None)
    end, own_end = (int(listed[2]) if listed else -1), proposal.log_offset
    caught_up = int(listed[3]) if listed and listed[3] else 0
    return replace(
        change,
        removed_by_leader=proposal.broker,
        records_behind=max(0, own_end - end) if end >= 0 and own_end is not None else None,
        behind_since=datetime.fromtimestamp(caught_up / 1000, UTC) if caught_up > 0 else None,
        evidence=[*change.evidence, quote(proposal)],
    )


def _ended(shrink: IsrChange, returned_at: datetime) -> IsrChange:
    """The shrink, ended by the return unless it had ended before."""
    until = min(shrink.out_of_sync_until or returned_at, returned_at)
    return replace(shrink, out_of_sync_until=max(shrink.happened_at, until))


def _ended_by_reading(shrink: IsrChange, incarnation: Incarnation) -> IsrChange:
    """The shrink, ended by the first reading that finds the broker in sync; readings lag behind the brokers."""
    later = incarnation.readings.within(shrink.happened_at + CATCHING_UP + timedelta.resolution, None)
    seen = next(later.where(lambda state: shrink.broker in (state.isr or ())), None)
    until = shrink.out_of_sync_until
    if seen is None or (until is not None and until <= seen.snapshot_at):
        return shrink
    shown = f"{shrink.topic}-{shrink.partition}: isr {seen.isr}"
    evidence = evidence_of([*shrink.evidence, quote_snapshot(seen, shown)])
    return replace(shrink, out_of_sync_until=seen.snapshot_at, evidence=evidence)
