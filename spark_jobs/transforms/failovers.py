"""Changes of leaders: what happened to each partition, why, and what it cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.evidence import evidence_of, row_id
from spark_jobs.transforms.isr import ISR_KINDS, Commit, commits_of
from spark_jobs.transforms.leaderships import LEADERSHIP_KINDS, NOBODY, Leadership, leaderships_of, replicas_of
from spark_jobs.transforms.losses import LOSS_KINDS, Loss, loss_of
from spark_jobs.transforms.partitions import Partition, lives_of
from spark_jobs.transforms.verdicts import Change, judge_change
from spark_jobs.transforms.windows import OutRow, Row, Window, elapsed_ms

_WHY_KINDS = ("partition_recovering", "preferred_election_completed", "reassignment_changed")
FAILOVER_KINDS = frozenset((*LEADERSHIP_KINDS, *ISR_KINDS, *LOSS_KINDS, *_WHY_KINDS))


def rebuild_failovers(
    events: Iterable[Row], readings: Iterable[Row], context: ClusterContext, window: Window
) -> list[OutRow]:
    """Rows of gold.failovers: one for each partition and leader epoch where the leader really changed.

    Takes: silver.events of at least FAILOVER_KINDS and topic_deleted, of any number of whole topics, with look-back;
    rows of bronze.partition_snapshots of the same topics (may be none); the cluster's context.
    Order: by topic, partition and leader epoch.
    Keeps: within one life of a partition, the leader one row goes to is the leader the next one comes from, and epochs
    rise; a line printed again, by another broker or after a start, adds no row; a creation is none.
    """
    by_partition: dict[Partition, list[Row]] = defaultdict(list)
    for reading in sorted(readings, key=lambda r: r["snapshot_at"]):
        by_partition[reading["cluster"], reading["topic"], reading["partition"]].append(reading)
    lives = lives_of(events, FAILOVER_KINDS, context.terms)
    rows = [
        row
        for key in sorted({*lives, *by_partition})
        for i, life in enumerate(lives.get(key, [[]]))
        for row in _failovers_of(key, i, life, _within(i, lives.get(key, []), by_partition[key]), context)
    ]
    return [row for row in rows if window.holds(row["happened_at"])]


def _within(i: int, lives: Sequence[Sequence[Row]], readings: list[Row]) -> list[Row]:
    """The readings of one of a partition's lives."""
    after = [r for r in readings if not i or r["snapshot_at"] >= lives[i][0]["happened_at"]]
    return [r for r in after if i + 1 >= len(lives) or r["snapshot_at"] < lives[i + 1][0]["happened_at"]]


def _failovers_of(
    key: Partition, life_number: int, life: Sequence[Row], readings: Sequence[Row], context: ClusterContext
) -> list[OutRow]:
    leaderships = leaderships_of(life, readings, context)
    commits = commits_of([e for e in life if e["kind"] in ISR_KINDS])
    rows = []
    last_leader: int | None = None
    for before, after in pairwise(leaderships):
        last_leader = last_leader if before.leader == NOBODY else before.leader
        if before.leader != after.leader and after.at is not None:
            at = _happened_at(before, after, context)
            isr_before, isr_is_last = _isr_before(after, at, commits)
            replicas = replicas_of(life, readings, at)
            change = Change(key, before, after, at, last_leader, isr_before, isr_is_last, replicas, life)
            rows.append(_row(life_number, change, readings, context))
    return rows


def _happened_at(before: Leadership, after: Leadership, context: ClusterContext) -> datetime:
    """When a witness saw it; where only those who came later tell, when the former leader was missed."""
    assert after.at is not None
    if after.is_exact or before.at is None:
        return after.at
    outage = context.outage_between(before.leader, before.at, after.at)
    missed_at = outage["detected_at"] if outage else None
    return missed_at if missed_at and before.at <= missed_at <= after.at else after.at


