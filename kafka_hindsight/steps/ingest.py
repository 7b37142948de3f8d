"""The step ingest: files become records, records become events, and every physical line is accounted for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze, quality
from kafka_hindsight.catalog.codes import ClockMeaning, Origin
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.quality import LATE_WINDOWS, LOST_LINES
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.engine.workers import Workers
from kafka_hindsight.intake import hours, outliers
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.clocks_apart import WrongClock, ahead, distances, in_files, pairs_apart
from kafka_hindsight.intake.first_record import is_before_first_record
from kafka_hindsight.intake.lake_rows import reduced
from kafka_hindsight.intake.log_files import places_of
from kafka_hindsight.intake.own_cluster import ids_within
from kafka_hindsight.intake.read_ends import states_of
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_facts import broken_off
from kafka_hindsight.logs.reading import broker_of_folder, carries_nothing
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import past
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sources.land import losses_in
from kafka_hindsight.steps.collect import Collected, claimed_input, keep_input, list_input, no_record_in
from kafka_hindsight.steps.late_windows import keep_late_windows
from kafka_hindsight.steps.parsing import PARSED, parse_window

_OF_LOGS = (Origin.BROKER, Origin.CLIENT)

_TICK = timedelta(milliseconds=1)
"""A window ends after its last instant; the clocks of logs count in milliseconds."""

Summary = dict[str, Any]


def run_step(workers: Workers, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> Summary:
    """Keep every record once, parse those around the window, and count every line.

    Returns:
        The summary of collect, and: inputs, the origins of the input, whatever their times; window_from, window_to;
        lines, by what they became, as quality.coverage counts them; clocks, those that are wrong by more than verdicts
        allow for (a garbled instant is not one); input_bytes.

    Raises:
        BadInput: There is nothing to audit, or the lake has another cluster under that name.
    """
    engine, store = workers.engine(), Store(settings.lake)
    settings, widened = _widened(settings)
    files = list_input(engine, settings)
    with claimed_input(engine, store, settings, files) as own_input:
        collected = keep_input(engine, store, settings, own_input)
        store.create(*PARSED, LATE_WINDOWS)
        window, notes = _window(store, settings, collected)
        summary = _parse_and_summarize(NightInput(engine, store, settings, window, collected), [*widened, *notes])
    return {**summary, "input_bytes": files.listing.size}


def _widened(settings: Settings) -> tuple[Settings, list[str]]:
    """The settings; without their window, and with a note, where it may widen and lies before the first record."""
    start, end = settings.window_from, settings.window_to
    if not (settings.may_widen and start and end and is_before_first_record(settings)):
        return settings, []
    note = (
        f"The first record is later than the night from {start.isoformat()} to {end.isoformat()}: "
        "everything in the input is audited instead."
    )
    return settings.model_copy(update={"window_from": None, "window_to": None}), [note]


_MOST_UNREAD = 0.1
"""Without an event, and with a larger share of unread lines among those that matter, nothing can be concluded."""
_MOST_CHECKED = 100_000
"""Records that are checked for known lines without content: a night without an event has few that matter."""

_SHAPES = 3
_QUOTED = 200


def _parse_and_summarize(night: NightInput, notes: Sequence[str]) -> Summary:
    progress.say(f"The window: {night.window.start:%F %T} to {night.window.end:%F %T} UTC")
    lines, copies = night.parse()
    late = keep_late_windows(night.store, night.settings, night.cluster, night.window)
    progress.say(
        f"{lines['lines_in']:,} lines: {lines['events']:,} are events, {lines['ignored']:,} are irrelevant, "
        f"{lines['unparsed']:,} could not be read, {lines['quarantined']:,} are broken"
    )
    for sentence in (*notes, *copies, *late):
        progress.say(sentence)
    night.refuse_unread(lines)
    summary = night.collected.summary()
    window = {"window_from": night.window.start.isoformat(), "window_to": night.window.end.isoformat()}
    clocks = night.wrong_clocks()
    warnings = [
        *summary["warnings"],
        *notes,
        *copies,
        *(finding.sentence for finding in clocks if finding.sentence),
        *late,
        *night.waits(),
        *(loss["sentence"] for loss in night.losses_of_sources if night.settings.run_at.isoformat() == loss["until"]),
    ]
    return {
        **summary,
        **window,
        "inputs": night.inputs(),
        "cluster_ids": ids_within(night.collected.facts, night.window),
        "lines": lines,
        "clocks": [f.error.summary() for f in clocks if f.error.meaning != ClockMeaning.GARBLED],
        "warnings": warnings,
    }


@dataclass(frozen=True)
class NightInput:
    """One window of one cluster, with its input."""

    engine: Engine
    store: Store
    settings: Settings
    window: Window
    collected: Collected

    @property
    def cluster(self) -> str:
        """The name under which the input is kept."""
        return self.collected.input.cluster

    @property
    def around(self) -> Window:
        """The window with its look-back and its look-ahead."""
        return _around(self.window, self.settings)

    def inputs(self) -> list[Origin]:
        """The origins of the run's input, whether or not it lies in the window."""
        has = {
            **{origin: any(f.file.origin == origin for f in self.collected.facts) for origin in _OF_LOGS},
            Origin.SNAPSHOT: self.settings.snapshots is not None or bool(self.collected.input.readings.instants),
        }
        return [origin for origin, is_there in has.items() if is_there]

    def waits(self) -> list[str]:
        """A sentence about last records that are held back, where the window reaches into their files."""
        ends = [f for f in self.collected.facts if f.file.name in self.collected.held_back and f.last_at]
        names = [f.file.name for f in ends if f.last_at and self.window.holds(f.last_at)]
        if not names:
            return []
        lines = sum(self.collected.held_back[name] for name in names)
        return [
            f"{len(names)} files still grow ({', '.join(names[:5])}). Their last records, {lines} lines, wait for the "
            "next run: a record is whole when another one follows, or the file has rested ten minutes."
        ]

    def wrong_clocks(self) -> list[WrongClock]:
        """The wrong clocks, by steps in files and by the leader epochs of two brokers."""
        pairs = distances(self.store, self._part)
        files = [f for f in self.collected.facts if self.window.meets(f.span.first_at, f.span.last_at)]
        parsed_hours = self.store.read_window(quality.PARSED_HOURS, self.cluster, self.window)
        columns = ["source", "lowest_broker", "highest_broker"]
        names = hours.only_brokers(parsed_hours.select(columns).to_pylist())
        writers = {s: names.get(s, broker_of_folder(s)) for s in {f.file.source for f in files} | names.keys()}
        brokers = {broker for broker in writers.values() if broker is not None}
        sources = {broker: frozenset(s for s in writers if writers[s] == broker) for broker in brokers}
        return [*pairs_apart(pairs, sources), *ahead(pairs, sources), *in_files(files, writers.get)]

    def parse(self) -> tuple[dict[str, int], list[str]]:
        """Parse the hours around the window that are new or changed; see `parse_window`. Raises: BadInput."""
        parsed = parse_window(self.engine, self.store, self.cluster, self.window, self.around, broken=self.broken())
        if parsed is None:
            raise no_record_in(self.window, *self.collected.span)
        return parsed

    def refuse_unread(self, lines: Mapping[str, int]) -> None:
        """Refuse logs of brokers without a known event, if nothing else shows what happened.

        Raises:
            BadInput: Too many of the lines that matter could not be read.
        """
        if self.collected.input.readings.instants or self.collected.metadata.files or not lines["unparsed"]:
            return
        covered = self.store.read_window(quality.COVERAGE, self.cluster, self.window)
        of_brokers = covered.filter(pc.equal(covered["origin"], "broker"))
        counts = {c: pc.sum(of_brokers[c], min_count=0).as_py() for c in ("lines_in", "events", "unparsed")}
        if counts["events"] or counts["unparsed"] <= _MOST_UNREAD * self._that_matter(counts["unparsed"]):
            return
        unread = self.store.read_window(quality.UNPARSED_LINES, self.cluster, self.window)
        shapes = unread.group_by("template", use_threads=False).aggregate([("text", "count"), ("text", "min")])
        most = shapes.sort_by([("text_count", "descending"), ("template", "ascending")]).slice(0, _SHAPES).to_pylist()
        some = "; ".join(f"{row['text_count']} such as {row['text_min'][:_QUOTED]!r}" for row in most)
        raise BadInput(
            f"The brokers' logs have no known event: of {counts['lines_in']:,} lines {counts['unparsed']:,} matter and "
            f"could not be read ({some}). Needed: logs of Kafka 1.0 or later in a "
            "layout that is known. Check the path and the version; give the layout in PATTERN."
        )

    def _that_matter(self, unparsed: int) -> int:
        """Count the brokers' lines of loggers that matter, if none is an event: unparsed and empty ones.

        Most lines of a Kafka before 1.0 are of other loggers: they would hide that none of the rest was read.
        """
        query = f"SELECT layout, text FROM part WHERE origin = 'broker' LIMIT {_MOST_CHECKED}"
        records = reduced(self.store, bronze.LOG_RECORDS, self._part, ("origin", "layout", "text"), query)
        return unparsed + sum(carries_nothing(**record) for record in records.to_pylist())

    @property
    def _part(self) -> Part:
        return Part(self.cluster, "happened_at", (self.window.start, self.window.end))

    def broken(self) -> list[dict[str, Any]]:
        """Rows of quality.quarantine that are not log records: files that break off, lines that are not a reading."""
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
            for fact in self.collected.facts
            if fact.damage
        ]
        return [
            *files,
            *self._losses(),
            *self.collected.metadata.broken(self.cluster),
            *snapshots.quarantined(self.collected.input.readings.lines, self.cluster, "snapshots"),
            *self.collected.input.offsets_topic.quarantined(self.cluster),
        ]

    def _losses(self) -> list[dict[str, Any]]:
        """Rows about lines that were lost before they were read, where they may lie around the window."""
        rows = []
        for loss in (*self.losses_of_sources, *states_of(self.store.lake, self.cluster).losses):
            since, until = (datetime.fromisoformat(loss[bound]) for bound in ("since", "until"))
            whose = self.window if self.window.meets(since, until) else self.around
            if whose.meets(since, until):
                rows.append(
                    {
                        "quarantine_id": row_id(self.cluster, loss["log"], "lost", loss["sentence"]),
                        "cluster": self.cluster,
                        "source": loss["log"],
                        "happened_at": min(max(since, whose.start), whose.end - _TICK),
                        "line_count": 0,
                        "row": LOST_LINES,
                        "sentences": [loss["sentence"]],
                    }
                )
        return rows

    @property
    def losses_of_sources(self) -> list[Mapping[str, Any]]:
        """The lines that the sources of the run did not give any more in the last weeks."""
        return [loss for place in places_of(self.settings) for loss in losses_in(self.store.lake, place)]


