"""The frames that several judgements read: events, settings, records of groups."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.catalog.rows import (
    Event,
    MetadataFile,
    MetadataRecord,
)  # fmt: skip
from spark_jobs.transforms.intake.metadata_log import events_of_metadata
from spark_jobs.transforms.judgement import Judgement, made, table
from spark_jobs.transforms.judgements import inputs as prepare
from spark_jobs.transforms.scope import Scope


@dataclass(frozen=True)
class MetadataEvents:
    """What the metadata log of KRaft shows, in the shape of silver.events."""

    events: list[Event]


def read_metadata(records: list[MetadataRecord], files: list[MetadataFile], scope: Scope) -> MetadataEvents:
    """The events of a metadata log. Takes: its records from the beginning."""
    return MetadataEvents(events_of_metadata(records, files, scope.seen))


METADATA = Judgement(
    "metadata",
    read_metadata,
    ("cluster",),
    {
        "records": made(prepare.written_before_end, table("bronze.metadata_records", span="", optional=True)),
        "files": table("bronze.metadata_files", span="", optional=True),
    },
)

EVENTS = made(prepare.with_metadata, table("silver.events"), METADATA.output("events"), shared=True)
SETTINGS = made(prepare.about_settings, EVENTS, table("bronze.config_snapshots"), shared=True)
GROUP_RECORDS = made(prepare.records_around, table("bronze.group_records", span=""), shared=True)
