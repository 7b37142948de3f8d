"""The step collect: logs and readings go to bronze, each record once, however often they are read."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake import file_ledger as ledger
from kafka_hindsight.intake import group_record_rows as group_records
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.file_scan import NOTHING, Pass, scan_files
from kafka_hindsight.intake.group_record_rows import ReadRecord, read_landed_records
from kafka_hindsight.intake.log_files import list_places, places_of
from kafka_hindsight.intake.metadata_files import MetadataLog, keep_metadata
from kafka_hindsight.intake.own_cluster import OwnCluster, name_cluster, of_one_cluster
from kafka_hindsight.intake.reading_files import Readings, read_landed, read_readings
from kafka_hindsight.intake.record_reader import changed_file
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.conversion_patterns import NotAPattern, compile_pattern
from kafka_hindsight.logs.file_facts import FileFacts, are_of_clients, refuse_foreign, warnings_about
from kafka_hindsight.logs.files import Listing
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sources.land import ready

_TRIES = 3
"""How often files that change are read, before they are left to the next run."""
_PAUSE_S = 1
"""Seconds before they are read again: all logs may rotate at once. Our choice."""

Summary = dict[str, Any]


class InputKeepsChanging(RuntimeError):
    """No log stayed the same while it was read. Logs do not change between rotations, so a retry may succeed."""


@dataclass(frozen=True)
class Collected:
    """The input of a run, and the part of it that is in bronze now.

    `snapshot_readings` are those of SNAPSHOTS, `landed` those that landed in the lake, and `landed_records` the records
    of groups that landed. `metadata` is the log of KRaft's controllers. `held_back` counts the physical lines of last
    records that wait, by file. `unsettled` are the sources that changed each time they were read. `own` is the cluster.
    """

    cluster: str
    facts: tuple[FileFacts, ...]
    not_read: tuple[str, ...]
    snapshot_readings: Readings
    landed: Readings
    landed_records: Sequence[ReadRecord]
    metadata: MetadataLog
    held_back: Mapping[str, int]
    unsettled: frozenset[str]
    doubts: tuple[str, ...]
    own: OwnCluster

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The first and the last instant of all files."""
        dated = [f for f in self.facts if f.first_at and f.last_at]
        return min(f.first_at for f in dated if f.first_at), max(f.last_at for f in dated if f.last_at)

    @property
    def readings(self) -> Readings:
        """All readings that were read."""
        return self.snapshot_readings + self.landed

    def summary(self) -> Summary:
        """Counts, names and warnings, for the terminal that waits and for later steps."""
        return {
            "cluster": self.cluster,
            "files": len(self.facts),
            "files_not_read": list(self.not_read),
            "other_clusters": list(self.own.others),
            "left_out": list(self.own.sentences),
            "is_partial": self.own.is_partial or all(f.file.origin != Origin.BROKER for f in self.facts),
            "held_back": dict(self.held_back),
            "snapshots": len(self.readings.instants),
            "metadata_files": len(self.metadata.files),
            "warnings": [
                *self.doubts,
                *warnings_about(self.facts),
                *(_unsettled(source) for source in sorted(self.unsettled)),
                *self.readings.warnings(),
                *self.metadata.sentences(),
            ],
        }


def run_step(spark: Any, settings: Settings, earlier: Mapping[str, Summary]) -> Summary:
    """Add to bronze what it does not have yet, whatever the window, by Spark's workers if there is a session.

    Raises:
        BadInput: There is nothing to read, or the lake has another cluster under that name.
    """
    engine = engine_of(spark)
    look = looking(engine, settings)
    everything = settings.model_copy(update={"window_from": None, "window_to": None})
    return collect(engine, Store(settings.lake), everything, look(), look).summary()


def engine_of(spark: Any) -> Engine:
    """The engine that spreads the work: Spark if there is a session, else this process."""
    if spark is None:
        return LocalEngine()
    from kafka_hindsight.spark.engine import SparkEngine

    return SparkEngine(spark)


