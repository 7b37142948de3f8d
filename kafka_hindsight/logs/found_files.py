"""The regular files below a folder, on a disk or in a store, each once, and those within archives of tar.

Links are not followed.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from kafka_hindsight.lake.landing import stored_below
from kafka_hindsight.logs.file_bytes import CHUNK, AsFile, Bytes
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared.instants import of_millis

_LINK = "a link: its target is read if it lies below the same folder"
_NO_FILE = "not a regular file"
_NO_TEXT = "its name is not UTF-8"


class Archive(NamedTuple):
    """The archive that holds a file, its size in bytes, and where the file begins in its unpacked content."""

    uri: str
    size: int
    begin: int


class Found(NamedTuple):
    """An entry of a place, by its name below the root. `why_not` says why it cannot be read.

    `uri` is a path of this machine, or a URI of a store.
    """

    name: str
    uri: str
    size: int
    modified_at: datetime
    why_not: str = ""
    archive: Archive | None = None


def files_at(place: str) -> list[Found]:
    """Every file below a folder or a URI, or the file itself; none where a store has no such object.

    A folder behind a link is not entered, so the walk ends and shows nothing outside of the folder. The root itself
    may be a link, since the user names it.

    Raises:
        FileNotFoundError: A file vanished during the walk.
        OSError: A folder cannot be read.
    """
    if is_uri(place) and not place.startswith("file:"):
        return list(_stored(place.rstrip("/")))
    root = os.path.abspath(unquote(urlsplit(place).path) if is_uri(place) else os.path.expanduser(place))
    if not Path(root).is_dir():
        return [_file_at(Path(root).name, root, Path(root).stat(), "")]
    return list(_below(root, len(root.rstrip("/")) + 1))


def _stored(root: str) -> Iterator[Found]:
    """The objects below a URI. Their names are not escaped in it."""
    for path, file in stored_below(root):
        at = of_millis(file.mtime_ns // 1_000_000)
        yield Found(path or file.base_name, f"{root}/{path}" if path else root, file.size, at)


def _below(root: str, start: int) -> Iterator[Found]:
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    status = entry.stat(follow_symlinks=False)
                    yield _file_at(entry.path[start:], entry.path, status, _why_not(entry, status))


def _why_not(entry: os.DirEntry[str], status: os.stat_result) -> str:
    if entry.is_symlink():
        return _LINK
    if not stat.S_ISREG(status.st_mode):
        return _NO_FILE
    return "" if entry.path == printable_path(entry.path) else _NO_TEXT


def _file_at(name: str, path: str, status: os.stat_result, why_not: str) -> Found:
    return Found(
        printable_path(name), printable_path(path), status.st_size, of_millis(status.st_mtime_ns // 1_000_000), why_not
    )


def printable_path(path: str) -> str:
    """A path with bytes that are not UTF-8 replaced."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


_ARCHIVE_REGEX = re.compile(r"(?s).*[.](?:tar(?:[.](?:gz|xz|bz2|zst|lz4))?|tgz|txz|tbz2?|tzst)")
_NESTED = "an archive within an archive: unpack it"
_BROKEN = "a tar archive that cannot be read to its end: {}. The files before the break are read"
_FAULTS = (tarfile.TarError, EOFError, ValueError, OverflowError)
"""Errors that tarfile raises for bytes that are not an archive."""

_LAST_SECOND = 2**32


def is_archive(name: str) -> bool:
    """Whether a file is an archive by its name."""
    return _ARCHIVE_REGEX.fullmatch(name) is not None


Judge = Callable[[str, Callable[[], bytes]], str]
"""Why a file of an archive is not read, by its name and a function that gives its first bytes; empty if it is."""


def walk(content: Bytes, judge: Judge) -> Iterator[tuple[str, int, int, int, str]]:
    """The entries of an archive: name, first byte, size in bytes, time of writing (ms), and why it is not read."""
    try:
        for archive, entry in _entries(content):
            if not entry.isdir():
                modified_ms = int(min(max(entry.mtime, 0), _LAST_SECOND) * 1000)
                why_not = _why_not_read(entry) or judge(entry.name, partial(_first_of, archive, entry))
                yield _name(entry.name), entry.offset_data, entry.size, modified_ms, why_not
    except _FAULTS as problem:
        yield "", 0, 0, 0, _BROKEN.format(content.damage or problem)


def first_bytes(content: Bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """The name of each file in an archive and its first bytes, as far as the archive can be read."""
    with suppress(*_FAULTS):
        for archive, entry in _entries(content):
            if not _why_not_read(entry) and (data := _first_of(archive, entry, size)):
                yield _name(entry.name), data


def _first_of(archive: tarfile.TarFile, entry: tarfile.TarInfo, size: int = CHUNK) -> bytes:
    """The first bytes of a file in an archive."""
    file = archive.extractfile(entry)
    return file.read(size) if file else b""


def _entries(content: Bytes) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The entries of an archive in its order. An archive that breaks off raises one of _FAULTS."""
    stream = io.BufferedReader(AsFile(content, sys.maxsize), CHUNK)
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            yield archive, entry


def _why_not_read(entry: tarfile.TarInfo) -> str:
    if is_archive(entry.name):
        return _NESTED
    return "" if entry.isreg() and not entry.issparse() else _NO_FILE


def _name(name: str) -> str:
    """A name within the archive, without empty parts and dots."""
    return printable_path("/".join(part for part in name.split("/") if part not in ("", ".")))
