"""Which replicas of a partition were in sync, from when to when, as far as lines and readings show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.rows import PartitionSnapshot, Quote
from kafka_hindsight.judgements.partitions.leaderships import eligible_in
from kafka_hindsight.judgements.partitions.readings import PartitionReadings
from kafka_hindsight.judgements.partitions.replicas.isr import Commit
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_snapshot
from kafka_hindsight.judgements.reasoning.timelines import Interval
from kafka_hindsight.shared.durations import CATCHING_UP

_AFTER_CATCHING_UP = CATCHING_UP + timedelta.resolution

_NEAR = 4
"""More commits than these do not come within seconds of a reading."""


@dataclass(frozen=True)
class KnownIsr:
    """These replicas were in sync, and no evidence contradicts it.

    `has_eligible`: evidence shows eligible leader replicas (KIP-966), which could lead without loss.
    """

    isr: frozenset[int]
    quote: Quote
    has_eligible: bool = False


@dataclass(frozen=True)
class _Observation:
    """An ISR that a line or a reading shows.

    `version` is None where no line names it; `is_doubtful`: a reading that no line explains.
    """

    at: datetime
    isr: frozenset[int]
    quote: Quote
    is_commit: bool = True
    version: int | None = None
    is_doubtful: bool = False
    has_eligible: bool = False


def known_isrs(commits: Sequence[Commit], readings: PartitionReadings, until: datetime) -> list[Interval[KnownIsr]]:
    """The known ISRs of one incarnation of a partition, in order of time and without overlap.

    Takes: its commits in order; its rows of bronze.partition_snapshots in order of time; where its evidence ends.
    Keeps: where an observation contradicts an ISR, the ISR is known up to the last observation that confirms it;
    between the two none is known.
    Edge case: a reading takes seconds and brokers learn late, so a reading may show what was just before or comes just
    after. Between two commits whose versions leave room for a third the ISR is known only where both show the same.
    """
    observations = _observations(commits, readings)
    known = []
    for now, after in zip(observations, [*observations[1:], None], strict=False):
        end = after.at if after else until
        if now.at < end and (after is None or _follows(now, after)):
            known.append(Interval(now.at, end, KnownIsr(now.isr, now.quote, now.has_eligible)))
    return known


def _observations(commits: Sequence[Commit], readings: PartitionReadings) -> list[_Observation]:
    """In order of time; a reading that only lags behind the lines, or runs ahead, is left out."""
    committed = _in_time(commits)
    telling = readings.telling(at for o in committed for at in (o.at - CATCHING_UP, o.at, o.at + _AFTER_CATCHING_UP))
    read = [_Observation(r.snapshot_at, frozenset(r.isr), _quote(r), False) for r in telling if r.isr is not None]
    merged: list[_Observation] = []
    passed = 0
    for observed in sorted([*committed, *read], key=lambda o: (o.at, not o.is_commit)):
        if observed.is_commit:
            passed += 1
            merged.append(observed)
        elif merged and observed.isr == merged[-1].isr:
            merged.append(replace(merged[-1], at=observed.at))
        elif not _is_lag(observed, committed[max(0, passed - _NEAR) : passed + _NEAR]):
            merged.append(replace(observed, is_doubtful=passed > 0))
    return merged


def _in_time(commits: Iterable[Commit]) -> list[_Observation]:
    """Commits as observations. Their order counts, not the clocks of the brokers that log them."""
    observed: list[_Observation] = []
    has_eligible = False
    for commit in commits:
        at = max(commit.at, observed[-1].at) if observed else commit.at
        eligible = eligible_in(commit.line)
        has_eligible = has_eligible if eligible is None else bool(eligible)
        isr, line = frozenset(commit.isr), quote(commit.line)
        observed.append(_Observation(at, isr, line, version=commit.version, has_eligible=has_eligible))
    return observed


def _is_lag(reading: _Observation, around: Sequence[_Observation]) -> bool:
    """Whether the reading shows a state that a commit within seconds of it ended or started."""
    starts = [o.at for o in around if o.isr == reading.isr]
    ends = [after.at for now, after in pairwise(around) if now.isr == reading.isr]
    return any(abs(at - reading.at) <= CATCHING_UP for at in (*starts, *ends))


def _follows(now: _Observation, after: _Observation) -> bool:
    """Whether no other ISR can have been between the two."""
    if now.isr == after.isr:
        return True
    if now.is_doubtful or not after.is_commit:
        return False
    return now.version is None or after.version is None or after.version == now.version + 1


def _quote(reading: PartitionSnapshot) -> Quote:
    shown = f"{reading.topic}-{reading.partition}: isr {reading.isr}, replicas {reading.replicas}"
    return quote_snapshot(reading, shown)
