"""Sums of gold.unavailability, as incidents, report, terminal, alerts and SQL all count them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_hindsight.catalog.codes import Confidence, UnavailabilityKind
from kafka_hindsight.catalog.nouns.partitions import UnavailabilityNoun
from kafka_hindsight.catalog.rows import Unavailability
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.grouping import split_by

NOTICED_MS = 1_000
"""The shortest time that clients notice. A shorter one is part of any leader change: a client that finds no leader
asks again after retry.backoff.max.ms at most, one second by default (KIP-580)."""

LEADERLESS = (UnavailabilityKind.NO_LEADER,)
NO_WRITES = (UnavailabilityKind.ACKS_ALL_REFUSED, UnavailabilityKind.ACKS_ALL_HUNG)
NO_CONSUMER = (UnavailabilityKind.NO_CONSUMER,)

Subject: TypeAlias = tuple[str, int]
"""A topic and a partition; or a group, and 0."""


def _counted(subjects: Sequence[Subject]) -> str:
    return words.counted(len(subjects), "partition")


@dataclass(frozen=True)
class Unused:
    """The partitions or groups that could not be used, each once.

    Attributes:
        subjects: The partitions or groups that the evidence shows, in order.
        possible: The others, of which it shows only that it may be, as where clocks differ by more than an interval.
        still: Of `subjects`, those that could still not be used when the logs end.
        possibly_still: Those of all that may not have been usable when the logs end, but for `still`.
        longest: The longest interval that the evidence shows; None if there is none.
        total_ms: All intervals together, as the evidence shows them best.
        least_ms: At least.
        most_ms: At most; None where nothing bounds it.
        noun: What is said of them: `had no leader`.
        confidence: The least sure of the intervals that the evidence shows.
        is_least: Whether the logs could not show all of them: then each figure is a lower bound.
    """

    subjects: Sequence[Subject]
    possible: Sequence[Subject]
    still: Sequence[Subject]
    possibly_still: Sequence[Subject]
    longest: Unavailability | None
    total_ms: int
    least_ms: int
    most_ms: int | None
    noun: UnavailabilityNoun
    confidence: Confidence = Confidence.CERTAIN
    is_least: bool = False

    @property
    def count(self) -> int | None:
        """The number of those that the evidence shows; None where it shows only that there may be some."""
        return None if self.possible and not self.subjects else len(self.subjects)

    @property
    def most(self) -> int:
        """The number of all that may not have been usable."""
        return len(self.subjects) + len(self.possible)

    @property
    def longest_ms(self) -> int | None:
        """The length of the longest interval, in milliseconds."""
        return None if self.longest is None else lasted_ms(self.longest)

    @property
    def partition_seconds(self) -> str:
        """All intervals together in words; with their bounds, where these differ by more than a tenth."""
        least, most = round(self.least_ms / 1000), self.most_ms and round(self.most_ms / 1000)
        if most is None or self.is_least:
            return f"at least {words.counted(least, 'partition-second')}" if least else "not known for how long"
        if most <= 1.1 * least:
            return words.counted(round(self.total_ms / 1000), "partition-second")
        return f"{words.number(least)} to {words.counted(most, 'partition-second')}"

    def clause(self, name_of: Callable[[Sequence[Subject]], str] = _counted) -> str:
        """The clause about what could not be used, whether it still is not, and the longest time that clients notice.

        Args:
            name_of: Names them; says their number by default: `2 partitions had no leader, the longest for 8 s`.
        """
        if self.possible and not self.subjects:
            return f"{name_of(self.possible)} may have {self.noun.participle}"
        more = f", and {words.number(len(self.possible))} more may have" if self.possible else ""
        return f"{self._shown(name_of(self.subjects))}{more}"

    def _shown(self, subject: str) -> str:
        claim = f"{subject} {self.noun.predicate}"
        if self.still and len(self.still) == len(self.subjects):
            claim = f"{subject} still {self.noun.predicate} when the logs end"
        elif self.still:
            claim = f"{claim}, {words.number(len(self.still))} of them still when the logs end"
        length = self._length_of_longest()
        if not length or self.longest is None:
            return claim
        if self.longest.ended_at and self.still:
            return f"{claim}; of those that were over, the longest for {length}"
        if self.subjects[1:]:
            return f"{claim}, the longest for {length}"
        return f"{claim}{',' if self.still else ''} for {length}"

    def _length_of_longest(self) -> str:
        """The length of the longest interval in words; empty where clients do not notice it, or nothing is known."""
        if self.longest is None or lasted_ms(self.longest) < NOTICED_MS:
            return ""
        if not self.is_least:
            return lasted(self.longest)
        return f"at least {words.duration(self.longest.low_ms)}" if self.longest.low_ms >= NOTICED_MS else ""


def lasted_ms(row: Unavailability) -> int:
    """The best estimate of an interval's length, in milliseconds; the lower bound where it is open or not shown."""
    return (row.ended_at - row.started_at) // MS if row.ended_at and is_shown(row) else row.low_ms


def is_shown(row: Unavailability) -> bool:
    """Whether the evidence shows that something could not be used at all, however sure its cause is.

    Clocks that differ by more than an interval do not show it.
    """
    return row.low_ms > 0 or row.confidence in (Confidence.CERTAIN, Confidence.LIKELY)


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
    proofs, doubts = split_by(noticed, is_shown)
    subjects, still = _subjects(proofs), _subjects(r for r in proofs if r.ended_at is None)
    return Unused(
        sorted(subjects),
        sorted(_subjects(doubts) - subjects),
        sorted(still),
        sorted(_subjects(r for r in doubts if r.ended_at is None) - still),
        max(proofs, key=lambda r: (lasted_ms(r), r.unavailability_id), default=None),
        sum(map(lasted_ms, noticed)),
        sum(row.low_ms for row in noticed),
        None if doubts or any(row.high_ms is None for row in proofs) else sum(row.high_ms or 0 for row in proofs),
        kinds[0].noun,
        Confidence.least(row.confidence for row in proofs),
    )


def _subjects(rows: Iterable[Unavailability]) -> set[Subject]:
    return set(map(_subject, rows))


def _subject(row: Unavailability) -> Subject:
    return row.topic or row.group_id or "", row.partition or 0
