"""Sums of gold.unavailability, as incidents, report, terminal, alerts and SQL all count them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_hindsight.catalog.codes import Confidence, UnavailabilityKind
from kafka_hindsight.catalog.rows import Unavailability
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import MS

NOTICED_MS = 1_000
"""The shortest time that clients notice. A shorter one is part of any leader change: a client that finds no leader
asks again after retry.backoff.max.ms at most, one second by default (KIP-580)."""

LEADERLESS = (UnavailabilityKind.NO_LEADER,)
NO_WRITES = (UnavailabilityKind.ACKS_ALL_REFUSED, UnavailabilityKind.ACKS_ALL_HUNG)
NO_CONSUMER = (UnavailabilityKind.NO_CONSUMER,)

Subject: TypeAlias = tuple[str, int]
"""A topic and a partition; or a group, and 0."""


@dataclass(frozen=True)
class Unused:
    """The partitions or groups that could not be used, each once.

    Attributes:
        subjects: The partitions or groups, in order.
        still: Those that could still not be used when the logs end.
        longest: The longest interval whose length is more than possible; None if there is none.
        total_ms: All intervals together, as the evidence shows them best.
        least_ms: At least: those whose length is more than possible.
        most_ms: At most; None where nothing bounds it.
        predicate: What is said of them: `had no leader`.
    """

    subjects: Sequence[Subject]
    still: Sequence[Subject]
    longest: Unavailability | None
    total_ms: int
    least_ms: int
    most_ms: int | None
    predicate: str

    @property
    def longest_ms(self) -> int | None:
        """The length of the longest interval, in milliseconds."""
        return None if self.longest is None else lasted_ms(self.longest)

    @property
    def partition_seconds(self) -> str:
        """All intervals together in words; with their bounds, where these differ by more than a tenth."""
        least, most = round(self.least_ms / 1000), self.most_ms and round(self.most_ms / 1000)
        if most is None:
            return f"at least {words.counted(least, 'partition-second')}" if least else "not known for how long"
        if most <= 1.1 * least:
            return words.counted(round(self.total_ms / 1000), "partition-second")
        return f"{words.number(least)} to {words.counted(most, 'partition-second')}"

    def clause(self, subject: str = "") -> str:
        """The clause about what could not be used, whether it still is not, and the longest time that clients notice.

        Args:
            subject: Their name; their number by default: `2 partitions had no leader, the longest for 8 s`.
        """
        subject = subject or words.counted(len(self.subjects), "partition")
        claim = f"{subject} {self.predicate}"
        if self.still and len(self.still) == len(self.subjects):
            claim = f"{subject} still {self.predicate} when the logs end"
        elif self.still:
            claim = f"{claim}, {words.number(len(self.still))} of them still when the logs end"
        length = lasted(self.longest) if self.longest and lasted_ms(self.longest) >= NOTICED_MS else ""
        if not length or self.longest is None:
            return claim
        if self.longest.ended_at and self.still:
            return f"{claim}, the longest that ended for {length}"
        if self.subjects[1:]:
            return f"{claim}, the longest for {length}"
        return f"{claim}{',' if self.still else ''} for {length}"


def lasted_ms(row: Unavailability) -> int:
    """The best estimate of an interval's length, in milliseconds; the lower bound if it was not over or is unsure."""
    return (row.ended_at - row.started_at) // MS if row.ended_at and is_sure(row) else row.low_ms


def is_sure(row: Unavailability) -> bool:
    """Whether more than a possible length is shown: clocks that differ by more than an interval show none."""
    return row.confidence in (Confidence.CERTAIN, Confidence.LIKELY)


def lasted(row: Unavailability) -> str:
    """The length of an interval in words; with bounds if these show that clients noticed it; empty without bounds."""
    if row.ended_at is None:
        return f"at least {words.duration(row.low_ms)}"
    if row.low_ms >= NOTICED_MS or row.high_ms is None:
        return words.bounded(row.low_ms, row.high_ms)
    least = lasted_ms(row)
    return f"{f'about {words.duration(least)}, ' if least < row.high_ms else ''}at most {words.duration(row.high_ms)}"


def is_noticed(row: Unavailability) -> bool:
    """Whether clients notice an interval, or may; one that is not over counts."""
    return row.ended_at is None or (row.ended_at - row.started_at) // MS >= NOTICED_MS


def unused(rows: Iterable[Unavailability], kinds: Sequence[UnavailabilityKind]) -> Unused:
    """The sums of intervals that clients notice.

    Args:
        rows: Rows of gold.unavailability: those of one subject and kind do not overlap.
        kinds: The kinds that count.
    """
    noticed = [row for row in rows if row.kind in kinds and is_noticed(row)]
    return Unused(
        sorted({_subject(row) for row in noticed}),
        sorted({_subject(row) for row in noticed if row.ended_at is None}),
        max((r for r in noticed if is_sure(r)), key=lambda r: (lasted_ms(r), r.unavailability_id), default=None),
        sum(map(lasted_ms, noticed)),
        sum(row.low_ms for row in noticed if is_sure(row)),
        None
        if any(row.high_ms is None or not is_sure(row) for row in noticed)
        else sum(row.high_ms or 0 for row in noticed),
        kinds[0].noun.predicate,
    )


def _subject(row: Unavailability) -> Subject:
    return row.topic or row.group_id or "", row.partition or 0
