"""Fingerprints of files: they identify a file under another name, and show that it changed while it was read."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.logs.file_bytes import Stored
from kafka_hindsight.logs.files import LogFile

_ENDS = 4096
_AT_ONCE = 16
"""Files that are read at once: a store takes a moment to answer."""


def fingerprints(files: Iterable[LogFile]) -> dict[LogFile, str]:
    """A hash of each file's listed size, and of the first and the last bytes up to that size.

    A log is only written at its end: as long as the hash stays, the listed bytes are there, whatever was added. A file
    that vanished, shrank or cannot be opened has no hash.
    """
    target_of = {f: (f.archive.uri, f.archive.size) if f.archive else (f.uri, f.size) for f in files}
    targets = list(set(target_of.values()))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        marks = dict(zip(targets, pool.map(_mark, targets), strict=True))
    return {f: _of_member(f, mark) for f, target in target_of.items() if (mark := marks[target]) is not None}


def _of_member(file: LogFile, mark: str) -> str:
    return row_id(mark, file.archive.begin, file.size) if file.archive else mark


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
