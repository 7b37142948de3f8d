"""The files of `__cluster_metadata`: decoded where they lie and read on as they grow. Each record is kept once."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.bronze import METADATA_FILES, METADATA_RECORDS
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.quality import QUARANTINE
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.lake_rows import cluster_rows, first_rows, table_of
from kafka_hindsight.kafka_records.metadata_log import FileContents, file_name, read_segment, read_snapshot
from kafka_hindsight.kafka_records.metadata_replay import offset_ranges
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import Bytes, FilePart
from kafka_hindsight.logs.file_order import is_young
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.shared.arrow_tables import with_columns
from kafka_hindsight.shared.instants import of_millis

_NEW = {"start": 0, "prefix_crc": 0, "start_offset": -1, "last_epoch": -1}


@dataclass(frozen=True)
class MetadataLog:
    """The files of the metadata log that a run read, as rows of bronze.metadata_files.

    `torn` are those at rest that break off within a batch; `closed` are the names of those that could not be opened.
    """

    files: tuple[RowValues, ...] = ()
    torn: tuple[RowValues, ...] = ()
    closed: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Warnings for a person, a sentence each."""
        closed = (
            f"{file} cannot be opened: it has vanished, or this user may not read it. Needed: the right to read it;"
            " Kafka gives snapshots mode 0400. Copy it as Kafka's user, then audit again."
            for file in self.closed
        )
        return [*(sentence for row in self.broken("") for sentence in row["sentences"]), *closed]

    def summary(self) -> str:
        """The files and records that were read, in a sentence."""
        records = sum(f["record_count"] for f in self.files if f["is_kept"])
        skipped = sum(f["skipped_count"] for f in self.files if f["is_kept"])
        return f"{len(self.files)} files of the metadata log: {records:,} records kept, {skipped:,} of no use"

    def broken(self, cluster: str) -> list[RowValues]:
        """Rows of quality.quarantine: parts that could not be decoded, and batches that break off in files at rest."""
        problems = [(f["file"], sentence) for f in self.files for sentence in f["errors"]]
        problems += [
            (f["file"], f"It breaks off within a batch: {f['size_bytes'] - f['read_bytes']} bytes are left after byte"
             f" {f['read_bytes']}. Whole batches are kept. A later run reads on from there when the file has grown.")
            for f in self.torn
        ]  # fmt: skip
        return [
            {
                **dict.fromkeys(QUARANTINE.column_names),
                "quarantine_id": row_id(cluster, file, sentence),
                "cluster": cluster,
                "source": file.rpartition("/")[0],
                "line_count": 0,
                "row": file,
                "sentences": [f"{file}: {sentence}"],
            }
            for file, sentence in problems
        ]


def keep_metadata(
    engine: Engine, store: Store, files: Sequence[ListedFile], cluster: str, run_at: datetime, read_to_end: bool
) -> MetadataLog:
    """Add the records of these files that bronze does not have yet.

    Records are written first, then the register. After a crash in between they are read again, which adds nothing.
    """
    store.create(METADATA_RECORDS, METADATA_FILES)
    register = _register_rows(store, cluster)
    fresh = [f for f in files if not _is_read(f, register.get(f.name))]
    if not fresh:
        return MetadataLog()
    decoded = _decoded(engine, fresh, register)
    facts = [fact for fact, _ in decoded]
    all_files = [*register.values(), *facts]
    snapshots, spans = needed_snapshots(all_files), offset_ranges(_segments(all_files))
    rows = [
        {
            **fact,
            "is_kept": not fact["is_snapshot"] or fact["file"] in snapshots,
            "cluster": cluster,
            "run_collected_at": run_at,
        }
        for fact in sorted(facts, key=lambda f: f["file"])
    ]
    names = {r["file"] for r in rows if r["is_kept"]}
    store.append_new(METADATA_RECORDS, _records((table for fact, table in decoded if fact["file"] in names), cluster))
    # A snapshot beyond the log that was read may be needed when the log has grown: a later run reads it again.
    reached = {r["file"] for r in rows if any(start <= r["next_offset"] <= end for start, end in spans)}
    settled = (r for r in rows if r["is_kept"] or r["errors"] or r["file"] in reached)
    store.append_new(METADATA_FILES, table_of(settled, METADATA_FILES))
    growing = {f.name for f in fresh if not read_to_end and is_young(f.modified_at, run_at)}
    closed = {f.name for f in fresh} - {r["file"] for r in rows}
    broken_off = (r for r in rows if r["read_bytes"] < r["size_bytes"] and not r["errors"])
    torn = tuple(r for r in broken_off if r["file"] not in growing)
    return MetadataLog(tuple(rows), torn, tuple(sorted(closed)))


