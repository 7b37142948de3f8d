"""How many records an unclean election threw away: bounds, each with the witness that tells it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from spark_jobs.transforms.evidence import quote, quote_snapshot
from spark_jobs.transforms.leaderships import NOBODY, Leadership
from spark_jobs.transforms.windows import Row, broker_ids

LOSS_KINDS = (
    "leader_started",
    "follower_started",
    "log_loaded",
    "log_end_loaded",
    "log_truncated",
    "isr_shrink_proposed",
)


@dataclass(frozen=True)
class Mark:
    """An offset that a witness told."""

    offset: int
    quote: dict[str, Any]


@dataclass(frozen=True)
class Bound:
    """So many records, between two offsets that witnesses told; none where one of the two is not told."""

    records: int = 0
    span: tuple[int, int] | None = None
    quotes: tuple[dict[str, Any], ...] = ()

    @property
    def says(self) -> str:
        """How many, and from which offset to which."""
        return f"{self.records} (offset {self.span[0]} to {self.span[1]})" if self.span else f"{self.records}"


@dataclass(frozen=True)
class Loss:
    """Bounds of the records lost. `high` is None where no witness bounds them from above."""

    low: int
    high: int | None
    quotes: tuple[dict[str, Any], ...]
    says: str


@dataclass(frozen=True)
class _Case:
    """One unclean election: who led before, who was in sync, and all that is told of the partition."""

    change: Leadership
    at: datetime
    last_leader: int
    holders: frozenset[int]
    life: Sequence[Row]
    readings: Sequence[Row]


def loss_of(
    change: Leadership, last_leader: int, holders: Collection[int], life: Sequence[Row], readings: Sequence[Row]
) -> Loss:
    """The records that were in the old leader's log and are in no log of the cluster any more.

    Takes: the unclean leadership; the last real leader before it; the replicas in sync before it;
    the partition's events in order and its rows of bronze.partition_snapshots in order of time, with what
    `with_commits` adds to them.
    Keeps: the true number lies within the bounds, whichever witnesses are missing.
    Odd: lost is what lies between the point where the new leader's log parts from the old one's and the old one's
    end. Where the old leader comes back it tells both: how long its log is, and where it cuts it. Without it, the new
    leader starts no earlier than they part; what a reader could read, or had read, the old leader had.
    Source: KIP-101, KIP-207 (no end offset is told below the start of the leader's epoch), Partition.makeFollower,
    UnifiedLog.truncateTo.
    """
    assert change.at is not None
    case = _Case(change, change.at, last_leader, frozenset(holders) - {change.leader}, life, readings)
    end, cut = _log_end(case, last_leader), _cut(case, last_leader)
    reached = max([*_reached(case), *_if(end)], key=lambda m: m.offset, default=None)
    parted_by = min([*_starts(case), *_if(cut)], key=lambda m: m.offset, default=None)
    shared = cut or max(_shared(case), key=lambda m: m.offset, default=None)
    low = max([_between(parted_by, reached), *_cuts_of_holders(case)], key=lambda b: b.records)
    # A log that ends before what was read from it lost its tail in the crash: it bounds nothing from above.
    is_whole = end is not None and reached is not None and reached.offset <= end.offset
    high = _between(shared, end) if is_whole and shared else None
    if high is None:
        return Loss(low.records, None, low.quotes, f"at least {low.says}")
    exact = low.records >= high.records
    says = low.says if exact else f"at least {low.says}, at most {high.says}"
    return Loss(low.records, max(low.records, high.records), (*low.quotes, *high.quotes), says)


def with_commits(readings: Iterable[Row], commits: Iterable[Row]) -> list[Row]:
    """Readings of partitions, each with `committed`: the rows of bronze.offset_snapshots of the same reading."""
    by_reading: dict[tuple[str, str, int], list[Row]] = {}
    for commit in commits:
        by_reading.setdefault((commit["snapshot_id"], commit["topic"], commit["partition"]), []).append(commit)
    return [
        {**r, "committed": by_reading.get((r["snapshot_id"], r["topic"], r["partition"]), ())} if by_reading else r
        for r in readings
    ]


def _between(start: Mark | None, end: Mark | None) -> Bound:
    if start is None or end is None or end.offset <= start.offset:
        return Bound(quotes=tuple(m.quote for m in (start, end) if m))
    return Bound(end.offset - start.offset, (start.offset, end.offset), (start.quote, end.quote))


def _if(mark: Mark | None) -> tuple[Mark, ...]:
    return (mark,) if mark else ()


def _reached(case: _Case) -> list[Mark]:
    """Offsets that the old leader's log had reached at least."""
    own = [
        Mark(e["log_offset"], quote(e))
        for e in _as_leader(case)
        if e["kind"] in ("leader_started", "isr_shrink_proposed") and e["log_offset"] is not None
    ]
    # What is committed is in the leader's log; a high watermark is only told once it is reached.
    committed = [
        Mark(e["high_watermark"], quote(e))
        for e in case.life
        if e["high_watermark"] is not None
        and (e["happened_at"] < case.at or (e["broker"] == case.last_leader and not _is_back(case, e["happened_at"])))
    ]
    read = [_read(r) for r in _before(case) if r["end_offset"] is not None]
    return [*own, *committed, *read, *_read_by_groups(case)]


def _as_leader(case: _Case) -> list[Row]:
    """What the old leader told since it last began to lead."""
    told = [e for e in case.life if e["broker"] == case.last_leader and e["happened_at"] < case.at]
    starts = [i for i, e in enumerate(told) if e["kind"] == "leader_started"]
    return told[starts[-1] :] if starts else []


def _before(case: _Case) -> list[Row]:
    """The readings before the election. One that began before it may have met the new leader already."""
    return [
        r
        for r in case.readings
        if r["snapshot_at"] < case.at and (r["leader_epoch"] is None or r["leader_epoch"] < case.change.epoch)
    ]


def _read(reading: Row) -> Mark:
    says = f"{reading['topic']}-{reading['partition']} ends at offset {reading['end_offset']}"
    return Mark(reading["end_offset"], quote_snapshot(reading["snapshot_id"], reading["snapshot_at"], says))


def _read_by_groups(case: _Case) -> list[Mark]:
    """What groups had committed before the election, or can have committed before it only.

    Odd: within an epoch the end never falls, so a commit above an end that is told later is older than the epoch.
    """
    later: int | None = None
    marks = []
    for r in reversed(case.readings):
        is_before = r["snapshot_at"] < case.at
        for commit in r.get("committed", ()):
            offset = commit["committed_offset"]
            if offset is not None and (is_before or (later is not None and offset > later)):
                says = f"group {commit['group_id']} has committed offset {offset} of {r['topic']}-{r['partition']}"
                marks.append(Mark(offset, quote_snapshot(r["snapshot_id"], r["snapshot_at"], says)))
        if r["leader_epoch"] == case.change.epoch and r["end_offset"] is not None:
            later = r["end_offset"]
    return marks


def _starts(case: _Case) -> list[Mark]:
    """Offsets that the new leader's log parts from the old one's at, or below."""
    read = [_read(r) for r in case.readings if r["leader_epoch"] == case.change.epoch and r["end_offset"] is not None]
    return [*_if(_start(case)), *read]


def _start(case: _Case) -> Mark | None:
    """Where the new leader began, by its own word."""
    for e in case.life:
        is_start = e["kind"] == "leader_started" and e["leader_epoch"] == case.change.epoch
        if is_start and e["broker"] == case.change.leader and e["log_offset"] is not None:
            return Mark(e["log_offset"], quote(e))
    return None


def _shared(case: _Case) -> list[Mark]:
    """Offsets up to which both logs are the same."""
    new_leader = case.change.leader
    committed = [
        Mark(e["high_watermark"], quote(e))
        for e in case.life
        if e["high_watermark"] is not None
        and e["happened_at"] < case.at
        and (e["broker"] == new_leader or new_leader in (broker_ids(e["previous_isr"] or e["isr"]) or ()))
    ]
    read = [_read(r) for r in _before(case) if r["end_offset"] is not None and new_leader in (r["isr"] or ())]
    return [*committed, *read, *_parted_at(case)]


def _parted_at(case: _Case) -> tuple[Mark, ...]:
    """Up to where the new leader's log came from the old leader, or was in it.

    It was in sync once: then its log was the beginning of that leader's. Each leader since has taken over the log of
    the one before it up to its own start.
    """
    led, starts = _led(case)
    in_sync = [
        e["leader_epoch"]
        for e in case.life
        if e["leader_epoch"] in led and case.change.leader in (led[e["leader_epoch"]], *(broker_ids(e["isr"]) or ()))
    ]
    start = _start(case)
    if not in_sync or start is None:
        return ()
    epochs = range(max(in_sync), case.change.epoch)
    if any(epoch not in led for epoch in epochs):
        return ()
    leaders = [(epoch, led[epoch]) for epoch in epochs if led[epoch] != NOBODY]
    changed = [epoch for (_, before), (epoch, after) in pairwise(leaders) if before != after]
    if any(epoch not in starts for epoch in changed):
        return ()
    return (min([start, *(starts[epoch] for epoch in changed)], key=lambda m: m.offset),)


def _led(case: _Case) -> tuple[dict[int, int], dict[int, Mark]]:
    """Who led in each epoch before, and where the leader's log ended when it began to."""
    led: dict[int, int] = {}
    starts: dict[int, Mark] = {}
    for e in case.life:
        epoch = e["leader_epoch"]
        if epoch is None or epoch >= case.change.epoch:
            continue
        if e["kind"] == "leader_started":
            led[epoch] = e["broker"]
            if e["log_offset"] is not None:
                starts[epoch] = Mark(e["log_offset"], quote(e))
        elif e["leader"] is not None:
            led[epoch] = e["leader"]
    return led, starts


def _log_end(case: _Case, replica: int) -> Mark | None:
    """The replica's own word on where its log ended when it met the new leader."""
    for event in case.life:
        if event["broker"] != replica or event["log_offset"] is None or event["happened_at"] < case.at:
            continue
        is_met = event["kind"] == "follower_started" and event["leader_epoch"] >= case.change.epoch
        if is_met or event["kind"] == "log_end_loaded":
            return None if _is_back(case, event["happened_at"], replica) else Mark(event["log_offset"], quote(event))
    return None


def _is_back(case: _Case, instant: datetime, replica: int | None = None) -> bool:
    """Whether the replica had been in sync with the new leader by then, so that it had cut its log already."""
    who = case.last_leader if replica is None else replica
    told = [
        (e["happened_at"], broker_ids(e["isr"]) or ())
        for e in case.life
        if e["isr"] and (e["kind"] == "isr_updated" or (e["leader_epoch"] or 0) >= case.change.epoch)
    ]
    told += [(r["snapshot_at"], r["isr"] or ()) for r in case.readings if (r["leader_epoch"] or 0) >= case.change.epoch]
    return any(case.at < at < instant and who in isr for at, isr in told)


def _cut(case: _Case, replica: int) -> Mark | None:
    """Where the replica cut its log first, once it followed the new leader."""
    follows = next(
        (
            e["happened_at"]
            for e in case.life
            if e["kind"] == "follower_started" and e["broker"] == replica and e["leader_epoch"] >= case.change.epoch
        ),
        case.at,
    )
    for e in case.life:
        is_cut = e["kind"] == "log_truncated" and e["broker"] == replica and e["log_offset"] is not None
        if is_cut and e["happened_at"] >= follows:
            return None if _is_back(case, e["happened_at"], replica) else Mark(e["log_offset"], quote(e))
    return None


def _cuts_of_holders(case: _Case) -> list[Bound]:
    """What other replicas that were in sync held and cut: the old leader held no less.

    Odd: one that tells its end and is not heard cutting has parted where the new leader started, or before.
    """
    found = []
    for replica in sorted(case.holders - {case.last_leader}):
        end, cut = _log_end(case, replica), _cut(case, replica)
        parted_by = cut or min(_starts(case), key=lambda m: m.offset, default=None)
        if end and parted_by:
            found.append(_between(parted_by, end))
    return found
