"""The rebuild in frames: delta-spark reads tables, rows meet by the keys of judgements, workers judge and write.

What a judgement with a key reads is one frame: the columns of its key, `input`, the parameter that a row is for, and a
column of structs for each class of rows, of which each row fills one. For the groups, in short:

    rows = events.mapInArrow(narrow_events).unionByName(
        group_records.select("cluster", "group_id", lit("records").alias("input"), struct("*").alias("group_records"))
    )
    bucket = pmod(xxhash64("cluster", "group_id"), lit(buckets))
    files = rows.groupBy(bucket).applyInArrow(judge_groups).mapInArrow(keep_groups)

What has one key for the whole cluster gains nothing from a shuffle: one task reads what earlier jobs kept. Between jobs
lies Parquet below staging, so each plan is short. The driver holds the names of files, counts, and values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from operator import or_
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.judgement_run import Narrowing, StagedFiles, part_read, stage_parts, within
from kafka_hindsight.engine.reduce import ValuesByName, evaluate, judged_tables, key_of, leaf_schema, narrow
from kafka_hindsight.judgements.reasoning.scope import SCOPE
from kafka_hindsight.judgements.rebuild.sources import Judgement, RowSource, condition_of, values_of
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.damage import Damaged
from kafka_hindsight.lake.kept_files import FIELDS, Keeper, KeptFile, batch_of, rows_in, under_umask
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import check_file
from kafka_hindsight.shared.arrow_structs import as_table, in_column, of_input, struct_of
from kafka_hindsight.shared.arrow_tables import completed
from kafka_hindsight.shared.grouping import grouped, sized, split_by
from kafka_hindsight.shared.timings import KEY, Timing, keep_longest, pop_longest
from kafka_hindsight.start import launch
from spark_jobs.jobs import Longest, each_by_task, files_of, names_of, title, with_name
from spark_jobs.tables import TASKS, for_frames, located, scan, size_of

FEW = 2 * 1024 * 1024
"""Bytes of Parquet below which one task narrows a table: it takes less time than Spark takes to open the table."""

BUCKET = 1024 * 1024
"""Bytes of Parquet, some 50,000 events, for each bucket of keys. A call for each key takes 13 ms more for a group: rows
of all classes have hundreds of columns."""

_CHECKED_BY_TASK = 64 * 1024 * 1024
"""Bytes of files that one task checks: it takes a tenth of a second."""

_KEPT = from_arrow_schema(FIELDS)


class FrameRunner:
    """A runner of rebuilds over a lake, by Spark: a context manager that removes what lies between its jobs."""

    def __init__(self, spark: SparkSession, store: Store, few: int = FEW) -> None:
        self._spark, self._store, self._few = spark, store, few
        self._folder, self._until_end = f"{landing.scratch(store.lake)}/between", ExitStack()
        self._inputs, self._outputs = defaultdict[str, list[KeptFile]](list), defaultdict[str, list[KeptFile]](list)
        self._later, self._checked = defaultdict[str, list[Narrowing]](list), set[str]()

    def __enter__(self) -> FrameRunner:
        self._until_end.enter_context(for_frames(self._spark))
        self._until_end.callback(landing.remove, self._folder)
        landing.remove(self._folder)
        return self

    def __exit__(self, *error: Any) -> None:
        self._until_end.close()

    def has(self, table: Table) -> bool:
        """See Runner."""
        return self._store.has(table)

    def narrow(self, narrowings: Sequence[Narrowing], values: ValuesByName) -> None:
        """See Runner. What a judgement with a key reads, and outputs of others, are narrowed when it is judged."""
        later, now = split_by(narrowings, lambda n: bool(key_of(n.judgement) or n.leaf.judgement))
        for narrowing in later:
            self._later[narrowing.judgement.name].append(narrowing)
        few = list[_TablePart]()
        for name, of_table in grouped(now, lambda n: n.leaf.table).items():
            table = BY_NAME[name]
            part = part_read(of_table, table, values[SCOPE])
            of_part = _TablePart(table, part, tuple(of_table), _values_of_narrowings(of_table, values))
            if size_of(self._store, table, part) < self._few:
                few.append(of_part)
            else:
                self._narrow_by_all(of_part)
        if few:
            self._narrow_by_one_task_each(few)

    def _narrow_by_all(self, of_part: _TablePart) -> None:
        table, keeper = of_part.table, self._keeper()

        def narrow_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield batch_of(of_part.narrow((typed(batch, table) for batch in batches), keeper()))

        rows = _where_needed(self._scan(table, of_part.part), of_part.narrowings)
        what = f"narrow {table.full_name} for {names_of(n.judgement for n in of_part.narrowings)}"
        files = rows.mapInArrow(with_name(narrow_rows, f"narrow_{table.name}"), _KEPT)
        self._take(self._inputs, files_of(self._spark, what, files))

    def _narrow_by_one_task_each(self, parts: Sequence[_TablePart]) -> None:
        lake, keeper = self._store.lake, self._keeper()
        what = f"narrow {', '.join(of_part.table.full_name for of_part in parts)}"

        def narrow_table(of_part: _TablePart) -> Iterator[KeptFile]:
            return of_part.narrow(Store(lake).read_in_parts(of_part.table, of_part.part), keeper())

        self._take(self._inputs, each_by_task(self._spark, what, parts, narrow_table))

    def judge(self, judgements: Sequence[Judgement], values: ValuesByName) -> None:
        """See Runner."""
        keyed, whole = split_by(judgements, lambda j: bool(key_of(j)))
        for judgement in keyed:
            self._judge_by_key(judgement, values)
        if whole:
            self._judge_whole(whole, values)

    def _judge_by_key(self, judgement: Judgement, values: ValuesByName) -> None:
        narrowings = self._later.pop(judgement.name, [])
        frames = list(self._frames_of(narrowings, values))
        if not frames:
            return
        rows = reduce(DataFrame.unionByName, _completed(frames))
        schema = pa.schema([(n, struct_of(arrow_schema(cls.TABLE))) for n, cls in judgement.outputs.items()])
        own_values, keeper = _values_of_judgement(judgement, values), self._keeper()
        longest = self._spark.sparkContext.accumulator(Timing(), Longest())

        def judge_keys(table: pa.Table) -> pa.Table:
            inputs = {name: [of_input(table, name, _column_of(judgement, name))] for name in _inputs_in(table)}
            judged = judged_tables(judgement, inputs, own_values)
            longest.add(pop_longest()[KEY])
            batches = [in_column(output, name, schema) for name, output in judged.items() if output.num_rows]
            return pa.Table.from_batches(batches, schema)

        def keep_outputs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            keeping = keeper()
            columns = ((name, as_table(pa.chunked_array([b[name]]))) for b in batches for name in schema.names)
            files = [file for name, output in columns for file in keeping.keep(judgement.name, name, output)]
            yield batch_of([*files, *keeping.close()])

        judge_keys = with_name(judge_keys, f"judge_{judgement.name}")
        bucket = F.pmod(F.xxhash64(*judgement.key), F.lit(self._bucket_count(narrowings, values))).alias("bucket")
        judged = rows.groupBy(bucket).applyInArrow(judge_keys, from_arrow_schema(schema))
        files = judged.mapInArrow(with_name(keep_outputs, f"keep_{judgement.name}"), _KEPT)
        self._take(self._outputs, files_of(self._spark, title(judgement), files))
        keep_longest(KEY, longest.value)

    def _frames_of(self, narrowings: Sequence[Narrowing], values: ValuesByName) -> Iterator[DataFrame]:
        """The input of a judgement with a key: a frame for each table and output that it reads."""
        for narrowing in narrowings:
            if narrowing.leaf.table:
                table = BY_NAME[narrowing.leaf.table]
                rows = self._scan(table, part_read([narrowing], table, values[SCOPE]))
                yield _narrowed(rows, table, narrowing, values)
            elif files := self._output(narrowing.leaf):
                table = _table_of(narrowing.leaf)
                schema = from_arrow_schema(pa.schema(list(struct_of(arrow_schema(table)))))
                rows = self._spark.read.schema(schema).parquet(*(located(file.file) for file in files))
                yield _narrowed(rows, table, narrowing, values)

    def _scan(self, table: Table, part: Part) -> DataFrame:
        """The rows of a part of a table. Its files are checked first: Spark does not read their checksums.

        Raises:
            Damaged: Files have other bytes than were written, each with a sentence.
        """
        folder = self._store.path(table)
        files = [file for file in self._store.files(table, part) if file.path not in self._checked]
        works = [*sized(files, lambda file: file.size, _CHECKED_BY_TASK)]

        def check_files(of_task: Sequence[DataFile]) -> Iterator[str]:
            for file in of_task:
                try:
                    check_file(folder, file, table)
                except Damaged as damage:
                    yield from damage.sentences

        if not files or sum(file.size for file in files) < self._few:
            sentences = [*chain.from_iterable(map(check_files, works))]
        else:
            what = f"check the files of {table.full_name}"
            sentences = each_by_task(self._spark, what, works, check_files)
        if sentences:
            raise Damaged(*sentences)
        self._checked |= {file.path for file in files}
        return scan(self._spark, self._store, table, part)

    def _bucket_count(self, narrowings: Iterable[Narrowing], values: ValuesByName) -> int:
        """The number of buckets of keys: few, so that a call judges many keys, and as many as there are tasks."""
        parts = (
            (BY_NAME[n.leaf.table], part_read([n], BY_NAME[n.leaf.table], values[SCOPE]))
            for n in narrowings
            if n.leaf.table
        )
        size = sum(size_of(self._store, *part) for part in parts)
        return max(int(str(self._spark.conf.get(TASKS))), size // BUCKET)

    def _judge_whole(self, judgements: Sequence[Judgement], values: ValuesByName) -> None:
        keeper = self._keeper()
        what = f"{'; '.join(map(title, judgements))}: the whole cluster at once"

        def judge_cluster(work: _WholeInput) -> Iterator[KeptFile]:
            keeping = keeper()
            for name, rows in judged_tables(work.judgement, work.parts(), work.values).items():
                yield from keeping.keep(work.judgement.name, name, rows)
            yield from keeping.close()

        works = [self._whole_input(judgement, values) for judgement in judgements]
        self._take(self._outputs, each_by_task(self._spark, what, works, judge_cluster))

    def evaluate(self, judgements: Sequence[Judgement], values: ValuesByName) -> dict[str, Any]:
        """See Runner."""

        def evaluated(work: _WholeInput) -> Iterator[tuple[str, Any]]:
            yield work.judgement.name, evaluate(work.judgement, work.parts(), work.values)

        what = f"{'; '.join(map(title, judgements))}: one value"
        works = [self._whole_input(judgement, values) for judgement in judgements]
        return dict(each_by_task(self._spark, what, works, evaluated))

    def _whole_input(self, judgement: Judgement, values: ValuesByName) -> _WholeInput:
        outputs = tuple((n, tuple(self._output(n.leaf))) for n in self._later.pop(judgement.name, []))
        input_files = tuple(self._inputs.pop(judgement.name, ()))
        return _WholeInput(judgement, input_files, outputs, _values_of_judgement(judgement, values))

    def stage(self, sources: Mapping[str, RowSource], values: ValuesByName) -> StagedFiles:
        """See Runner. One task writes each table, and looks up the links of its rows."""
        lake, umask, scope = self._store.lake, int(launch.umask(), 8), {SCOPE: values[SCOPE]}

        def stage_table(work: tuple[str, RowSource, dict[str, list[KeptFile]]]) -> Iterator[tuple[str, Any]]:
            name, source, files = work

            def parts_of(output: RowSource) -> Iterator[pa.Table]:
                return rows_in(files[_place_of(output)])

            with under_umask(umask):
                yield from stage_parts(lake, {name: source}, parts_of, scope).items()

        works = [
            (n, source, {_place_of(o): self._output(o) for o in _outputs_in(source)}) for n, source in sources.items()
        ]
        return dict(each_by_task(self._spark, "stage gold", works, stage_table))

    def _output(self, source: RowSource) -> list[KeptFile]:
        """The files of an output of a judgement."""
        of_judgement = self._outputs[source.judgement.name] if source.judgement else []
        return [file for file in of_judgement if file.name == source.output]

    def _take(self, by_judgement: dict[str, list[KeptFile]], files: Iterable[KeptFile]) -> None:
        for file in files:
            by_judgement[file.judgement].append(file)

    def _keeper(self) -> Callable[[], Keeper]:
        return partial(Keeper, self._folder, int(launch.umask(), 8))


@dataclass(frozen=True)
class _TablePart:
    """A part of a table, and how it is narrowed."""

    table: Table
    part: Part
    narrowings: tuple[Narrowing, ...]
    values: ValuesByName

    def narrow(self, parts: Iterable[pa.Table], keeper: Keeper) -> Iterator[KeptFile]:
        """Narrow rows, each read once for all of the narrowings, and keep what comes out."""
        names = {n.leaf.span for n in self.narrowings}
        for rows in parts:
            spans = {name: within(rows, self.table, self.values[SCOPE], name) for name in names}
            for n in self.narrowings:
                yield from keeper.keep(
                    n.judgement.name, n.parameter, narrow(n.functions, spans[n.leaf.span], self.values)
                )
        yield from keeper.close()


@dataclass(frozen=True)
class _WholeInput:
    """The input of one task: the narrowed rows of tables, and outputs of judgements with how they are narrowed."""

    judgement: Judgement
    narrowed: tuple[KeptFile, ...]
    outputs: tuple[tuple[Narrowing, tuple[KeptFile, ...]], ...]
    values: ValuesByName

    def parts(self) -> dict[str, Iterator[pa.Table]]:
        """The parts of each input."""
        names = {*(file.name for file in self.narrowed), *(narrowing.parameter for narrowing, _ in self.outputs)}
        return {name: self._parts_of(name) for name in names}

    def _parts_of(self, name: str) -> Iterator[pa.Table]:
        yield from rows_in([file for file in self.narrowed if file.name == name])
        for narrowing, files in self.outputs:
            for rows in rows_in(files) if narrowing.parameter == name else ():
                yield narrow(narrowing.functions, completed(rows, leaf_schema(narrowing.leaf)), self.values)


def typed(batch: pa.RecordBatch, table: Table) -> pa.Table:
    """A batch of Spark's as rows of a table, in its types."""
    schema = pa.schema(list(struct_of(arrow_schema(table))))
    return pa.Table.from_batches([batch]).select(schema.names).cast(schema)


