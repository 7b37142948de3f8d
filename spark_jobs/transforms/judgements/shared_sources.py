"""The frames that several judgements read: events, settings, records of groups."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.catalog import rows
from spark_jobs.transforms.intake.metadata_log import Replay, committed
from spark_jobs.transforms.intake.metadata_states import MetadataStart, find_start, settled_before, state_of
from spark_jobs.transforms.judgement import Judgement, made, table
from spark_jobs.transforms.judgements import inputs as prepare
from spark_jobs.transforms.scope import Scope


@dataclass(frozen=True)
class MetadataEvents:
    """What the metadata log of KRaft shows, in the shape of silver.events; and its state at the window's start."""

    events: list[rows.Event]
    states: list[rows.MetadataState]


def read_metadata(
    records: list[rows.MetadataRecord],
    files: list[rows.MetadataFile],
    metadata_start: MetadataStart | None,
    scope: Scope,
) -> MetadataEvents:
    """The events of a metadata log. Takes: its records from the beginning, or a state and the records after it."""
    ordered, at = list(committed(records)), scope.window.start
    settled = settled_before(ordered, at)
    replay = Replay(files, scope.seen)
    replay.run(ordered[:settled])
    states = state_of(replay, at, metadata_start, records, files)
    replay.run(ordered[settled:])
    return MetadataEvents(replay.events(), states)


def find_metadata_start(
    states: list[rows.MetadataState], days: list[rows.MetadataDay], files: list[rows.MetadataFile]
) -> MetadataStart | None:
    """Where the metadata log is read on. Takes: few rows, on the driver."""
    return find_start(states, days, files)


RECORDS = table("bronze.metadata_records", span="", optional=True)
FILES = table("bronze.metadata_files", span="", optional=True)
STATES = table("quality.metadata_states", span="", optional=True)
LAST_STATE = made(prepare.last_state, STATES)

METADATA_START = Judgement(
    "metadata_start",
    find_metadata_start,
    (),
    {"states": LAST_STATE, "days": made(prepare.records_by_day, RECORDS, LAST_STATE), "files": FILES},
)


METADATA = Judgement(
    "metadata",
    read_metadata,
    ("cluster",),
    {"records": made(prepare.records_to_replay, RECORDS, STATES), "files": FILES},
    needs=(METADATA_START,),
)

EVENTS = made(prepare.with_metadata, table("silver.events"), METADATA.output("events"), shared=True)
SETTINGS = made(prepare.about_settings, EVENTS, table("bronze.config_snapshots"), shared=True)
GROUP_RECORDS = made(prepare.records_around, table("bronze.group_records", span=""), shared=True)