def _register_rows(store: Store, cluster: str) -> dict[str, RowValues]:
    """The newest row of the register for each file, by its name."""
    rows = cluster_rows(store, METADATA_FILES, cluster).to_pylist()
    return {r["file"]: r for r in sorted(rows, key=lambda r: (r["run_collected_at"], r["read_bytes"]))}


def _is_read(file: ListedFile, row: RowValues | None) -> bool:
    """Whether nothing was written since. A file with a batch that was not whole is read again."""
    return (
        row is not None and row["size_bytes"] == file.size and (row["read_bytes"] == file.size or bool(row["errors"]))
    )


def needed_snapshots(rows: Iterable[RowValues]) -> set[str]:
    """The snapshots that the log needs: the earliest in each stretch of it that does not begin at offset 0.

    A stretch whose snapshot is kept already needs no other one.
    """
    files = list(rows)
    snapshots = [r for r in files if r["is_snapshot"] and r["read_bytes"]]
    names: set[str] = set()
    for start, end in offset_ranges(_segments(files)):
        within = [s for s in snapshots if start <= s["next_offset"] <= end]
        if start and within and not any(s.get("is_kept") for s in within):
            names.add(min(within, key=lambda s: (s["next_offset"], s["file"]))["file"])
    return names


def _segments(files: Iterable[RowValues]) -> list[tuple[int, int]]:
    return [(f["first_offset"], f["next_offset"]) for f in files if not f["is_snapshot"]]


def _decoded(
    engine: Engine, files: Sequence[ListedFile], register: Mapping[str, RowValues]
) -> list[tuple[RowValues, pa.Table]]:
    """Decode files where they are read: facts about each file, and its records.

    A file that cannot be opened gives nothing. A task has a whole file in memory; KRaft rolls segments at 1 GiB
    (metadata.log.segment.bytes).
    """
    units = [
        FilePart(f.uri, (0, f.size), {"file": f.name, "source": f.source, **_begin(register.get(f.name))}, is_raw=True)
        for f in files
    ]
    return list(engine.spread(units, _decode))


def _begin(row: RowValues | None) -> RowValues:
    """The point in a file from which to read on."""
    if row is None or row["is_snapshot"]:
        return _NEW
    return {
        "start": row["read_bytes"],
        "prefix_crc": row["prefix_crc"],
        "start_offset": row["next_offset"],
        "last_epoch": row["last_epoch"],
    }


_RECORDS = pa.schema([f.with_nullable(True) for f in arrow_schema(METADATA_RECORDS)])


def _decode(arguments: RowValues, content: Bytes, _: Any) -> Iterator[tuple[RowValues, pa.Table]]:
    data, name = content.between(0, arguments["reads_to"]), file_name(arguments["file"])
    if not data or name is None:
        return
    if zlib.crc32(data[: arguments["start"]]) != arguments["prefix_crc"]:
        arguments = {**arguments, **_NEW}
    first = name.offset if arguments["start_offset"] < 0 else arguments["start_offset"]
    decoded = (
        read_snapshot(data, name)
        if name.is_snapshot
        else read_segment(data, first, arguments["start"], arguments["last_epoch"])
    )
    rows = [{**r, "written_at": of_millis(r["written_at"]), "source": arguments["source"]} for r in decoded.rows]
    fact = {**_fact(decoded, data, name.is_snapshot), "file": arguments["file"], "first_offset": name.offset}
    yield fact, pa.Table.from_pylist(rows, _RECORDS)


def _fact(decoded: FileContents, data: bytes, is_snapshot: bool) -> RowValues:
    return {
        "is_snapshot": is_snapshot,
        "size_bytes": len(data),
        "read_bytes": decoded.end,
        "prefix_crc": zlib.crc32(data[: decoded.end]),
        "next_offset": decoded.next_offset,
        "last_epoch": decoded.last_epoch,
        "record_count": len(decoded.rows),
        "skipped_count": decoded.skipped.total(),
        "skipped": [{"record_type": kind, "count": n} for kind, n in sorted(decoded.skipped.items())],
        "errors": list(decoded.problems),
    }


def _records(tables: Iterable[pa.Table], cluster: str) -> pa.Table:
    """The records of some files, each once: of several copies the one of the first source."""
    rows = first_rows(pa.concat_tables([_RECORDS.empty_table(), *tables]).sort_by("source"), METADATA_RECORDS.key[1:])
    return with_columns(rows, cluster=pa.repeat(cluster, len(rows)))
