"""The records of `__cluster_metadata`: what KRaft's controllers committed, out of its segments and snapshots.

Standard library only. Source: MetadataRecordSerde, AbstractApiMessageSerde (the frame of a record); Snapshots (names of
files); RecordsSnapshotWriter (a header first, a footer last); UnifiedLog (a segment is named by its first offset).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.kafka_records.batches import RecordBatch, batches, control_type
from kafka_hindsight.kafka_records.metadata_record_layouts import (
    CONTROL_TYPES,
    LEADER_CHANGE,
    LEADER_CHANGE_VALUE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    SNAPSHOT_HEADER_VALUE,
    TYPE_OF,
    UNCHANGED,
)
from kafka_hindsight.kafka_records.wire import Cursor, Malformed, read_struct, read_versioned

TOPIC = "__cluster_metadata"
FOLDER = f"{TOPIC}-0"
"""The name of the log's folder, on every node."""

UNDECODED = "undecoded"
"""The type of a record that we could not read: what it changed is not known."""

_SEGMENT = re.compile(r"(\d{20})[.]log")
_CHECKPOINT = re.compile(r"(\d{20})-(\d{10})[.]checkpoint")
_FRAME = 1
_LONGEST = 2_000
"""Characters of a record that are quoted at most."""

_TOPIC, _GROUP = 2, 32
"""Resources whose settings hold no secrets. Source: ConfigResource.Type."""

_OPEN = ("min.insync.replicas", "unclean.leader.election.enable")
"""Settings of other resources, which are not secrets: KRaft writes a broker's passwords as they are."""

_OF_NO_USE = ("end_points", "features", "log_dirs", "is_migrating", "level")


@dataclass(frozen=True)
class FileName:
    """The name of a file: a segment's first offset; of a snapshot the offset after its last one, and its epoch."""

    offset: int
    epoch: int | None = None

    @property
    def is_snapshot(self) -> bool:
        """Whether it is a snapshot, which holds the state and not what led there."""
        return self.epoch is not None


@dataclass(frozen=True)
class FileContents:
    """The decoded records of a file: rows by the columns of bronze.metadata_records, instants in milliseconds.

    `end`: the byte up to which it was read. `next_offset`: the offset after the last one read. `skipped`: the number of
    records of each type that we do not use. `problems`: sentences about the parts that could not be read.
    """

    rows: list[RowValues] = field(default_factory=list)
    end: int = 0
    next_offset: int = 0
    last_epoch: int = -1
    skipped: Counter[str] = field(default_factory=Counter)
    problems: tuple[str, ...] = ()


def file_name(path: str) -> FileName | None:
    """Parse the name of a file; None where its folder and name are not those of the metadata log."""
    folder, _, name = path.rpartition("/")
    if folder.rpartition("/")[2] != FOLDER:
        return None
    if segment := _SEGMENT.fullmatch(name):
        return FileName(int(segment[1]))
    snapshot = _CHECKPOINT.fullmatch(name)
    return FileName(int(snapshot[1]), int(snapshot[2])) if snapshot else None


def read_segment(data: bytes, first: int, start: int = 0, epoch: int = -1) -> FileContents:
    """Read the records of a segment from the byte `start` on.

    Reading ends where the segment breaks off, and at a batch that does not follow from the one before it: the changes
    in between are not known. No checksum covers an epoch. Where an epoch falls, an earlier one may be wrong, so no
    record is kept.

    Args:
        data: The bytes of the segment.
        first: The offset at `start`.
        start: The byte where reading begins.
        epoch: The epoch of the batch before `start`; -1 without one.
    """
    rows: list[RowValues] = []
    skipped: Counter[str] = Counter()
    problems: list[str] = []
    end, offset, first_epoch = start, first, epoch
    try:
        for batch in batches(data, start):
            _follows(batch, end, offset, epoch)
            if batch.leader_epoch < epoch:
                problem = f"Byte {end}: the batch at offset {offset} is of epoch {batch.leader_epoch}, after {epoch}."
                return FileContents(
                    [], start, first, first_epoch, problems=(f"{problem} Nothing after byte {start} was taken.",)
                )
            _take(batch, rows, skipped, problems)
            end, offset, epoch = batch.end, batch.next_offset, batch.leader_epoch
    except Malformed as refusal:
        problems.append(f"{refusal} Nothing after it was read.")
    return FileContents(rows, end, offset, epoch, skipped, tuple(problems))


def read_snapshot(data: bytes, name: FileName) -> FileContents:
    """Read the state in a snapshot, as of the last instant that it contains; nothing where it is not whole."""
    rows: list[RowValues] = []
    skipped: Counter[str] = Counter()
    problems: list[str] = []
    end, offset = 0, 0
    try:
        for batch in batches(data):
            if (batch.base_offset, batch.leader_epoch) != (offset, name.epoch):
                raise Malformed(
                    f"Byte {end}: found a batch at place {batch.base_offset} of epoch {batch.leader_epoch}. "
                    f"Needed: place {offset} of epoch {name.epoch}."
                )
            _take(batch, rows, skipped, problems)
            end, offset = batch.end, batch.next_offset
    except Malformed as refusal:
        problems.append(str(refusal))
    kinds = [row["record_type"] for row in rows]
    is_whole = kinds[:1] == ["snapshot_header"] and kinds[-1:] == ["snapshot_footer"]
    if not is_whole or end < len(data):
        sentences = problems or [f"It breaks off after byte {end} of {len(data)}. Needed: a snapshot with its footer."]
        return FileContents(problems=(*sentences, "Nothing of it was taken."))
    at = rows[0]["written_at"]
    state = [
        {**row, "snapshot_place": row["record_offset"] + 1, "record_offset": name.offset - 1, "written_at": at}
        for row in rows[1:-1]
    ]
    return FileContents(state, end, name.offset, batch.leader_epoch, skipped, tuple(problems))


