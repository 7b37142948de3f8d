"""What rebalances cost: partitions that stood still, times how long. Plain Python over one group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from spark_jobs.transforms.durations import SAME_ACT
from spark_jobs.transforms.groups.assignments import Assignment, assignments_of, partitions_in
from spark_jobs.transforms.rebalances.recorded_holdings import Owned, Span, in_turn, recorded_spans
from spark_jobs.transforms.windows import OutRow, Row

_MOVES = ("client_assigned", "client_revoked", "client_lost")


@dataclass(frozen=True)
class Stop:
    """What stood still in one rebalance. `stopped` partitions did, of which `kept` came back to the member they had.

    None: nothing tells. `is_eager`: every member gave back everything; None where no witness names the assignor.
    """

    stopped: int | None = None
    kept: int | None = None
    is_eager: bool | None = None
    quotes: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Witnesses:
    """What tells who held what in one group.

    Its events; its rows of bronze.group_records, group_snapshots (as `readings`) and member_snapshots.
    """

    events: Sequence[Row] = ()
    records: Sequence[Row] = ()
    readings: Sequence[Row] = ()
    members: Sequence[Row] = ()


def price(rebalances: Sequence[Row], stops: Mapping[str, Stop]) -> list[OutRow]:
    """The rebalances with `partition_seconds`, null where duration or partitions are not known."""
    return [{**r, "partition_seconds": cost_of(r, stops[r["rebalance_id"]].stopped)} for r in rebalances]


def cost_of(rebalance: Row, partitions: int | None) -> float | None:
    """What it costs that so many partitions stand while a rebalance runs, in partition seconds."""
    if rebalance["duration_ms"] is None or partitions is None:
        return None
    return float(round(partitions * rebalance["duration_ms"] / 1000, 3))


def stops_of(rebalances: Sequence[Row], told: Witnesses) -> dict[str, Stop]:
    """What stood still in each rebalance of one group, by rebalance id.

    Takes: rows of gold.rebalances of one group.
    Gives: all partitions of the group where its assignor is eager; where it is cooperative those that got another
        owner, or whose owner had gone: what a member gives back it reads until it has synced, so that it stands in
        the follow-up. Under KIP-848 those whose owner changed while members went over to the epoch.
    Source: KIP-429, KIP-848; ConsumerCoordinator.onJoinPrepare and onJoinComplete.
    """
    ordered = sorted(rebalances, key=lambda r: (r["started_at"], r["rebalance_id"]))
    classic = [r for r in ordered if r["protocol"] == "classic"]
    stops = _stops_of_epochs([r for r in ordered if r["protocol"] == "consumer"], told)
    if not classic:
        return stops
    known = assignments_of(told.events, told.records, told.readings, told.members)
    most = max((len(a.owners) for a in known), default=None)
    assignors = _assignors(told)
    held, since = None, None
    for rebalance, following in pairwise([*classic, None]):
        assert rebalance is not None
        before = held or _before(rebalance, since, known)
        after = _after(rebalance, following["started_at"] if following else None, known)
        is_eager = _is_eager(rebalance, assignors, classic)
        stops[rebalance["rebalance_id"]] = _stop(before, after, is_eager, most)
        if rebalance["outcome"] in ("completed", "emptied"):
            held, since = after, rebalance["ended_at"]
    return stops


def _stop(before: Assignment | None, after: Assignment | None, is_eager: bool | None, most: int | None) -> Stop:
    quotes = tuple(a.quote for a in (before, after) if a is not None)
    had, has = before.owners if before else {}, after.owners if after else {}
    if is_eager:
        kept = sum(has.get(p) == member for p, member in had.items()) if before and after else None
        return Stop(len({*had, *has}) or most, kept, True, quotes)
    if is_eager is None or before is None or after is None:
        return Stop(None, None, is_eager, quotes)
    given = {p for p, member in has.items() if had.get(p) != member}
    left = {p for p, member in had.items() if member not in after.members}
    return Stop(len(given | left), 0, False, quotes)


def _before(rebalance: Row, since: datetime | None, known: Iterable[Assignment]) -> Assignment | None:
    """What held when a rebalance began that follows none of which it is known; nothing in a group's first one."""
    at = rebalance["started_at"]
    if rebalance["from_generation"] == 0:
        return _nothing(at, 0, rebalance)
    held = [
        a
        for a in known
        if (since is None or a.at > since) and a.at < at and a.generation in (None, rebalance["from_generation"])
    ]
    return held[-1] if held else None


