"""Archives of tar: the files in them, read out of their bytes."""

from __future__ import annotations

import io
import re
import sys
import tarfile
from collections.abc import Iterator
from contextlib import suppress

from kafka_hindsight.logs.file_bytes import CHUNK, AsFile, Bytes
from kafka_hindsight.logs.found_files import printable

_ARCHIVE_REGEX = re.compile(r"(?s).*[.](?:tar(?:[.](?:gz|xz|bz2|zst|lz4))?|tgz|txz|tbz2?|tzst)")
_NESTED = "an archive within an archive: unpack it"
_NO_FILE = "not a regular file"
_BROKEN = "a tar archive that cannot be read to its end: {}. The files before the break are read"
FAULTS = (tarfile.TarError, EOFError, ValueError, OverflowError)
"""Errors that tarfile raises for bytes that are not an archive."""

_LAST_SECOND = 2**32


def is_archive(name: str) -> bool:
    """Whether a file is an archive by its name."""
    return _ARCHIVE_REGEX.fullmatch(name) is not None


def walk(content: Bytes) -> Iterator[tuple[str, int, int, int, str]]:
    """The entries of an archive: name, first byte, size in bytes, time of writing (ms), and why it is not read."""
    try:
        for _, entry in entries(content):
            if not entry.isdir():
                modified_ms = int(min(max(entry.mtime, 0), _LAST_SECOND) * 1000)
                yield _name(entry.name), entry.offset_data, entry.size, modified_ms, why_not(entry)
    except FAULTS as problem:
        yield "", 0, 0, 0, _BROKEN.format(content.damage or problem)


def first_bytes(content: Bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """The name of each file in an archive and its first bytes, as far as the archive can be read."""
    with suppress(*FAULTS):
        for archive, entry in entries(content):
            if not why_not(entry) and (file := archive.extractfile(entry)):
                yield _name(entry.name), file.read(size)


def entries(content: Bytes) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The entries of an archive in its order. An archive that breaks off raises one of FAULTS."""
    stream = io.BufferedReader(AsFile(content, sys.maxsize), CHUNK)
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            yield archive, entry


def why_not(entry: tarfile.TarInfo) -> str:
    if is_archive(entry.name):
        return _NESTED
    return "" if entry.isreg() and not entry.issparse() else _NO_FILE


def _name(name: str) -> str:
    """A name within the archive, without empty parts and dots."""
    return printable("/".join(part for part in name.split("/") if part not in ("", ".")))
