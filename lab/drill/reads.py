"""What members printed of the records that they read: a witness of offsets apart from every log.

A member that traces prints a line into clients/ID.out for each batch of a partition that its program got: milliseconds
since 1970, `read`, the partition, its first and its last offset, the number of its records.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from kafka_hindsight.shared.durations import MS

READ = "read"
RECORDS_READ = "records_read"
"""The action of a truth that holds what all members of a group read of a partition."""

PAUSE = timedelta(seconds=5)
"""A member that prints nothing of a partition for longer has stood still meanwhile, or had nothing to read."""

_INSTANTS = ("since", "until")

Place = tuple[str, int]
"""A topic and a partition."""


@dataclass(frozen=True)
class Span:
    """Records that a member read one after another, without a pause; `first` and `last` are offsets."""

    since: datetime
    until: datetime
    client: str
    first: int
    last: int
    records: int

    @property
    def end(self) -> int:
        """The position that follows from it."""
        return self.last + 1

    def goes_on_with(self, other: Span) -> bool:
        """Whether the other one is the same member's next batch."""
        is_next = (other.client, other.first) == (self.client, self.end)
        return is_next and other.since - self.until <= PAUSE


@dataclass(frozen=True)
class PrintedJump:
    """A group that went on elsewhere than where it had come to, as its members printed it.

    `left_at`, `resumed_at`: when the last batch before it was printed, and the first one after it, by `client`.
    """

    left_at: datetime
    resumed_at: datetime
    client: str
    offset_from: int
    offset_to: int

    @property
    def records(self) -> int:
        """How many records were skipped, read again, or gone."""
        return abs(self.offset_to - self.offset_from)


def read_batches(text: str, client: str) -> Iterator[tuple[Place, Span]]:
    """The batches in what a member printed; its other lines are left out, and one that its death cut off."""
    for line in text.splitlines():
        match line.split():
            case [at, word, place, first, last, count] if word == READ and at.isdecimal() and count.isdecimal():
                topic, _, partition = place.rpartition("-")
                instant = datetime.fromtimestamp(0, UTC) + int(at) * MS
                yield (topic, int(partition)), Span(instant, instant, client, int(first), int(last), int(count))


def read_folder(clients: Path, names: Iterable[str]) -> dict[Place, list[Span]]:
    """The spans of each partition that these clients printed, in order of time."""
    batches = defaultdict[Place, list[Span]](list)
    for path in (clients / f"{name}.out" for name in sorted(set(names))):
        if path.exists():
            for place, batch in read_batches(path.read_text(encoding="utf-8", errors="replace"), path.stem):
                batches[place].append(batch)
    return {place: spans_of(batches[place]) for place in sorted(batches)}


def spans_of(batches: Iterable[Span]) -> list[Span]:
    """The spans that batches of one partition make, in order of time."""
    spans: list[Span] = []
    for batch in sorted(batches, key=lambda b: (b.since, b.first)):
        if spans and spans[-1].goes_on_with(batch):
            last = spans[-1]
            spans[-1] = replace(last, until=batch.until, last=batch.last, records=last.records + batch.records)
        else:
            spans.append(batch)
    return spans


def jumps_of(spans: Sequence[Span]) -> list[PrintedJump]:
    """Where the members of a group went on elsewhere."""
    return [
        PrintedJump(before.until, after.since, after.client, before.end, after.first)
        for before, after in pairwise(spans)
        if after.first != before.end
    ]


def surplus_of(spans: Sequence[Span]) -> int:
    """How many records more were read than the group moved on: those read again and gone, less those skipped."""
    return sum(s.records for s in spans) - (spans[-1].end - spans[0].first)


def bill_of(spans: Iterable[Span]) -> tuple[int, int]:
    """How many records of a partition were read again, and how many were skipped, whatever the order."""
    times = Counter(offset for span in spans for offset in range(span.first, span.end))
    return times.total() - len(times), max(times) - min(times) + 1 - len(times)


def as_fields(spans: Iterable[Span]) -> list[dict[str, Any]]:
    """Spans as a truth holds them."""
    return [{**asdict(s), **{name: text_of(getattr(s, name)) for name in _INSTANTS}} for s in spans]


def from_fields(fields: Iterable[Mapping[str, Any]]) -> list[Span]:
    """Spans of a truth."""
    return [Span(**{**f, **{name: datetime.fromisoformat(f[name]) for name in _INSTANTS}}) for f in fields]


def text_of(at: datetime) -> str:
    """An instant as a truth holds it."""
    return at.isoformat(timespec="milliseconds")
