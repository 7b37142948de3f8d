"""Records of `__consumer_offsets` as they come, from a live topic or from files: rows of groups, and runs of commits.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.kafka_records.batches import Record
from kafka_hindsight.kafka_records.commit_runs import CommitFold, Run
from kafka_hindsight.kafka_records.group_record_values import decode_group_record, type_of
from kafka_hindsight.kafka_records.offset_commits import is_commit
from kafka_hindsight.kafka_records.wire import Malformed

TOPIC = "__consumer_offsets"

_QUOTED_BYTES = 500
_OWNED = ("assignment", "pending_revocation")


class OffsetsTopic:
    """Decodes records of the topic, which come partition by partition in the order of their offsets.

    `topic_names` are the names of topics by id: those that were known, and those that records show.
    """

    def __init__(self, open_runs: Iterable[Run], topic_names: dict[str, str]) -> None:
        self.topic_names = topic_names
        self._folds: dict[int, CommitFold] = {}
        self._newest: dict[int, int] = {}
        for run in open_runs:
            self._fold(run.offsets_partition).go_on(run)

    @property
    def open_runs(self) -> list[Run]:
        """The runs that the next records may continue."""
        return list(chain.from_iterable(fold.open for fold in self._folds.values()))

    def take(self, partition: int, records: Sequence[Record]) -> list[RowValues]:
        """Take the next records of a partition: fold commits, decode records of groups.

        Returns:
            For each record of a group its columns of bronze.group_records, instants as ISO 8601; for each record that
            cannot be decoded its place and a `sentence`. None for commits, and for records that carry nothing we use.
        """
        if not records:
            return []
        fold = self._fold(partition)
        rows = (self._row_of(fold, *record) for record in fold.fold(records))
        values = [{**_place(partition, *place), **row} for place, row in rows if row is not None]
        self._newest[partition] = records[-1][1]
        return values

    def _row_of(
        self, fold: CommitFold, offset: int, at: int, key: bytes | None, value: bytes | None
    ) -> tuple[tuple[int, int], RowValues | None]:
        """The place of a record that continues no run, and its columns; None where it has no row."""
        place = offset, at
        try:
            if key is not None and is_commit(key):
                fold.begin(offset, at, key, value)
                return place, None
            record = decode_group_record(key or b"", value) if type_of(key) else None
        except Malformed as wrong:
            quoted = {"key": (key or b"")[:_QUOTED_BYTES].hex(), "value": (value or b"")[:_QUOTED_BYTES].hex()}
            return place, {"sentence": str(wrong), **quoted}
        if record is None:
            return place, None
        fold.take_group_record(record["group_id"])
        self.topic_names |= {t["topic_id"]: t["topic"] for t in record.pop("topics", ())}
        if record.get("state_at") is not None:
            record["state_at"] = _iso(record["state_at"])
        return place, record

    def take_finished(self) -> list[Run]:
        """Take out the runs that have ended: also those whose hour was over at the newest record of their partition."""
        for partition, at in self._newest.items():
            self._fold(partition).end_hours(at)
        return list(chain.from_iterable(fold.take_finished() for fold in self._folds.values()))

    def end_runs(self, partition: int) -> None:
        """End the open runs of a partition, since the next record does not go on where the last one was."""
        self._fold(partition).end_all()

    def _fold(self, partition: int) -> CommitFold:
        if partition not in self._folds:
            self._folds[partition] = CommitFold(partition, self.topic_names)
        return self._folds[partition]


def lacks_names(record: RowValues, names: Mapping[str, str]) -> bool:
    """Whether a row has a partition of a topic whose name is not known."""
    return any(owned["topic_id"] not in names for owned in _owned(record))


def with_topics(record: RowValues, names: Mapping[str, str]) -> RowValues:
    """The same row with the names of topics, as far as they are known."""
    owned = {
        name: [{"topic": names.get(each["topic_id"]), **each} for each in record[name]]
        for name in _OWNED
        if name in record
    }
    return {**record, **owned}


def _owned(record: RowValues) -> Iterator[RowValues]:
    return chain.from_iterable(record.get(name, ()) for name in _OWNED)


def _place(partition: int, offset: int, at: int) -> RowValues:
    return {"offsets_partition": partition, "record_offset": offset, "written_at": _iso(at)}


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