def _narrowed(rows: DataFrame, table: Table, narrowing: Narrowing, values: ValuesByName) -> DataFrame:
    """The rows that a judgement with a key reads of a table or output, in a column of structs beside its key.

    Columns are enough where no function narrows them.
    """
    judgement, parameter, functions = narrowing.judgement, narrowing.parameter, narrowing.functions
    column = _column_of(judgement, parameter)
    if not functions:
        return rows.select(*judgement.key, F.lit(parameter).alias("input"), F.struct(*table.column_names).alias(column))
    schema, own_values = narrowed_schema(narrowing, values), _values_of_narrowings([narrowing], values)

    def narrow_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            of_batch = narrow(functions, typed(batch, table), own_values)
            if of_batch.num_rows:
                yield in_column(of_batch, column, schema, {"input": parameter})

    narrow_rows = with_name(narrow_rows, f"narrow_{table.name}_to_{parameter}")
    return _where_needed(rows, [narrowing]).mapInArrow(narrow_rows, from_arrow_schema(schema))


def _where_needed(rows: DataFrame, narrowings: Sequence[Narrowing]) -> DataFrame:
    """The rows that narrowings may keep, where each asks for values of a column: Spark hands no other to Python."""
    conditions = [condition_of(n.functions) for n in narrowings]
    filters = [F.col(one.column).isin(*sorted(one.values)) for one in conditions if one]
    return rows.where(reduce(or_, filters)) if len(filters) == len(conditions) else rows


