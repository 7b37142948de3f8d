"""Second step: the timelines of rebalances and failovers, their causes, and the rules applied; all of it staged.

What is judged, and from what, is declared in spark/judgements. Here it is run: each judgement after those that it
reads, one distributed job each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import BY_NAME, TABLES, Table
from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.knowledge.version import JUDGING, version_of
from kafka_hindsight.settings.maintenance import maintenance_of
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.apply import (
    SCOPE,
    Judgement,
    Source,
    apply_by_key,
    check_published,
    collect_rows,
    inputs_of,
    outputs_of,
    select_output,
    values_of,
)
from kafka_hindsight.spark.frames.inputs import inside
from kafka_hindsight.spark.judgements import PUBLISHED
from kafka_hindsight.spark.session import cut_off, for_few_rows, for_judgements, for_many_rows
from kafka_hindsight.spark.tables.store import Store

FEW_LINES = 200_000
"""A night of as few lines that tell something takes longer to plan than to rebuild."""

KEPT = (
    "quality.generation_gaps",
    "quality.leadership_gaps",
    "quality.unobserved_spans",
    "quality.rule_firings",
    "quality.metadata_states",
)
"""What is written even when the publication is refused."""

BETWEEN_BROKERS = (
    *("gold.broker_outages", "gold.controller_changes", "gold.failovers", "gold.out_of_sync_periods"),
    "gold.truncations",
)
"""Tables whose verdicts compare the times of several brokers' lines. An incident is as sure as what it consists of."""

WANTED = (*(t.full_name for t in TABLES if t.layer == "gold"), *KEPT)


