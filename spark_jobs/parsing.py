"""Records become events: what is new in bronze around a window, and what changed; nothing is parsed twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import quality, silver
from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake import hours
from kafka_hindsight.intake import parsed_events as parse
from kafka_hindsight.intake.hours import Hour
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.intake.line_coverage import LINES, cover
from kafka_hindsight.intake.parsed_events import Parsed
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window

PARSED = (silver.EVENTS, quality.COVERAGE, quality.PARSED_HOURS, quality.UNPARSED_LINES, quality.QUARANTINE)
"""The tables that parsing fills."""

_WAITING = "landing/parsed"
"""Where events lie in the lake until it is known who wrote each, and which stand twice."""


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
    """Parses what is new or changed around a window, all that is there where `again`, and replaces what was known.

    Takes: rows of quality.quarantine for what is broken beside records; without them those that are there stay.
    Gives: the lines of the window by fate, and a sentence about each log that is a copy, of those parsed now; None
        where it holds no record: then nothing is written.
    Order: quality.parsed_hours comes last, so that the next run parses again what this one did not finish.
    """
    held, copies = _Held(engine, store, cluster, around, hours.edges_of(window, around)), list[str]()
    waiting = f"{store.lake}/{_WAITING}"
    landing.remove(waiting)
    try:
        found = held.parsed(around if again else held.changed(), waiting)
        covered = cover(found.hours, held.beginnings(found), cluster, window)
        if not covered:
            return None
        store.renew_window(quality.COVERAGE, table_of(covered, quality.COVERAGE), cluster, window)
        unparsed = found.parsed.of_fate(LineFate.UNPARSED, quality.UNPARSED_LINES)
        store.replace_window(quality.UNPARSED_LINES, unparsed, cluster, found.span)
        store.replace_window(quality.QUARANTINE, held.quarantined(found, broken), cluster, around)
        if found.is_any:
            repeats = parse.find_repeats(engine, found.parsed, found.brokers)
            copies = repeats.copies(found.parsed.hours)
            events = parse.write_events(engine, store, found.parsed, found.brokers, repeats.of_unit)
            store.replace_window(silver.EVENTS, events, cluster, found.span)
            store.replace_window(quality.PARSED_HOURS, held.parsed_hours(found), cluster, found.span)
        return {name: sum(row[name] for row in covered) for name in LINES}, copies
    finally:
        landing.remove(waiting)


@dataclass(frozen=True)
class _Found:
    """The records of a span, parsed, and what is known of the hours beside it.

    `kept` are rows of quality.parsed_hours.
    """

    span: Window
    parsed: Parsed
    kept: Sequence[Hour]

    @property
    def is_any(self) -> bool:
        """Whether an hour had to be parsed."""
        return self.span.start < self.span.end

    @property
    def hours(self) -> list[Hour]:
        """All hours around the window."""
        return [*self.parsed.hours, *self.kept]

    @cached_property
    def brokers(self) -> dict[str, int]:
        """The only broker that each log names."""
        return hours.only_brokers(self.hours)


@dataclass(frozen=True)
class _Held:
    """What the lake holds around a window of a cluster."""

    engine: Engine
    store: Store
    cluster: str
    around: Window
    edges: tuple[datetime, ...]

    @cached_property
    def known(self) -> list[Hour]:
        """The hours that were parsed."""
        return list(self.store.read_window(quality.PARSED_HOURS, self.cluster, self.around).to_pylist())

    def changed(self) -> Window:
        """From the first to the last hour that must be parsed."""
        if not self.store.version(quality.PARSED_HOURS):
            return self.around
        held = hours.held_counts(self.engine, self.store, self.cluster, self.around, self.edges)
        return self._span(hours.changed(held, self.known, self.edges, version_of(READING)))

    def parsed(self, span: Window, waiting: str) -> _Found:
        """What the records of a span say now, and with them those without an instant.

        Edge case: hours beside it are parsed too where the lines of a log now name another writer than the one that
        was given to events of theirs.
        """
        part = Part(self.cluster, "happened_at", (span.start, span.end), timeless=True)
        read = parse.parse(self.engine, self.store, part, self.edges, waiting)
        found = _Found(span, read, [hour for hour in self.known if not span.holds(hour["hour_from"])])
        others = self._span(hours.given_others(found.kept, found.brokers))
        if span == self.around or others.start == others.end:
            return found
        bounds = [others] if span.start == span.end else [span, others]
        return self.parsed(Window(min(w.start for w in bounds), max(w.end for w in bounds)), waiting)

    def beginnings(self, found: _Found) -> dict[str, datetime | None]:
        """The first instant of each source that has records without one."""
        headless = {hour["source"] for hour in found.parsed.hours if hour["hour_from"] is None}
        return hours.beginnings(self.engine, self.store, self.cluster, headless)

    def parsed_hours(self, found: _Found) -> pa.Table:
        """Rows of quality.parsed_hours."""
        known = {"cluster": self.cluster, "parsed_as": version_of(READING)}
        dated = (hour for hour in found.parsed.hours if hour["hour_from"])
        rows = ({**hour, **known, "given_broker": found.brokers.get(hour["source"])} for hour in dated)
        return table_of(rows, quality.PARSED_HOURS)

    def quarantined(self, found: _Found, broken: Sequence[Mapping[str, Any]] | None) -> pa.Table:
        """All that is broken: records that were parsed, now or before, and what is broken beside records."""
        there = self.store.read_window(quality.QUARANTINE, self.cluster, self.around)
        is_record = pc.greater(there["line_count"], 0)
        parsed_now = Part(self.cluster, "happened_at", (found.span.start, found.span.end)).holds(there)
        before = there.filter(pc.and_not(is_record, parsed_now))
        beside = there.filter(pc.invert(is_record)) if broken is None else table_of(broken, quality.QUARANTINE)
        return pa.concat_tables([found.parsed.of_fate(LineFate.QUARANTINED, quality.QUARANTINE), before, beside])

    def _span(self, changed: Sequence[datetime]) -> Window:
        return hours.span_of(changed, self.edges) or Window(self.around.start, self.around.start)