def parse_again(engine: Engine, store: Store, cluster: str, window: Window, settings: Settings) -> dict[str, int]:
    """Parse all of bronze around a window with today's knowledge, and count the window's lines by fate.

    Raises:
        BadInput: Retention has removed records of the window, or of its look-back.
    """
    store.create(quality.PARSED_HOURS)
    is_whole = holds_records(store, cluster, window, settings)
    parsed = is_whole and parse_window(engine, store, cluster, window, _around(window, settings), again=True)
    if not parsed:
        raise BadInput(
            f"Bronze does not have all records around {window.start.isoformat()} to {window.end.isoformat()} any more. "
            "Needed: a window of which retention has removed no record, nor of its look-back. Choose a later one."
        )
    return parsed[0]


def holds_records(store: Store, cluster: str, window: Window, settings: Settings) -> bool:
    """Whether bronze still has the records by which a window was judged, with those of its look-back."""
    around = _around(window, settings)
    parsed_hours = store.read_window(quality.PARSED_HOURS, cluster, around).to_pylist()
    edges = {around.start, around.end, *(hour["hour_from"] for hour in parsed_hours)}
    return hours.holds_all(hours.held_counts(store, cluster, around, sorted(edges)), parsed_hours)


def _around(window: Window, settings: Settings) -> Window:
    return Window(
        window.start - timedelta(hours=settings.look_back_hours),
        window.end + timedelta(hours=settings.look_ahead_hours),
    )