def narrowed_schema(narrowing: Narrowing, values: ValuesByName) -> pa.Schema:
    """The columns of narrowed rows: the key, `input`, and structs. A dry run shows the types of the key.

    Law: the rows of any part have the columns and types of a dry run.
    """
    judgement, cls = narrowing.judgement, _class_of(narrowing.judgement, narrowing.parameter)
    dry = narrow(narrowing.functions, leaf_schema(narrowing.leaf).empty_table(), values).schema
    keys = (dry.field(name).with_nullable(True) for name in judgement.key)
    structs = (cls.TABLE.name, struct_of(arrow_schema(cls.TABLE)))
    return pa.schema([*keys, ("input", pa.string()), structs])


def _completed(frames: Sequence[DataFrame]) -> Iterator[DataFrame]:
    """Frames with all columns that one of them has, null where they lack one."""
    types = {field.name: field.dataType for frame in frames for field in frame.schema.fields}
    for frame in frames:
        own = {*frame.columns}
        yield frame.select(*(F.col(n) if n in own else F.lit(None).cast(kind).alias(n) for n, kind in types.items()))


def _outputs_in(source: RowSource) -> list[RowSource]:
    """The outputs that a source is made of, and those that are joined to it."""
    return [*(leaf for leaf, _ in source.leaves()), *(source.sources[1:] if source.joined else ())]


