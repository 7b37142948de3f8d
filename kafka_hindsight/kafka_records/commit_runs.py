"""Commits folded into runs: commits of a group and partition with nothing between but commits that go forward.

A run ends with its hour, before a tombstone (a run of its own), before an offset or a clock that goes back, before
another leader epoch, and before a record of the group itself in the same partition of `__consumer_offsets`. So the last
commit before each change of a group, and the first one after it, are ends of runs: by place, without a clock.

Law: wherever the records are cut, the runs of the pieces merge into those of the whole. Standard library only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Any

from kafka_hindsight.kafka_records.batches import Record
from kafka_hindsight.kafka_records.offset_commits import (
    PLAIN_SIZE,
    PLAIN_VERSION,
    Commit,
    CommitKey,
    decode_commit,
    decode_commit_key,
    encode_commit_key,
    offset_and_epoch,
    topic_id_of,
)
from kafka_hindsight.kafka_records.wire import Malformed

HOUR_MS = 3_600_000

GroupRecords = Mapping[tuple[int, str], Sequence[int]]
"""The offsets of the records of groups, sorted, by partition of `__consumer_offsets` and group."""


@dataclass(slots=True)
class Run:
    """One row of bronze.offset_commits, with instants in milliseconds. `landed_in` names the files it came in."""

    offsets_partition: int
    group_id: str
    topic: str
    partition: int
    first_record: int
    last_record: int
    first_at: int
    last_at: int
    first_offset: int | None
    last_offset: int | None
    commits: int
    moves: int
    first_moved_at: int
    moved_at: int
    stood_ms: int
    stood_at: int
    leader_epoch: int
    has_metadata: bool
    landed_in: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Run | None:
        """The run in a JSON value that `as_json` made; None where it is not one."""
        try:
            run = cls(**value)
        except TypeError:
            return None
        return run if all(type(getattr(run, name)) in types for name, types in _TYPES.items()) else None

    def as_json(self) -> dict[str, Any]:
        """The run as a JSON value, without the files it came in."""
        return {name: getattr(self, name) for name in _TYPES}

    @property
    def key(self) -> CommitKey:
        """The group and partition whose commits it has."""
        return CommitKey(self.group_id, self.topic, self.partition)


_TYPES: Mapping[str, tuple[type, ...]] = {
    **{field.name: (int,) for field in fields(Run) if field.name != "landed_in"},
    **dict.fromkeys(("group_id", "topic"), (str,)),
    **dict.fromkeys(("first_offset", "last_offset"), (int, NoneType)),
    "has_metadata": (bool,),
}
"""The types of a run's fields in JSON."""