def _follows(batch: RecordBatch, at: int, offset: int, epoch: int) -> None:
    """Check that a batch follows the one before: offsets touch, and each epoch begins with its leader's record.

    Source: KafkaRaftClient.onBecomeLeader.
    """
    if batch.base_offset != offset:
        raise Malformed(f"Byte {at}: found a batch at offset {batch.base_offset}. Needed: {offset}.")
    if epoch == -1 or batch.leader_epoch <= epoch:
        return
    if not (batch.is_control and any(control_type(key) == LEADER_CHANGE for _, _, key, _ in batch.records)):
        raise Malformed(
            f"Byte {at}: the batch at offset {offset} is of epoch {batch.leader_epoch}. Needed: {epoch}, or a "
            "later one that its leader begins."
        )


def _take(batch: RecordBatch, rows: list[RowValues], skipped: Counter[str], problems: list[str]) -> None:
    for offset, at_ms, key, value in batch.records:
        place = {"record_offset": offset, "controller_epoch": batch.leader_epoch, "snapshot_place": 0}
        try:
            kind, fields = _control(key, value) if batch.is_control else decode_metadata_record(value or b"")
        except Malformed as refusal:
            kind, fields = UNDECODED, {}
            problems.append(f"The record at offset {offset}: {refusal}")
        if fields is None:
            skipped[kind] += 1
        else:
            at = fields.pop("at", at_ms)
            rows.append({**place, "written_at": at, "record_type": kind, "text": _text(kind, fields), **fields})


def _control(key: bytes | None, value: bytes | None) -> tuple[str, RowValues | None]:
    kind = control_type(key)
    name = CONTROL_TYPES.get(kind, f"control_{kind}")
    if kind == LEADER_CHANGE:
        return name, {"broker": read_versioned(LEADER_CHANGE_VALUE, value or b"")[1]["leader"]}
    if kind == SNAPSHOT_HEADER:
        return name, {"at": read_versioned(SNAPSHOT_HEADER_VALUE, value or b"")[1]["at"]}
    return name, {} if kind == SNAPSHOT_FOOTER else None


def decode_metadata_record(data: bytes) -> tuple[str, RowValues | None]:
    """Decode a record to its type and its fields by the columns of bronze.metadata_records; None: of no use to us.

    Raises:
        Malformed: The record cannot be decoded.
    """
    cursor = Cursor(data, "metadata record")
    frame = cursor.varint("frame version")
    if frame != _FRAME:
        raise Malformed(f"It has frame version {frame}. Needed: {_FRAME}.")
    number, version = cursor.varint("type"), cursor.varint("version")
    kind = TYPE_OF.get(number)
    if kind is None:
        return f"type_{number}", None
    if kind.shape is None:
        return kind.name, None
    cursor.what = f"{kind.name} of version {version}"
    fields = read_struct(cursor, kind.shape, min(version, kind.newest), flexible=True)
    cursor.ends()
    return kind.name, _plain(kind.name, fields)


def _plain(kind: str, fields: Mapping[str, Any]) -> RowValues:
    """The fields as columns; null where the record leaves a value unchanged."""
    row = {**fields, **_READ_AS[kind](fields)} if kind in _READ_AS else fields
    return {k: v for k, v in row.items() if k not in _OF_NO_USE}


def _changed_fields(fields: Mapping[str, Any]) -> RowValues:
    return {k: None for k, v in fields.items() if v == UNCHANGED.get(k)}


def _registration_change(fields: Mapping[str, Any]) -> RowValues:
    is_leaving = fields["in_controlled_shutdown"] == 1
    return {"fenced": {1: True, -1: False}.get(fields["fenced"]), "in_controlled_shutdown": is_leaving or None}


def _without_secret(fields: Mapping[str, Any]) -> RowValues:
    is_open = fields["resource_type"] in (_TOPIC, _GROUP) or fields["name"] in _OPEN
    return {} if is_open else {"value": None}


_READ_AS: Mapping[str, Callable[[Mapping[str, Any]], RowValues]] = {
    "partition_change": _changed_fields,
    "broker_registration_change": _registration_change,
    "fence_broker": lambda _: {"fenced": True},
    "unfence_broker": lambda _: {"fenced": False},
    "config": _without_secret,
    "feature_level": lambda fields: {"value": str(fields["level"])},
}
"""Type of record → the columns that its fields do not hold as they are."""


def _text(kind: str, fields: Mapping[str, Any]) -> str:
    """The record as text for quotes: the fields that are not null."""
    return f"{kind}({', '.join(f'{k}={v}' for k, v in fields.items() if v is not None)})"[:_LONGEST]
