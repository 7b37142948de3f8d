"""Breaks in a partition's leader epochs: what else raised them, or that nobody saw who led."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.evidence import evidence_of, quote
from spark_jobs.transforms.leaderships import NOBODY, Leadership, replicas_of
from spark_jobs.transforms.partitions import Partition
from spark_jobs.transforms.windows import OutRow, Row

_HIDDEN_CHANGES = 2
"""A failover and a return, or one leader between two others, take two changes: a single rise hides nothing."""


@dataclass(frozen=True)
class Gap:
    """A break between two leaderships. `explained_by` is None where a change of leader may lie in it."""

    before: Leadership
    after: Leadership
    at: datetime
    explained_by: str | None
    quotes: tuple[dict[str, Any], ...]

    @property
    def skipped(self) -> str:
        """The epochs that nobody saw, in words."""
        first, last = self.before.epoch + 1, self.after.epoch - 1
        return f"leader epoch {first}" if first == last else f"leader epochs {first} to {last}"


def gap_between(
    before: Leadership,
    after: Leadership,
    at: datetime,
    life: Sequence[Row],
    readings: Sequence[Row],
    context: ClusterContext,
) -> Gap | None:
    """The break between two leaderships that follow each other as far as is known; None where there is none.

    Takes: `at`, when the later one was seen; the partition's events in order and its readings.
    Source: a leader epoch also rises without a change of leader: under ZooKeeper when the controller takes a replica
    out of the ISR (ReplicaStateMachine.doRemoveReplicasFromIsr) and when replicas are reassigned
    (KafkaController.updateLeaderEpoch); under KRaft when replicas are (PartitionChangeBuilder.
    triggerLeaderEpochBumpForReplicaReassignmentIfNeeded) and, below metadata.version 3.6, with every shrink of the ISR
    (triggerLeaderEpochBumpForIsrShrinkIfNeeded, KAFKA-15021).
    """
    skipped = after.epoch - before.epoch - 1
    if after.step_quotes and skipped == 1:
        return Gap(before, after, at, "one election in two steps of a new controller", after.step_quotes)
    if skipped == 0:
        # The epoch is known, and who led; only when is not.
        is_lost = after.at is None and before.leader != after.leader
        return Gap(before, after, at, None, after.quotes) if is_lost else None
    raised = list(_raised_without_change(before, at, life, readings, context))
    if skipped + 1 - len(raised) < _HIDDEN_CHANGES:
        reasons = "; ".join(dict.fromkeys(reason for reason, _ in raised))
        return Gap(before, after, at, reasons, tuple(q for _, q in raised))
    own = _own_commits(before, after, life)
    if own:
        says = "the leader itself committed all that changed in between, but for one change at most"
        return Gap(before, after, at, says, tuple(map(quote, own)))
    return Gap(before, after, at, None, after.quotes)


def _raised_without_change(
    before: Leadership, at: datetime, life: Sequence[Row], readings: Sequence[Row], context: ClusterContext
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What raised the epoch once each, and left the leader as it was: why, and a line that proves it."""
    if before.at is None:
        return
    moves = [e for e in life if e["kind"] == "reassignment_changed" and before.at <= e["happened_at"] <= at]
    if moves:
        yield "its replicas were reassigned", quote(moves[0])
    if not context.is_zookeepers:
        return
    for replica in {*(replicas_of(life, readings, at) or ())} - {before.leader}:
        outage = context.outage_between(replica, before.at, at)
        if outage and before.at <= outage["down_at"]:
            yield f"the controller took broker {replica}, which was away, out of the ISR", outage["evidence"][0]


def _own_commits(before: Leadership, after: Leadership, life: Sequence[Row]) -> list[Row]:
    """The leader's own commits between two of its epochs, where they leave no room for two changes of leader.

    Odd: each change of leader, and each commit of an ISR, raises the partition epoch by one.
    Source: PartitionRegistration.merge; ZooKeeper's version of the partition's state.
    """
    versions = [(e["leader_epoch"], e["partition_epoch"]) for e in life if None not in _epochs(e)]
    since = max((v for epoch, v in versions if epoch <= before.epoch), default=None)
    until = min((v for epoch, v in versions if epoch >= after.epoch), default=None)
    if since is None or until is None or before.leader in (NOBODY, None) or before.leader != after.leader:
        return []
    own = {
        e["partition_epoch"]: e
        for e in life
        if e["kind"] == "isr_updated" and e["broker"] == before.leader and since < (e["partition_epoch"] or 0) <= until
    }
    return [own[v] for v in sorted(own)] if until - since - len(own) < _HIDDEN_CHANGES else []


def _epochs(event: Row) -> tuple[int | None, int | None]:
    return event["leader_epoch"], event["partition_epoch"]


def gap_row(key: Partition, life_number: int, gap: Gap) -> OutRow:
    """A row of quality.leadership_gaps."""
    cluster, topic, partition = key
    return {
        "cluster": cluster,
        "topic": topic,
        "partition": partition,
        "topic_incarnation": life_number,
        "after_epoch": gap.before.epoch,
        "next_epoch": gap.after.epoch,
        "leader_before": gap.before.leader,
        "leader_after": gap.after.leader,
        "seen_at": gap.at,
        "explained_by": gap.explained_by,
        "explanation": _said(gap),
        "evidence": evidence_of([*gap.before.quotes[:1], *gap.quotes, *gap.after.quotes[:1]]),
    }


def _said(gap: Gap) -> str:
    before, after = gap.before, gap.after
    if after.epoch == before.epoch + 1:
        return f"{_name(after.leader)} followed {_name(before.leader)}, as a later line tells; when, nobody saw."
    if before.leader == after.leader:
        told = f"{_name(before.leader)} before and after {gap.skipped}, which nobody saw"
        what = "a failover and a return are possible"
    else:
        told = f"{_name(before.leader)} before {gap.skipped}, which nobody saw, and {_name(after.leader)} after"
        what = "more changes of leader are possible"
    return f"{told}: {gap.explained_by or what}."


def _name(leader: int) -> str:
    return "nobody led" if leader == NOBODY else f"broker {leader} led"
