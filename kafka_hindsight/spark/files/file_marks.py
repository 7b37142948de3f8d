"""By what a file is known again under another name, and by what it shows that it changed while it was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.logs.file_bytes import Bytes, is_local, read_local
from kafka_hindsight.logs.files import LogFile
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.spark.byte_work import spread

_ENDS = 4096


def fingerprints(spark: SparkSession, files: Iterable[LogFile]) -> dict[LogFile, str]:
    """A hash of the size that a file was listed with, and of the first and last bytes of as much of it.

    A log is only ever written at its end: while the hash stays, what was listed is there, whatever came after it.
    Edge case: a file that vanished, shrank or cannot be opened has none.
    """
    listed = list(files)
    wholes = {f: _whole(f) for f in listed}
    marks = _marks(spark, set(wholes.values()))
    return {f: _of_member(f, mark) for f in listed if (mark := marks.get(wholes[f])) is not None}


def _whole(file: LogFile) -> tuple[str, int]:
    """The URI and the bytes of a file, or of the archive that holds it."""
    return (file.archive.uri, file.archive.size) if file.archive else (file.uri, file.size)


def _of_member(file: LogFile, mark: str) -> str:
    return row_id(mark, file.archive.begin, file.size) if file.archive else mark


def _marks(spark: SparkSession, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str | None]:
    """The mark of each file. Takes: their URIs and bytes."""
    near = {f: _mark(f[1], read_local(f[0], _ends(f[1]))) for f in wanted if is_local(f[0])}
    far = [f for f in wanted if not is_local(f[0])]
    units = [Unit(uri, tuple(_ends(size)), {"file": n, "size": size}, is_raw=True) for n, (uri, size) in enumerate(far)]
    rows = spread(spark, units, _marked, "file int, mark string").collect() if units else []
    return near | {far[row["file"]]: row["mark"] for row in rows}


def _ends(size: int) -> list[tuple[int, int]]:
    return [(0, min(size, _ENDS)), (max(size - _ENDS, 0), size)]


def _marked(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    mark = _mark(told["size"], [held.between(begin, end) for begin, end in _ends(told["size"])])
    yield pa.record_batch({"file": pa.array([told["file"]], pa.int32()), "mark": pa.array([mark], pa.string())})


def _mark(size: int, ends: Sequence[bytes]) -> str | None:
    if any(len(end) < min(size, _ENDS) for end in ends):
        return None
    return row_id(size, *(end.hex() for end in ends))
