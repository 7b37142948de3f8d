"""Records become events: what is new in bronze around a window, and what changed; nothing is parsed twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog import bronze, quality, silver
from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.batches import Batches
from kafka_hindsight.spark.frames import hours
from kafka_hindsight.spark.frames import parsed_events as parse
from kafka_hindsight.spark.frames.line_coverage import cover
from kafka_hindsight.spark.tables.store import Store

PARSED = (silver.EVENTS, quality.COVERAGE, quality.PARSED_HOURS, quality.UNPARSED_LINES, quality.QUARANTINE)
"""The tables that parsing fills."""


def parse_window(
    store: Store, cluster: str, window: Window, around: Window, broken: DataFrame | None = None, *, again: bool = False
) -> dict[str, int] | None:
    """Parses what is new or changed around a window, all that is there where `again`, and replaces what was known.

    Takes: rows of quality.quarantine for what is broken beside records; without them those that are there stay.
    Gives: the lines of the window by fate; None where it holds no record: then nothing is written.
    Order: quality.parsed_hours comes last, so that the next run parses again what this one did not finish.
    """
    held = _Held(store, cluster, around, hours.edges_of(window, around))
    found = held.parsed(around if again else held.changed())
    covered = cover(found.hours, _beginnings(held.records, found.fresh), cluster, window).persist()
    try:
        lines = _counted(covered)
        if lines is not None:
            writes = [
                (quality.UNPARSED_LINES, parse.unparsed_lines(found.rows), found.span),
                (quality.QUARANTINE, held.quarantined(found, broken), around),
                *([(silver.EVENTS, found.events(), found.span)] if found.is_any else []),
            ]
            at_once(
                partial(store.renew_window, quality.COVERAGE, covered, cluster, window),
                *(partial(store.replace_window, table, rows, cluster, span) for table, rows, span in writes),
            )
            if found.is_any:
                store.replace_window(quality.PARSED_HOURS, held.parsed_hours(found), cluster, found.span)
        return lines
    finally:
        covered.unpersist()
        found.forget()


@dataclass(frozen=True)
class _Found:
    """The records of a span, parsed, and what is known of the hours beside it.

    `fresh` counts the hours of the span, `kept` are rows of quality.parsed_hours.
    """

    span: Window
    rows: DataFrame
    fresh: DataFrame
    kept: DataFrame

    @property
    def is_any(self) -> bool:
        """Whether an hour had to be parsed."""
        return self.span.start < self.span.end

    @property
    def hours(self) -> DataFrame:
        """All hours around the window."""
        return self.fresh.unionByName(self.kept.select(*self.fresh.columns))

    @cached_property
    def brokers(self) -> DataFrame:
        """The only broker that each log names; kept, since several tables are written by it."""
        return hours.only_brokers(self.hours).persist()

    @cached_property
    def writers(self) -> dict[str, int]:
        """The same by source, as workers take it."""
        return dict(self.brokers.collect())

    @cached_property
    def twins(self) -> DataFrame:
        """The events that may stand twice."""
        return _found(parse.twins(self.rows))

    @cached_property
    def repeats(self) -> DataFrame:
        """The events for which others stand."""
        return _found(parse.repeated(self.rows, self.twins, self.writers))

    def events(self) -> Batches:
        """The events, each once."""
        return parse.events(self.rows, self.writers, self.repeats)

    def forget(self) -> None:
        """Frees the memory that they take."""
        asked = [vars(self)[name] for name in ("repeats", "twins", "brokers") if name in vars(self)]
        for frame in (*asked, self.fresh, self.rows):
            frame.unpersist()


@dataclass(frozen=True)
class _Held:
    """What the lake holds around a window of a cluster."""

    store: Store
    cluster: str
    around: Window
    edges: tuple[datetime, ...]

    @cached_property
    def records(self) -> DataFrame:
        """All records of the cluster."""
        return self.store.read(bronze.LOG_RECORDS).where(F.col("cluster") == self.cluster)

    @cached_property
    def known(self) -> DataFrame:
        """The hours that were parsed."""
        return self.store.read_window(quality.PARSED_HOURS, self.cluster, self.around)

    def changed(self) -> Window:
        """From the first to the last hour that must be parsed."""
        if not self.store.version(quality.PARSED_HOURS):
            return self.around
        near = self.records.where(_lies_in("happened_at", self.around))
        return self._span(hours.changed(near, self.known, self.edges, version_of(READING)))

    def parsed(self, span: Window) -> _Found:
        """What the records of a span say now, and with them those without an instant.

        Edge case: hours beside it are parsed too where the lines of a log now name another writer than the one that
        was given to events of theirs.
        """
        records = self.store.read_batches(bronze.LOG_RECORDS, self.cluster, span)
        rows = parse.parse(records, self.edges).persist()
        fresh = hours.count_hours(parse.tallies(rows), self.edges).persist()
        found = _Found(span, rows, fresh, self.known.where(~_lies_in("hour_from", span)))
        if span == self.around:
            return found
        others = self._span(hours.given_others(found.kept, found.brokers))
        if others.start == others.end:
            return found
        found.forget()
        bounds = [others] if span.start == span.end else [span, others]
        return self.parsed(Window(min(w.start for w in bounds), max(w.end for w in bounds)))

    def parsed_hours(self, found: _Found) -> DataFrame:
        """Rows of quality.parsed_hours."""
        dated = found.fresh.where("hour_from IS NOT NULL").join(F.broadcast(found.brokers), "source", "left")
        known = {"cluster": F.lit(self.cluster), "parsed_as": F.lit(version_of(READING))}
        return dated.withColumnRenamed("only_broker", "given_broker").withColumns(known)

    def quarantined(self, found: _Found, broken: DataFrame | None) -> DataFrame:
        """All that is broken: records that were parsed, now or before, and what is broken beside records."""
        there = self.store.read_window(quality.QUARANTINE, self.cluster, self.around)
        is_record = F.col("line_count") > 0
        before = there.where(is_record & ~_lies_in("happened_at", found.span))
        beside = there.where(~is_record) if broken is None else broken
        return parse.quarantined(found.rows).unionByName(before).unionByName(beside)

    def _span(self, changed: DataFrame) -> Window:
        return hours.span_of(changed, self.edges) or Window(self.around.start, self.around.start)


def _found(rows: DataFrame) -> DataFrame:
    """The rows, found before they are joined: where they are few, Spark sends them to the events and moves no event."""
    rows = rows.persist()
    rows.count()
    return rows


def _lies_in(column: str, window: Window) -> Column:
    return (F.col(column) >= F.lit(window.start)) & (F.col(column) < F.lit(window.end))


def _beginnings(records: DataFrame, fresh: DataFrame) -> DataFrame:
    """The first instant of each source that has records without one: source, first_at."""
    headless = fresh.where("hour_from IS NULL").select("source")
    told = records.select("source", "happened_at").join(F.broadcast(headless), "source", "left_semi")
    return told.groupBy("source").agg(F.min("happened_at").alias("first_at"))


def _counted(covered: DataFrame) -> dict[str, int] | None:
    columns = ("lines_in", *(hours.COLUMN_OF[fate] for fate in LineFate))
    row = covered.agg(*(F.sum(c).alias(c) for c in columns)).first()
    return None if row["lines_in"] is None else {c: int(row[c]) for c in columns}
