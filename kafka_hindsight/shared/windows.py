"""The window of a run, the order of events, and broker ids in text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.shared.durations import MS

BROKER_ID = r"(?<!brokerEpoch=)(?<![-\d])\d+"
"""A broker id in a list of brokers, for Python and for Spark."""

_ID = re.compile(BROKER_ID)


@dataclass(frozen=True)
class Window:
    """The instants that a run audits: from `start` on, up to but without `end`."""

    start: datetime
    end: datetime

    def holds(self, instant: datetime) -> bool:
        """Whether a row that starts at an instant belongs to this window."""
        return self.start <= instant < self.end

    def meets(self, first: datetime, last: datetime) -> bool:
        """Whether a span, from its first to its last instant, overlaps this window."""
        return last >= self.start and first < self.end


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events ordered by instant, source and position in the source."""
    return sorted(events, key=lambda e: (e.happened_at, e.source, e.order))


@lru_cache(1024)
def broker_ids(text: str | None) -> tuple[int, ...] | None:
    """The broker ids in a text; None for no text.

    Kafka 3.5 to 3.9 on ZooKeeper prints each broker of an ISR with its broker epoch, which is not an id.
    """
    return None if text is None else tuple(int(i) for i in _ID.findall(text))


def ms_between(start: datetime, end: datetime) -> int:
    """Milliseconds from one instant to another, never below 0: two brokers' clocks may differ a little."""
    return max(0, (end - start) // MS)
