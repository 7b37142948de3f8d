"""Archives of tar, packed or not: the files that they hold, each read where it lies."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_jobs.edges.file_bytes import Bytes, is_local, is_packed, stream_of
from spark_jobs.edges.file_work import Unit, spread
from spark_jobs.edges.local_files import Archive, Found, quoted, shown
from spark_jobs.shared.instants import of_millis

_ARCHIVE_REGEX = re.compile(r"(?s).*[.](?:tar(?:[.](?:gz|xz|bz2|zst|lz4))?|tgz|txz|tbz2?|tzst)")

_FAR = "a packed archive behind a URI, which would be read again for each of its files: unpack it, or store it as .tar"
_EMPTY = "an archive that holds no file"
_NESTED = "an archive within an archive: unpack it"
_NO_FILE = "not a regular file"
_BROKEN = "an archive of tar that cannot be read to its end: {}. What it holds before the break is read"

_FAULTS = (tarfile.TarError, EOFError, ValueError, OverflowError)
"""What tarfile raises where bytes are none of an archive's."""

_LAST_SECOND = 2**32
_SCHEMA = "archive int, name string, begin bigint, size bigint, millis bigint, why_not string"
_ARROW = pa.schema(
    {
        "archive": pa.int32(),
        "name": pa.string(),
        **dict.fromkeys(("begin", "size", "millis"), pa.int64()),
        "why_not": pa.string(),
    }
)


def is_archive(name: str) -> bool:
    """Whether a file is an archive by its name."""
    return _ARCHIVE_REGEX.fullmatch(name) is not None


def members(spark: SparkSession, archives: Sequence[Found]) -> Mapping[Found, list[Found]]:
    """What archives hold, each file with the archive's name as its folder, in the order in which it lies there.

    Edge case: an archive that breaks off is an entry itself, with the reason; of a name that is there twice the last
    one counts, as it does for tar.
    """
    near = [archive for archive in archives if is_local(archive.uri) or not is_packed(archive.uri)]
    units = [Unit(archive.uri, ((0, archive.size),), {"archive": n}) for n, archive in enumerate(near)]
    rows = spread(spark, units, members_in, _SCHEMA).collect() if units else []
    held: dict[Found, dict[str, Found]] = {archive: {} for archive in near}
    for row in sorted(rows, key=lambda row: (row["archive"], row["begin"])):
        archive = near[row["archive"]]
        entry = _entry(archive, row)
        held[archive].pop(entry.name, None)
        held[archive][entry.name] = entry
    far = {archive: [archive._replace(why_not=_FAR)] for archive in archives if archive not in held}
    return {
        archive: [*entries.values()] or [archive._replace(why_not=_EMPTY)] for archive, entries in held.items()
    } | far


def members_in(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    """What a worker finds in an archive, a row for each file."""
    for name, begin, size, millis, why_not in walk(held):
        row = {"archive": told["archive"], "name": name, "begin": begin, "size": size, "millis": millis}
        yield pa.RecordBatch.from_pylist([{**row, "why_not": why_not}], _ARROW)


def walk(held: Bytes) -> Iterator[tuple[str, int, int, int, str]]:
    """What an archive holds: name, first byte, bytes, when it was written in milliseconds, and why it is not read."""
    try:
        for _, entry in _entries(held):
            if not entry.isdir():
                millis = int(min(max(entry.mtime, 0), _LAST_SECOND) * 1000)
                yield _name(entry.name), entry.offset_data, entry.size, millis, _why_not(entry)
    except _FAULTS as problem:
        yield "", 0, 0, 0, _BROKEN.format(held.damage or problem)


def beginnings(held: Bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """The name of each file in an archive and its first bytes, as far as the archive can be read."""
    with suppress(*_FAULTS):
        for archive, entry in _entries(held):
            if not _why_not(entry) and (file := archive.extractfile(entry)):
                yield _name(entry.name), file.read(size)


def _entries(held: Bytes) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The entries of an archive, in the order in which they lie there. Raises: one of _FAULTS where it breaks off."""
    with tarfile.open(fileobj=stream_of(held), mode="r|") as archive:
        for entry in archive:
            yield archive, entry


def _why_not(entry: tarfile.TarInfo) -> str:
    if is_archive(entry.name):
        return _NESTED
    return "" if entry.isreg() and not entry.issparse() else _NO_FILE


def _name(name: str) -> str:
    """A name within the archive, whatever it would be on a disk."""
    return shown("/".join(part for part in name.split("/") if part not in ("", ".")))


def _entry(archive: Found, row: Any) -> Found:
    if not row["name"]:
        return archive._replace(why_not=row["why_not"])
    name, uri = f"{archive.name}/{row['name']}", f"{archive.uri}!/{quoted(row['name'])}"
    there = Archive(archive.uri, archive.size, row["begin"])
    size = row["size"] if is_packed(archive.uri) else min(row["size"], archive.size - row["begin"])
    return Found(name, uri, archive.path, size, of_millis(row["millis"]), row["why_not"], there)
