"""The step collect: logs and readings become bronze, each record once, however often and whenever they are read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake import file_ledger as ledger
from kafka_hindsight.intake import group_record_rows as group_records
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.file_scan import NOTHING, Pass, Waiting, scan_files
from kafka_hindsight.intake.group_record_rows import ReadRecord
from kafka_hindsight.intake.identity import OwnCluster, name_cluster, of_one_cluster
from kafka_hindsight.intake.landed_records import read_landed_records
from kafka_hindsight.intake.log_files import list_places
from kafka_hindsight.intake.metadata_files import MetadataLog, keep_metadata
from kafka_hindsight.intake.reading_files import Readings, joined, read_landed, read_readings
from kafka_hindsight.intake.record_reader import changed_file
from kafka_hindsight.knowledge.conversion import NotAPattern, compiled
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.facts import FileFacts, are_of_clients, refuse_foreign, warnings_about
from kafka_hindsight.logs.files import Listing, Place
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.places import ready

_TRIES = 3
"""How often files that change while they are read are read again, before the next run has to take them."""
_PAUSE_S = 1
"""Seconds before they are read again: all logs may rotate at once. Our choice."""

Summary = dict[str, Any]


class InputKeepsChanging(RuntimeError):
    """No log could be read as it lay at one moment. Logs do not change between rotations, so a retry may succeed."""


@dataclass(frozen=True)
class Collected:
    """What the places held, and what of it is in bronze now.

    `brought` are the readings of SNAPSHOTS, `landed` those that came into the lake by themselves, and with them
    `landed_records`, the records of groups; `metadata` is the log of KRaft's controllers;
    `held_back` the physical lines of last records that wait, by file; `unsettled` the sources that changed as often as
    they were read; `own` the cluster, with what lies beside it.
    """

    cluster: str
    facts: tuple[FileFacts, ...]
    not_read: tuple[str, ...]
    brought: Readings
    landed: Readings | None
    landed_records: Sequence[ReadRecord]
    metadata: MetadataLog
    held_back: Mapping[str, int]
    unsettled: frozenset[str]
    doubts: tuple[str, ...]
    own: OwnCluster

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The first and the last instant of all files."""
        told = [f for f in self.facts if f.first_at and f.last_at]
        return min(f.first_at for f in told if f.first_at), max(f.last_at for f in told if f.last_at)

    @property
    def readings(self) -> Readings:
        """All readings that were read."""
        return joined([self.brought, self.landed]) if self.landed else self.brought

    def summary(self) -> Summary:
        """For the terminal that waits: counts, names, and sentences that a person should read."""
        return {
            "cluster": self.cluster,
            "files": len(self.facts),
            "files_not_read": list(self.not_read),
            "other_clusters": list(self.own.others),
            "left_out": list(self.own.sentences),
            "is_partial": self.own.is_partial or all(f.file.origin != Origin.BROKER for f in self.facts),
            "held_back": dict(self.held_back),
            "snapshots": self.readings.count,
            "metadata_files": len(self.metadata.files),
            "warnings": [
                *self.doubts,
                *warnings_about(self.facts),
                *(_unsettled(source) for source in sorted(self.unsettled)),
                *self.readings.warnings(),
                *self.metadata.sentences(),
            ],
        }


class _Kept(NamedTuple):
    """What bronze holds after all passes, as Collected says it."""

    facts: tuple[FileFacts, ...]
    held_back: Mapping[str, int]
    unsettled: frozenset[str]


def run_step(spark: Any, settings: Settings, earlier: Mapping[str, Summary]) -> Summary:
    """Keeps what bronze does not hold yet. Takes: Spark, where it shall spread the work.

    Raises: BadInput where there is nothing to read, or where the input is of another cluster than the lake knows.
    """
    engine = engine_of(spark)
    look = looking(engine, settings)
    return collect(engine, Store(settings.lake), settings, look(), look).summary()


def engine_of(spark: Any) -> Engine:
    """The engine that spreads the work: Spark where there is a session, else this process."""
    if spark is None:
        return LocalEngine()
    from kafka_hindsight.spark.engine import SparkEngine

    return SparkEngine(spark)


def looking(engine: Engine, settings: Settings) -> Callable[[], Listing]:
    """What lists the places of a run, as often as it is asked, once what is new in sources has landed.

    Raises: BadInput where PATTERN is none, or a source cannot be read.
    """
    if problems := [*_wrong("PATTERN", settings.pattern), *_wrong("CLIENT_PATTERN", settings.client_pattern)]:
        raise BadInput(*problems)
    places = [Place(settings.logs, "broker", settings.logs_tz, "LOGS", settings.pattern)]
    if settings.client_logs is not None:
        clients = Place(settings.client_logs, "client", settings.client_tz, "CLIENT_LOGS", settings.client_pattern)
        places = [*(place for place in places if place.root != clients.root), clients]
    return partial(list_places, engine, [ready(place, settings) for place in places], settings.glob, {})


def _wrong(variable: str, pattern: str | None) -> list[str]:
    try:
        if pattern is not None:
            compiled(pattern)
        return []
    except NotAPattern as problem:
        return [f"{variable} cannot be used: {problem} Copy it from the configuration of log4j or logback."]


