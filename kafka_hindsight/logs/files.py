"""Places where logs lie, the log files in them, and listings of those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.logs.file_bytes import ArchiveMember, FilePart, is_packed
from kafka_hindsight.logs.found_files import Archive, Found
from kafka_hindsight.settings.config import masked


@dataclass(frozen=True)
class LogPlace:
    """A folder, file or URI where logs lie: who wrote them, the zone of their clock, and how the user names it.

    `pattern` is the layout of its lines, where the user set one. `folders` are the folders of a root that is a source
    or contains dates; not all of them have to exist. Clients' logs beside brokers' logs `may_be_empty`.
    """

    root: str
    origin: str
    zone: str
    variable: str
    pattern: str | None = None
    folders: tuple[str, ...] | None = None
    may_be_empty: bool = False

    def __str__(self) -> str:
        return f"{self.variable} names {masked(self.root)},"


@dataclass(frozen=True)
class ListedFile:
    """One file: `uri` as `Found` has it, `name` as seen from the root."""

    uri: str
    name: str
    size: int
    modified_at: datetime
    source: str
    origin: str
    zone: str
    pattern: str | None = None
    archive: Archive | None = None

    def copy_in(self, folder: str) -> str:
        """The path below a folder where a worker keeps the lines that it took out of envelopes."""
        return f"{folder}/{row_id(self.uri, self.size, self.modified_at)}.zst"

    @property
    def is_packed(self) -> bool:
        """Whether the file, or the archive around it, has to be unpacked. If so, it is read from its beginning."""
        return is_packed(self.name) or (self.archive is not None and is_packed(self.archive.uri))

    def unit(self, part: tuple[int, int], arguments: dict[str, Any]) -> FilePart:
        """The unit of work for a part of the file. A packed file is always a whole unit."""
        whole = (0, self.size) if is_packed(self.name) else part
        if self.archive is None:
            return FilePart(self.uri, whole, arguments)
        uri, size, begin = self.archive
        there = (0, size) if is_packed(uri) else (begin + whole[0], begin + whole[1])
        return FilePart(uri, there, arguments, ArchiveMember(self.name, begin, self.size))


Members = dict[Found, list[Found]]
"""The members of each archive, by its listing: an archive that has changed since has another size or time."""


@dataclass(frozen=True)
class Listing:
    """The files of places: those that are logs, and the names of those that are not read, some with the reason.

    `metadata` are segments and snapshots of `__cluster_metadata`, which have no lines. `warnings` are sentences about
    empty places.
    """

    files: tuple[ListedFile, ...]
    not_read: tuple[str, ...]
    metadata: tuple[ListedFile, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The size of all files in bytes, packed where they are packed."""
        return sum(f.size for f in self.files)

    def of_clients(self) -> Listing:
        """The listing with all of its files as clients' logs."""
        return replace(self, files=tuple(replace(f, origin="client") for f in self.files))

    def without(self, left_out: Mapping[str, str]) -> Listing:
        """The listing without some files. `left_out` has the reason for each name."""
        files = tuple(f for f in self.files if f.name not in left_out)
        reasons = (f"{name} ({why})" for name, why in left_out.items())
        return replace(self, files=files, not_read=(*self.not_read, *reasons))
