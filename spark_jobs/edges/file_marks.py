"""By what a file is known again under another name, and by what it shows that it changed while it was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_jobs.catalog.ids import row_id
from spark_jobs.edges.file_bytes import Bytes, Unit, is_local, read_local, spread
from spark_jobs.edges.log_files import LogFile

_ENDS = 4096


def fingerprints(spark: SparkSession, files: Iterable[LogFile]) -> dict[LogFile, str]:
    """A hash of the size that a file was listed with, and of the first and last bytes of as much of it.

    A log is only ever written at its end: while the hash stays, what was listed is there, whatever came after it.
    Edge case: a file that vanished, shrank or cannot be opened has none.
    """
    wanted = list(files)
    far = [f for f in wanted if not is_local(f.uri)]
    marks: dict[LogFile, str | None] = {
        f: _mark(f.size, read_local(f.uri, _ends(f.size))) for f in wanted if is_local(f.uri)
    }
    if far:
        units = [Unit(f.uri, tuple(_ends(f.size)), {"file": n, "size": f.size}) for n, f in enumerate(far)]
        marks |= {
            far[row["file"]]: row["mark"] for row in spread(spark, units, _marked, "file int, mark string").collect()
        }
    return {f: mark for f in wanted if (mark := marks.get(f)) is not None}


def _ends(size: int) -> list[tuple[int, int]]:
    return [(0, min(size, _ENDS)), (max(size - _ENDS, 0), size)]


def _marked(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    mark = _mark(told["size"], [held.between(begin, end) for begin, end in _ends(told["size"])])
    yield pa.record_batch({"file": pa.array([told["file"]], pa.int32()), "mark": pa.array([mark], pa.string())})


def _mark(size: int, ends: Sequence[bytes]) -> str | None:
    if any(len(end) < min(size, _ENDS) for end in ends):
        return None
    return row_id(size, *(end.hex() for end in ends))
