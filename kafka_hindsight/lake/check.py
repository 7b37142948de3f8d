"""Everything that a lake's tables rest on: each commit, each file, and what quality.publications says. No JVM."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from deltalake import DeltaTable

from kafka_hindsight.catalog import BY_NAME, Table
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.lake import delta_log, landing, publication
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared.exits import sentences_of

_COMMIT = re.compile(r"\d{20}\.json")
_CHECKPOINT = re.compile(r"\d{20}\.checkpoint\b")
"""Delta removes old commits behind one."""


def check(lake: str) -> Iterator[str]:
    """One sentence for each thing that is wrong in a lake: nothing where all is whole.

    Looks at every commit that lies there, every file of the newest version (its size, its footer, and the checksum of
    each page), and whether the versions that were published are there.
    """
    newest = publication.newest_versions(lake)
    for table, version in newest.items():
        yield from _of_table(f"{lake}/{table.layer}/{table.name}", table, version)
    yield from _publications(lake, newest)


def _of_table(folder: str, table: Table, newest: int) -> Iterator[str]:
    log = f"{folder}/{delta_log.FOLDER}"
    names = landing.names_in(log)
    commits = sorted(name for name in names if _COMMIT.fullmatch(name))
    versions = [int(name[:20]) for name in commits]
    checkpoints = [int(name[:20]) for name in names if _CHECKPOINT.match(name)]
    first = min([min(checkpoints, default=-1) + 1, *versions])
    for version in sorted({*range(first, newest + 1)} - {*versions}):
        yield f"{table.full_name}: commit {version} is missing."
    for name in commits:
        if delta_log.is_cut(landing.read_bytes(f"{log}/{name}").decode(errors="replace")):
            yield f"{table.full_name}: {name} is cut short."
    try:
        read = DeltaTable(folder)
        added = pyarrow.table(read.get_add_actions(flatten=True)).to_pylist()
    except Exception as problem:  # delta-rs has several errors for a damaged log, and they have no common class
        yield f"{table.full_name} cannot be opened: {sentences_of(problem)[0]}"
        return
    for action in added:
        if wrong := _of_file(folder, read, action):
            yield f"{table.full_name}: {action['path']} {wrong}"


def _of_file(folder: str, table: DeltaTable, action: dict[str, Any]) -> str | None:
    system = table.to_pyarrow_dataset().filesystem if is_uri(folder) else None
    place = action["path"] if is_uri(folder) else f"{folder}/{action['path']}"
    try:
        if system is None and (size := Path(place).stat().st_size) != action["size_bytes"]:
            return f"has {size} bytes; its commit names {action['size_bytes']}."
        if system is None and not _sums_match(Path(place)):
            return "does not match its checksum."
        with pyarrow.parquet.ParquetFile(place, filesystem=system, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group, use_threads=False)
    except FileNotFoundError:
        return "is missing."
    except Exception as problem:  # pyarrow has several errors for damaged bytes, and they have no common class
        return f"cannot be read: {sentences_of(problem)[0]}"
    return None


def _sums_match(file: Path) -> bool:
    """Whether a file matches the checksums that Hadoop keeps beside each local file that it writes.

    Source: Hadoop's ChecksumFileSystem: `crc` and a zero, the bytes of a chunk, then a CRC-32 of each chunk.
    """
    kept = file.with_name(f".{file.name}.crc")
    if not kept.exists():
        return True
    sums = kept.read_bytes()
    size = int.from_bytes(sums[4:8], "big")
    with file.open("rb") as data:
        found = b"".join(zlib.crc32(chunk).to_bytes(4, "big") for chunk in iter(lambda: data.read(size), b""))
    return found == sums[8:]


def _publications(lake: str, newest: publication.Versions) -> Iterator[str]:
    """Whether each gold table has the version that its last publication names."""
    if PUBLICATIONS not in newest:
        return
    visible = publication.visible_versions(lake, newest)
    try:
        rows = DeltaTable(f"{lake}/{PUBLICATIONS.layer}/{PUBLICATIONS.name}", version=visible[PUBLICATIONS])
        listed = rows.to_pyarrow_table(columns=["table", "run_published_at", "version"]).to_pylist()
    except Exception:  # said of the table itself
        return
    for name in sorted({row["table"] for row in listed}):
        _, version = max((row["run_published_at"], row["version"]) for row in listed if row["table"] == name)
        table = BY_NAME.get(name)
        if table is None:
            continue  # a lake of an earlier Hindsight, which called it so
        if table not in newest:
            yield f"quality.publications names version {version} of {name}, which is not in the lake."
        elif visible[table] < version:
            yield (
                f"quality.publications names version {version} of {name}; readers see version {visible[table]}."
                " An upgrade begins a table's history again; else rows of it are lost."
            )
