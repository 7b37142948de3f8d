"""The step ingest: files become records, records become events, and every physical line is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.catalog import bronze, quality, silver
from spark_jobs.catalog.codes import LINE_FATES
from spark_jobs.catalog.ids import row_id
from spark_jobs.catalog.model import Table
from spark_jobs.config import Settings
from spark_jobs.conform import frame_of
from spark_jobs.edges import progress
from spark_jobs.edges.identity import name_cluster
from spark_jobs.edges.log_files import Listing, Place, list_places
from spark_jobs.edges.readings import Readings, read_readings
from spark_jobs.edges.session import for_few_rows
from spark_jobs.edges.store import Store, at_once
from spark_jobs.edges.survey import Survey, broken_off, survey
from spark_jobs.exits import BadInput
from spark_jobs.knowledge.noise import NOISE
from spark_jobs.knowledge.patterns import PATTERNS
from spark_jobs.transforms import collect, coverage, parse, snapshots
from spark_jobs.transforms.windows import Window

_TICK = timedelta(milliseconds=1)
"""A window ends after its last instant; the clocks of logs count in milliseconds."""

_FEW_BYTES = 16 * 1024 * 1024
"""A night as small takes longer to plan than to read."""

Summary = dict[str, Any]


def run_step(spark: SparkSession, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> Summary:
    """Keeps every record once, parses those around the window, and counts every line.

    Gives: cluster, window_from, window_to; files (how many were read), files_not_read (names), lines (what they
        became, as quality.coverage counts them), snapshots (readings), warnings (sentences).
    Raises: BadInput where there is nothing to audit, or where the input is of another cluster than the lake knows.
    """
    listing = list_places(spark, _places(settings), settings.glob)
    with for_few_rows(spark) if listing.size <= _FEW_BYTES else nullcontext():
        return _ingest(spark, settings, listing)


def _ingest(spark: SparkSession, settings: Settings, listing: Listing) -> Summary:
    store = Store(spark, settings.lake)
    found, readings = at_once(partial(survey, spark, listing), partial(read_readings, spark, settings.snapshots))
    cluster, doubts = name_cluster(store, settings, found, readings)
    night = Night(store, settings, cluster, _window(settings, found, readings), found, readings)
    progress.say(f"{len(found.facts)} files of cluster {cluster}, from {night.window.start} to {night.window.end}")
    night.collect()
    lines = night.parse()
    progress.say(
        f"{lines['lines_in']:,} lines: {lines['events']:,} tell something, {lines['ignored']:,} carry nothing of use, "
        f"{lines['unparsed']:,} could not be read, {lines['quarantined']:,} are broken"
    )
    return {
        "cluster": cluster,
        "window_from": night.window.start.isoformat(),
        "window_to": night.window.end.isoformat(),
        "files": len(found.facts),
        "files_not_read": list(found.not_read),
        "lines": lines,
        "snapshots": readings.count,
        "warnings": [*doubts, *found.warnings(), *readings.warnings()],
    }


@dataclass(frozen=True)
class Night:
    """One window of one cluster, with what the files hold."""

    store: Store
    settings: Settings
    cluster: str
    window: Window
    found: Survey
    readings: Readings

    @property
    def around(self) -> Window:
        """The window with what is looked at before and after it."""
        return Window(
            self.window.start - timedelta(hours=self.settings.look_back_hours),
            self.window.end + timedelta(hours=self.settings.look_ahead_hours),
        )

    def collect(self) -> None:
        """Adds to bronze what it does not hold yet. The other tables of this step are made at the same time."""
        readings = snapshots.readings(self.readings.lines, self.cluster).persist()
        frames = {bronze.LOG_RECORDS: self.records(), **{t: snapshots.rows_of(t, readings) for t in snapshots.TABLES}}
        others = (silver.EVENTS, quality.COVERAGE, quality.UNPARSED_LINES, quality.QUARANTINE)
        at_once(
            *(partial(self.keep, table, frame) for table, frame in frames.items()),
            *(partial(self.store.create, table) for table in others),
        )
        readings.unpersist()
        self.found.records.unpersist()

    def keep(self, table: Table, frame: DataFrame) -> None:
        """Adds to a table the rows that it does not hold yet."""
        self.store.create(table)
        self.store.append_new(table, frame)

    def records(self) -> DataFrame:
        """The records of the files, as bronze keeps them."""
        placed = self.found.records.join(F.broadcast(self.found.turns()), "file")
        known = {"cluster": F.lit(self.cluster), "run_collected_at": F.lit(self.settings.run_at)}
        return collect.identify(placed, self.cluster).withColumns(known).select(*bronze.LOG_RECORDS.column_names)

    def parse(self) -> dict[str, int]:
        """Parses the records around the window anew, and replaces what was known of them. Gives: lines by fate."""
        held = self.store.read(bronze.LOG_RECORDS).where(F.col("cluster") == self.cluster)
        at = F.col("happened_at")
        around = (at >= F.lit(self.around.start)) & (at < F.lit(self.around.end))
        parsed = parse.parse(held.where(around | at.isNull()), PATTERNS, NOISE).persist()
        covered = coverage.cover(parsed, _beginnings(held), self.window).persist()
        try:
            lines = self.counted(covered)
            written = (
                (silver.EVENTS, parse.events(parsed), self.around),
                (quality.UNPARSED_LINES, parse.unparsed_lines(parsed), self.around),
                (quality.QUARANTINE, self.broken(parsed), self.around),
                (quality.COVERAGE, covered, self.window),
            )
            at_once(*(partial(self.store.replace_window, t, rows, self.cluster, w) for t, rows, w in written))
            return lines
        finally:
            parsed.unpersist()
            covered.unpersist()

    def counted(self, covered: DataFrame) -> dict[str, int]:
        """How many lines of the window became what. Raises: BadInput where the window holds none."""
        columns = ("lines_in", *(coverage.COLUMN_OF[fate] for fate in LINE_FATES))
        row = covered.agg(*(F.sum(c).alias(c) for c in columns)).first()
        if row["lines_in"] is None:
            first_at, last_at = self.found.span
            raise BadInput(
                f"No record lies between {self.window.start.isoformat()} and {self.window.end.isoformat()}: the files "
                f"reach from {first_at.isoformat()} to {last_at.isoformat()}. Needed: a window that holds records. "
                "Choose FROM and TO inside, or check LOGS_TZ."
            )
        return {c: int(row[c]) for c in columns}

    def broken(self, parsed: DataFrame) -> DataFrame:
        """What is broken: records, files that break off, and lines that are no reading."""
        last = self.around.end - _TICK
        files = [
            {
                "quarantine_id": row_id(self.cluster, fact.file.name, "broken off"),
                "cluster": self.cluster,
                "source": fact.file.source,
                "happened_at": min(max(fact.last_at or self.window.start, self.around.start), last),
                "line_count": 0,
                "row": fact.file.name,
                "sentences": [broken_off(fact)],
            }
            for fact in self.found.facts.values()
            if fact.damage
        ]
        return (
            parse.quarantined(parsed)
            .unionByName(frame_of(self.store.spark, files, quality.QUARANTINE))
            .unionByName(snapshots.quarantined(self.readings.lines, self.cluster, "snapshots"))
        )


def _places(settings: Settings) -> list[Place]:
    brokers = Place(settings.logs, "broker", settings.logs_tz, "LOGS")
    if settings.client_logs is None:
        return [brokers]
    return [brokers, Place(settings.client_logs, "client", settings.client_tz, "CLIENT_LOGS")]


def _window(settings: Settings, found: Survey, readings: Readings) -> Window:
    """The window asked for, else the first to the last instant of logs and readings."""
    if settings.window_from and settings.window_to:
        return Window(settings.window_from, settings.window_to)
    instants: list[datetime] = [*found.span, *(at for at in (readings.first_at, readings.last_at) if at)]
    return Window(min(instants), max(instants) + _TICK)


def _beginnings(held: DataFrame) -> DataFrame:
    """The first instant of each source that has records without one: source, first_at."""
    headless = held.where("happened_at IS NULL").select("source").distinct()
    return (
        held.join(F.broadcast(headless), "source", "left_semi")
        .groupBy("source")
        .agg(F.min("happened_at").alias("first_at"))
    )
