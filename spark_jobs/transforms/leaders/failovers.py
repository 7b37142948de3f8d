"""Changes of leaders: what happened to each partition, why, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from spark_jobs.catalog.codes import Confidence
from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.evidence import evidence_of, row_id
from spark_jobs.transforms.leaders.election_trigger import requested_by_operator
from spark_jobs.transforms.leaders.leaderless import leaderless_of
from spark_jobs.transforms.leaders.leadership_gaps import Gap, gap_between, gap_row
from spark_jobs.transforms.leaders.verdicts import Change, Verdict, judge_change
from spark_jobs.transforms.leaderships import LEADERSHIP_KINDS, NOBODY, Leadership, leaderships_of, replicas_of
from spark_jobs.transforms.partitions import Partition, by_partition, lives_of
from spark_jobs.transforms.replicas.isr import ISR_KINDS, Commit, commits_of
from spark_jobs.transforms.replicas.losses import LOSS_KINDS, Loss, loss_of
from spark_jobs.transforms.windows import OutRow, Row, Window

_WHY_KINDS = ("partition_recovering", "preferred_election_completed", "reassignment_changed")
FAILOVER_KINDS = frozenset((*LEADERSHIP_KINDS, *ISR_KINDS, *LOSS_KINDS, *_WHY_KINDS))


@dataclass(frozen=True)
class LeaderHistory:
    """Rows of gold.failovers and of quality.leadership_gaps."""

    failovers: list[OutRow]
    gaps: list[OutRow]


def rebuild_failovers(
    events: Iterable[Row], readings: Iterable[Row], context: ClusterContext, window: Window
) -> list[OutRow]:
    """Rows of gold.failovers. See `rebuild_leaders`."""
    return rebuild_leaders(events, readings, context, window).failovers


def rebuild_leaders(
    events: Iterable[Row], readings: Iterable[Row], context: ClusterContext, window: Window
) -> LeaderHistory:
    """One row for each partition and leader epoch where the leader really changed, and one for each break.

    Takes: silver.events of at least FAILOVER_KINDS and topic_deleted, of any number of whole topics, with look-back;
    rows of bronze.partition_snapshots of the same topics (may be none); the cluster's context.
    Order: by topic, partition and leader epoch.
    Keeps: within one life of a partition, the leader one row goes to is the leader the next one comes from, or a break
    leads to its epoch; each epoch that a row skips is marked by a break; epochs and instants do not fall; a line
    printed again, by another broker or after a start, adds no row; a creation is none.
    """
    read = by_partition(readings, "snapshot_at")
    lives = lives_of(events, FAILOVER_KINDS, context.terms)
    rows: list[OutRow] = []
    gaps: list[OutRow] = []
    for key in sorted({*lives, *read}):
        for i, life in enumerate(lives.get(key, [[]])):
            for row, gap in _history_of(key, i, life, _within(i, lives.get(key, []), read[key]), context):
                rows += [row] if row else []
                gaps += [gap_row(key, i, gap)] if gap else []
    return LeaderHistory(
        [row for row in rows if window.holds(row["happened_at"])], [gap for gap in gaps if window.holds(gap["seen_at"])]
    )


def _within(i: int, lives: Sequence[Sequence[Row]], readings: list[Row]) -> list[Row]:
    """The readings of one of a partition's lives."""
    after = [r for r in readings if not i or r["snapshot_at"] >= lives[i][0]["happened_at"]]
    return [r for r in after if i + 1 >= len(lives) or r["snapshot_at"] < lives[i + 1][0]["happened_at"]]


