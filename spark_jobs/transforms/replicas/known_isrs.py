"""Which replicas of a partition were in sync, from when to when, as far as lines and readings tell it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from spark_jobs.transforms.evidence import quote, quote_snapshot
from spark_jobs.transforms.groups.outage_attribution import CATCHING_UP
from spark_jobs.transforms.leaderships import eligible_in
from spark_jobs.transforms.replicas.isr import Commit
from spark_jobs.transforms.windows import Row

_NEAR = 4
"""More commits than these do not come within seconds of a reading."""


@dataclass(frozen=True)
class KnownIsr:
    """From `start` up to but without `end` these replicas were in sync, and nothing speaks against it.

    `has_eligible`: a witness tells of eligible leader replicas (KIP-966), which could lead without loss.
    """

    start: datetime
    end: datetime
    isr: frozenset[int]
    quote: dict[str, Any]
    has_eligible: bool = False


@dataclass(frozen=True)
class _Sight:
    """One telling. `version` is None where no line names it; `is_doubt`: a reading that no line explains."""

    at: datetime
    isr: frozenset[int]
    quote: dict[str, Any]
    is_commit: bool = True
    version: int | None = None
    is_doubt: bool = False
    has_eligible: bool = False


def known_isrs(commits: Sequence[Commit], readings: Sequence[Row], until: datetime) -> list[KnownIsr]:
    """The spans of one life of a partition, in order of time and without overlap.

    Takes: its commits in order; its rows of bronze.partition_snapshots in order of time; until when it is told of.
    Keeps: a span that a telling contradicts ends at the last telling that bears it out; what lies between is no span.
    Odd: a reading takes seconds and brokers learn late, so a reading may show what was just before or comes just after.
    Between two commits whose versions leave room for a third the ISR is known only where both show the same.
    """
    sights = _sights(commits, readings)
    spans = []
    for now, after in zip(sights, [*sights[1:], None], strict=False):
        end = after.at if after else until
        if now.at < end and (after is None or _follows(now, after)):
            spans.append(KnownIsr(now.at, end, now.isr, now.quote, now.has_eligible))
    return spans


def _sights(commits: Sequence[Commit], readings: Sequence[Row]) -> list[_Sight]:
    """The tellings in order of time; a reading that only lags behind the lines, or runs ahead, is left out."""
    told = _in_time(commits)
    read = [_Sight(r["snapshot_at"], frozenset(r["isr"]), _quoted(r), False) for r in readings if r["isr"] is not None]
    merged: list[_Sight] = []
    passed = 0
    for sight in sorted([*told, *read], key=lambda s: (s.at, not s.is_commit)):
        if sight.is_commit:
            passed += 1
            merged.append(sight)
        elif merged and sight.isr == merged[-1].isr:
            merged.append(replace(merged[-1], at=sight.at))
        elif not _is_lag(sight, told[max(0, passed - _NEAR) : passed + _NEAR]):
            merged.append(replace(sight, is_doubt=passed > 0))
    return merged


def _in_time(commits: Iterable[Commit]) -> list[_Sight]:
    """Commits as tellings. Their order counts, not the clocks of those who tell them."""
    told: list[_Sight] = []
    has_eligible = False
    for commit in commits:
        at = max(commit.at, told[-1].at) if told else commit.at
        eligible = eligible_in(commit.line)
        has_eligible = has_eligible if eligible is None else bool(eligible)
        sight = _Sight(at, frozenset(commit.isr), quote(commit.line), version=commit.version, has_eligible=has_eligible)
        told.append(sight)
    return told


def _is_lag(reading: _Sight, around: Sequence[_Sight]) -> bool:
    """Whether the reading shows a state that a commit within seconds of it ended or began."""
    begun = [s.at for s in around if s.isr == reading.isr]
    ended = [after.at for now, after in pairwise(around) if now.isr == reading.isr]
    return any(abs(at - reading.at) <= CATCHING_UP for at in (*begun, *ended))


def _follows(now: _Sight, after: _Sight) -> bool:
    """Whether nothing can have been between two tellings."""
    if now.isr == after.isr:
        return True
    if now.is_doubt or not after.is_commit:
        return False
    return now.version is None or after.version is None or after.version == now.version + 1


def _quoted(reading: Row) -> dict[str, Any]:
    says = f"{reading['topic']}-{reading['partition']}: isr {reading['isr']}, replicas {reading['replicas']}"
    return quote_snapshot(reading["snapshot_id"], reading["snapshot_at"], says)
