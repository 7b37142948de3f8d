"""Quality: where a run reads the metadata log on."""

from kafka_hindsight.catalog.bronze_metadata import METADATA_RECORDS
from kafka_hindsight.catalog.model import Table, optional, required

_SHOWN = (
    "record_type",
    "topic_id",
    "topic",
    "partition",
    "leader",
    "leader_epoch",
    "partition_epoch",
    "replicas",
    "isr",
    "removing",
    "adding",
    "elr",
    "last_known_elr",
    "recovery_state",
    "broker",
    "incarnation_id",
    "fenced",
    "in_controlled_shutdown",
)

METADATA_STATES = Table(
    layer="quality",
    name="metadata_states",
    grain="one record of the metadata log's state at the start of a window, from which a later run reads on",
    key=("cluster", "state_at", "snapshot_place"),
    time_column="state_at",
    columns=(
        required("cluster", "STRING", "The cluster, by its name in this lake"),
        required("state_at", "TIMESTAMP", "First instant of the window"),
        required("record_offset", "BIGINT", "Offset of the last record that the state rests on"),
        required("written_at", "TIMESTAMP", "When that record was written, by the controller's clock"),
        required("controller_epoch", "INT", "Highest controller epoch by then"),
        required("snapshot_place", "INT", "Rank of the part in the state, from 1 on"),
        *(c for c in METADATA_RECORDS.columns if c.name in _SHOWN),
        optional(
            "record_counts",
            "ARRAY<STRUCT<day: STRING, records: BIGINT>>",
            "On the first part: how many records of each day it rests on; with others it is not used",
        ),
        optional(
            "offset_spans",
            "ARRAY<STRUCT<first_offset: BIGINT, next_offset: BIGINT>>",
            "On the first part: the stretches of the log that it rests on; with others it is not used",
        ),
    ),
)

TABLES = (METADATA_STATES,)
