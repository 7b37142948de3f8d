"""Losses of committed records, counted from one set of rows: elections and cuts of logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import TruncationVerdict
from kafka_hindsight.catalog.rows import Failover, Truncation
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

PartitionName = tuple[str, int]
"""A topic, and the number of a partition."""


@dataclass(frozen=True)
class RecordLoss:
    """Committed records that were lost: at least and at most. `high` is None where nothing bounds it."""

    low: int
    high: int | None

    def __add__(self, other: RecordLoss) -> RecordLoss:
        """Both losses together."""
        return RecordLoss(self.low + other.low, _sum([self.high, other.high]))

    @property
    def number(self) -> str:
        """The number for a tile: `40`, `3–7`, or `40+` without an upper bound."""
        if self.high is None:
            return f"{words.number(self.low)}+"
        return words.number_range(self.low, self.high)


NO_LOSS = RecordLoss(0, 0)


def can_lose(row: Failover) -> bool:
    """Whether a change of a leader lost records, or may have."""
    return row.records_lost_low is not None and row.records_lost_high != 0


def losses_of(failovers: Iterable[Failover], truncations: Iterable[Truncation]) -> Mapping[PartitionName, RecordLoss]:
    """The partitions that lost records, or may have lost some, each with the bounds of its loss.

    An election that lost records counts the cuts that the same incident has of its partition.
    """
    elections = grouped(failovers, lambda f: (f.incident_id, f.topic, f.partition))
    cuts = grouped(truncations, lambda t: (t.incident_id, t.topic, t.partition))
    losses: dict[PartitionName, RecordLoss] = {}
    for key in (*elections, *(key for key in cuts if key not in elections)):
        if loss := _loss_of(elections.get(key, ()), cuts.get(key, ())):
            losses[key[1:]] = losses.get(key[1:], NO_LOSS) + loss
    return losses


def total_loss(failovers: Iterable[Failover], truncations: Iterable[Truncation]) -> RecordLoss:
    """All losses together."""
    return sum(losses_of(failovers, truncations).values(), NO_LOSS)


def _loss_of(elections: Sequence[Failover], cuts: Sequence[Truncation]) -> RecordLoss | None:
    """The loss of one partition in one incident; None without one."""
    lossy = [f for f in elections if can_lose(f)]
    harmful = [t for t in cuts if t.verdict == TruncationVerdict.COMMITTED_LOST]
    least_cut = max(map(_least_lost, harmful), default=0)
    if lossy:
        # The records that a replica cut are part of what the elections before it lost.
        least = max(sum(f.records_lost_low or 0 for f in lossy), least_cut)
        most = _sum([f.records_lost_high for f in lossy])
        return RecordLoss(least, None if most is None else max(least, most))
    is_judged = any(f.records_lost_low is not None for f in elections)
    unknown = [t for t in cuts if t.verdict == TruncationVerdict.UNKNOWN and not is_judged]
    if not harmful and not unknown:
        return None
    most = _sum([t.records_cut for t in (*harmful, *unknown)])
    if most is not None and len({t.truncated_to for t in (*harmful, *unknown)}) == 1:
        # Replicas that cut their logs to the same offset cut the same records.
        most = max(t.records_cut or 0 for t in (*harmful, *unknown))
    return RecordLoss(least_cut, most)


def _least_lost(cut: Truncation) -> int:
    """How many of the records that a replica cut were committed, at least: those below the high watermark."""
    if cut.high_watermark is None or cut.is_whole:
        return 1
    return max(1, cut.high_watermark - cut.truncated_to)


def _sum(bounds: Sequence[int | None]) -> int | None:
    numbers = [bound for bound in bounds if bound is not None]
    return sum(numbers) if len(numbers) == len(bounds) else None
