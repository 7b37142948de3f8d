"""Judgements run by Spark's workers: they read the files of a lake themselves, and a reducer judges a bucket of keys.

What is shuffled are tables, packed: (judgement, bucket, input, rows). So a rebuild is a few jobs of small plans,
whatever the tables look like, and what a worker runs is what runs in one process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial, reduce
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.judgement_run import Narrowing, StagedFiles, part_read, stage_parts, within
from kafka_hindsight.engine.reduce import (
    ValuesByName,
    evaluate,
    in_buckets,
    judged_tables,
    key_of,
    leaf_schema,
    narrow,
)
from kafka_hindsight.judgements.reasoning.scope import SCOPE, Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, RowSource
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import read_file
from kafka_hindsight.shared.arrow_tables import completed
from kafka_hindsight.shared.grouping import grouped, sized
from kafka_hindsight.spark.session import for_packed_rows
from kafka_hindsight.spark.tasks import spread

_PACKED = pa.schema([("judgement", pa.string()), ("bucket", pa.int32()), ("name", pa.string()), ("rows", pa.binary())])
"""A packed table: an input or an output of a judgement, of one bucket."""

_SCHEMA = "judgement string, bucket int, name string, rows binary"

_LZ4 = pa.ipc.IpcWriteOptions(compression="lz4")

_BUCKET = 4 * 1024 * 1024
"""Bytes of Parquet that are judged in one bucket: as rows of Python they take some hundred megabytes."""

_TASK = 32 * 1024 * 1024
"""Bytes of Parquet that one task reads: they hold some 240 MB of logs."""

_SIZE = attrgetter("size")
_SHARE = 4 * 1024 * 1024
"""Bytes of a file for which a share of its own pays."""

_Frame = tuple[set[str], DataFrame]
"""The names of judgements, and packed inputs or outputs of theirs."""


class Share(NamedTuple):
    """Some row groups of a file of a table, and which of their rows to read: share `nth` of `shares`."""

    table: str
    folder: str
    file: DataFile
    part: Part
    nth: int
    shares: int

    @property
    def size(self) -> int:
        """About how many bytes of Parquet it has."""
        return self.file.size // self.shares

    def batches(self) -> Iterator[pa.Table]:
        """The rows, a batch at a time."""
        share = (self.nth, self.shares)
        for batch in read_file(self.folder, self.file, self.part, BY_NAME[self.table], share=share):
            yield pa.Table.from_batches([batch])


class SparkRunner:
    """A runner of rebuilds over a lake, in the workers of a session: a context manager that frees its frames."""

    def __init__(self, spark: SparkSession, store: Store) -> None:
        self._spark, self._store, self._until_end = spark, store, ExitStack()
        self._narrowed, self._judged = list[_Frame](), list[_Frame]()
        self._buckets = 0

    def __enter__(self) -> SparkRunner:
        self._until_end.enter_context(for_packed_rows(self._spark))
        return self

    def __exit__(self, *error: Any) -> None:
        self._until_end.close()

    def has(self, table: Table) -> bool:
        """See Runner."""
        return self._store.has(table)

    def narrow(self, narrowings: Sequence[Narrowing], values: ValuesByName) -> None:
        """See Runner."""
        scope: Scope = values[SCOPE]
        of_tables = [n for n in narrowings if n.leaf.table]
        by_table = grouped(of_tables, lambda n: n.leaf.table)
        shares = [s for name, of_table in by_table.items() for s in self._shares(BY_NAME[name], of_table, scope)]
        self._buckets = self._buckets or max(self._cores, -(-sum(map(_SIZE, shares)) // _BUCKET))
        if shares:
            work = partial(_narrow_shares, narrowings=of_tables, values=values, count=self._buckets)
            names = {n.judgement.name for n in of_tables}
            size = max(1, min(_TASK, sum(map(_SIZE, shares)) // self._cores))
            rows = spread(self._spark, [*sized(shares, _SIZE, size)], work, _SCHEMA)
            self._narrowed.append((names, self._persist(rows)))
        of_outputs = [n for n in narrowings if n.leaf.judgement is not None]
        outputs = {(n.leaf.judgement.name, n.leaf.output) for n in of_outputs if n.leaf.judgement}
        work = partial(_narrow_outputs, narrowings=of_outputs, values=values, count=self._buckets)
        names = {n.judgement.name for n in of_outputs}
        for rows in self._with(self._judged, outputs):
            self._narrowed.append((names, self._persist(rows.mapInArrow(work, _SCHEMA))))

    def judge(self, judgements: Sequence[Judgement], values: ValuesByName) -> None:
        """See Runner."""
        by_name = {j.name: j for j in judgements}
        frames = self._of(by_name)
        if alone := [(j.name, 0, "", b"") for j in judgements if not key_of(j)]:
            frames.append(self._spark.createDataFrame(alone, _SCHEMA))

        def work(table: pa.Table) -> pa.Table:
            return _judge_bucket(table, by_name, values)

        rows = reduce(DataFrame.union, frames).groupBy("judgement", "bucket").applyInArrow(work, _SCHEMA)
        self._judged.append(({*by_name}, self._persist(rows)))

    def evaluate(self, judgements: Sequence[Judgement], values: ValuesByName) -> dict[str, Any]:
        """See Runner."""
        parts = {j.name: {name: list[pa.Table]() for name in j.reads} for j in judgements}
        for frame in self._of(parts):
            for row in frame.collect():
                parts[row["judgement"]][row["name"]].append(_unpacked(row["rows"]))
        return {j.name: evaluate(j, parts[j.name], values) for j in judgements}

    def stage(self, sources: Mapping[str, RowSource], values: ValuesByName) -> StagedFiles:
        """See Runner."""
        leaves = [leaf for s in sources.values() for leaf in (*(leaf for leaf, _ in s.leaves()), *s.sources[1:])]
        packed = defaultdict[tuple[str, str], list[bytes]](list)
        for frame in self._with(
            self._judged, {(leaf.judgement.name, leaf.output) for leaf in leaves if leaf.judgement}
        ):
            for row in frame.collect():
                packed[row["judgement"], row["name"]].append(row["rows"])

        def parts_of(output: RowSource) -> list[pa.Table]:
            rows = packed.pop((output.judgement.name, output.output), []) if output.judgement else []
            return [completed(_unpacked(part), leaf_schema(output)) for part in rows]

        return stage_parts(self._store.lake, sources, parts_of, values)

    def _of(self, names: Collection[str]) -> list[DataFrame]:
        """The narrowed inputs of judgements of these names."""
        return [f.where(F.col("judgement").isin([*names])) for of, f in self._narrowed if not of.isdisjoint(names)]

    def _with(self, frames: Sequence[_Frame], outputs: Collection[tuple[str, str]]) -> list[DataFrame]:
        """These outputs, in frames of judgements that have run."""
        names = {judgement for judgement, _ in outputs}
        keys = [F.struct(F.lit(judgement), F.lit(output)) for judgement, output in sorted(outputs)]
        return [f.where(F.struct("judgement", "name").isin(keys)) for of, f in frames if not of.isdisjoint(names)]

    def _persist(self, frame: DataFrame) -> DataFrame:
        """Persist a frame until the end, so that it is computed once."""
        self._until_end.callback(frame.persist().unpersist)
        return frame

    def _shares(self, table: Table, narrowings: Sequence[Narrowing], scope: Scope) -> Iterator[Share]:
        part = part_read(narrowings, table, scope)
        for file in self._store.files(table, part):
            count = -(-file.size // _SHARE)
            for nth in range(count):
                yield Share(table.full_name, self._store.path(table), file, part, nth, count)

    @property
    def _cores(self) -> int:
        return int(self._spark.sparkContext.defaultParallelism)


def _narrow_shares(
    shares: Sequence[Share], narrowings: Sequence[Narrowing], values: ValuesByName, count: int
) -> Iterator[pa.RecordBatch]:
    """Narrow shares of files. Each is read once, for all of its narrowings."""
    scope: Scope = values[SCOPE]
    by_table = grouped(narrowings, lambda n: n.leaf.table)
    for share in shares:
        for part in share.batches():
            of_table = by_table[share.table]
            spans = {s: within(part, BY_NAME[share.table], scope, s) for s in {n.leaf.span for n in of_table}}
            for narrowing in of_table:
                yield from _narrowed(narrowing, spans[narrowing.leaf.span], values, count)


def _narrow_outputs(
    batches: Iterable[pa.RecordBatch], narrowings: Sequence[Narrowing], values: ValuesByName, count: int
) -> Iterator[pa.RecordBatch]:
    by_output = grouped(narrowings, lambda n: (n.leaf.judgement and n.leaf.judgement.name, n.leaf.output))
    for batch in batches:
        for row in batch.to_pylist():
            for narrowing in by_output[row["judgement"], row["name"]]:
                rows = completed(_unpacked(row["rows"]), leaf_schema(narrowing.leaf))
                yield from _narrowed(narrowing, rows, values, count)


def _narrowed(narrowing: Narrowing, part: pa.Table, values: ValuesByName, count: int) -> Iterator[pa.RecordBatch]:
    if not part.num_rows:
        return
    judgement, name = narrowing.judgement, narrowing.parameter
    rows = narrow(narrowing.functions, part, values)
    is_table = judgement.inputs[name] is None
    for bucket, of_bucket in in_buckets(rows, key_of(judgement), count):
        yield _row(judgement.name, bucket, name, _packed(of_bucket, keep=of_bucket.column_names if is_table else ()))


def _judge_bucket(table: pa.Table, judgements: Mapping[str, Judgement], values: ValuesByName) -> pa.Table:
    judgement = judgements[table["judgement"][0].as_py()]
    parts: dict[str, list[pa.Table]] = {name: [] for name in judgement.reads}
    for name, rows in zip(table["name"].to_pylist(), table["rows"], strict=True):
        if name:
            parts[name].append(_unpacked(rows.as_buffer()))
    bucket = table["bucket"][0].as_py()
    outputs = judged_tables(judgement, parts, values)
    rows = [_row(judgement.name, bucket, name, _packed(output)) for name, output in outputs.items() if output.num_rows]
    return pa.Table.from_batches(rows, _PACKED)


def _row(judgement: str, bucket: int, name: str, rows: pa.Buffer) -> pa.RecordBatch:
    packed = pa.array([rows.to_pybytes()], pa.binary())
    return pa.record_batch([pa.array([judgement]), pa.array([bucket], pa.int32()), pa.array([name]), packed], _PACKED)


def _packed(table: pa.Table, keep: Iterable[str] = ()) -> pa.Buffer:
    """A table as bytes, without the columns that hold nothing."""
    names = [n for n in table.column_names if n in keep or table[n].null_count < table.num_rows]
    sink = pa.BufferOutputStream()
    slim = table.select(names).replace_schema_metadata(None)
    with pa.ipc.new_stream(sink, slim.schema, options=_LZ4) as stream:
        stream.write_table(slim)
    return sink.getvalue()


def _unpacked(rows: bytes | pa.Buffer) -> pa.Table:
    return pa.ipc.open_stream(rows).read_all()
