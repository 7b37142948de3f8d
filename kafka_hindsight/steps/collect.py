"""The step collect: logs and readings go to bronze, each record once, however often they are read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.engine.workers import Workers
from kafka_hindsight.intake import file_register
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.file_scan import Pass, scan_files
from kafka_hindsight.intake.group_record_rows import OffsetsTopicInput, keep_records, read_landed_records
from kafka_hindsight.intake.log_files import list_places, places_of
from kafka_hindsight.intake.metadata_files import MetadataLog, keep_metadata
from kafka_hindsight.intake.own_cluster import OwnCluster, name_cluster, of_one_cluster
from kafka_hindsight.intake.read_ends import FilesOfRun, Loss, keep_states, states_of
from kafka_hindsight.intake.reading_files import ReadingLines, read_landed, read_readings
from kafka_hindsight.intake.record_files import read_record_files
from kafka_hindsight.lake.claims import hold_cluster
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.conversion_patterns import NotAPattern, compile_pattern
from kafka_hindsight.logs.file_facts import FileFacts, are_of_clients, refuse_foreign, warnings_about
from kafka_hindsight.logs.files import ListedFile, Listing
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.timings import STAGE, timed
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
class InputFiles:
    """The files of a run as they were listed, and `look`, which lists them again: logs rotate while they are read."""

    listing: Listing
    look: Callable[[], Listing]

    def of_clients(self) -> InputFiles:
        """The same files as logs of clients."""
        return InputFiles(self.listing.of_clients(), lambda: self.look().of_clients())

    def without(self, left_out: Mapping[str, str]) -> InputFiles:
        """The files without those of other clusters."""
        return InputFiles(self.listing.without(left_out), lambda: self.look().without(left_out))


@dataclass(frozen=True)
class ClusterInput:
    """The input of the run's cluster, before anything of it is kept.

    `cluster` is its name in the lake, `own` the cluster among those of the input. `snapshot_readings` are those of
    SNAPSHOTS, `landed` those that landed in the lake, and `offsets_topic` the records of `__consumer_offsets`, those of
    RECORDS and those that landed.
    """

    cluster: str
    own: OwnCluster
    files: InputFiles
    scan: Pass
    snapshot_readings: ReadingLines
    landed: ReadingLines
    offsets_topic: OffsetsTopicInput
    doubts: tuple[str, ...]

    @property
    def readings(self) -> ReadingLines:
        """All readings that were read."""
        return self.snapshot_readings + self.landed


@dataclass(frozen=True)
class Collected:
    """The input of a run, and the part of it that is in bronze now.

    `metadata` is the log of KRaft's controllers. `held_back` counts the physical lines of last records that wait, by
    file. `unsettled` are the sources that changed each time they were read. `losses` are those that this run found in
    files.
    """

    input: ClusterInput
    facts: tuple[FileFacts, ...]
    metadata: MetadataLog
    held_back: Mapping[str, int]
    unsettled: frozenset[str]
    losses: tuple[Loss, ...]

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The first and the last instant of all files."""
        dated = [f for f in self.facts if f.first_at and f.last_at]
        return min(f.first_at for f in dated if f.first_at), max(f.last_at for f in dated if f.last_at)

    def summary(self) -> Summary:
        """Counts, names and warnings, for the terminal that waits and for later steps."""
        return {
            "cluster": self.input.cluster,
            "files": len(self.facts),
            "files_not_read": list(self.input.files.listing.not_read),
            "other_clusters": list(self.input.own.others),
            "left_out": list(self.input.own.sentences),
            "is_partial": self.input.own.is_partial or all(f.file.origin != Origin.BROKER for f in self.facts),
            "held_back": dict(self.held_back),
            "snapshots": len(self.input.readings.instants),
            "metadata_files": len(self.metadata.files),
            "warnings": [
                *self.input.files.listing.warnings,
                *self.input.doubts,
                *warnings_about(self.facts),
                *(_unsettled(source) for source in sorted(self.unsettled)),
                *(loss["sentence"] for loss in self.losses),
                *self.input.readings.warnings(),
                *self.metadata.sentences(),
            ],
        }