def looking(engine: Engine, settings: Settings) -> Callable[[], Listing]:
    """Land what is new in sources, and return a function that lists the places of the run.

    Raises:
        BadInput: PATTERN is not a layout, or a source cannot be read.
    """
    if problems := [*_wrong("PATTERN", settings.pattern), *_wrong("CLIENT_PATTERN", settings.client_pattern)]:
        raise BadInput(*problems)
    return partial(list_places, engine, [ready(place, settings) for place in places_of(settings)], settings.glob, {})


def _wrong(variable: str, pattern: str | None) -> list[str]:
    try:
        if pattern is not None:
            compile_pattern(pattern)
        return []
    except NotAPattern as problem:
        return [f"{variable} cannot be used: {problem} Copy it from the configuration of log4j or logback."]


def collect(
    engine: Engine, store: Store, settings: Settings, listing: Listing, look: Callable[[], Listing]
) -> Collected:
    """Add to bronze what it does not have yet.

    A source is taken as it was at one moment, or not at all: if one of its files changes meanwhile, it is read again.
    """
    snapshot_readings = read_readings(settings.snapshots)
    scan = _first_pass(engine, store, settings, listing, look)
    if are_of_clients(scan.facts.values()):
        progress.say("LOGS has no broker's log: its files are read as clients' logs")
        listing, look = listing.of_clients(), partial(_list_as_clients, look)
        scan = _first_pass(engine, store, settings, listing, look)
    refuse_foreign(scan.facts.values())
    scan, own = of_one_cluster(engine, store, scan, settings, snapshot_readings.cluster_ids)
    if own.others:
        snapshot_readings = snapshot_readings.of_cluster(own.ids)
    listing, look = listing.without(own.left_out), partial(_list_without, look, own.left_out)
    if settings.window_from and settings.window_to and not store.has(bronze.LOG_RECORDS):
        _refuse_outside(Window(settings.window_from, settings.window_to), scan.facts.values())
    cluster, doubts = name_cluster(store, settings, scan, own, snapshot_readings)
    names = {cluster, *own.ids, *snapshot_readings.cluster_ids}
    landed = read_landed(store, cluster, names)
    landed_records = read_landed_records(store, cluster, names)
    readings = snapshot_readings + landed
    if landed.lines:
        name_cluster(store, settings, scan, own, readings)
    if scan.names - {cluster}:
        scan = scan_files(engine, store, listing.files, look, cluster)
    progress.say(f"Cluster {cluster} has {len(scan.facts)} files, {len(scan.fresh)} of them new")
    for sentence in own.sentences:
        progress.say(f"Not part of it: {sentence}")
    metadata = MetadataLog()
    if listing.metadata:
        metadata = keep_metadata(engine, store, listing.metadata, cluster, settings.run_at, settings.read_to_end)
        progress.say(metadata.summary())
    facts, held_back, unsettled = _keep_all(engine, store, settings, scan, look, cluster)
    store.create(*snapshots.TABLES, bronze.GROUP_RECORDS)
    if landed_records:
        store.append_new(bronze.GROUP_RECORDS, group_records.rows_of(landed_records, cluster))
    for chunk in snapshots.in_chunks(snapshots.readings(readings.lines)):
        first, *parts = snapshots.tables_of(chunk, cluster).items()
        for table, rows in (*parts, first):
            store.append_new(table, rows)
    if held_back:
        progress.say(f"The last records of {len(held_back)} files wait: their files still grow")
    return Collected(
        cluster=cluster,
        facts=tuple(facts),
        not_read=listing.not_read,
        snapshot_readings=snapshot_readings,
        landed=landed,
        landed_records=landed_records,
        metadata=metadata,
        held_back=held_back,
        unsettled=unsettled,
        doubts=(*listing.warnings, *doubts),
        own=own,
    )