class CommitFold:
    """Folds the records of one partition of `__consumer_offsets`, in the order of their offsets.

    What stays in memory are the open runs, those that the next records may continue, if the finished ones are taken
    out. `topic_names` gets the names of topics by id, of those whose commits have it.
    """

    def __init__(self, offsets_partition: int, topic_names: dict[str, str]) -> None:
        self.offsets_partition = offsets_partition
        self.topic_names = topic_names
        self._open: dict[bytes, Run] = {}
        self._keys: dict[str, dict[bytes, None]] = {}
        self._finished: list[Run] = []

    @property
    def open(self) -> list[Run]:
        """The runs that the next records may continue."""
        return list(self._open.values())

    def go_on(self, run: Run) -> None:
        """Take a run of an earlier reading, which the next records may continue."""
        self._begin(encode_commit_key(run.key), run)

    def take_finished(self) -> list[Run]:
        """Take out the runs that have ended."""
        finished, self._finished = self._finished, []
        return finished

    def fold(self, records: Iterable[Record]) -> Iterator[Record]:
        """Fold the commits that continue an open run. Yields each other record, for the caller to take before the next.

        Nearly all records are such commits, and they come by the million: so this loop also decodes the most frequent
        form of them, that without metadata and with the id of a topic.
        """
        run_of, begin, end = self._open.get, 0, 0
        for record in records:
            place, at, key, value = record
            run = run_of(key)  # type: ignore[arg-type] # no run has the key None
            if run is None or value is None:
                yield record
                continue
            if not begin <= at < end:
                begin = at // HOUR_MS * HOUR_MS
                end = begin + HOUR_MS
            if len(value) == PLAIN_SIZE and value[1] == PLAIN_VERSION and value[14] == 1 and value[25] == 16:
                offset, epoch = offset_and_epoch(value, 2)
                has_metadata = False
            else:
                try:
                    offset, epoch, has_metadata = decode_commit(value)
                except Malformed:
                    yield record
                    continue
            last = run.last_offset
            if (
                offset < last  # type: ignore[operator] # an open run is no tombstone
                or epoch != run.leader_epoch
                or at < run.last_at
                or place <= run.last_record
                or run.first_at < begin
            ):
                yield record
                continue
            if offset != last:
                if not run.moves:
                    run.first_moved_at = at
                stood_ms = at - run.moved_at
                if stood_ms > run.stood_ms:
                    run.stood_ms, run.stood_at = stood_ms, run.moved_at
                run.moves += 1
                run.moved_at, run.last_offset = at, offset
            run.commits += 1
            run.last_record, run.last_at = place, at
            if has_metadata:
                run.has_metadata = True

    def begin(self, record: int, at: int, key: bytes, value: bytes | None) -> None:
        """Begin a run with a commit that continues none, or take a tombstone. Raises: Malformed."""
        commit = (None, -1, False) if value is None else decode_commit(value)
        run = self._one(record, at, decode_commit_key(key), commit)
        self._end(key)
        if value is None:
            self._finished.append(run)
            return
        self._begin(key, run)
        if topic_id := topic_id_of(value):
            self.topic_names[topic_id] = run.topic

    def take_group_record(self, group_id: str) -> None:
        """End the open runs of a group, of which a record of its own follows."""
        for key in self._keys.pop(group_id, ()):
            self._finished.append(self._open.pop(key))

    def end_hours(self, at: int) -> None:
        """End the open runs whose hour is over at an instant."""
        for key in [key for key, run in self._open.items() if run.first_at // HOUR_MS < at // HOUR_MS]:
            self._end(key)

    def _one(self, record: int, at: int, whose: CommitKey, commit: Commit | tuple[None, int, bool]) -> Run:
        """The run of one commit, or of a tombstone."""
        offset, epoch, has_metadata = commit
        return Run(
            offsets_partition=self.offsets_partition,
            **whose._asdict(),
            first_record=record,
            last_record=record,
            first_at=at,
            last_at=at,
            first_offset=offset,
            last_offset=offset,
            commits=1,
            moves=0,
            first_moved_at=at,
            moved_at=at,
            stood_ms=0,
            stood_at=at,
            leader_epoch=epoch,
            has_metadata=has_metadata,
        )

    def end_all(self) -> None:
        """End all open runs."""
        for key in list(self._open):
            self._end(key)

    def _begin(self, key: bytes, run: Run) -> None:
        self._open[key] = run
        self._keys.setdefault(run.group_id, {})[key] = None

    def _end(self, key: bytes) -> None:
        """End the open run of a key, if it has one."""
        if (run := self._open.pop(key, None)) is not None:
            self._keys[run.group_id].pop(key)
            self._finished.append(run)


def in_order(runs: Iterable[Run]) -> list[Run]:
    """The runs by whose they are, and by their place; of those that begin at one place the longest first."""
    return sorted(runs, key=lambda r: (r.offsets_partition, r.key, r.first_record, -r.last_record))


def merged(runs: Iterable[Run], records: GroupRecords) -> list[Run]:
    """The runs of several pieces of the same log, each run whole. Pieces may overlap: a log may be read twice."""
    result: list[Run] = []
    for run in in_order(runs):
        whole = _joined(result[-1], run, records) if result else None
        if whole is None:
            result.append(run)
        else:
            result[-1] = whole
    return result


def _joined(a: Run, b: Run, records: GroupRecords) -> Run | None:
    """The run that both are parts of; None where there is no such run. `a` does not begin after `b`."""
    is_one = (a.offsets_partition, a.key, a.leader_epoch, a.first_at // HOUR_MS) == (
        b.offsets_partition,
        b.key,
        b.leader_epoch,
        b.first_at // HOUR_MS,
    )
    if not is_one or (a.first_offset is None) != (b.first_offset is None):
        return None
    if b.first_record <= a.last_record:
        return _united(a, b)
    if a.last_offset is None or b.first_offset is None or b.first_offset < a.last_offset or b.first_at < a.last_at:
        return None
    between = records.get((a.offsets_partition, a.group_id), ())
    return None if bisect_left(between, a.last_record) < bisect_left(between, b.first_record) else _followed(a, b)


def _united(a: Run, b: Run) -> Run:
    """Two parts that overlap: the counts of the fuller one, which are the least that the whole has."""
    last, fuller = max(b, a, key=lambda run: run.last_record), max(a, b, key=lambda run: run.commits)
    return replace(
        fuller,
        first_record=a.first_record,
        first_at=a.first_at,
        first_offset=a.first_offset,
        last_record=last.last_record,
        last_at=last.last_at,
        last_offset=last.last_offset,
        has_metadata=a.has_metadata or b.has_metadata,
        landed_in=_files(a, b),
    )


def _followed(a: Run, b: Run) -> Run:
    """Two parts of which the second follows the first."""
    has_moved = b.first_offset != a.last_offset
    first_move = b.first_at if has_moved else b.first_moved_at if b.moves else None
    stands = [(a.stood_ms, a.stood_at)]
    if first_move is not None:
        stands.append((first_move - a.moved_at, a.moved_at))
    stood_ms, stood_at = max([*stands, (b.stood_ms, b.stood_at)], key=lambda stand: stand[0])
    return replace(
        a,
        last_record=b.last_record,
        last_at=b.last_at,
        last_offset=b.last_offset,
        commits=a.commits + b.commits,
        moves=a.moves + has_moved + b.moves,
        first_moved_at=a.first_moved_at if a.moves or first_move is None else first_move,
        moved_at=b.moved_at if b.moves else b.first_at if has_moved else a.moved_at,
        stood_ms=stood_ms,
        stood_at=stood_at,
        has_metadata=a.has_metadata or b.has_metadata,
        landed_in=_files(a, b),
    )


def _files(a: Run, b: Run) -> tuple[str, ...]:
    return tuple(sorted({*a.landed_in, *b.landed_in}))