def run_step(spark: SparkSession, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Rebuilds the window that ingest named, and stages every gold table.

    Takes: the summary of ingest: cluster, window_from, window_to, clocks_apart_ms. Gives: the first three.
    """
    given = earlier["ingest"]
    clocks_apart = given.get("clocks_apart_ms", 0) * MS
    window = Window(datetime.fromisoformat(given["window_from"]), datetime.fromisoformat(given["window_to"]))
    seen = Window(
        window.start - timedelta(hours=settings.look_back_hours),
        window.end + timedelta(hours=settings.look_ahead_hours),
    )
    store = Store(spark, settings.lake)
    scope = Scope(given["cluster"], window, seen, clocks_apart, maintenance_of(settings.maintenance))
    few = given["lines"]["events"] <= FEW_LINES
    keep = cut_off if few else DataFrame.persist
    sized = for_few_rows if few else for_many_rows
    with sized(spark), rebuilt(store, scope, keep) as frames:
        store.create(*(BY_NAME[name] for name in KEPT if name in frames))
        at_once(*(lambda n=name: _write(store, n, frames[n], given["cluster"], window) for name in frames))
    return {name: given[name] for name in ("cluster", "window_from", "window_to")}


def _write(store: Store, name: str, frame: DataFrame, cluster: str, window: Window) -> None:
    table = BY_NAME[name]
    if name in KEPT:
        store.renew_window(table, frame, cluster, window)
    else:
        store.overwrite_staging(table, frame)


@contextmanager
def rebuilt(
    store: Store,
    scope: Scope,
    keep: Callable[[DataFrame], DataFrame] = DataFrame.persist,
    wanted: Iterable[str] = WANTED,
) -> Iterator[dict[str, DataFrame]]:
    """Every wanted table as a frame, by full name; but those of which the lake holds no input. What is cached for them
    is freed at the end.

    Takes: what the lake holds of the cluster; `keep`, how a frame is kept that serves several; `wanted`, the full names
        of tables: nothing is judged for others.
    """
    published = {name: PUBLISHED[name] for name in wanted}
    run = Rebuild(store, scope, keep)
    with for_judgements(store.spark):
        try:
            judgements = check_published(published, published)
            run.read(judgements)
            for judgement in judgements:
                run.judge(judgement)
            made = {name: run.frame(source) for name, source in published.items()}
            told = {name: frame for name, frame in made.items() if frame is not None}
            yield {name: _published(BY_NAME[name], frame, scope.window) for name, frame in told.items()}
        finally:
            for frame in run.cached:
                frame.unpersist()


def _published(table: Table, frame: DataFrame, window: Window) -> DataFrame:
    rows = frame.where(inside(window, str(table.time_column)))
    if "knowledge_version" in table.column_names:
        rows = rows.withColumn("knowledge_version", F.lit(version_of(JUDGING)))
    return rows.coalesce(1)


def at_most_likely(rows: DataFrame) -> DataFrame:
    """Where clocks of brokers differ by more than a verdict allows for, none that compares them is certain."""
    confidence = F.when(F.col("confidence") == Confidence.CERTAIN, Confidence.LIKELY).otherwise(F.col("confidence"))
    return rows.withColumn("confidence", confidence)


@dataclass
class Rebuild:
    """The frames and values of one rebuild, as far as it has come."""

    store: Store
    scope: Scope
    keep: Callable[[DataFrame], DataFrame] = DataFrame.persist
    cached: list[DataFrame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values: dict[str, Any] = {SCOPE: self.scope}
        self._judged: dict[Judgement, DataFrame | None] = {}
        self._made: dict[Source, DataFrame | None] = {}
        self._tables: dict[tuple[str, str], DataFrame | None] = {}

    def read(self, judgements: Iterable[Judgement]) -> None:
        """Opens the tables of the lake that judgements read, side by side: Delta takes a job to open one."""
        sources = [source for judgement in judgements for source in judgement.reads.values()]
        parts = {(p.table, p.span): p for source in sources for p in source.upstream() if p.table}
        at_once(*(partial(self._table, part) for part in parts.values()))

    def judge(self, judgement: Judgement) -> None:
        """Runs a judgement, or plans it where Spark runs it. One that lacks an input gives nothing."""
        frames = {name: self.frame(source) for name, source in judgement.reads.items()}
        present = {name: frame for name, frame in frames.items() if frame is not None}
        values = {name: self.values[name] for name in values_of(judgement.function)}
        if judgement.key:
            given = apply_by_key(judgement, present, values) if len(present) == len(frames) else None
            self._judged[judgement] = self._cache(given)
        elif len(present) < len(frames):
            self.values[judgement.name] = None
        else:
            classes = inputs_of(judgement.function)
            collected = at_once(*(partial(collect_rows, present[n], cls) for n, cls in classes.items()))
            rows = dict(zip(classes, collected, strict=True))
            self.values[judgement.name] = judgement.function(**rows, **values)
            progress.say(f"{judgement.name}: {', '.join(f'{len(r)} {n}' for n, r in rows.items())}")

    def frame(self, source: Source) -> DataFrame | None:
        """The frame of a source; None where the lake lacks what it is made of."""
        if source not in self._made:
            frame = self._frame(source)
            self._made[source] = self._cache(frame) if source.shared else frame
        return self._made[source]

    def _frame(self, source: Source) -> DataFrame | None:
        if source.judgement is not None:
            judged = self._judged[source.judgement]
            if judged is None:
                return None
            rows = select_output(judged, source.output)
            table = outputs_of(source.judgement.function)[source.output].TABLE.full_name
            return at_most_likely(rows) if self.scope.clocks_apart and table in BETWEEN_BROKERS else rows
        if source.function is None:
            return self._table(source)
        frames = [self.frame(s) for s in source.sources]
        if frames[0] is None:
            return None
        return source.function(*frames, **{n: self.values[n] for n in values_of(source.function)})

    def _table(self, source: Source) -> DataFrame | None:
        key = source.table, source.span
        if key not in self._tables:
            self._tables[key] = self._opened(source)
        return self._tables[key]

    def _opened(self, source: Source) -> DataFrame | None:
        if source.table == "internal.clusters":
            return self.store.spark.range(1).select(F.lit(self.scope.cluster).alias("cluster"))
        table = BY_NAME[source.table]
        if source.optional and not self.store.has(table):
            return None
        is_read = self.store.held(table, self.scope.cluster) is not None
        rows = self.store.read_cluster(table, self.scope.cluster)
        if source.span:
            rows = rows.where(inside(getattr(self.scope, source.span), str(table.time_column)))
        return self._cache(rows) if is_read and self.keep is cut_off and self.store.is_small(table) else rows

    def _cache(self, frame: DataFrame | None) -> DataFrame | None:
        if frame is None:
            return None
        kept = self.keep(frame)
        self.cached.append(kept)
        return kept
