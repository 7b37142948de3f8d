"""The order of the files of one log, and which of them are read together. Plain Python, few rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped

OUT_OF_ORDER = timedelta(seconds=1)
"""Threads of one process write a few milliseconds out of order, also on either side of a rotation."""

RESTED = timedelta(minutes=10)
"""After this long without a write, the last record of a file is complete."""


@dataclass(frozen=True)
class FileSpan:
    """The instants that one file of a source covers, and whether it holds records without one.

    A file without a head begins NEVER; one that is still written ends NEVER.
    """

    source: str
    first_at: datetime
    last_at: datetime
    has_timeless: bool = False


@dataclass(frozen=True)
class Turn:
    """The place of a file among those of its source; whether a record follows in a later file of its lane."""

    rank: int
    lane: int
    is_followed: bool


def turns_of(spans: Mapping[int, FileSpan]) -> dict[int, Turn]:
    """The turn of each file among those of its source, by number of the file.

    Files that follow one another, as a rotation leaves them, share a lane. A file that overlaps others is a copy of
    them, or of a part, and has a lane of its own. Identical records are counted within a lane, so a rotation between
    two of them loses none and a copy adds none.

    Files are ordered by first and last instant, then by number. A file follows the one that ends last before it.
    """
    places: dict[int, tuple[int, int]] = {}
    lanes: dict[str, list[FileSpan]] = {}
    heads: dict[tuple[str, int], int] = {}
    ordered = sorted(spans.items(), key=lambda s: (s[1].source, s[1].first_at, s[1].last_at, s[0]))
    for rank, (file, span) in enumerate(ordered):
        ends = lanes.setdefault(span.source, [])
        free = [n for n, last in enumerate(ends) if _follows(span, last)]
        lane = max(free, key=lambda n: (ends[n].last_at, -n), default=len(ends))
        ends[lane : lane + 1] = [span]
        places[file] = rank, lane
        if span.first_at < NEVER:
            heads[span.source, lane] = rank
    return {f: Turn(rank, lane, rank < heads.get((spans[f].source, lane), -1)) for f, (rank, lane) in places.items()}


def _follows(span: FileSpan, last: FileSpan) -> bool:
    """Whether a file continues where another ends. Two files that begin or end at one instant are copies."""
    is_staggered = last.first_at < span.first_at and last.last_at < span.last_at
    return last != span and (
        last.last_at <= span.first_at or (is_staggered and last.last_at - span.first_at < OUT_OF_ORDER)
    )


def sharing(fresh: Mapping[int, FileSpan], earlier: Mapping[int, FileSpan]) -> set[int]:
    """The earlier files that share an instant, or records without one, with a fresh file of their source.

    Identical records of one instant are counted, so all files that may hold some are read together.
    """
    by_source = grouped(fresh.values(), lambda span: span.source)
    return {file for file, span in earlier.items() if any(_share(span, f) for f in by_source.get(span.source, ()))}


def _share(one: FileSpan, other: FileSpan) -> bool:
    is_timeless = one.has_timeless and other.has_timeless
    return is_timeless or (one.first_at <= other.last_at and other.first_at <= one.last_at)


def copies(spans: Mapping[int, FileSpan], young: Collection[int]) -> set[int]:
    """The young files that begin where another of their source begins and end no later: copies, perhaps unfinished.

    Of two files that cover the same instants, the one with the higher number is the copy.
    """
    twins = set[int]()
    for file in sorted(young, reverse=True):
        span = spans[file]
        others = (other for n, other in spans.items() if n != file and n not in twins and other.source == span.source)
        if any(o.first_at == span.first_at < NEVER and span.last_at <= o.last_at for o in others):
            twins.add(file)
    return twins


def is_young(modified_at: datetime, run_at: datetime) -> bool:
    """Whether a program may still write to a file. A file with a time in the future counts as young."""
    return run_at - modified_at < RESTED