def _refuse_outside(window: Window, facts: Iterable[FileFacts]) -> None:
    """Refuse a window that no file reaches into. Raises: BadInput."""
    spans = [(f.first_at, f.last_at) for f in facts if f.first_at and f.last_at]
    if spans and not any(window.meets(*span) for span in spans):
        raise no_record_in(window, min(first for first, _ in spans), max(last for _, last in spans))


def no_record_in(window: Window, first_at: datetime, last_at: datetime) -> BadInput:
    """The refusal of a window without a record, with the first and the last instant of all files."""
    return BadInput(
        f"No record lies between {window.start.isoformat()} and {window.end.isoformat()}: the files "
        f"reach from {first_at.isoformat()} to {last_at.isoformat()}. Needed: a window that holds records. "
        "Choose FROM and TO inside, or check LOGS_TZ."
    )


def _list_as_clients(look: Callable[[], Listing]) -> Listing:
    """List the files as logs of clients."""
    return look().of_clients()


def _list_without(look: Callable[[], Listing], left_out: Mapping[str, str]) -> Listing:
    """List the files without those of other clusters."""
    return look().without(left_out)


def _first_pass(
    engine: Engine, store: Store, settings: Settings, listing: Listing, look: Callable[[], Listing]
) -> Pass:
    """Scan the files until a pass has a settled log of Kafka's, or no file changes.

    Raises:
        InputKeepsChanging: The logs change each time they are read.
    """
    files = listing.files
    for tries in range(_TRIES):
        if tries:
            time.sleep(_PAUSE_S)
            files = look().files
        scan = scan_files(engine, store, files, look, settings.cluster)
        if not scan.unsettled or any(fact.is_kafka_log for fact in scan.facts.values()):
            return scan
    raise InputKeepsChanging("\n".join(_unsettled(source) for source in sorted(scan.unsettled)))


def _keep_all(
    engine: Engine, store: Store, settings: Settings, scan: Pass, look: Callable[[], Listing], cluster: str
) -> tuple[Collection[FileFacts], Mapping[str, int], frozenset[str]]:
    """Write the records of the first pass, then scan the sources that changed meanwhile again, and write theirs.

    Returns:
        facts, held_back and unsettled, as Collected has them.
    """
    facts, held_back = dict[str, FileFacts](), dict[str, int]()
    for tries_left in reversed(range(_TRIES)):
        scan, lines = _keep(engine, store, settings, scan, cluster)
        held_back |= lines
        facts |= {fact.file.uri: fact for fact in scan.facts.values()}
        if not scan.unsettled or not tries_left:
            break
        unsettled = scan.unsettled
        progress.say(f"Files of {len(unsettled)} logs changed while they were read; reading those again")
        scan = scan_files(engine, store, [f for f in look().files if f.source in unsettled], look, cluster)
    return facts.values(), held_back, scan.unsettled


def _keep(engine: Engine, store: Store, settings: Settings, scan: Pass, cluster: str) -> tuple[Pass, dict[str, int]]:
    """Write the records of a pass, then the ledger's rows of their files.

    Returns:
        The pass without sources whose files were replaced meanwhile, and the physical lines held back, by file.
    """
    at = settings.run_at
    while True:
        waiting = NOTHING if settings.read_to_end else scan.waiting(at)
        try:
            store.create(bronze.LOG_RECORDS)
            store.append(bronze.LOG_RECORDS, scan.write(engine, store, cluster, at, waiting))
            break
        except Exception as failure:  # the engine wraps a worker's error in one of its own
            number = changed_file(failure)
            if number is None:
                raise
            scan = scan.without(scan.facts[number].file.source)
    complete = [fact for n, fact in scan.fresh.items() if n not in waiting and n in scan.still]
    ledger.enter(store, cluster, complete, scan.marks, at)
    return scan, {scan.facts[n].file.name: tail.lines for n, tail in waiting.tails.items()}


def _unsettled(source: str) -> str:
    return (
        f"The files of {source} changed or vanished each of the {_TRIES} times that they were read, or cannot be "
        "opened. Nothing of them was taken. The next run reads them; if it says the same, check who may read them."
    )