def _history_of(
    key: Partition, life_number: int, life: Sequence[Row], readings: Sequence[Row], context: ClusterContext
) -> Iterator[tuple[OutRow | None, Gap | None]]:
    """Each step from one leadership to the next that changes the leader, breaks the epochs, or both."""
    commits = commits_of([e for e in life if e["kind"] in ISR_KINDS])
    last_leader: int | None = None
    offline: OutRow | None = None
    steps = list(pairwise(leaderships_of(life, readings, context)))
    for i, (before, after) in enumerate(steps):
        last_leader = last_leader if before.leader == NOBODY else before.leader
        at = _happened_at(before, after, context)
        gap = gap_between(before, after, at or _told_at(steps[i:], context), life, readings, context)
        if before.leader == after.leader or at is None:
            yield None, gap
            continue
        isr_before, isr_is_last = _isr_before(after, at, commits, _tells_commits(before, life))
        replicas = replicas_of(life, readings, at)
        change = Change(key, before, after, at, last_leader, isr_before, isr_is_last, replicas, life)
        row = _row(life_number, change, gap, readings, context)
        if offline:
            # How long a partition was offline is known when somebody leads it again.
            offline |= {k: row[k] for k in ("leaderless_low_ms", "leaderless_high_ms")}
        offline = row if after.leader == NOBODY else None
        last_leader = None if _hides_leaders(gap) else last_leader
        yield row, gap


def _hides_leaders(gap: Gap | None) -> bool:
    return gap is not None and gap.explained_by is None


def _told_at(steps: Sequence[tuple[Leadership, Leadership]], context: ClusterContext) -> datetime:
    """By when a leadership without an instant of its own had been: by the next one with any, else by the line's."""
    told: datetime = steps[0][1].quotes[0]["happened_at"]
    return next((at for step in steps if (at := _happened_at(*step, context))), told)


def _happened_at(before: Leadership, after: Leadership, context: ClusterContext) -> datetime | None:
    """When a witness saw it; where only those who came later tell, when the former leader was missed."""
    if after.at is None or after.is_exact or before.at is None:
        return after.at
    outage = context.outage_between(before.leader, before.at, after.at)
    missed_at = outage["detected_at"] if outage else None
    return missed_at if missed_at and before.at <= missed_at <= after.at else after.at


def _tells_commits(leadership: Leadership, life: Sequence[Row]) -> bool:
    """Whether the leader's own log is at hand, which tells what it commits."""
    return any(
        e["kind"] == "leader_started" and e["broker"] == leadership.leader and e["leader_epoch"] == leadership.epoch
        for e in life
    )


def _isr_before(
    after: Leadership, at: datetime, commits: Sequence[Commit], is_told: bool
) -> tuple[tuple[int, ...] | None, bool]:
    """The last ISR known before a leadership, and whether no other lies between.

    Takes: `is_told`, whether the leader before told its commits: where no line names a version, nothing else proves it.
    """
    i = next((i for i, c in enumerate(commits) if c.leader_epoch is not None and c.leader_epoch >= after.epoch), None)
    if i is None:
        earlier = [c for c in commits if c.at < at]
        return (earlier[-1].isr, False) if earlier else (None, False)
    if i == 0:
        return None, False
    before, now = commits[i - 1], commits[i]
    if before.version is not None and now.version is not None:
        return before.isr, now.version == before.version + 1 and now.leader_epoch == after.epoch
    return before.isr, is_told and before.leader_epoch == after.epoch - 1


def _row(life_number: int, change: Change, gap: Gap | None, readings: Sequence[Row], context: ClusterContext) -> OutRow:
    cluster, topic, partition = change.key
    again = (life_number,) if life_number else ()
    verdict = _beside(gap, judge_change(change, context))
    leaderless = leaderless_of(change, context)
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
        "topic_incarnation": life_number,
        "kind": verdict.kind,
        "requested_by_operator": requested_by_operator(verdict.kind, change, context),
        "leaderless_ms": leaderless.ms,
        "leaderless_low_ms": leaderless.low_ms,
        "leaderless_high_ms": leaderless.high_ms,
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


def _beside(gap: Gap | None, verdict: Verdict) -> Verdict:
    """A verdict on a change beside which another one may have been."""
    if gap is None or not _hides_leaders(gap):
        return verdict
    # Somebody else may have led last; that nobody leads now is right all the same.
    most = "likely" if verdict.kind == "offline" else "possible"
    says = f"{verdict.says} Who led in {gap.skipped} nobody saw."
    return replace(verdict, says=says, confidence=max(verdict.confidence, most, key=[*map(str, Confidence)].index))


def _loss(change: Change, readings: Sequence[Row]) -> Loss:
    assert change.last_leader is not None
    return loss_of(change.after, change.last_leader, change.isr_before or (), change.life, readings)


def _loss_words(loss: Loss | None) -> str:
    return f" Records lost: {loss.says}." if loss else ""