def run_step(workers: Workers, settings: Settings, earlier: Mapping[str, Summary]) -> Summary:
    """Add to bronze what it does not have yet, whatever the window.

    Raises:
        BadInput: There is nothing to read, or the lake has another cluster under that name.
    """
    engine, store = workers.engine(), Store(settings.lake)
    everything = settings.model_copy(update={"window_from": None, "window_to": None})
    return collect(engine, store, everything, list_input(engine, settings)).summary()


def collect(engine: Engine, store: Store, settings: Settings, files: InputFiles) -> Collected:
    """Add to bronze what it does not have yet, and let go of the cluster. Raises: see `claimed_input`."""
    with claimed_input(engine, store, settings, files) as own_input:
        return keep_input(engine, store, settings, own_input)


@contextmanager
def claimed_input(engine: Engine, store: Store, settings: Settings, files: InputFiles) -> Iterator[ClusterInput]:
    """Scan the files, name their cluster, and hold the cluster while the block runs.

    The files are scanned again where another run of it has changed the register before this one had the cluster.

    Raises:
        BadInput: There is nothing to read, or the lake has another cluster under that name.
        InputKeepsChanging: The logs change each time they are read.
        LakeBusy: Another run of the cluster has not ended in time.
    """
    before = _register(store)
    own_input = find_input(engine, store, settings, files)
    cluster = Part(own_input.cluster)
    with hold_cluster(store.lake, own_input.cluster, settings.run_id):
        if [*filter(cluster.may_be_in, before)] != [*filter(cluster.may_be_in, _register(store))]:
            own_input = find_input(engine, store, settings, InputFiles(files.look(), files.look))
        if own_input.cluster != cluster.cluster:
            raise InputKeepsChanging(f"The input was that of {cluster.cluster}, and is that of {own_input.cluster}.")
        yield own_input


def _register(store: Store) -> list[DataFile]:
    return store.files(bronze.LOG_FILES) if store.has(bronze.LOG_FILES) else []


@timed(STAGE, "scan the input")
def find_input(engine: Engine, store: Store, settings: Settings, files: InputFiles) -> ClusterInput:
    """Scan the files and name their cluster. Raises: see `claimed_input`."""
    readings, records = read_readings(settings.snapshots), read_record_files(settings.records)
    scanned_files, scan = scan_input(engine, store, settings, files)
    return name_input(engine, store, settings, scanned_files, scan, readings, records)


@timed(STAGE, "list the input")
def list_input(engine: Engine, settings: Settings) -> InputFiles:
    """Land what is new in sources, and list the places of the run.

    Raises:
        BadInput: PATTERN is not a layout, or a source cannot be read.
    """
    if problems := [*_wrong("PATTERN", settings.pattern), *_wrong("CLIENT_PATTERN", settings.client_pattern)]:
        raise BadInput(*problems)
    places = [ready(place, settings) for place in places_of(settings)]
    look = partial(list_places, engine, places, settings.glob, {})
    return InputFiles(look(), look)


def _wrong(variable: str, pattern: str | None) -> list[str]:
    try:
        if pattern is not None:
            compile_pattern(pattern)
        return []
    except NotAPattern as problem:
        return [f"{variable} cannot be used: {problem} Copy it from the configuration of log4j or logback."]


def scan_input(engine: Engine, store: Store, settings: Settings, files: InputFiles) -> tuple[InputFiles, Pass]:
    """Scan the files, those of LOGS as clients' logs where none of them is a broker's.

    Returns:
        The files as they were scanned, and the pass over them.
    """
    scan = _settled_pass(engine, store, settings, files)
    if not are_of_clients(scan.facts.values()):
        refuse_foreign(scan.facts.values())
        return files, scan
    progress.say("LOGS has no broker's log: its files are read as clients' logs")
    files_of_clients = files.of_clients()
    scan_of_clients = _settled_pass(engine, store, settings, files_of_clients)
    refuse_foreign(scan_of_clients.facts.values())
    return files_of_clients, scan_of_clients


