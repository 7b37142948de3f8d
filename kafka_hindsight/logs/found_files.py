"""The files below a folder, on a disk or in a store: regular ones, each once. Nothing leads out of the folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from kafka_hindsight.lake.landing import stored_below
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared.instants import of_millis

_LINK = "a link: what it leads to is read where it lies, if that is below the same folder"
_NO_FILE = "not a regular file"
_NO_TEXT = "its name is not UTF-8"


class Archive(NamedTuple):
    """The archive that holds a file, its bytes, and where the file begins in what it holds."""

    uri: str
    size: int
    begin: int


class Found(NamedTuple):
    """Something that lies in a place, by its name below the root; `why_not` says why it cannot be read.

    `uri` is a path of this machine, or a URI of a store.
    """

    name: str
    uri: str
    size: int
    modified_at: datetime
    why_not: str = ""
    archive: Archive | None = None


def files_at(place: str) -> list[Found]:
    """Every file below a folder or a URI, or the file itself; none where nothing is in a store.

    Keeps: a folder behind a link is not entered, so that whoever may write here shows only what lies here, and a walk
        ends. Raises: FileNotFoundError where something vanishes meanwhile; OSError.
    Edge case: the root may be a link itself, since the user names it.
    """
    if is_uri(place) and not place.startswith("file:"):
        return list(_stored(place.rstrip("/")))
    root = os.path.abspath(unquote(urlsplit(place).path) if is_uri(place) else os.path.expanduser(place))
    if not Path(root).is_dir():
        return [_found(Path(root).name, root, Path(root).stat(), "")]
    return list(_below(root, len(root.rstrip("/")) + 1))


def _stored(root: str) -> Iterator[Found]:
    """Edge case: names of objects stand in a URI as they are."""
    for path, file in stored_below(root):
        at = of_millis(file.mtime_ns // 1_000_000)
        yield Found(path or file.base_name, f"{root}/{path}" if path else root, file.size, at)


def _below(root: str, start: int) -> Iterator[Found]:
    left = [root]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                else:
                    status = entry.stat(follow_symlinks=False)
                    yield _found(entry.path[start:], entry.path, status, _why_not(entry, status))


def _why_not(entry: os.DirEntry[str], status: os.stat_result) -> str:
    if entry.is_symlink():
        return _LINK
    if not stat.S_ISREG(status.st_mode):
        return _NO_FILE
    return "" if entry.path == shown(entry.path) else _NO_TEXT


def _found(name: str, path: str, status: os.stat_result, why_not: str) -> Found:
    return Found(shown(name), shown(path), status.st_size, of_millis(status.st_mtime_ns // 1_000_000), why_not)


def shown(path: str) -> str:
    """A path without the bytes that are not text."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
