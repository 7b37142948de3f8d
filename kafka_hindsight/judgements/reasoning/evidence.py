"""Ids that depend on nothing but what a row is, and quotations that prove a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, zip_longest
from typing import Protocol

import pyarrow as pa

from kafka_hindsight.catalog.ids import row_id as row_id
from kafka_hindsight.catalog.rows import Event, GroupRecord, OffsetCommits, Quote
from kafka_hindsight.shared.arrow_tables import with_columns

MAX_QUOTES = 12
"""The most quotes of one row: readers do not look at more."""


def quote(event: Event) -> Quote:
    """An event as an item of `evidence`."""
    return Quote(
        line_id=event.line_id, source=event.source, happened_at=event.happened_at, text=event.text, kind=event.kind
    )


class OfSnapshot(Protocol):
    """A row of a table of snapshots."""

    @property
    def snapshot_id(self) -> str:
        """The snapshot that shows the row."""

    @property
    def snapshot_at(self) -> datetime:
        """The instant of the snapshot."""


class OfEvidence(Protocol):
    """A row that quotes what proves it."""

    @property
    def evidence(self) -> Sequence[Quote]:
        """The quotations by weight."""


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


def evidence_of(*ranks: Iterable[Quote]) -> list[Quote]:
    """Quotations by weight, what decides the verdict first; each once, at most MAX_QUOTES.

    Those of one rank are in order of time, then source and line id. Where a rank has more than there is room for, its
    first ones and its last one stay.
    """
    selection: dict[tuple[str, str], Quote] = {}
    for rank in ranks:
        others = {(q.line_id, q.text): q for q in rank if (q.line_id, q.text) not in selection}
        ordered = sorted(others.items(), key=lambda item: (item[1].happened_at, item[1].source, item[1].line_id))
        room = MAX_QUOTES - len(selection)
        if len(ordered) > room:
            ordered = [*ordered[: room - 1], ordered[-1]] if room else []
        selection |= dict(ordered)
    return list(selection.values())


def ranks_of(quotations: Iterable[Sequence[Quote]]) -> Iterator[list[Quote]]:
    """The first quotation of each sequence, then the second of each, and so on."""
    for rank in zip_longest(*quotations):
        yield [q for q in rank if q is not None]


def by_weight(rows: Iterable[OfEvidence]) -> list[Quote]:
    """The quotations of rows in one sequence: what decides each of them first."""
    return [*chain.from_iterable(ranks_of(row.evidence for row in rows))]


def unquoted(rows: pa.Table) -> pa.Table:
    """Leave out the evidence of rows."""
    kind = rows.schema.field("evidence").type
    return with_columns(rows, evidence=pa.array([[]] * rows.num_rows, kind))
