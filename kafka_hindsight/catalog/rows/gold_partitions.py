"""Rows of the tables of catalog/gold*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import Confidence, FailoverKind, IsrChangeKind, OutOfSyncKind, TruncationVerdict
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRisk(Row):
    """One partition over the window, where it risked anything."""

    TABLE: ClassVar[str] = "gold.partition_risks"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    topic: str
    partition: int
    window_from: datetime
    window_to: datetime
    replication_factor: int | None = None
    min_insync_replicas: int | None = None
    elections: int
    leaderless_low_ms: int
    leaderless_high_ms: int | None = None
    under_replicated_ms: int | None = None
    under_min_isr_ms: int | None = None
    at_min_isr_ms: int | None = None
    one_from_offline_ms: int | None = None
    one_from_unclean_ms: int | None = None
    worst_isr_size: int | None = None
    first_at: datetime
    last_at: datetime
    known_ms: int
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover(Row):
    """One change of one partition's leader."""

    TABLE: ClassVar[str] = "gold.failovers"
    CODES: ClassVar[Mapping[str, type[str]]] = {"kind": FailoverKind, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    failover_id: str
    topic: str
    partition: int
    happened_at: datetime
    leader_from: int | None = None
    leader_to: int | None = None
    epoch_from: int | None = None
    epoch_to: int | None = None
    topic_incarnation: int
    kind: FailoverKind
    requested_by_operator: bool | None = None
    leaderless_ms: int | None = None
    leaderless_low_ms: int | None = None
    leaderless_high_ms: int | None = None
    preferred_leader: int | None = None
    isr_before: list[int] | None = None
    isr_after: list[int] | None = None
    records_lost_low: int | None = None
    records_lost_high: int | None = None
    outage_id: str | None = None
    incident_id: str | None = None
    confidence: Confidence
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrChange(Row):
    """One shrink or expansion of one partition's ISR."""

    TABLE: ClassVar[str] = "gold.isr_changes"
    CODES: ClassVar[Mapping[str, type[str]]] = {"change": IsrChangeKind, "shrink_cause": OutOfSyncKind}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    isr_change_id: str
    topic: str
    partition: int
    happened_at: datetime
    change: IsrChangeKind
    broker: int
    isr_before: list[int] | None = None
    isr_after: list[int] | None = None
    shrink_cause: OutOfSyncKind | None = None
    outage_id: str | None = None
    out_of_sync_until: datetime | None = None
    removed_by_leader: int | None = None
    records_behind: int | None = None
    behind_since: datetime | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation(Row):
    """One replica that cut its log, or dropped it to fetch it again."""

    TABLE: ClassVar[str] = "gold.truncations"
    CODES: ClassVar[Mapping[str, type[str]]] = {"verdict": TruncationVerdict, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    truncation_id: str
    topic: str
    partition: int
    broker: int
    happened_at: datetime
    leader: int | None = None
    leader_epoch: int | None = None
    is_whole: bool
    log_end_before: int | None = None
    truncated_to: int
    records_cut: int | None = None
    high_watermark: int | None = None
    failover_id: str | None = None
    outage_id: str | None = None
    verdict: TruncationVerdict
    confidence: Confidence
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]