def _after(rebalance: Row, until: datetime | None, known: Iterable[Assignment]) -> Assignment | None:
    """What a rebalance led to: the assignment of its generation, or what a reading shows before the next one."""
    start, end = rebalance["started_at"], rebalance["ended_at"]
    if rebalance["outcome"] == "emptied":
        return _nothing(end, rebalance["to_generation"], rebalance)
    if rebalance["outcome"] != "completed":
        return None
    told = (a for a in known if until is None or a.at < until)
    return next(
        (
            a
            for a in told
            if (a.generation is None and a.at > end + SAME_ACT)
            or (a.generation == rebalance["to_generation"] and a.at >= start - SAME_ACT)
        ),
        None,
    )


def _nothing(at: datetime, generation: int | None, rebalance: Row) -> Assignment:
    return Assignment(at, generation, frozenset(), {}, rebalance["evidence"][-1])


def _assignors(told: Witnesses) -> list[tuple[datetime, str]]:
    """The assignors that the group was seen with, in order of time.

    Odd: what a client is configured with is a list of offers, and no choice.
    """
    by_lines = [
        (e["happened_at"], e["assignor"]) for e in told.events if e["assignor"] and e["kind"] != "client_configured"
    ]
    by_records = [(r["written_at"], r["protocol"]) for r in told.records if r["protocol"]]
    by_readings = [(r["snapshot_at"], r["assignor"]) for r in told.readings if r["assignor"]]
    return sorted([*by_lines, *by_records, *by_readings])


def _is_eager(rebalance: Row, assignors: Sequence[tuple[datetime, str]], all_: Iterable[Row]) -> bool | None:
    """Whether the generation's assignor is eager: the last one seen by its end, else the first one seen after it."""
    end = (rebalance["ended_at"] or rebalance["started_at"]) + SAME_ACT
    seen = [name for at, name in assignors if at <= end][-1:] or [name for _, name in assignors][:1]
    if seen:
        return "cooperative" not in seen[0]
    return False if any(r["cause"] == "cooperative_followup" for r in all_) else None


def _stops_of_epochs(rebalances: Sequence[Row], told: Witnesses) -> dict[str, Stop]:
    """KIP-848: by what the coordinator stored of its members where it did, else by the members' own logs.

    Odd: an epoch has an end only where every member is witnessed, so that what no log tells did not move.
    """
    spans = recorded_spans(in_turn(told.records)) if rebalances else []
    recorded_from = min((r["written_at"] for r in told.records), default=None)
    moves = [e for e in told.events if e["kind"] in _MOVES]
    stops = {}
    for rebalance in rebalances:
        start, end = rebalance["started_at"], rebalance["ended_at"]
        if end is None or not (spans or moves):
            stops[rebalance["rebalance_id"]] = Stop(is_eager=False)
        elif spans and recorded_from is not None and recorded_from <= start + SAME_ACT:
            stops[rebalance["rebalance_id"]] = _moved_by_records(spans, start, end)
        else:
            moved = {p for e in moves if start <= e["happened_at"] <= end for p in partitions_in(e["detail"] or "")}
            stops[rebalance["rebalance_id"]] = Stop(len(moved), 0, False)
    return stops


def _moved_by_records(spans: Sequence[Span], start: datetime, end: datetime) -> Stop:
    before = {s.owned: s.member["member_id"] for s in spans if s.since < start and (not s.until or s.until >= start)}
    after = {s.owned: s.member["member_id"] for s in spans if s.since <= end and (not s.until or s.until > end)}
    moved: set[Owned] = {p for p in {*before, *after} if before.get(p) != after.get(p)}
    return Stop(len(moved), 0, False)
