"""The events that judgements read: those of lines, of KRaft's metadata log, and of readings of settings.

The metadata log is read on from the last state that was kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.brokers.settings_at import SETTING_KINDS
from kafka_hindsight.judgements.reasoning.reading_events import event_of_reading
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table, narrowed, union, where, where_among
from kafka_hindsight.kafka_records.metadata_replay import MetadataReplay, committed
from kafka_hindsight.kafka_records.metadata_states import MetadataStart, find_start, settled_before, state_rows
from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS, TOPIC_SETTINGS
from kafka_hindsight.shared.arrow_tables import LAST, among, as_scalar, before, ends, with_columns

EVENT_ORDER = ("happened_at", "source", "order", "line_id")
"""The columns by which events follow one another; no two events are equal in all of them."""


@dataclass(frozen=True)
class MetadataEvents:
    """The events of KRaft's metadata log in the form of silver.events, and its state at the window's start."""

    events: list[rows.Event]
    states: list[rows.MetadataState]


def read_metadata(
    records: list[rows.MetadataRecord],
    files: list[rows.MetadataFile],
    metadata_start: MetadataStart | None,
    scope: Scope,
) -> MetadataEvents:
    """The events of a metadata log, by its records from the beginning, or by a state and the records after it."""
    ordered, at = list(committed(records)), scope.window.start
    settled = settled_before(ordered, at)
    replay = MetadataReplay(files, scope.wide_window)
    replay.run(ordered[:settled])
    states = state_rows(replay, at, metadata_start, records, files)
    replay.run(ordered[settled:])
    return MetadataEvents(replay.events(), states)


def pick_last_state(states: list[rows.MetadataState]) -> rows.MetadataState | None:
    """The first part of the last state before the look-back; None without one."""
    return states[0] if states else None


def find_metadata_start(
    days: pa.Table, files: list[rows.MetadataFile], last_state: rows.MetadataState | None
) -> MetadataStart | None:
    """Find where to continue in the metadata log, by the number of its records on each day up to the last state."""
    counts: Mapping[str, int] = dict(zip(days["day"].to_pylist(), days["records"].to_pylist(), strict=True))
    return find_start(last_state, counts, files)


def last_state_before(states: pa.Table, scope: Scope) -> pa.Table:
    """Keep the first part of the last state before the look-back."""
    at = states["state_at"]
    is_before = pc.less_equal(at, as_scalar(at, scope.wide_window.start))
    first = states.filter(pc.and_(pc.equal(states["snapshot_place"], 1), is_before))
    return ends(first, ("cluster",), ("state_at",), (LAST,))


def records_by_day(records: pa.Table, last_state: rows.MetadataState | None) -> pa.Table:
    """Count the records up to the offset of a state by day: day, records."""
    until = last_state.record_offset if last_state else -1
    earlier = records.filter(pc.less_equal(records["record_offset"], until))
    days = pa.Table.from_pydict({"day": pc.strftime(earlier["written_at"], "%Y-%m-%d")})
    return summed_by_day(with_columns(days, records=pa.array([1] * days.num_rows, pa.int64())))


def summed_by_day(days: pa.Table) -> pa.Table:
    """Add up the counts of each day."""
    return days.group_by("day", use_threads=False).aggregate([("records", "sum")]).rename_columns(["day", "records"])


def records_to_replay(records: pa.Table, metadata_start: MetadataStart | None, scope: Scope) -> pa.Table:
    """Keep the records after the starting state, up to the end of the look-ahead."""
    until_end = before(records, scope.wide_window.end, "written_at")
    after = metadata_start.record_offset if metadata_start else None
    return until_end if after is None else until_end.filter(pc.greater(until_end["record_offset"], after))


def parts_of_start(states: pa.Table, metadata_start: MetadataStart | None) -> pa.Table:
    """Keep the parts of the starting state, as records of a snapshot."""
    start = metadata_start.state_at if metadata_start else None
    parts = states.filter(pc.equal(states["state_at"], as_scalar(states["state_at"], start)))
    blank = pa.array([""] * parts.num_rows, pa.string())
    return with_columns(parts, source=blank, text=blank)


RECORDS = lake_table("bronze.metadata_records", span="", optional=True)
FILES = lake_table("bronze.metadata_files", span="", optional=True)
STATES = lake_table("quality.metadata_states", span="", optional=True)

LAST_STATE = Judgement("last_state", (pick_last_state,), (), {"states": narrowed(last_state_before, STATES)})

METADATA_START = Judgement(
    "metadata_start",
    (find_metadata_start,),
    (),
    {"days": narrowed(records_by_day, RECORDS, again=summed_by_day), "files": FILES},
    needs=(LAST_STATE,),
)

METADATA = Judgement(
    "metadata",
    (read_metadata,),
    ("cluster",),
    {"records": union(each(records_to_replay, RECORDS), each(parts_of_start, STATES)), "files": FILES},
    needs=(METADATA_START,),
)

EVENTS = union(lake_table("silver.events"), METADATA.output("events"))
"""The events of lines, and those of the metadata log where the lake holds one."""


@dataclass(frozen=True)
class SettingsRead:
    """The readings of one setting as events."""

    settings: list[rows.Event]


def read_settings(readings: list[rows.ConfigSnapshot]) -> SettingsRead:
    """The first and the last of consecutive readings that show one value of a setting, as events."""
    ordered = sorted(readings, key=lambda r: r.snapshot_at)
    runs = (list(run) for _, run in groupby(ordered, key=lambda r: r.value))
    return SettingsRead([_as_event(r) for run in runs for r in (run if len(run) < 2 else (run[0], run[-1]))])


def _as_event(reading: rows.ConfigSnapshot) -> rows.Event:
    is_topic = reading.resource_type == "topic"
    return event_of_reading(
        reading,
        Kind.SETTING_READ,
        f"{reading.resource_type} {reading.resource}: {reading.name} = {reading.value}",
        topic=reading.resource if is_topic else None,
        node=None if is_topic else _number(reading.resource),
        reason=reading.name,
        detail=reading.value,
    )


def _number(text: str) -> int | None:
    """The id of a broker; None for the default of all brokers."""
    return int(text) if re.fullmatch(r"\d{1,9}", text) else None


def _is_looked_at(readings: pa.Table) -> pa.ChunkedArray:
    """Whether verdicts look at each setting."""
    kind, name = readings["resource_type"], readings["name"]
    of_topics = pc.and_(pc.equal(kind, "topic"), among(name, TOPIC_SETTINGS))
    of_brokers = pc.and_(pc.equal(kind, "broker"), among(name, BROKER_SETTINGS))
    return pc.and_(pc.or_(of_topics, of_brokers), pc.is_valid(readings["value"]))


SETTINGS_READ = Judgement(
    "settings_read",
    (read_settings,),
    ("cluster", "resource_type", "resource", "name"),
    {"readings": where(_is_looked_at, lake_table("bronze.config_snapshots"))},
)

SETTINGS = union(where_among("kind", SETTING_KINDS, EVENTS), SETTINGS_READ.output("settings"))
