"""Rows of gold.offset_jumps: what a group skipped or read again, between which bounds, and why."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Confidence, JumpCause, JumpHarm
from kafka_hindsight.catalog.rows import MemberSetting, OffsetCommits, OffsetJump, Rebalance
from kafka_hindsight.judgements.offsets.jump_rulings import JUMP_RULINGS
from kafka_hindsight.judgements.offsets.log_changes import LogChanges
from kafka_hindsight.judgements.offsets.marks import OffsetWitnesses, marks_of
from kafka_hindsight.judgements.offsets.moves import LogEnds, Move, PartitionPass, PartitionWitnesses, Removal
from kafka_hindsight.judgements.offsets.owner_endings import Endings, Manner
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.judgements.reasoning.rulings import verdict_of
from kafka_hindsight.shared.durations import SAME_ACT
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, instants, intervals

_PACED_BY = 3
"""So many moves of a committed offset show a pace. Our choice."""

_SETTLED_WITHIN = timedelta(seconds=30)
"""How long after a rebalance its members go on. Our choice, after the recorded nights."""


def offset_jumps(
    group: tuple[str, str],
    witnesses: OffsetWitnesses,
    rebalances: Sequence[Rebalance],
    logs: LogChanges,
    removals: Sequence[Removal],
    settings: Sequence[MemberSetting] = (),
    begins: Sequence[datetime] = (),
) -> list[OffsetJump]:
    """The jumps of one group, in order of time.

    `begins`: the instants at which the metadata of the cluster began again, and with them all logs and offsets.
    """
    cluster, group_id = group
    endings = Endings(witnesses.events, rebalances, settings)
    owners = intervals(
        witnesses.ownership,
        lambda o: (o.topic, o.partition),
        lambda o: Interval(o.valid_from, None if o.is_open else o.valid_to, o),
    )
    offsets = grouped(witnesses.offsets, lambda o: (o.topic, o.partition))
    starts = instants(r.started_at for r in rebalances)
    runs = grouped(witnesses.commits, lambda c: (c.topic, c.partition))
    jumps = list[OffsetJump]()
    lives = [
        (key, life)
        for key, marks in sorted(marks_of(witnesses).items())
        for life in grouped(marks, lambda m: bisect_right(begins, m.at)).values()
    ]
    for key, marks in lives:
        of_partition = PartitionWitnesses(
            group_id,
            key,
            marks,
            logs.of(key),
            LogEnds(offsets.get(key, ())),
            endings,
            owners.get(key, Intervals(())),
            starts,
            removals,
            bool(witnesses.commits),
        )
        commits = runs.get(key, ())
        for move in PartitionPass(of_partition).moves():
            if (row := row_of(cluster, move)) is not None:
                jumps.append(replace(row, records_expected=_guess_of(row, move, commits, settings)))
    return _with_rebalances(sorted(jumps, key=lambda j: (j.jumped_at, j.topic, j.partition)), rebalances)


def row_of(cluster: str, move: Move) -> OffsetJump | None:
    """The row of a move; None where the group went on where it had come to."""
    verdict = verdict_of(JUMP_RULINGS, move)
    cause = JumpCause(verdict.code)
    harm = _harm_of(move, cause)
    low, high = records_between(move, harm)
    if high == 0:
        return None
    return OffsetJump(
        cluster=cluster,
        jump_id=row_id(cluster, move.group_id, *move.key, move.at, move.target.low, move.target.high),
        group_id=move.group_id,
        topic=move.key[0],
        partition=move.key[1],
        jumped_at=move.at,
        resumed_at=move.resumed_at,
        offset_from=move.origin.exact,
        offset_to=move.target.exact,
        records_low=low,
        records_high=high,
        harm=harm,
        cause=cause,
        actor=cause.noun.actor,
        client_id=move.client_id,
        policy=move.policy,
        confidence=verdict.confidence if move.is_exact else verdict.confidence.at_most(Confidence.LIKELY),
        explanation=verdict.sentence,
        evidence=evidence_of((*move.quotes, *verdict.evidence)),
    )


def _guess_of(
    row: OffsetJump, move: Move, commits: Sequence[OffsetCommits], settings: Sequence[MemberSetting]
) -> int | None:
    """The number of records that its former owner had probably read beyond its last commit.

    That is the pace of its commits, times half of its commit interval, or times the length of its last join.
    """
    of_owner = [s for s in settings if s.client_id == move.former_client_id and s.is_auto_commit]
    interval = next((s.auto_commit_interval_ms for s in of_owner if s.auto_commit_interval_ms is not None), None)
    ended_at = move.ending.at or move.at
    paced = [c for c in commits if c.moves >= _PACED_BY and c.last_at <= ended_at and c.moved_at > c.first_at]
    if (
        not row.cause.noun.is_of_rebalance
        or row.records_low == row.records_high
        or interval is None
        or not paced
        or row.records_high is None
    ):
        return None
    run = max(paced, key=lambda c: c.last_at)
    pace = ((run.last_offset or 0) - (run.first_offset or 0)) / (run.moved_at - run.first_at).total_seconds()
    length = max(0.0, (ended_at - run.last_at).total_seconds())
    if move.ending.manner is Manner.LOST:
        length = min(interval / 2000, length)
    return max(row.records_low, min(row.records_high, round(pace * length)))


def _harm_of(move: Move, cause: JumpCause) -> JumpHarm:
    """The fate of the records between the two ends; not known where the target may lie on either side."""
    origin, target = move.origin, move.target
    is_after = target.low is not None and origin.high is not None and target.low >= origin.high
    is_before = target.high is not None and origin.low is not None and target.high <= origin.low
    if is_before and cause.noun.is_cut:
        return JumpHarm.RECORDS_GONE
    if is_after:
        return JumpHarm.RECORDS_SKIPPED
    return JumpHarm.RECORDS_READ_AGAIN if is_before else JumpHarm.UNKNOWN


def records_between(move: Move, harm: JumpHarm) -> tuple[int, int | None]:
    """The number of records between the two ends, at least and at most; None: no bound."""
    origin, target = move.origin, move.target
    forward = (_less(target.low, origin.high) or 0, _less(target.high, origin.low))
    backward = (_less(origin.low, target.high) or 0, _less(origin.high, target.low))
    if harm is JumpHarm.RECORDS_SKIPPED:
        return forward
    if harm is JumpHarm.UNKNOWN:
        most = None if forward[1] is None or backward[1] is None else max(forward[1], backward[1])
        return 0, most
    return backward


def _less(offset: int | None, other: int | None) -> int | None:
    return None if offset is None or other is None else max(0, offset - other)


def _with_rebalances(jumps: Iterable[OffsetJump], rebalances: Iterable[Rebalance]) -> list[OffsetJump]:
    """The jumps, each with the last rebalance that had begun when its member went on."""
    by_start = Timeline(rebalances, lambda r: r.started_at)
    return [replace(j, rebalance_id=_rebalance_of(j, by_start)) for j in jumps]


def _rebalance_of(jump: OffsetJump, by_start: Timeline[Rebalance]) -> str | None:
    if jump.resumed_at is None:
        return None
    last = by_start.last_until(jump.resumed_at + SAME_ACT)
    is_its = last is not None and jump.resumed_at <= (last.ended_at or last.started_at) + _SETTLED_WITHIN
    return last.rebalance_id if last is not None and is_its else None
