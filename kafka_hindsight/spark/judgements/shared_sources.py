"""The frames that several judgements read: events, settings, records of groups."""

from __future__ import annotations

from kafka_hindsight.judgements.rebuild.metadata import find_metadata_start, read_metadata
from kafka_hindsight.spark.apply import Judgement, made, table
from kafka_hindsight.spark.frames import inputs as prepare

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
