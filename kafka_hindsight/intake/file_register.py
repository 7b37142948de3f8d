"""The register: the files that were read to their end, with facts about them, so that none is read twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.rows.structs import ClockStep, ClusterNaming, RepeatedHour
from kafka_hindsight.intake.lake_rows import cluster_rows, table_of
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import Stored
from kafka_hindsight.logs.file_facts import FileFacts, read_as
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.shared.grouping import grouped


@dataclass(frozen=True)
class FileRegister:
    """Listed files: the facts and the cluster of those in the register, and the fingerprints of all."""

    facts: Mapping[ListedFile, FileFacts]
    clusters: Mapping[ListedFile, str]
    marks: Mapping[ListedFile, str]

    def vanished(self, files: Iterable[ListedFile]) -> set[str]:
        """The sources of files that could not be opened for a fingerprint."""
        return {f.source for f in files if f not in self.facts and f not in self.marks}


def consult(store: Store, files: Collection[ListedFile], cluster: str | None) -> FileRegister:
    """Look files up in the register of a cluster, or of all clusters for None.

    A file with the same name, size and time is not opened; others are looked up by their fingerprint.
    """
    rows = _rows(store, files, cluster)
    entries = {
        f: row
        for f in files
        for row in rows.get(_kind(f), ())
        if (row["file"], row["modified_at"]) == (f.name, f.modified_at)
    }
    marks = {f: row["fingerprint"] for f, row in entries.items()}
    marks |= fingerprints([f for f in files if f not in entries])
    entries |= {f: row for f, mark in marks.items() for row in rows.get(_kind(f), ()) if row["fingerprint"] == mark}
    return FileRegister(
        facts={f: _facts(f, row) for f, row in entries.items()},
        clusters={f: row["cluster"] for f, row in entries.items()},
        marks=marks,
    )


def enter(
    store: Store, cluster: str, facts: Iterable[FileFacts], marks: Mapping[ListedFile, str], at: datetime
) -> None:
    """Add files that were read to their end. Their records must be in the lake already."""
    rows = [_row(fact, marks[fact.file], cluster, at) for fact in facts]
    by_key = {tuple(row[k] for k in LOG_FILES.key): row for row in rows}
    store.create(LOG_FILES)
    if by_key:
        store.append_new(LOG_FILES, table_of(by_key.values(), LOG_FILES))


def _rows(store: Store, files: Collection[ListedFile], cluster: str | None) -> dict[tuple[Any, ...], list[Any]]:
    register = cluster_rows(store, LOG_FILES, cluster)
    is_candidate = pc.and_(
        pc.is_in(register["size_bytes"], pa.array({f.size for f in files}, pa.int64())),
        pc.is_in(register["read_as"], pa.array({read_as(f) for f in files}, pa.string())),
    )
    rows = register.filter(is_candidate).to_pylist()
    return grouped(rows, lambda row: tuple(row[c] for c in ("origin", "source", "zone", "read_as", "size_bytes")))


def _kind(file: ListedFile) -> tuple[Any, ...]:
    return file.origin, file.source, file.zone, read_as(file), file.size


def _facts(file: ListedFile, row: Any) -> FileFacts:
    return FileFacts(
        file=file,
        lines=row["line_count"],
        timeless=row["undated_count"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        steps=tuple(map(ClockStep.of, row["clock_steps"])),
        repeated=tuple(map(RepeatedHour.of, row["repeated_hours"])),
        is_kafka_log=row["is_kafka_log"],
        is_broker_log=row["is_broker_log"],
        damage=row["damage"],
        clusters=tuple(ClusterNaming.of(naming) for naming in row["clusters"]),
    )


def _row(fact: FileFacts, mark: str, cluster: str, at: datetime) -> dict[str, Any]:
    file = fact.file
    return {
        "cluster": cluster,
        "origin": file.origin,
        "source": file.source,
        "file": file.name,
        "zone": file.zone,
        "size_bytes": file.size,
        "modified_at": file.modified_at,
        "fingerprint": mark,
        "read_as": read_as(file),
        "line_count": fact.lines,
        "undated_count": fact.timeless,
        "first_at": fact.first_at,
        "last_at": fact.last_at,
        "clock_steps": [step.as_dict() for step in fact.steps],
        "repeated_hours": [hour.as_dict() for hour in fact.repeated],
        "is_kafka_log": fact.is_kafka_log,
        "is_broker_log": fact.is_broker_log,
        "damage": fact.damage,
        "clusters": [naming.as_dict() for naming in fact.clusters],
        "run_collected_at": at,
    }


_ENDS = 4096
_AT_ONCE = 16
"""Files that are read at once: a store takes a moment to answer."""


def fingerprints(files: Iterable[ListedFile]) -> dict[ListedFile, str]:
    """A hash of each file's listed size, and of the first and the last bytes up to that size.

    A log is only written at its end: as long as the hash stays, the listed bytes are there, whatever was added. A file
    that vanished, shrank or cannot be opened has no hash.
    """
    target_of = {f: (f.archive.uri, f.archive.size) if f.archive else (f.uri, f.size) for f in files}
    targets = list(set(target_of.values()))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        marks = dict(zip(targets, pool.map(_mark, targets), strict=True))
    return {
        f: row_id(mark, f.archive.begin, f.size) if f.archive else mark
        for f, target in target_of.items()
        if (mark := marks[target]) is not None
    }


def begins_with(file: ListedFile, size: int, fingerprint: str) -> bool | None:
    """Whether a file has the bytes of a fingerprint up to a size; None if it cannot be opened."""
    mark = _mark((file.uri, size))
    return None if mark is None else mark == fingerprint


def _mark(target: tuple[str, int]) -> str | None:
    """The fingerprint of a file or an archive, by its URI and its size; None if it cannot be read."""
    uri, size = target
    content = Stored(uri)
    try:
        ends = content.between(0, min(size, _ENDS)), content.between(max(size - _ENDS, 0), size)
    except OSError:
        return None
    finally:
        content.close()
    return None if any(len(end) < min(size, _ENDS) for end in ends) else row_id(size, *(end.hex() for end in ends))