def collect(
    engine: Engine, store: Store, settings: Settings, listing: Listing, look: Callable[[], Listing]
) -> Collected:
    """Adds to bronze what it does not hold yet.

    Keeps: a source is taken as it lay at one moment, or not at all: where one of its files changes while it is read,
        it is read again.
    """
    brought = read_readings(settings.snapshots)
    found = _first_pass(engine, store, settings, listing, look)
    if are_of_clients(found.facts.values()):
        progress.say("No file of LOGS is of a broker: its files are read as clients' logs")
        listing, look = listing.of_clients(), partial(_of_clients, look)
        found = _first_pass(engine, store, settings, listing, look)
    refuse_foreign(found.facts.values())
    found, own = of_one_cluster(engine, store, found, settings, brought.cluster_ids)
    if own.others:
        brought = brought.of_cluster(own.ids)
    listing, look = listing.without(own.left_out), partial(_looked, look, own.left_out)
    cluster, doubts = name_cluster(engine, store, settings, found, own, brought)
    names = {cluster, *own.ids, *brought.cluster_ids}
    landed = read_landed(store, cluster, names)
    landed_records = read_landed_records(store, cluster, names)
    readings = joined([brought, landed]) if landed else brought
    if landed:
        name_cluster(engine, store, settings, found, own, readings)
    if found.names - {cluster}:
        found = scan_files(engine, store, listing.files, look, cluster)
    progress.say(f"{len(found.facts)} files of cluster {cluster}, {len(found.fresh)} of them to be read")
    for sentence in own.sentences:
        progress.say(f"Not part of it: {sentence}")
    metadata = MetadataLog()
    if listing.metadata:
        metadata = keep_metadata(engine, store, listing.metadata, cluster, settings.run_at, settings.read_to_end)
        progress.say(metadata.summary())
    kept = _keep_all(engine, store, settings, found, look, cluster)
    store.create(*snapshots.TABLES, bronze.GROUP_RECORDS)
    if landed_records:
        store.append_new(bronze.GROUP_RECORDS, group_records.rows_of(landed_records, cluster))
    if readings.count:
        first, *parts = snapshots.tables_of(snapshots.readings(readings.lines), cluster).items()
        for table, rows in (*parts, first):
            store.append_new(table, rows, readings.span)
    if kept.held_back:
        progress.say(f"The last records of {len(kept.held_back)} files wait: their files still grow")
    return Collected(
        cluster=cluster,
        facts=kept.facts,
        not_read=listing.not_read,
        brought=brought,
        landed=landed,
        landed_records=landed_records,
        metadata=metadata,
        held_back=kept.held_back,
        unsettled=kept.unsettled,
        doubts=tuple(doubts),
        own=own,
    )


def _of_clients(look: Callable[[], Listing]) -> Listing:
    """What lies there, as logs of clients."""
    return look().of_clients()


def _looked(look: Callable[[], Listing], left_out: Mapping[str, str]) -> Listing:
    """What lies there, without the files of other clusters."""
    return look().without(left_out)


def _first_pass(
    engine: Engine, store: Store, settings: Settings, listing: Listing, look: Callable[[], Listing]
) -> Pass:
    """The first pass that finds a settled log of Kafka's, or that finds none and nothing moving.

    Raises: InputKeepsChanging where the logs change as often as they are read.
    """
    files = listing.files
    for tries in range(_TRIES):
        if tries:
            time.sleep(_PAUSE_S)
            files = look().files
        found = scan_files(engine, store, files, look, settings.cluster)
        if not found.unsettled or any(fact.is_kafka_log for fact in found.facts.values()):
            return found
    raise InputKeepsChanging("\n".join(_unsettled(source) for source in sorted(found.unsettled)))


def _keep_all(
    engine: Engine, store: Store, settings: Settings, found: Pass, look: Callable[[], Listing], cluster: str
) -> _Kept:
    """Writes what the first pass found, then what is found by reading again the sources that changed meanwhile."""
    facts, held_back = dict[str, FileFacts](), dict[str, int]()
    for tries_left in reversed(range(_TRIES)):
        found, waits = _keep(engine, store, settings, found, cluster)
        held_back |= waits
        facts |= {fact.file.uri: fact for fact in found.facts.values()}
        if not found.unsettled or not tries_left:
            break
        moved = found.unsettled
        progress.say(f"Files of {len(moved)} logs changed while they were read; reading those again")
        found = scan_files(engine, store, [f for f in look().files if f.source in moved], look, cluster)
    return _Kept(tuple(facts.values()), held_back, found.unsettled)


def _keep(engine: Engine, store: Store, settings: Settings, found: Pass, cluster: str) -> tuple[Pass, dict[str, int]]:
    """Writes what a pass found: the records first, then what the ledger may know of their files.

    Gives: the pass, without the sources of which a file turned out to be another when it was read again; and the
        physical lines that are held back, by file.
    """
    at = settings.run_at
    while True:
        waiting = NOTHING if settings.read_to_end else found.waiting(at)
        try:
            _add_records(engine, store, settings, found, cluster, waiting)
            break
        except Exception as failure:  # whatever the engine makes of a worker's own
            number = changed_file(failure)
            if number is None:
                raise
            found = found.without(found.facts[number].file.source)
    done = [fact for n, fact in found.fresh.items() if n not in waiting and n in found.still]
    ledger.enter(store, cluster, done, found.marks, at)
    return found, {found.facts[n].file.name: tail.lines for n, tail in waiting.tails.items()}


def _add_records(engine: Engine, store: Store, settings: Settings, found: Pass, cluster: str, waiting: Waiting) -> None:
    store.create(bronze.LOG_RECORDS)
    records = found.records(engine, store, cluster, settings.run_at, waiting)
    if records is not None:
        store.append(bronze.LOG_RECORDS, engine.write(store, bronze.LOG_RECORDS, *records))


def _unsettled(source: str) -> str:
    return (
        f"The files of {source} vanished or changed each of {_TRIES} times that they were read, or cannot be opened: "
        "nothing of them was taken. The next run reads them; if it says the same, check who may read them."
    )
