"""By what a file is known again under another name, and by what it shows that it changed while it was read."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.logs.file_bytes import Stored
from kafka_hindsight.logs.files import LogFile

_ENDS = 4096
_AT_ONCE = 16
"""Files that are asked for together: a store takes a moment to answer."""


def fingerprints(files: Iterable[LogFile]) -> dict[LogFile, str]:
    """A hash of the size that a file was listed with, and of the first and last bytes of as much of it.

    A log is only ever written at its end: while the hash stays, what was listed is there, whatever came after it.
    Edge case: a file that vanished, shrank or cannot be opened has none.
    """
    wholes = {f: (f.archive.uri, f.archive.size) if f.archive else (f.uri, f.size) for f in files}
    wanted = list(set(wholes.values()))
    with ThreadPoolExecutor(_AT_ONCE) as several:
        marks = dict(zip(wanted, several.map(_mark, wanted), strict=True))
    return {f: _of_member(f, mark) for f, whole in wholes.items() if (mark := marks[whole]) is not None}


def _of_member(file: LogFile, mark: str) -> str:
    return row_id(mark, file.archive.begin, file.size) if file.archive else mark


def _mark(whole: tuple[str, int]) -> str | None:
    """The mark of a file, or of an archive. Takes: its URI and its bytes."""
    uri, size = whole
    held = Stored(uri)
    try:
        ends = held.between(0, min(size, _ENDS)), held.between(max(size - _ENDS, 0), size)
    except OSError:
        return None
    finally:
        held.close()
    return None if any(len(end) < min(size, _ENDS) for end in ends) else row_id(size, *(end.hex() for end in ends))
