"""The files below a folder of this machine: regular ones, each once. Nothing leads out of the folder."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from kafka_hindsight.shared.instants import of_millis

_LINK = "a link: what it leads to is read where it lies, if that is below the same folder"
_NO_FILE = "not a regular file"
_NO_TEXT = "its name is not UTF-8"

_KEPT = "/@!$&'()*+,;=:~-._"
"""What stands as it is in a URI's path. Source: java.net.URI, which Hadoop writes URIs by."""
_SPACES = ("Zs", "Zl", "Zp", "Cc")


class Archive(NamedTuple):
    """The archive that holds a file, its bytes, and where the file begins in what it holds."""

    uri: str
    size: int
    begin: int


class Found(NamedTuple):
    """Something that lies in a place, by its name below the root; `why_not` says why it cannot be read."""

    name: str
    uri: str
    path: str
    size: int
    modified_at: datetime
    why_not: str = ""
    archive: Archive | None = None


def local_files(root: str) -> list[Found]:
    """Every file below a folder, or the file itself.

    Keeps: a folder behind a link is not entered, so that whoever may write here shows only what lies here, and a walk
        ends. Raises: FileNotFoundError where something vanishes meanwhile; PermissionError.
    Edge case: the root may be a link itself, since the user names it.
    """
    if not Path(root).is_dir():
        return [_found(Path(root).name, root, Path(root).stat(), "")]
    return list(_below(root, len(root.rstrip("/")) + 1))


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
    modified_at = of_millis(status.st_mtime_ns // 1_000_000)
    return Found(shown(name), f"file://{quoted(path)}", f"file:{shown(path)}", status.st_size, modified_at, why_not)


def shown(path: str) -> str:
    """A path without the bytes that are not text."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def quoted(path: str) -> str:
    """A path as a URI has it."""
    return "".join(c if _stands(c) else quote(c, safe=_KEPT, errors="replace") for c in path)


def _stands(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) not in _SPACES
