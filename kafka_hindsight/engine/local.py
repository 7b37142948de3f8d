"""Work and judgements in this process, over the files of a lake. No JVM."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.judgement_run import Narrowing, StagedFiles, part_read, stage_parts, within
from kafka_hindsight.engine.packed_parts import PackedParts
from kafka_hindsight.engine.reduce import (
    ValuesByName,
    evaluate,
    in_buckets,
    judged_tables,
    key_of,
    narrow,
)
from kafka_hindsight.engine.work import Work, Written, run_units, write_units, written
from kafka_hindsight.judgements.reasoning.scope import SCOPE, Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, RowSource
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import FilePart
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timings import STAGE, timed

_PIECE = 64 * 1024 * 1024
_SIZE = attrgetter("size")


@dataclass(frozen=True)
class LocalEngine:
    """An engine that does all work itself, one unit after another."""

    piece: int = _PIECE

    def spread(self, units: Sequence[FilePart], work: Work) -> Iterator[Any]:
        """See Engine."""
        return run_units(progress.reported(units, _SIZE), work)

    def write(self, store: Store, table: Table, units: Sequence[FilePart], work: Work) -> Written:
        """See Engine."""
        return written(write_units(progress.reported(units, _SIZE), work, table, store.path(table)))


BUCKET = 100_000
"""Rows of Arrow that are judged together: as rows of Python they take some hundred megabytes."""


PartsByName = dict[str, PackedParts]
"""The parts of each input or output of a judgement, by its name."""


class LocalRunner:
    """A runner of rebuilds over a lake, in this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._parts = defaultdict[Judgement, PartsByName](_no_parts)
        self._outputs = defaultdict[Judgement, PartsByName](_no_parts)

    def has(self, table: Table) -> bool:
        """See Runner."""
        return self._store.has(table)

    def narrow(self, narrowings: Sequence[Narrowing], values: ValuesByName) -> None:
        """See Runner."""
        scope: Scope = values[SCOPE]
        by_table = grouped((n for n in narrowings if n.leaf.table), lambda n: n.leaf.table)
        for name, of_table in by_table.items():
            table = BY_NAME[name]
            with timed(STAGE, f"narrow {name}"):
                for part in self._store.read_in_parts(table, part_read(of_table, table, scope)):
                    spans = {span: within(part, table, scope, span) for span in {n.leaf.span for n in of_table}}
                    for narrowing in of_table:
                        self._keep(narrowing, spans[narrowing.leaf.span], values)
        for narrowing in narrowings:
            if narrowing.leaf.judgement is not None:
                for part in self._outputs[narrowing.leaf.judgement][narrowing.leaf.output]:
                    self._keep(narrowing, part, values)

    def judge(self, judgements: Sequence[Judgement], values: ValuesByName) -> None:
        """See Runner."""
        for judgement in judgements:
            parts = self._parts.pop(judgement, {})
            count = 1 + sum(of_input.row_count for of_input in parts.values()) // BUCKET
            with timed(STAGE, f"judge {judgement.name}"):
                for bucket in _buckets(judgement, parts, count if key_of(judgement) else 1):
                    for name, rows in judged_tables(judgement, bucket, values).items():
                        self._outputs[judgement][name].add(rows)

    def evaluate(self, judgements: Sequence[Judgement], values: ValuesByName) -> dict[str, Any]:
        """See Runner."""
        return {j.name: evaluate(j, _unpacked(self._parts.pop(j, {})), values) for j in judgements}

    @timed(STAGE, "stage gold")
    def stage(self, sources: Mapping[str, RowSource], values: ValuesByName) -> StagedFiles:
        """See Runner. A part is let go as soon as it is staged."""
        return stage_parts(self._store.lake, sources, self.parts_of, values)

    def parts_of(self, output: RowSource) -> Iterator[pa.Table]:
        """The rows of an output, as they were judged. Each part is let go as soon as it is given."""
        return self._outputs[output.judgement][output.output].pop_all() if output.judgement else iter(())

    def _keep(self, narrowing: Narrowing, part: pa.Table, values: ValuesByName) -> None:
        rows = narrow(narrowing.functions, part, values)
        self._parts[narrowing.judgement][narrowing.parameter].add(rows)


@dataclass(frozen=True)
class LocalWorkers:
    """This process, which does all work itself."""

    application: str | None = None

    def at_work(self, run_id: str) -> AbstractContextManager[None]:
        """See Workers."""
        return nullcontext()

    def engine(self) -> LocalEngine:
        """See Workers."""
        return LocalEngine()

    def runner(self, store: Store) -> AbstractContextManager[LocalRunner]:
        """See Workers."""
        return nullcontext(LocalRunner(store))


def _no_parts() -> PartsByName:
    return defaultdict(PackedParts)


def _unpacked(parts: PartsByName) -> dict[str, Iterator[pa.Table]]:
    return {name: of_input.pop_all() for name, of_input in parts.items()}


def _buckets(judgement: Judgement, parts: PartsByName, count: int) -> Iterator[dict[str, Iterator[pa.Table]]]:
    if count == 1:
        yield _unpacked(parts)
        return
    buckets = defaultdict[int, PartsByName](_no_parts)
    for name, of_input in parts.items():
        for part in of_input.pop_all():
            for bucket, rows in in_buckets(part, key_of(judgement), count):
                buckets[bucket][name].add(rows)
    while buckets:
        yield _unpacked(buckets.popitem()[1])
