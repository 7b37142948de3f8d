"""The rebuild: what is declared in judgements/rebuild, run by a runner."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from kafka_hindsight.catalog import BY_NAME, TABLES
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.reduce import ValuesByName, leaf_schema, link, narrow
from kafka_hindsight.judgements.reasoning.scope import SCOPE, Scope
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import Judgement, Narrow, RowSource, judgements_in_order, values_of
from kafka_hindsight.knowledge.version import JUDGING, version_of
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.staging import stage_files
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.arrow_tables import completed, inside, with_columns

OUTSIDE_GOLD = (
    "quality.generation_gaps",
    "quality.leadership_gaps",
    "quality.unobserved_spans",
    "quality.witnesses",
    "quality.input_spans",
    "quality.metadata_states",
)
"""Tables that are written even when the publication is refused."""

ALL_TABLES = (*(t.full_name for t in TABLES if t.layer == "gold"), *OUTSIDE_GOLD)


_PROMOTED = {"promote_options": "permissive"}


@dataclass(frozen=True)
class Narrowing:
    """One table or output, narrowed by functions for one input of a judgement."""

    judgement: Judgement
    parameter: str
    leaf: RowSource
    functions: tuple[Narrow, ...]

    def can_run(self, values: ValuesByName, judged: Iterable[Judgement]) -> bool:
        """Whether its input and the values that its functions take are there."""
        is_there = self.leaf.judgement is None or self.leaf.judgement in judged
        return is_there and all(name in values for function in self.functions for name in values_of(function))


def part_read(narrowings: Iterable[Narrowing], table: Table, scope: Scope) -> Part:
    """The rows of a table that narrowings read: those of the widest of their spans, or all if one of them reads all."""
    names = {n.leaf.span for n in narrowings}
    if table.time_column is None or "" in names:
        return Part(scope.cluster)
    spans = [getattr(scope, name) for name in names]
    return Part(scope.cluster, table.time_column, (min(s.start for s in spans), max(s.end for s in spans)))


def within(part: pa.Table, table: Table, scope: Scope, span: str) -> pa.Table:
    """The rows of a span of the scope; all rows if the span has no name."""
    return inside(part, getattr(scope, span), str(table.time_column)) if span else part


StagedFiles = Mapping[str, Sequence[DataFile]]
"""The staged files of tables by their full names."""


class Runner(Protocol):
    """A runner of judgements. It keeps narrowed inputs and outputs until the rebuild ends."""

    def has(self, table: Table) -> bool:
        """Whether the lake has a table."""

    def narrow(self, narrowings: Sequence[Narrowing], values: ValuesByName) -> None:
        """Narrow tables and outputs. Each is read once, for all of its narrowings."""

    def judge(self, judgements: Sequence[Judgement], values: ValuesByName) -> None:
        """Run judgements with a key that do not read one another. Their inputs are narrowed already."""

    def evaluate(self, judgements: Sequence[Judgement], values: ValuesByName) -> dict[str, Any]:
        """Run judgements without a key that do not need one another, and give the value of each by its name."""

    def stage(self, sources: Mapping[str, RowSource], values: ValuesByName) -> StagedFiles:
        """Write the rows of each source as staged files of its table, as `published` has them. No row comes back.

        A source is an output or a union of outputs, joined or not. Nothing is judged afterwards.
        """


def rebuild(runner: Runner, scope: Scope, names: Iterable[str] = ALL_TABLES) -> StagedFiles:
    """Run every judgement that tables rest on, and stage their rows of the window.

    Args:
        runner: Runs them.
        scope: What the run is about.
        names: Full names of tables. Nothing is judged for others.

    Returns:
        The staged files of each of these tables. A table whose input the lake does not have is left out.
    """
    sources = {name: PUBLISHED[name] for name in names}
    order = judgements_in_order(sources.values())
    available = _available(runner, order)
    values = run_judgements(runner, scope, order)
    return runner.stage({n: s for n, s in sources.items() if is_available(runner, available, s)}, values)


def published(table: Table, rows: pa.Table, scope: Scope) -> pa.Table:
    """The rows of the window, with the columns of the table."""
    schema = arrow_schema(table)
    rows = inside(completed(rows, schema).select(schema.names), scope.window, str(table.time_column))
    if "knowledge_version" in schema.names:
        rows = with_columns(rows, knowledge_version=pa.array([version_of(JUDGING)] * rows.num_rows, pa.string()))
    return rows


def stage_parts(
    lake: str,
    sources: Mapping[str, RowSource],
    parts_of: Callable[[RowSource], Iterator[pa.Table]],
    values: ValuesByName,
) -> StagedFiles:
    """Stage sources part by part. `parts_of` gives the parts of an output, once."""
    outputs = {source.sources[1] for source in sources.values() if source.joined}
    links = {o: pa.concat_tables([leaf_schema(o).empty_table(), *parts_of(o)], **_PROMOTED) for o in outputs}

    def rows_of(table: Table, source: RowSource) -> Iterator[pa.RecordBatch]:
        for leaf, functions in source.leaves():
            for part in parts_of(leaf):
                rows = completed(narrow(functions, part, values), leaf_schema(leaf))
                linked = link(rows, links[source.sources[1]], source.joined) if source.joined else rows
                yield from published(table, linked, values[SCOPE]).to_batches()

    cluster = values[SCOPE].cluster
    return {n: stage_files(lake, cluster, BY_NAME[n], rows_of(BY_NAME[n], source)) for n, source in sources.items()}


def run_judgements(runner: Runner, scope: Scope, order: Sequence[Judgement]) -> ValuesByName:
    """Run judgements, each after those that it reads. Those that can run together run at once.

    A judgement whose input the lake does not have is not run.

    Returns:
        The value of each judgement without a key, by its name; None for one that was not run.
    """
    values: dict[str, Any] = {SCOPE: scope}
    available = _available(runner, order)
    pending = [n for judgement in order if judgement in available for n in _narrowings(runner, available, judgement)]
    judged: list[Judgement] = []
    count, last = 0, time.monotonic()
    for level in _levels(order):
        ready = [j for j in level if j in available]
        if any(n.judgement in ready for n in pending):
            due = [n for n in pending if n.can_run(values, judged)]
            runner.narrow(due, values)
            pending = [n for n in pending if n not in due]
        keyed = [j for j in ready if j.key]
        if keyed:
            runner.judge(keyed, values)
            judged += keyed
        keyless = [j for j in level if not j.key]
        values |= dict.fromkeys((j.name for j in keyless), None)
        if any(j in available for j in keyless):
            values |= runner.evaluate([j for j in keyless if j in available], values)
        count += len(ready)
        if time.monotonic() - last >= progress.INTERVAL_S:
            last = time.monotonic()
            progress.say(f"{count} of {len(available)} judgements are made")
    return values


def is_available(runner: Runner, available: Collection[Judgement], source: RowSource) -> bool:
    """Whether the lake has the first of the tables that a source is made of."""
    if source.sources:
        return is_available(runner, available, source.sources[0])
    return (
        source.judgement in available if source.judgement else not source.optional or runner.has(BY_NAME[source.table])
    )


def _available(runner: Runner, order: Iterable[Judgement]) -> set[Judgement]:
    available: set[Judgement] = set()
    for judgement in order:
        if all(is_available(runner, available, source) for source in judgement.reads.values()):
            available.add(judgement)
    return available


def _narrowings(runner: Runner, available: Collection[Judgement], judgement: Judgement) -> Iterator[Narrowing]:
    for parameter, source in judgement.reads.items():
        for leaf, functions in source.leaves():
            if is_available(runner, available, leaf):
                yield Narrowing(judgement, parameter, leaf, functions)


def _levels(order: Iterable[Judgement]) -> list[list[Judgement]]:
    """Judgements that can run together: each after those that it reads or needs."""
    level: dict[Judgement, int] = {}
    for judgement in order:
        level[judgement] = max((level[j] + 1 for j in judgement.earlier), default=0)
    return [[j for j in level if level[j] == n] for n in range(max(level.values(), default=-1) + 1)]