def _isr_before(after: Leadership, at: datetime, commits: Sequence[Commit]) -> tuple[tuple[int, ...] | None, bool]:
    """The last ISR known before a leadership, and whether no other lies between."""
    i = next((i for i, c in enumerate(commits) if c.leader_epoch is not None and c.leader_epoch >= after.epoch), None)
    if i is None:
        earlier = [c for c in commits if c.at < at]
        return (earlier[-1].isr, False) if earlier else (None, False)
    if i == 0:
        return None, False
    before, now = commits[i - 1], commits[i]
    if before.version is not None and now.version is not None:
        return before.isr, now.version == before.version + 1 and now.leader_epoch == after.epoch
    return before.isr, before.leader_epoch == after.epoch - 1


def _row(life_number: int, change: Change, readings: Sequence[Row], context: ClusterContext) -> OutRow:
    cluster, topic, partition = change.key
    again = (life_number,) if life_number else ()
    verdict = judge_change(change, context)
    loss = _loss(change, readings) if verdict.kind == "unclean_election" else None
    outage_quotes = verdict.outage["evidence"][:2] if verdict.outage else []
    return {
        "cluster": cluster,
        "failover_id": row_id(cluster, "failover", topic, partition, change.after.epoch, *again),
        "topic": topic,
        "partition": partition,
        "happened_at": change.at,
        "leader_from": change.before.leader,
        "leader_to": change.after.leader,
        "epoch_from": change.before.epoch,
        "epoch_to": change.after.epoch,
        "kind": verdict.kind,
        "leaderless_ms": _leaderless_ms(change, context),
        "preferred_leader": change.replicas[0] if change.replicas else None,
        "isr_before": sorted(change.isr_before) if change.isr_before is not None else None,
        "isr_after": sorted(change.after.isr) if change.after.isr is not None else None,
        "records_lost_low": loss.low if loss else None,
        "records_lost_high": loss.high if loss else None,
        "outage_id": verdict.outage["outage_id"] if verdict.outage else None,
        "confidence": verdict.confidence,
        "explanation": f"{verdict.says}{_loss_words(loss)}",
        "evidence": evidence_of(
            [*change.after.quotes, *verdict.quotes, *outage_quotes, *(loss.quotes if loss else ())]
        ),
    }


def _loss(change: Change, readings: Sequence[Row]) -> Loss:
    assert change.last_leader is not None
    return loss_of(change.after, change.last_leader, change.isr_before or (), change.life, readings)


def _loss_words(loss: Loss | None) -> str:
    if loss is None:
        return ""
    if loss.low == loss.high:
        return f" Records lost: {loss.low}."
    return f" Records lost: at least {loss.low}{f', at most {loss.high}' if loss.high is not None else ''}."


def _leaderless_ms(change: Change, context: ClusterContext) -> int | None:
    """From the last proof of the old leader to the new leader's start; null where no witness tells either."""
    if change.after.leader == NOBODY or change.last_leader is None:
        return None
    started_at = next((e["happened_at"] for e in change.life if _starts_leading(e, change.after)), None)
    if started_at is None and change.after.is_exact:
        started_at = change.at
    outage = context.outage_at(change.last_leader, change.at)
    if outage and outage["kind"] != "controlled_shutdown":
        gave_way_at = outage["down_at"]
    else:
        gave_way_at = next((e["happened_at"] for e in change.life if _stops_leading(e, change)), None)
    return elapsed_ms(gave_way_at, started_at) if gave_way_at and started_at else None


def _starts_leading(event: Row, leadership: Leadership) -> bool:
    return bool(
        event["kind"] == "leader_started"
        and event["broker"] == leadership.leader
        and event["leader_epoch"] == leadership.epoch
    )


def _stops_leading(event: Row, change: Change) -> bool:
    """The old leader's own line at the epoch after its own."""
    return bool(
        event["kind"] == "follower_started"
        and event["broker"] == change.last_leader
        and event["leader_epoch"] > change.before.epoch - (change.before.leader == NOBODY)
        and event["leader_epoch"] <= change.after.epoch
    )
