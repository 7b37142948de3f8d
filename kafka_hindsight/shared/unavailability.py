"""What could not be used, summed up: incidents, page, terminal and alerts count by this, and so does SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_hindsight.catalog.codes import UnavailabilityKind
from kafka_hindsight.catalog.rows import Unavailability
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import MS

NOTICED_MS = 1_000
"""What clients notice. A shorter time is part of any change of a leader: a client that finds none asks again after
retry.backoff.max.ms at most, one second by default (KIP-580)."""

NO_LEADER = (UnavailabilityKind.NO_LEADER,)
NO_WRITES = (UnavailabilityKind.ACKS_ALL_REFUSED, UnavailabilityKind.ACKS_ALL_HUNG)
NO_CONSUMER = (UnavailabilityKind.NO_CONSUMER,)

Subject: TypeAlias = tuple[str, int]
"""A topic and a partition; or a group, and 0."""


@dataclass(frozen=True)
class Unused:
    """What could not be used, each partition or group once.

    Attributes:
        subjects: The partitions or groups, in order.
        still: Those of them that could not be used when the logs end.
        longest: The longest interval; None where there is none.
        total_ms: All intervals together.
    """

    subjects: Sequence[Subject]
    still: Sequence[Subject]
    longest: Unavailability | None
    total_ms: int

    @property
    def longest_ms(self) -> int | None:
        """How long the longest interval lasted."""
        return None if self.longest is None else lasted_ms(self.longest)


def lasted_ms(row: Unavailability) -> int:
    """How long an interval lasted, as the evidence shows it best; where it was not over, how long at least."""
    return row.low_ms if row.ended_at is None else (row.ended_at - row.started_at) // MS


def lasted(row: Unavailability) -> str:
    """How long an interval that is over lasted, in words: within its bounds, where these show that it was noticed."""
    if row.low_ms >= NOTICED_MS or row.high_ms is None:
        return words.bounded(row.low_ms, row.high_ms)
    least = lasted_ms(row)
    return f"{f'about {words.duration(least)}, ' if least < row.high_ms else ''}at most {words.duration(row.high_ms)}"


def is_noticed(row: Unavailability) -> bool:
    """Whether clients notice an interval, or it was not over."""
    return row.ended_at is None or lasted_ms(row) >= NOTICED_MS


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
        max(noticed, key=lambda r: (lasted_ms(r), r.unavailability_id), default=None),
        sum(map(lasted_ms, noticed)),
    )


def _subject(row: Unavailability) -> Subject:
    return row.topic or row.group_id or "", row.partition or 0
