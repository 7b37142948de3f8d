"""Records become events: those around a window that are new or changed. Nothing is parsed twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import quality, silver
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake import hours
from kafka_hindsight.intake import parsed_events as parse
from kafka_hindsight.intake.hours import LINES, Hour, cover
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.intake.parsed_events import Parsed
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.timings import STAGE, timed
from kafka_hindsight.shared.windows import Window

PARSED = (silver.EVENTS, quality.COVERAGE, quality.PARSED_HOURS, quality.UNPARSED_LINES, quality.QUARANTINE)
"""The tables that parsing fills."""


@timed(STAGE, "parse records")
def parse_window(
    engine: Engine,
    store: Store,
    cluster: str,
    window: Window,
    around: Window,
    broken: Sequence[Mapping[str, Any]] | None = None,
    *,
    again: bool = False,
) -> tuple[dict[str, int], list[str]] | None:
    """Parse the hours around a window that are new or changed, or all of them if `again`, and replace their rows.

    quality.parsed_hours is written last, so that the next run parses again what this one did not finish. `broken` are
    rows of quality.quarantine that are not log records; None leaves the old ones.

    Returns:
        The lines of the window by fate, and a sentence about each log, of those parsed now, that is a copy; None if the
        window has no record: then nothing is written.
    """
    lake, copies = _LakeAround(engine, store, cluster, around, hours.edges_of(window, around)), list[str]()
    waiting = f"{landing.scratch(store.lake)}/parsed"
    landing.remove(waiting)
    try:
        parsed_span = lake.parsed(around if again else lake.changed(), waiting)
        coverage = cover(parsed_span.hours, lake.beginnings(parsed_span), cluster, window)
        if not coverage:
            return None
        store.renew_window(quality.COVERAGE, table_of(coverage, quality.COVERAGE), cluster, window)
        store.replace_window(quality.UNPARSED_LINES, parsed_span.parsed.unparsed, cluster, parsed_span.span)
        store.replace_window(quality.QUARANTINE, lake.quarantined(parsed_span, broken), cluster, around)
        if parsed_span.is_any:
            repeats = parse.find_repeats(engine, parsed_span.parsed, parsed_span.brokers)
            copies = repeats.copies(parsed_span.parsed.hours)
            events = parse.write_events(engine, store, parsed_span.parsed, parsed_span.brokers, repeats.of_unit)
            store.replace_window(silver.EVENTS, events, cluster, parsed_span.span)
            store.replace_window(quality.PARSED_HOURS, lake.parsed_hours(parsed_span), cluster, parsed_span.span)
        return {name: sum(row[name] for row in coverage) for name in LINES}, copies
    finally:
        landing.remove(waiting)


@dataclass(frozen=True)
class _ParsedSpan:
    """The parsed records of a span, and the rows of quality.parsed_hours of other hours around the window."""

    span: Window
    parsed: Parsed
    other_hours: Sequence[Hour]

    @property
    def is_any(self) -> bool:
        """Whether an hour had to be parsed."""
        return self.span.start < self.span.end

    @property
    def hours(self) -> list[Hour]:
        """All hours around the window."""
        return [*self.parsed.hours, *self.other_hours]

    @cached_property
    def brokers(self) -> dict[str, int | None]:
        """The only broker that each log names; None where it names several."""
        return hours.only_brokers(self.hours)


@dataclass(frozen=True)
class _LakeAround:
    """The lake's rows around a window of a cluster."""

    engine: Engine
    store: Store
    cluster: str
    around: Window
    edges: tuple[datetime, ...]

    @cached_property
    def known_hours(self) -> list[Hour]:
        """The hours that were parsed before."""
        return list(self.store.read_window(quality.PARSED_HOURS, self.cluster, self.around).to_pylist())

    def changed(self) -> Window:
        """From the first to the last hour that must be parsed."""
        if not self.store.version(quality.PARSED_HOURS):
            return self.around
        counts = hours.held_counts(self.store, self.cluster, self.around, self.edges)
        return self._span(hours.changed(counts, self.known_hours, self.edges, version_of(READING)))

    def parsed(self, span: Window, waiting: str) -> _ParsedSpan:
        """Parse the records of a span, and those without an instant.

        Other hours are parsed too if the lines of a log now name another writer than the one that their events have.
        """
        part = Part(self.cluster, "happened_at", (span.start, span.end), timeless=True)
        parsed = parse.parse(self.engine, self.store, part, self.edges, waiting)
        parsed_span = _ParsedSpan(
            span, parsed, [hour for hour in self.known_hours if not span.holds(hour["hour_from"])]
        )
        others = self._span(hours.given_others(parsed_span.other_hours, parsed_span.brokers))
        if span == self.around or others.start == others.end:
            return parsed_span
        bounds = [others] if span.start == span.end else [span, others]
        return self.parsed(Window(min(w.start for w in bounds), max(w.end for w in bounds)), waiting)

    def beginnings(self, parsed_span: _ParsedSpan) -> dict[str, datetime | None]:
        """The first instant of each source that has records without one."""
        headless = {hour["source"] for hour in parsed_span.parsed.hours if hour["hour_from"] is None}
        return hours.first_instants(self.store, self.cluster, headless)

    def parsed_hours(self, parsed_span: _ParsedSpan) -> pa.Table:
        """Rows of quality.parsed_hours."""
        constants = {"cluster": self.cluster, "parsed_as": version_of(READING)}
        dated = (hour for hour in parsed_span.parsed.hours if hour["hour_from"])
        rows = ({**hour, **constants, "given_broker": parsed_span.brokers.get(hour["source"])} for hour in dated)
        return table_of(rows, quality.PARSED_HOURS)

    def quarantined(self, parsed_span: _ParsedSpan, broken: Sequence[Mapping[str, Any]] | None) -> pa.Table:
        """All rows of quality.quarantine: of records parsed now or before, and those that are not log records."""
        rows = self.store.read_window(quality.QUARANTINE, self.cluster, self.around)
        is_record = pc.greater(rows["line_count"], 0)
        parsed_now = Part(self.cluster, "happened_at", (parsed_span.span.start, parsed_span.span.end)).holds(rows)
        before = rows.filter(pc.and_not(is_record, parsed_now))
        beside = rows.filter(pc.invert(is_record)) if broken is None else table_of(broken, quality.QUARANTINE)
        return pa.concat_tables([parsed_span.parsed.quarantined, before, beside])

    def _span(self, changed: Sequence[datetime]) -> Window:
        return hours.span_of(changed, self.edges) or Window(self.around.start, self.around.start)
