"""Rows of the tables of catalog/quality*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import MetadataRecordType
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import DayCount, OffsetSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataState(Row):
    """One record of the metadata log's state at the start of a window, from which a later run reads on."""

    TABLE: ClassVar[str] = "quality.metadata_states"
    CODES: ClassVar[Mapping[str, type[str]]] = {"record_type": MetadataRecordType}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"record_counts": DayCount, "offset_spans": OffsetSpan}

    cluster: str
    state_at: datetime
    record_offset: int
    written_at: datetime
    controller_epoch: int
    snapshot_place: int
    record_type: MetadataRecordType
    topic_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    partition_epoch: int | None = None
    replicas: list[int] | None = None
    isr: list[int] | None = None
    removing: list[int] | None = None
    adding: list[int] | None = None
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None
    recovery_state: int | None = None
    broker: int | None = None
    incarnation_id: str | None = None
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    record_counts: list[DayCount] | None = None
    offset_spans: list[OffsetSpan] | None = None