def _settled_pass(engine: Engine, store: Store, settings: Settings, files: InputFiles) -> Pass:
    """Scan the files until a pass has a settled log of Kafka's, or no file changes.

    Raises:
        InputKeepsChanging: The logs change each time they are read.
    """
    for tries in range(_TRIES):
        if tries:
            time.sleep(_PAUSE_S)
        listing = files.look() if tries else files.listing
        scan = scan_files(engine, store, listing.files, files.look, settings.cluster)
        if not scan.unsettled or any(fact.is_kafka_log for fact in scan.facts.values()):
            return scan
    raise InputKeepsChanging("\n".join(_unsettled(source) for source in sorted(scan.unsettled)))


def name_input(
    engine: Engine,
    store: Store,
    settings: Settings,
    files: InputFiles,
    scan: Pass,
    readings: ReadingLines,
    records: OffsetsTopicInput,
) -> ClusterInput:
    """Leave out other clusters, name the one of the run, and read what landed for it.

    Args:
        engine: Spreads the work, where files are scanned again because the register has them under another name.
        store: The lake.
        settings: The settings of the run.
        files: The files as they were scanned.
        scan: The pass over all of them.
        readings: The readings of SNAPSHOTS.
        records: What RECORDS brings.

    Raises:
        BadInput: The lake has another cluster under that name, or no file reaches into the window.
    """
    own_scan, own = of_one_cluster(engine, store, scan, settings, readings.cluster_ids)
    own_files = files.without(own.left_out)
    own_readings = readings.of_cluster(own.ids) if own.others else readings
    if settings.window_from and settings.window_to and not store.has(bronze.LOG_RECORDS):
        _refuse_outside(Window(settings.window_from, settings.window_to), own_scan.facts.values())
    cluster, doubts = name_cluster(store, settings, own_scan, own, own_readings)
    names = {cluster, *own.ids, *own_readings.cluster_ids}
    landed = read_landed(store, cluster, names)
    offsets_topic = records + read_landed_records(store, cluster, names)
    if landed.lines:
        name_cluster(store, settings, own_scan, own, own_readings + landed)  # refuses what landed of another cluster
    rescan = partial(scan_files, engine, store, own_files.listing.files, own_files.look, cluster)
    named_scan = rescan() if own_scan.names - {cluster} else own_scan
    progress.say(f"Cluster {cluster} has {len(named_scan.facts)} files, {len(named_scan.fresh)} of them new")
    for sentence in own.sentences:
        progress.say(f"Not part of it: {sentence}")
    return ClusterInput(cluster, own, own_files, named_scan, own_readings, landed, offsets_topic, tuple(doubts))


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


@timed(STAGE, "collect records")
def keep_input(engine: Engine, store: Store, settings: Settings, own_input: ClusterInput) -> Collected:
    """Write into bronze what it does not have of the input.

    A source is taken as it was at one moment, or not at all: if one of its files changes meanwhile, it is read again.
    """
    metadata = _keep_metadata(engine, store, settings, own_input)
    facts, fingerprints, held_back, unsettled = _keep_records(engine, store, settings, own_input)
    files = FilesOfRun(facts, fingerprints, held_back, settings.run_at)
    losses = _keep_states(store.lake, own_input, files)
    _keep_readings(store, own_input)
    if held_back:
        progress.say(f"The last records of {len(held_back)} files wait: their files still grow")
    return Collected(own_input, facts, metadata, held_back, unsettled, losses)


