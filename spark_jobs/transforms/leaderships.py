"""The leaders of one partition, epoch by epoch: many brokers' sightings of one leadership become one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from spark_jobs.transforms.cluster import ClusterContext, known_at, on_failed_disk
from spark_jobs.transforms.controllers import speaks_for_cluster
from spark_jobs.transforms.evidence import quote, quote_snapshot
from spark_jobs.transforms.windows import Row, broker_ids

NOBODY = -1

LEADERSHIP_KINDS = (
    "leader_started",
    "follower_started",
    "leadership_kept",
    "partition_created",
    "partition_state_changed",
    "replica_removed_from_isr",
    "unclean_partition_change",
    "partition_changed",
)
# Whose word counts first: who leads, or made the leader; who follows; a reading, whose leader and epoch may stem
# from two moments.
_FIRST_HAND, _SECOND_HAND, _READING = 0, 1, 2

_EVER = datetime.max.replace(tzinfo=UTC)
_ELR = re.compile(r"(?<!\w)elr: \[[\d, ]*\] -> \[([\d, ]*)\]")
_TELL_ELR = ("unclean_partition_change", "partition_changed")


@dataclass(frozen=True)
class Sighting:
    """One witness of one leadership. `is_late` marks a witness that only caught up with what had long happened."""

    epoch: int
    leader: int
    at: datetime | None
    rank: int
    is_late: bool
    isr: tuple[int, ...] | None
    elr: tuple[int, ...]
    quote: dict[str, Any]


@dataclass(frozen=True)
class Leadership:
    """One leader epoch. `at` is None where only later ones prove it.

    `is_exact` tells that a witness was there, `is_told` that one names the leader, be it later; `step_quotes` prove
    an epoch before it that was but a step of the same election.
    """

    epoch: int
    leader: int
    at: datetime | None
    is_exact: bool
    isr: tuple[int, ...] | None
    elr: tuple[int, ...]
    quotes: tuple[dict[str, Any], ...]
    is_told: bool = True
    step_quotes: tuple[dict[str, Any], ...] = ()


def leaderships_of(life: Sequence[Row], readings: Sequence[Row], context: ClusterContext) -> list[Leadership]:
    """The leaderships of one partition's life, by epoch.

    Takes: its events in order; its rows of bronze.partition_snapshots in order of time.
    Keeps: one leadership for each epoch, whatever the number of its witnesses; nothing is invented between two
    epochs but the want of a leader, where a reading shows it or nobody else could have led.
    """
    sightings = [s for e in life for s in _seen_in(e, context)]
    known = {s.epoch for s in sightings}
    sightings += [s for s in _read(readings) if s.epoch not in known]
    by_epoch: dict[int, list[Sighting]] = {}
    for sighting in sightings:
        by_epoch.setdefault(sighting.epoch, []).append(sighting)
    merged = [_merge(by_epoch[epoch]) for epoch in sorted(by_epoch)]
    return _dated(_without_steps(_with_gaps(merged, life, readings, context), context), context)


def _merge(sightings: list[Sighting]) -> Leadership:
    best = min(sightings, key=lambda s: (s.rank, s.at is None, s.is_late))
    same = [s for s in sightings if s.leader == best.leader]
    timed = sorted((s for s in same if s.at is not None), key=_time)
    first = timed[0] if timed else None
    told = sorted(timed, key=lambda s: s.rank)[:2] or same[:1]
    return Leadership(
        best.epoch,
        best.leader,
        first.at if first else None,
        any(not s.is_late for s in timed),
        next((s.isr for s in sorted(timed, key=lambda s: s.rank) if s.isr is not None), None),
        tuple(sorted({b for s in same for b in s.elr})),
        tuple(s.quote for s in ([first] if first else []) + told),
    )


def _time(sighting: Sighting) -> datetime:
    assert sighting.at is not None
    return sighting.at


def _seen_in(event: Row, context: ClusterContext) -> Iterator[Sighting]:
    kind, epoch, leader = event["kind"], event["leader_epoch"], event["leader"]
    if kind == "leader_started":
        leader = event["broker"]
    if epoch is None or leader is None:
        return
    before, epoch_before = event["previous_leader"], event["previous_leader_epoch"]
    # A follower's line repeats under "previous" the state it has just taken: that proves nothing.
    if None not in (before, epoch_before) and 0 <= epoch_before < epoch:
        yield Sighting(epoch_before, before, None, _SECOND_HAND, True, None, (), quote(event))
    rank = _SECOND_HAND if kind in ("follower_started", "leadership_kept") else _FIRST_HAND
    isr = broker_ids(event["isr"])
    eligible = eligible_in(event) or ()
    yield Sighting(epoch, leader, event["happened_at"], rank, _is_late(event, context), isr, eligible, quote(event))


def eligible_in(event: Row) -> tuple[int, ...] | None:
    """The eligible leader replicas that a change of a partition leaves; None where it leaves them as they were."""
    elr = _ELR.search(event["detail"] or "") if event["kind"] in _TELL_ELR else None
    return broker_ids(elr[1]) or () if elr else None


def _is_late(event: Row, context: ClusterContext) -> bool:
    """Whether the writer only catches up: a standby controller, or a broker that was away and loads its partitions.

    Odd: a committed change that names no leader tells of an epoch that had long begun.
    """
    if event["kind"] in ("partition_created", "unclean_partition_change"):
        return not speaks_for_cluster(context.terms, event)
    if event["kind"] == "partition_changed":
        return bool(event["previous_leader_epoch"] == event["leader_epoch"])
    if event["kind"] == "leader_started" and (event["previous_leader_epoch"] or 0) >= 0:
        return False
    if event["kind"] in ("leader_started", "follower_started", "leadership_kept"):
        return context.has_just_returned(event["broker"], event["happened_at"])
    return False


def _read(readings: Sequence[Row]) -> Iterator[Sighting]:
    """What readings tell of epochs: only pairs of leader and epoch that two readings agree on."""
    for before, row in pairwise(readings):
        pair = (row["leader"], row["leader_epoch"])
        if None not in pair and pair == (before["leader"], before["leader_epoch"]):
            says = f"{row['topic']}-{row['partition']}: leader {row['leader']}, leader epoch {row['leader_epoch']}"
            found = quote_snapshot(before["snapshot_id"], before["snapshot_at"], says)
            isr = tuple(before["isr"]) if before["isr"] is not None else None
            yield Sighting(row["leader_epoch"], row["leader"], before["snapshot_at"], _READING, True, isr, (), found)


def _with_gaps(
    merged: list[Leadership], life: Sequence[Row], readings: Sequence[Row], context: ClusterContext
) -> list[Leadership]:
    """The leaderships with those filled in, where nobody led, that no line tells."""
    filled: list[Leadership] = []
    for before, after in zip(merged, [*merged[1:], None], strict=False):
        filled.append(before)
        has_room = after is None or (after.at is not None and after.epoch >= before.epoch + 2)
        if before.leader != NOBODY and before.at is not None and has_room:
            gap = _read_gap(before, after, readings, context)
            gap = gap or _lone_replica_gap(before, after, life, readings, context)
            filled += [gap] if gap else []
    return filled


def _without_steps(leaderships: list[Leadership], context: ClusterContext) -> list[Leadership]:
    """The leaderships without those that are but a step of one election.

    Odd: a new ZooKeeper controller first takes dead brokers out of everything, which leaves a partition without leader
    but not without replicas in sync, and elects one of these next. Nobody was elected twice.
    Source: KafkaController.onControllerFailover, ReplicaStateMachine.startup before PartitionStateMachine.startup.
    """
    kept: list[Leadership] = []
    step: Leadership | None = None
    for before, now, after in zip([None, *leaderships], leaderships, [*leaderships[1:], None], strict=False):
        if now.leader == NOBODY and _is_step(before, now, after, context):
            step = now
            continue
        kept.append(replace(now, step_quotes=step.quotes) if step else now)
        step = None
    return kept


def _is_step(before: Leadership | None, now: Leadership, after: Leadership | None, context: ClusterContext) -> bool:
    """Whether a replica in sync could take over from a leader that was taken out: the next to lead, or one alive."""
    former = before.leader if before and before.epoch + 1 == now.epoch else None
    others = {*(now.isr or ())} - {former}
    if former is not None and after and after.leader in others:
        return True
    alive = [r for r in others if now.at is None or context.outage_at(r, now.at) is None]
    return bool(context.is_zookeepers and alive)


def _dated(leaderships: list[Leadership], context: ClusterContext) -> list[Leadership]:
    """The leaderships with those dated, as far as can be, that only later ones prove.

    Order: instants do not fall as epochs rise: the clocks of two brokers may differ a little.
    Odd: it began no later than the same leader was seen; nobody else took over before the former leader was missed.
    """
    dated: list[Leadership] = []
    seen: datetime | None = None
    for i, now in enumerate(leaderships):
        later = next((n for n in leaderships[i + 1 :] if n.at is not None), None)
        at = now.at or _began_by(dated[-1] if dated else None, now, later, context)
        if at is not None:
            at = seen = max(at, seen or at)
        dated.append(replace(now, at=at))
    return dated


def _began_by(
    before: Leadership | None, now: Leadership, later: Leadership | None, context: ClusterContext
) -> datetime | None:
    if later is None or before is None or before.at is None:
        return None
    assert later.at is not None
    outage = context.outage_between(before.leader, before.at, later.at) if before.leader != now.leader else None
    if outage:
        return min(known_at(outage), later.at)
    return later.at if later.leader == now.leader and later.epoch == now.epoch + 1 else None


def _read_gap(
    before: Leadership, after: Leadership | None, readings: Sequence[Row], context: ClusterContext
) -> Leadership | None:
    """Nobody led between two epochs: a reading shows it while the leader was away.

    Odd: readings lag a little behind the brokers, so the reading alone is not enough.
    """
    assert before.at is not None
    for row in readings:
        at = row["snapshot_at"]
        outage = context.outage_at(before.leader, at)
        if row["leader"] is None and at > before.at and (not after or not after.at or at < after.at) and outage:
            says = f"{row['topic']}-{row['partition']} has no leader"
            seen = quote_snapshot(row["snapshot_id"], at, says)
            isr = tuple(row["isr"]) if row["isr"] is not None else None
            return _gap(before, min(known_at(outage), at), isr, (seen,))
    return None


def _lone_replica_gap(
    before: Leadership,
    after: Leadership | None,
    life: Sequence[Row],
    readings: Sequence[Row],
    context: ClusterContext,
) -> Leadership | None:
    """Nobody led after a partition's only replica had lost its disk or its broker: nobody else could have.

    Source: KRaft prints no line of it (ReplicationControlManager.handleDirectoriesOffline, handleBrokerFenced).
    """
    assert before.at is not None
    failure = next((e for e in context.disk_failures if _takes_partition(e, before, after, life)), None)
    outage = context.outage_between(before.leader, before.at, after.at if after and after.at else _EVER)
    is_over = after is not None and after.leader == before.leader
    lost_at = failure["happened_at"] if failure else known_at(outage) if outage else None
    if lost_at is None or replicas_of(life, readings, lost_at) != (before.leader,):
        return None
    if failure:
        return _gap(before, lost_at, None, (quote(failure),))
    # Without a later leader only a broker that was missed, and did not come back, proves it.
    assert outage is not None
    if is_over or (after is None and outage["detected_at"] and not outage["up_at"] and outage["down_at"] >= before.at):
        return _gap(before, lost_at, None, tuple(outage["evidence"][:1]))
    return None


def _takes_partition(failure: Row, before: Leadership, after: Leadership | None, life: Sequence[Row]) -> bool:
    """Whether the leader says that the disk which failed held the partition."""
    names = {f"{e['topic']}-{e['partition']}" for e in life[:1]} & on_failed_disk(failure)
    since, until = before.at, (after.at if after else None) or _EVER
    return bool(names and failure["broker"] == before.leader and since and since <= failure["happened_at"] <= until)


def _gap(
    before: Leadership, since: datetime, isr: tuple[int, ...] | None, quotes: tuple[dict[str, Any], ...]
) -> Leadership:
    assert before.at is not None
    return Leadership(before.epoch + 1, NOBODY, max(before.at, since), False, isr, (), quotes, is_told=False)


def replicas_of(life: Sequence[Row], readings: Sequence[Row], at: datetime) -> tuple[int, ...] | None:
    """The replicas of a partition, the preferred leader first, as told last before an instant, else first after it."""
    told = [(e["happened_at"], broker_ids(e["replicas"]) or ()) for e in life if e["replicas"]]
    told += [(r["snapshot_at"], tuple(r["replicas"])) for r in readings if r["replicas"]]
    told.sort(key=lambda t: t[0])
    return next((replicas for when, replicas in reversed(told) if when <= at), told[0][1] if told else None)
