"""The bytes of files where Spark runs: workers open them, or Spark does where only Spark knows the file system."""

from __future__ import annotations

import io
import json
import lzma
import os
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

CHUNK = 8 * 1024 * 1024
"""Bytes that are looked at together: few enough for a processor's cache, many enough for whole arrays to pay."""

_TASK = 64 * 1024 * 1024
_LEAST = 1024 * 1024
_ROW = 1024 * 1024
_JAVA = Path(__file__).with_name("FileBytes.java")
_FUNCTION = "hindsight_bytes_of"

_GZIP = 31
"""What zlib calls a stream with a head and an end of gzip."""

_GZIP_BEGINS = b"\x1f"
_CODECS = {".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_XZ = ".xz"

_UNPACKED_TIMES = 500
"""How many times its size a packed log may be. Measured: brokers' logs shrink 16 to 62 times, and one line again and
again 54 times by gzip and 455 times by xz.
"""
_UNPACKED_LEAST = 256 * 1024 * 1024
"""Bytes that any packed file may hold."""


@dataclass(frozen=True)
class Unit:
    """What one worker reads of a file in one go, and what it shall do with it.

    `parts`: from which byte to which, one after another. `is_packed`: what is to be read has to be unpacked first.
    """

    uri: str
    parts: tuple[tuple[int, int], ...]
    told: dict[str, Any]
    is_packed: bool = False

    @property
    def size(self) -> int:
        """Bytes that are read."""
        return sum(end - begin for begin, end in self.parts)


Work = Callable[[dict[str, Any], "Bytes", Any], Iterator[pa.RecordBatch]]
"""What a worker does with a unit: it takes what the unit holds for it, its bytes, and the numbers that belong to it."""


class Bytes:
    """The bytes of one unit; `damage` says why they could not be unpacked to their end, once that was tried."""

    damage: str | None = None

    def between(self, begin: int, end: int) -> bytes:
        """Those bytes, or fewer where the file ends before or cannot be read. Order: begins never go back."""
        raise NotImplementedError


class _Local(Bytes):
    def __init__(self, uri: str) -> None:
        try:
            self.file = os.open(local_path(uri), os.O_RDONLY)
        except OSError:
            self.file = -1

    def between(self, begin: int, end: int) -> bytes:
        parts = list[bytes]()
        while begin < end and self.file >= 0 and (part := os.pread(self.file, end - begin, begin)):
            parts.append(part)
            begin += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def chunks(self, end: int) -> Iterator[bytes]:
        """All bytes up to there, part after part: unpacked, each may be many times as long."""
        return (self.between(begin, min(begin + _ROW, end)) for begin in range(0, end, _ROW))

    def close(self) -> None:
        if self.file >= 0:
            os.close(self.file)


class Arriving(Bytes):
    """What arrives part after part, each with the byte that it begins with."""

    def __init__(self, parts: Iterator[tuple[int, bytes]]) -> None:
        self.parts, self.held, self.first = parts, bytearray(), 0

    def between(self, begin: int, end: int) -> bytes:
        del self.held[: max(begin - self.first, 0)]
        self.first = max(begin, self.first)
        while self.first + len(self.held) < end and (part := next(self.parts, None)):
            if part[0] != self.first + len(self.held):
                self.held.clear()
                self.first = part[0]
            self.held += part[1]
        return bytes(memoryview(self.held)[begin - self.first : end - self.first])


class _Unpacked(Arriving):
    """What a compressed file holds, as far as it can be unpacked."""

    def __init__(self, packed: Iterator[bytes], uri: str) -> None:
        codec = next((codec for suffix, codec in _CODECS.items() if uri.endswith(suffix)), None)
        unpacked = self._unxzed if uri.endswith(_XZ) else self._unzipped
        self.taken = 0
        given = self._counted(packed)
        super().__init__(placed(self._limited(self._decoded(given, codec) if codec else unpacked(given))))

    def _counted(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        for part in packed:
            self.taken += len(part)
            yield part

    def _limited(self, unpacked: Iterator[bytes]) -> Iterator[bytes]:
        """What is unpacked, up to a limit: a few megabytes of one repeated byte are gigabytes."""
        given = 0
        for part in unpacked:
            given += len(part)
            if given > max(_UNPACKED_LEAST, _UNPACKED_TIMES * self.taken):
                self.damage = (
                    f"it unpacks to more than {_UNPACKED_TIMES} times its size, which no log does; it was read to there"
                )
                return
            yield part

    def _unzipped(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        """Edge case: what follows the last stream of a gzip file and is none is passed over, as gzip does."""
        unzip: Any = None
        first = next(packed, b"")
        try:
            for part in chain([first], packed):
                while part and (unzip or part is first or part.startswith(_GZIP_BEGINS)):
                    unzip = unzip or zlib.decompressobj(wbits=_GZIP)
                    yield unzip.decompress(part, CHUNK)
                    part, unzip = unzip.unconsumed_tail or unzip.unused_data, None if unzip.eof else unzip
        except zlib.error:
            self.damage = "it is not a gzip file, or its bytes were changed"
            return
        if unzip:
            self.damage = "it ends before its end: it was cut off, or is still being written"

    def _unxzed(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        unpack: Any = None
        try:
            for part in packed:
                while part:
                    unpack = unpack or lzma.LZMADecompressor()
                    yield unpack.decompress(part, CHUNK)
                    while not (unpack.eof or unpack.needs_input):
                        yield unpack.decompress(b"", CHUNK)
                    part, unpack = unpack.unused_data.lstrip(b"\0"), None if unpack.eof else unpack
        except lzma.LZMAError:
            self.damage = "it is not a file of xz, or its bytes were changed"
            return
        if unpack:
            self.damage = "it ends before its end: it was cut off, or is still being written"

    def _decoded(self, packed: Iterator[bytes], codec: str) -> Iterator[bytes]:
        try:
            with pa.CompressedInputStream(pa.PythonFile(_File(packed), "r"), codec) as stream:
                while part := stream.read(CHUNK):
                    yield part
        except OSError:
            self.damage = f"it is not a file of {codec}, it was cut off, or its bytes were changed"


class _File(io.RawIOBase):
    """What arrives part after part, as a file."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.held = parts, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.held = self.held or next(self.parts, b"")
        given, self.held = self.held[:size], self.held[size:]
        return given


def placed(parts: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Parts with the byte that each begins with."""
    begin = 0
    for part in parts:
        yield begin, part
        begin += len(part)


def local_path(uri: str) -> str:
    """The path of a file of this machine's file systems."""
    return unquote(urlsplit(uri).path)


def is_local(uri: str) -> bool:
    """Whether every process opens the file by itself, on whichever machine."""
    return uri.startswith("file:/")


def opened(uri: str, size: int, packed: bool) -> Bytes:
    """The bytes of a file that every process opens by itself, unpacked where they are packed."""
    local = _Local(uri)
    return _Unpacked(local.chunks(size), uri) if packed else local


def is_packed(name: str) -> bool:
    """Whether a file has to be unpacked, and so is read from its beginning."""
    return name.endswith((".gz", _XZ, *_CODECS))


def read_local(uri: str, parts: Iterable[tuple[int, int]]) -> list[bytes]:
    """Bytes of a file of this machine's file systems, each as far as the file reaches."""
    file = _Local(uri)
    try:
        return [file.between(begin, end) for begin, end in parts]
    finally:
        file.close()


def spread(
    spark: SparkSession, units: Sequence[Unit], work: Work, schema: str, numbers: DataFrame | None = None
) -> DataFrame:
    """What a function makes of units, a task of many for each part of the bytes. At least one unit is needed.

    Takes: the function, and the schema of the batches that it gives; `numbers`, what it takes beside the bytes: `unit`,
        the unit's place in the sequence, and `numbers`, an array.
    """
    tasks = _tasks(units, spark.sparkContext.defaultParallelism)
    shape = (
        "array<array<struct<unit: int, uri: string, job: string, is_packed: boolean,"
        " parts: array<struct<begin: bigint, end: bigint>>>>>"
    )
    rows = F.inline(F.get(F.from_json(F.lit(json.dumps(tasks)), shape), F.col("id").cast("int")))
    frame = spark.range(0, len(tasks), 1, len(tasks)).select(F.col("id").alias("task"), rows)
    if numbers is None:
        frame = frame.withColumn("numbers", F.lit(None).cast("array<bigint>"))
    else:
        frame = frame.join(numbers, "unit", "left").repartition(len(tasks), "task").sortWithinPartitions("unit")
    if all(is_local(unit.uri) for unit in units):
        frame = frame.withColumns({"at": F.lit(0), "bytes": F.lit(None).cast("binary")})
    else:
        frame = _with_bytes(spark, frame)
    columns = ("unit", "uri", "job", "is_packed", "at", "bytes", "numbers")
    return frame.select(*columns).mapInArrow(partial(_worked, work=work), schema)


def _tasks(units: Sequence[Unit], cores: int) -> list[list[dict[str, Any]]]:
    """The units in tasks of about one size, as many as there are cores at least where that pays."""
    size = max(_LEAST, min(_TASK, sum(u.size for u in units) // max(cores, 1)))
    tasks: list[list[dict[str, Any]]] = [[]]
    held = 0
    for n, unit in enumerate(units):
        if held >= size:
            tasks.append([])
            held = 0
        parts = [{"begin": begin, "end": end} for begin, end in unit.parts]
        job = json.dumps({**unit.told, "reads_to": unit.parts[-1][1]})
        tasks[-1].append({"unit": n, "uri": unit.uri, "job": job, "is_packed": unit.is_packed, "parts": parts})
        held += unit.size
    return tasks


def _worked(batches: Iterable[pa.RecordBatch], work: Work) -> Iterator[pa.RecordBatch]:
    rows = (_Row(*(column[i] for column in batch.columns)) for batch in batches for i in range(batch.num_rows))
    for _, same in groupby(rows, key=lambda row: row.unit.as_py()):
        parts = iter(same)
        first = next(parts)
        job, given = json.loads(first.job.as_py()), first.numbers
        with _opened(first, parts, job["reads_to"]) as held:
            yield from work(job, held, given.values.to_numpy() if given.is_valid else None)


class _Row(NamedTuple):
    """A row as a worker gets it: a part of a unit's bytes, none where the worker opens the file by itself."""

    unit: Any
    uri: Any
    job: Any
    is_packed: Any
    at: Any
    bytes: Any
    numbers: Any


@contextmanager
def _opened(first: _Row, others: Iterator[_Row], end: int) -> Iterator[Bytes]:
    uri = first.uri.as_py()
    local = _Local(uri) if is_local(uri) else None
    rows = (row for row in chain([first], others) if row.bytes.is_valid)
    arriving = ((row.at.as_py(), row.bytes.as_py()) for row in rows)
    try:
        if first.is_packed.as_py():
            yield _Unpacked(local.chunks(end) if local else (part for _, part in arriving), uri)
        else:
            yield local or Arriving(arriving)
    finally:
        deque(others, maxlen=0)
        if local:
            local.close()


def _with_bytes(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The rows with the bytes that Java reads for them, a row for each chunk."""
    _teach(spark)
    parts = frame.select("*", F.inline("parts"))
    begins = F.sequence("begin", F.greatest("begin", F.col("end") - 1), F.lit(_ROW).cast("bigint"))
    length = F.least(F.lit(_ROW), F.col("end") - F.col("at")).cast("int")
    read = F.when(~F.startswith("uri", F.lit("file:/")), F.call_function(_FUNCTION, "uri", "at", length))
    return parts.withColumn("at", F.explode(begins)).withColumn("bytes", read)


def _teach(spark: SparkSession) -> None:
    """Gives Spark the function that reads bytes: compiled by the compiler that Spark brings, sent to its workers.

    Edge case: Spark hands rows over by ten thousands, unless their bytes are limited.
    """
    if spark.catalog.functionExists(_FUNCTION):
        return
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", str(2 * CHUNK))
    context: Any = spark.sparkContext
    jvm, new_array = context._jvm, context._gateway.new_array
    scratch = tempfile.mkdtemp(dir=context._temp_dir)
    files = new_array(jvm.java.io.File, 1)
    files[0] = jvm.java.io.File(str(_JAVA))
    compiler = jvm.org.codehaus.janino.Compiler()
    compiler.setDestinationDirectory(jvm.java.io.File(scratch), False)
    compiler.compile(files)
    jar = f"{scratch}/hindsight-bytes.jar"
    with zipfile.ZipFile(jar, "w") as packed:
        for compiled in Path(scratch).rglob("*.class"):
            packed.write(compiled, compiled.relative_to(scratch))
    spark.sql(f"ADD JAR '{jar}'")
    made = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader().loadClass("hindsight.FileBytes")
    function = made.getDeclaredConstructor(new_array(jvm.java.lang.Class, 0)).newInstance(
        new_array(jvm.java.lang.Object, 0)
    )
    of_java: Any = spark._jsparkSession  # type: ignore[attr-defined]
    of_java.udf().register(_FUNCTION, function, jvm.org.apache.spark.sql.types.DataTypes.BinaryType)