def _keep_states(lake: str, own_input: ClusterInput, files: FilesOfRun) -> tuple[Loss, ...]:
    """Look for files that were cut or replaced since the last run, and keep how far each log was read.

    Files may rotate while they are asked, so those that seem cut are looked for again in a new listing.

    Returns:
        The losses that this run found.
    """
    before = states_of(lake, own_input.cluster)
    own = [end for end in before.ends if end.name not in own_input.own.left_out]
    cut = files.cut(own, own_input.files.listing.files)
    cut = files.cut(cut, own_input.files.look().files) if cut else []
    losses = tuple(files.loss(end) for end in cut)
    keep_states(lake, own_input.cluster, files.after(before, losses))
    return losses


def _keep_metadata(engine: Engine, store: Store, settings: Settings, own_input: ClusterInput) -> MetadataLog:
    files = own_input.files.listing.metadata
    if not files:
        return MetadataLog()
    metadata = keep_metadata(engine, store, files, own_input.cluster, settings.run_at, settings.read_to_end)
    progress.say(metadata.summary())
    return metadata


def _keep_readings(store: Store, own_input: ClusterInput) -> None:
    """Write the records of `__consumer_offsets`, and the readings."""
    store.create(*snapshots.TABLES)
    keep_records(store, own_input.cluster, own_input.offsets_topic)
    for chunk in snapshots.in_chunks(snapshots.readings(own_input.readings.lines)):
        first, *parts = snapshots.tables_of_readings(chunk, own_input.cluster).items()
        for table, rows in (*parts, first):
            store.append_new(table, rows)


def _keep_records(
    engine: Engine, store: Store, settings: Settings, own_input: ClusterInput
) -> tuple[tuple[FileFacts, ...], Mapping[ListedFile, str], Mapping[str, int], frozenset[str]]:
    """Write the records of the pass, then scan the sources that changed meanwhile again, and write theirs.

    Returns:
        facts, the fingerprints of their files, held_back and unsettled, as Collected has them.
    """
    facts, held_back, scan = dict[str, FileFacts](), dict[str, int](), own_input.scan
    marks = dict[ListedFile, str]()
    cluster, look = own_input.cluster, own_input.files.look
    for tries_left in reversed(range(_TRIES)):
        last_pass, lines = _keep(engine, store, settings, scan, cluster)
        held_back |= lines
        facts |= {fact.file.uri: fact for fact in last_pass.facts.values()}
        marks |= last_pass.marks
        if not last_pass.unsettled or not tries_left:
            break
        progress.say(f"Files of {len(last_pass.unsettled)} logs changed while they were read; reading those again")
        changed = [f for f in look().files if f.source in last_pass.unsettled]
        scan = scan_files(engine, store, changed, look, cluster)
    return tuple(facts.values()), marks, held_back, last_pass.unsettled


def _keep(engine: Engine, store: Store, settings: Settings, scan: Pass, cluster: str) -> tuple[Pass, dict[str, int]]:
    """Write the records of a pass, then the register's rows of their files.

    Returns:
        The pass without sources whose files were replaced meanwhile, and the physical lines held back, by file.
    """
    at = settings.run_at
    store.create(bronze.LOG_RECORDS)
    while True:
        waiting = scan.waiting(at, settings.read_to_end)
        records = scan.write(engine, store, cluster, at, waiting)
        if not records.replaced:
            break
        scan = scan.without(records.replaced)
    store.append(bronze.LOG_RECORDS, records.files)
    complete = [fact for n, fact in scan.fresh.items() if n not in waiting and n in scan.still]
    file_register.enter(store, cluster, complete, scan.marks, at)
    return scan, {scan.facts[n].file.name: tail.lines for n, tail in waiting.tails.items()}


def _unsettled(source: str) -> str:
    return (
        f"The files of {source} changed or vanished each of the {_TRIES} times that they were read, or cannot be "
        "opened. Nothing of them was taken. The next run reads them; if it says the same, check who may read them."
    )