def _window(store: Store, settings: Settings, collected: Collected) -> tuple[Window, list[str]]:
    """The window of FROM and TO, else from the first to the last instant of logs and readings; and notes about it.

    Readings that landed count if they follow within the look-ahead; weeks of others may lie in the lake.
    """
    if settings.window_from and settings.window_to:
        return Window(settings.window_from, settings.window_to), []
    (start, end), notes = _span(store, settings, collected)
    instants = [at for at in collected.input.snapshot_readings.instants if outliers.is_possible(at, settings.run_at)]
    start, end = min([start, *instants]), max([end, *instants])
    landed_at = max(collected.input.landed.instants, default=None)
    if landed_at and end < landed_at <= end + timedelta(hours=settings.look_ahead_hours):
        end = landed_at
    return Window(start, end + _TICK), notes


def _span(store: Store, settings: Settings, collected: Collected) -> tuple[tuple[datetime, datetime], list[str]]:
    """The first and the last instant of the logs without those far from all others; and notes about these."""
    if not outliers.is_suspicious(*collected.span, settings.run_at):
        return collected.span, []
    first, last = collected.span
    query = """
        SELECT source, count(*) AS records, min(happened_at) AS first_at, max(happened_at) AS last_at
        FROM part WHERE list_contains($logs, split_part(source, $within, 1))
        GROUP BY source, date_trunc('day', happened_at)"""
    part, logs = (
        Part(collected.input.cluster, "happened_at", (first, past(last))),
        [f.file.source for f in collected.facts],
    )
    rows = reduced(store, bronze.LOG_RECORDS, part, ("source", "happened_at"), query, logs=logs, within=WITHIN)
    own = [outliers.Day(**row) for row in rows.to_pylist()]
    normal, left_out = outliers.outliers(own, settings.run_at)
    if not normal:
        return collected.span, []
    return (min(d.first_at for d in normal), max(d.last_at for d in normal)), (
        [outliers.sentence_about(left_out)] if left_out else []
    )
