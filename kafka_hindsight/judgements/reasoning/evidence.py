"""Ids that depend on nothing but what a row is, and quotations that prove a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

import pyarrow as pa

from kafka_hindsight.catalog.ids import row_id as row_id
from kafka_hindsight.catalog.rows import Event, GroupRecord, OffsetCommits, Quote
from kafka_hindsight.shared.arrow_tables import with_columns

MAX_QUOTES = 12
"""The most quotes of one row: readers do not look at more. The first ones and the last one are kept."""


def quote(event: Event) -> Quote:
    """An event as an item of `evidence`."""
    return Quote(line_id=event.line_id, source=event.source, happened_at=event.happened_at, text=event.text)


class OfSnapshot(Protocol):
    """A row of a table of snapshots."""

    @property
    def snapshot_id(self) -> str:
        """The snapshot that shows the row."""

    @property
    def snapshot_at(self) -> datetime:
        """The instant of the snapshot."""


def quote_snapshot(row: OfSnapshot, says: str) -> Quote:
    """A row of a snapshot as an item of `evidence`, with the text `says`."""
    return Quote(line_id=row.snapshot_id, source="snapshots", happened_at=row.snapshot_at, text=says)


def quote_record(record: GroupRecord, says: str) -> Quote:
    """A record of `__consumer_offsets` as an item of `evidence`, with the text `says` and its offset as the source."""
    place = _place_of_record(record.offsets_partition, record.record_offset)
    at = record.written_at
    return Quote(line_id=row_id(record.cluster, place, at), source=place, happened_at=at, text=says)


def quote_commits(run: OffsetCommits, at: datetime) -> Quote:
    """A run of commits as an item of `evidence`, with the offset of its first record as the source.

    `at` is the instant within the run that proves something.
    """
    place = _place_of_record(run.offsets_partition, run.first_record)
    line_id = row_id(run.cluster, place, run.first_at)
    return Quote(line_id=line_id, source=place, happened_at=at, text=_words_of_commits(run))


def _words_of_commits(run: OffsetCommits) -> str:
    name = f"{run.topic}-{run.partition}"
    if run.first_offset is None:
        return f"the committed offset of {name} is deleted"
    if run.commits == 1:
        return f"offset {run.first_offset} of {name} is committed"
    return f"{run.commits} commits of {name} from offset {run.first_offset} to {run.last_offset}"


def _place_of_record(partition: int, offset: int) -> str:
    return f"__consumer_offsets-{partition}@{offset}"


def evidence_of(quotes: Iterable[Quote]) -> list[Quote]:
    """Quotations in order of time, then source and line id, each once, at most MAX_QUOTES."""
    unique = {(q.line_id, q.text): q for q in quotes}
    ordered = sorted(unique.values(), key=lambda q: (q.happened_at, q.source, q.line_id))
    if len(ordered) <= MAX_QUOTES:
        return ordered
    return [*ordered[: MAX_QUOTES - 1], ordered[-1]]


def unquoted(rows: pa.Table) -> pa.Table:
    """Leave out the evidence of rows."""
    kind = rows.schema.field("evidence").type
    return with_columns(rows, evidence=pa.array([[]] * rows.num_rows, kind))
