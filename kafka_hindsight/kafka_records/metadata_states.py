"""The state of a metadata log at the start of a window. The next run reads on from it, and not from the beginning.

A state is written like a snapshot of Kafka's: as records, one for each topic, partition and broker. It is valid as long
as the log before it is the same: bronze only gains records, and retention removes whole days of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from kafka_hindsight.catalog.codes import MetadataRecordType
from kafka_hindsight.catalog.rows import MetadataFile, MetadataRecord, MetadataState
from kafka_hindsight.catalog.rows.structs import DayCount, OffsetSpan
from kafka_hindsight.kafka_records.metadata_replay import MetadataReplay, spans_of_files

_OPENS, _CLOSES = "begin_transaction", ("end_transaction", "abort_transaction")


@dataclass(frozen=True)
class MetadataStart:
    """The state that a run reads on from, and the number of records before it by day."""

    state_at: datetime
    record_offset: int
    record_counts: Mapping[str, int]


def find_start(
    state: MetadataState | None, days: Mapping[str, int], files: Iterable[MetadataFile]
) -> MetadataStart | None:
    """The state to read on from; None where there is none, or the log before it has changed.

    Retention may have removed all records of a day: the state still includes them.

    Args:
        state: The first row of the newest state.
        days: How many records up to its offset each day has.
        files: The ledger of files.
    """
    if state is None:
        return None
    counts = {c.day: c.records for c in state.record_counts or ()}
    is_same = all(counts.get(day) == count for day, count in days.items())
    if not is_same or state.offset_spans != _spans_until(files, state.record_offset):
        return None
    return MetadataStart(state.state_at, state.record_offset, counts)


def state_rows(
    replay: MetadataReplay,
    at: datetime,
    start: MetadataStart | None,
    records: Iterable[MetadataRecord],
    files: Iterable[MetadataFile],
) -> list[MetadataState]:
    """The state of a replay as rows; none where no record was replayed.

    `at` is the start of the window; the replay began at `start` with `records`.
    """
    if replay.last is None:
        return []
    until, began = replay.last.record_offset, start.record_offset if start else -1
    counts = Counter(start.record_counts if start else {})
    counts.update(r.written_at.date().isoformat() for r in records if began < r.record_offset <= until)
    first: dict[str, Any] = {
        "record_counts": [DayCount(day=day, records=counts[day]) for day in sorted(counts)],
        "offset_spans": _spans_until(files, until),
    }
    epoch = replay.newest_epoch
    return [
        MetadataState(
            cluster=replay.last.cluster,
            state_at=at,
            record_offset=until,
            written_at=replay.last.written_at,
            controller_epoch=epoch,
            snapshot_place=place,
            record_type=kind,
            **fields,
            **(first if place == 1 else {}),
        )
        for place, (kind, fields) in enumerate(_parts(replay, epoch), 1)
    ]


def _parts(replay: MetadataReplay, epoch: int) -> Iterator[tuple[MetadataRecordType, dict[str, Any]]]:
    yield MetadataRecordType.LEADER_CHANGE, {"broker": replay.leaders.get(epoch)}
    state = replay.state
    for topic_id, topic in sorted(state.topics.items()):
        yield MetadataRecordType.TOPIC, {"topic_id": topic_id, "topic": topic}
    for (topic_id, number), partition in sorted(state.partitions.items()):
        fields = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(partition).items()}
        yield MetadataRecordType.PARTITION, {"topic_id": topic_id, "partition": number, **fields}
    for broker, broker_state in sorted(state.brokers.items()):
        registration = {"incarnation_id": broker_state.incarnation, "fenced": broker_state.is_fenced}
        shutdown = {"in_controlled_shutdown": broker_state.is_shutting_down}
        yield MetadataRecordType.REGISTER_BROKER, {"broker": broker, **registration, **shutdown}


def _spans_until(files: Iterable[MetadataFile], offset: int) -> list[OffsetSpan]:
    """The stretches of the log that were read up to an offset."""
    spans = ((start, min(end, offset + 1)) for start, end in spans_of_files(files) if start <= offset)
    return [OffsetSpan(first_offset=start, next_offset=end) for start, end in spans]


def settled_before(records: Sequence[MetadataRecord], at: datetime) -> int:
    """The number of committed records, in order, that make up the state before an instant.

    None of them belongs to a transaction that has not ended, or was written at the same instant as the next record.
    """
    settled, is_open = 0, False
    for n, (before, record) in enumerate(pairwise([None, *records])):
        if before is not None and not is_open and _is_apart(before, record):
            settled = n
        if record is not None and record.written_at >= at:
            return settled
        if record is not None and record.record_type in (_OPENS, *_CLOSES):
            is_open = record.record_type == _OPENS
    return settled if is_open else len(records)


def _is_apart(before: MetadataRecord, record: MetadataRecord | None) -> bool:
    return record is not None and record.record_offset > before.record_offset and record.written_at > before.written_at