def _place_of(output: RowSource) -> str:
    """An output by the name of its judgement and its own: a worker has a copy of it."""
    return f"{output.judgement and output.judgement.name}.{output.output}"


def _class_of(judgement: Judgement, parameter: str) -> type[Row]:
    """The class of the rows of an input."""
    cls = judgement.inputs[parameter]
    if cls is None:
        raise TypeError("A judgement with a key takes rows, not tables.")
    return cls


def _column_of(judgement: Judgement, parameter: str) -> str:
    """The column of structs that holds an input: one for each class of rows."""
    return _class_of(judgement, parameter).TABLE.name


def _inputs_in(table: pa.Table) -> list[str]:
    return list(table["input"].unique().to_pylist())


def _table_of(output: RowSource) -> Table:
    """The table of the rows of an output of a judgement."""
    if output.row_class is None:
        raise TypeError(f"The rows of {output.output} have no declared columns.")
    return output.row_class.TABLE


def _values_of_narrowings(narrowings: Iterable[Narrowing], values: ValuesByName) -> dict[str, Any]:
    """The scope, and the values that narrowings take."""
    names = {name for n in narrowings for function in n.functions for name in values_of(function)}
    return {name: values[name] for name in (SCOPE, *names)}


def _values_of_judgement(judgement: Judgement, values: ValuesByName) -> dict[str, Any]:
    """The scope, and the values of the judgements that a judgement or one of its sources needs."""
    sources = (part for source in judgement.reads.values() for part in source.upstream())
    needs = chain(judgement.needs, *(source.needs for source in sources))
    return {SCOPE: values[SCOPE], **{j.name: values[j.name] for j in needs}}
