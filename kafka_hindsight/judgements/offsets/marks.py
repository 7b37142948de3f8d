"""The marks of one partition of one group: each line, record and reading that shows an offset of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum, auto

from kafka_hindsight.catalog.codes import GroupRecordType, ResetPolicy
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import (
    Event,
    GroupRecord,
    GroupSnapshot,
    OffsetCommits,
    OffsetSnapshot,
    Ownership,
    Quote,
)
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.offsets.log_changes import PartitionKey
from kafka_hindsight.judgements.offsets.reading_ends import reading_ends
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_commits, quote_snapshot
from kafka_hindsight.shared.grouping import grouped


class Sign(IntEnum):
    """The meaning of a mark; marks of one instant are in this order."""

    DELETED = auto()
    """The committed offset is deleted."""
    OWNED = auto()
    """A member owns the partition from now on."""
    OUT_OF_RANGE = auto()
    """The position of a member is outside of the log."""
    DIVERGED = auto()
    """The log differs from what a member had read."""
    NOTHING_COMMITTED = auto()
    """A member finds no committed offset."""
    SOUGHT = auto()
    """The application moves its member."""
    RESUMED = auto()
    """A member goes on at the committed offset."""
    RESET = auto()
    """A member goes on where its policy, or the application, leads."""
    COMMITTED = auto()
    """An offset is committed."""
    COMMIT_FAILED = auto()
    """A member could not commit an offset."""
    READ = auto()
    """A reading shows the committed offset."""


_SIGNS: Mapping[Kind, Sign] = {
    Kind.CLIENT_POSITION_RESUMED: Sign.RESUMED,
    Kind.CLIENT_OFFSET_MISSING: Sign.NOTHING_COMMITTED,
    Kind.CLIENT_OUT_OF_RANGE: Sign.OUT_OF_RANGE,
    Kind.CLIENT_POSITION_RESET: Sign.RESET,
    Kind.CLIENT_LOG_DIVERGED: Sign.DIVERGED,
    Kind.CLIENT_SOUGHT: Sign.SOUGHT,
    Kind.CLIENT_COMMIT_FAILED: Sign.COMMIT_FAILED,
}

OF_POSITIONS = tuple(_SIGNS)
"""The lines of clients that name the offset of a partition."""


@value_class()
class Mark:
    """One offset of one partition of a group at one instant.

    `log`: the client's log that shows it. `has_members`: whether the group had members; None where not known.
    `policy`: where the member goes on, if its line names that and no offset. `diverges_at`: the first offset at which
    the log differs from what the member had read. `is_alone`: of a commit, that no other one like it follows. `until`:
    the end of the reading that shows it, at the latest; None where no reading does.
    """

    at: datetime
    sign: Sign
    quote: Quote
    offset: int | None = None
    client_id: str | None = None
    member_id: str | None = None
    log: str | None = None
    has_members: bool | None = None
    policy: ResetPolicy | None = None
    diverges_at: int | None = None
    is_alone: bool = True
    until: datetime | None = None


@dataclass(frozen=True)
class OffsetWitnesses:
    """The evidence of the offsets of one group. `readings` are its rows of bronze.group_snapshots."""

    events: Sequence[Event] = ()
    commits: Sequence[OffsetCommits] = ()
    records: Sequence[GroupRecord] = ()
    offsets: Sequence[OffsetSnapshot] = ()
    readings: Sequence[GroupSnapshot] = ()
    ownership: Sequence[Ownership] = ()


def marks_of(witnesses: OffsetWitnesses) -> dict[PartitionKey, list[Mark]]:
    """The marks of each partition, in order of time. Where commits are at hand, readings show nothing more."""
    of_readings = [] if witnesses.commits else [*_reading_marks(witnesses.offsets, witnesses.readings)]
    marks = (*_lines(witnesses.events), *_commits(witnesses), *_owned(witnesses.ownership), *of_readings)
    return {
        key: sorted((mark for _, mark in pairs), key=lambda m: (m.at, m.sign))
        for key, pairs in grouped(marks, lambda pair: pair[0]).items()
    }


def _lines(events: Iterable[Event]) -> Iterator[tuple[PartitionKey, Mark]]:
    for event in events:
        if (sign := _SIGNS.get(event.kind)) is None:
            continue
        if event.topic is not None and event.partition is not None:
            yield (event.topic, event.partition), _line(event, sign, event.log_offset)
        if sign is Sign.COMMIT_FAILED:
            for key, offset in positions_in(event.detail or ""):
                yield key, _line(event, sign, offset)


def _line(event: Event, sign: Sign, offset: int | None) -> Mark:
    detail, policies = event.detail or "", {str(policy): policy for policy in ResetPolicy}
    return Mark(
        event.happened_at,
        sign,
        quote(event),
        offset,
        event.client_id,
        log=event.source,
        policy=policies.get(event.state or ""),
        diverges_at=int(detail) if sign is Sign.DIVERGED and detail.isdigit() else None,
    )


def positions_in(detail: str) -> Iterator[tuple[PartitionKey, int]]:
    """The partitions of a line with the position of each: `orders-0=120, orders-1=98`."""
    for part in detail.split(", "):
        name, _, offset = part.rpartition("=")
        topic, _, partition = name.rpartition("-")
        if topic and partition.isdigit() and offset.isdigit():
            yield (topic, int(partition)), int(offset)


def _commits(witnesses: OffsetWitnesses) -> Iterator[tuple[PartitionKey, Mark]]:
    """Both ends of each run of commits. A run ends at each record of the group itself, so its members stay the same."""
    members = _Members(witnesses.records)
    for run in witnesses.commits:
        key = run.topic, run.partition
        proof = quote_commits(run, run.first_at)
        if run.first_offset is None or run.last_offset is None:
            yield key, Mark(run.first_at, Sign.DELETED, proof)
            continue
        has_members, is_alone = members.at(run.first_record), run.commits == 1
        first = Mark(run.first_at, Sign.COMMITTED, proof, run.first_offset, has_members=has_members, is_alone=is_alone)
        yield key, first
        if not is_alone:
            yield key, replace(first, at=run.last_at, offset=run.last_offset)


class _Members:
    """Whether a group had members, by its own records: they and its commits lie in one partition, in order."""

    def __init__(self, records: Iterable[GroupRecord]) -> None:
        self._offsets: list[int] = []
        self._states: list[bool] = []
        members: set[str] = set()
        for record in sorted(records, key=lambda r: r.record_offset):
            if record.record_type == GroupRecordType.GROUP_METADATA:
                members = {m.member_id for m in record.members or ()}
            elif record.record_type == GroupRecordType.CONSUMER_GROUP_MEMBER_METADATA and record.member_id is not None:
                members = members - {record.member_id} if record.is_tombstone else members | {record.member_id}
            else:
                continue
            self._offsets.append(record.record_offset)
            self._states.append(bool(members))

    def at(self, record_offset: int) -> bool | None:
        """Whether it had members at an offset of its partition; None before its first record."""
        place = bisect_left(self._offsets, record_offset)
        return self._states[place - 1] if place else None


def _owned(ownership: Iterable[Ownership]) -> Iterator[tuple[PartitionKey, Mark]]:
    for o in ownership:
        mark = Mark(o.valid_from, Sign.OWNED, o.evidence[0], None, o.client_id, o.member_id)
        yield (o.topic, o.partition), mark


def _reading_marks(
    offsets: Sequence[OffsetSnapshot], readings: Iterable[GroupSnapshot]
) -> Iterator[tuple[PartitionKey, Mark]]:
    counts = {r.snapshot_at: r.member_count for r in readings if r.error is None}
    ends = reading_ends(row.snapshot_at for row in offsets)
    for row in offsets:
        if row.committed_offset is not None:
            members = counts.get(row.snapshot_at)
            proof = quote_snapshot(row, f"offset {row.committed_offset} of {row.topic}-{row.partition} is committed")
            has_members = None if members is None else members > 0
            yield (
                (row.topic, row.partition),
                Mark(
                    row.snapshot_at,
                    Sign.READ,
                    proof,
                    row.committed_offset,
                    has_members=has_members,
                    until=ends[row.snapshot_at],
                ),
            )
