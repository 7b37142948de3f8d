"""Rows of the tables of catalog/internal*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import Intent, OutOfSyncKind
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import Quote, TopicBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataDay(Row):
    """One day of a metadata log, up to a state."""

    TABLE: ClassVar[str] = "internal.metadata_days"

    cluster: str
    day: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState(Row):
    """One state of one partition, with all readings that show it."""

    TABLE: ClassVar[str] = "internal.partition_states"

    cluster: str
    topic: str
    partition: int
    is_internal: bool
    leader: int | None = None
    leader_epoch: int | None = None
    replicas: list[int] | None = None
    isr: list[int] | None = None
    preferred_leader: int | None = None
    snapshot_ats: list[datetime]
    snapshot_ids: list[str]
    end_offsets: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrSpan(Row):
    """One broker out of one partition's ISR: a shrink with its end."""

    TABLE: ClassVar[str] = "internal.isr_spans"
    CODES: ClassVar[Mapping[str, type[str]]] = {"shrink_cause": OutOfSyncKind}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    topic: str
    partition: int
    broker: int
    happened_at: datetime
    out_of_sync_until: datetime | None = None
    is_back: bool
    shrink_cause: OutOfSyncKind | None = None
    outage_id: str | None = None
    removed_by_leader: int | None = None
    records_behind: int | None = None
    isr_size: int | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStay(Row):
    """One stay of one member in its group."""

    TABLE: ClassVar[str] = "internal.member_stays"

    cluster: str
    group_id: str
    member_id: str
    host: str | None = None
    session_timeout_ms: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    how: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBrokerLog(Row):
    """One node that lines or readings name and that wrote none of the lines."""

    TABLE: ClassVar[str] = "internal.missing_broker_logs"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    broker: int
    first_at: datetime
    last_at: datetime
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfSyncCount(Row):
    """One broker in one reading."""

    TABLE: ClassVar[str] = "internal.out_of_sync_counts"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    snapshot_at: datetime
    broker: int
    partitions_out: int
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange(Row):
    """One change of the cluster's topics."""

    TABLE: ClassVar[str] = "internal.topic_changes"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"event": Quote}

    at: datetime
    kind: str
    topic: str
    event: Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentLink(Row):
    """One rebalance, one failover or one time of unavailability of one incident."""

    TABLE: ClassVar[str] = "internal.incident_links"
    CODES: ClassVar[Mapping[str, type[str]]] = {"intent": Intent}

    part_id: str
    incident_id: str | None = None
    intent: Intent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSighting(Row):
    """One member in one reading."""

    TABLE: ClassVar[str] = "internal.member_sightings"

    cluster: str
    group_id: str
    member_id: str
    client_id: str | None = None
    instance_id: str | None = None
    snapshot_id: str
    snapshot_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement(Row):
    """One type and assignor that readings show of one group."""

    TABLE: ClassVar[str] = "internal.group_agreements"

    cluster: str
    group_id: str
    type: str | None = None
    assignor: str | None = None
    snapshot_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(Row):
    """The cluster."""

    TABLE: ClassVar[str] = "internal.clusters"

    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedSpan(Row):
    """The cluster."""

    TABLE: ClassVar[str] = "internal.observed_spans"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"later_blocks": TopicBlock}

    cluster: str
    first_at: datetime | None = None
    last_at: datetime | None = None
    later_blocks: list[TopicBlock]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingTime(Row):
    """One reading that shows partitions."""

    TABLE: ClassVar[str] = "internal.reading_times"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"later_blocks": TopicBlock}

    cluster: str
    snapshot_at: datetime
    last_offsets_partition: int | None = None
    later_blocks: list[TopicBlock]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSpan(Row):
    """One span in which the log about one broker's life is at hand."""

    TABLE: ClassVar[str] = "internal.log_spans"

    cluster: str
    broker: int
    first_at: datetime
    last_at: datetime
