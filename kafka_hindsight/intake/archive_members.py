"""Archives of tar, packed or not: their files, each read where it lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.logs.archives import walk
from kafka_hindsight.logs.file_bytes import Bytes, is_packed
from kafka_hindsight.logs.found_files import Archive, Found
from kafka_hindsight.logs.unit import Unit
from kafka_hindsight.shared.instants import of_millis

_EMPTY = "an archive that holds no file"


_SCHEMA = pa.schema(
    {
        "archive": pa.int32(),
        "name": pa.string(),
        **dict.fromkeys(("begin", "size", "millis"), pa.int64()),
        "why_not": pa.string(),
    }
)


def members(engine: Engine, archives: Sequence[Found]) -> Mapping[Found, list[Found]]:
    """The files of archives, each with the archive's name as its folder, in the order of the archive.

    An archive that breaks off is an entry itself, with the reason. If a name is there twice, the last one counts, as it
    does for tar.
    """
    units = [Unit(archive.uri, (0, archive.size), {"archive": n}) for n, archive in enumerate(archives)]
    rows = pa.Table.from_batches(engine.spread(units, members_in, _SCHEMA), _SCHEMA).to_pylist()
    by_archive: dict[Found, dict[str, Found]] = {archive: {} for archive in archives}
    for row in sorted(rows, key=lambda row: (row["archive"], row["begin"])):
        archive = archives[row["archive"]]
        entry = _entry(archive, row)
        by_archive[archive].pop(entry.name, None)
        by_archive[archive][entry.name] = entry
    return {
        archive: [*entries.values()] or [archive._replace(why_not=_EMPTY)] for archive, entries in by_archive.items()
    }


def members_in(arguments: Mapping[str, Any], content: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    """Walk through an archive, and give a row for each file."""
    for name, begin, size, millis, why_not in walk(content):
        row = {"archive": arguments["archive"], "name": name, "begin": begin, "size": size, "millis": millis}
        yield pa.RecordBatch.from_pylist([{**row, "why_not": why_not}], _SCHEMA)


def _entry(archive: Found, row: Any) -> Found:
    if not row["name"]:
        return archive._replace(why_not=row["why_not"])
    name, uri = f"{archive.name}/{row['name']}", f"{archive.uri}!/{row['name']}"
    place_in_archive = Archive(archive.uri, archive.size, row["begin"])
    size = row["size"] if is_packed(archive.uri) else min(row["size"], archive.size - row["begin"])
    return Found(name, uri, size, of_millis(row["millis"]), row["why_not"], place_in_archive)
