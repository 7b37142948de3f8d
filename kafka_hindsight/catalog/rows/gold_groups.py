"""Rows of the tables of catalog/gold*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import (
    Cause,
    Confidence,
    Fingerprint,
    Harm,
    IncidentKind,
    Intent,
    LagStatus,
    MoveEffect,
    Outcome,
    Protocol,
    RemedySetting,
    UnavailabilityKind,
)
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import Contributor, Delay, Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(Row):
    """One thing that happened, with all that followed from it."""

    TABLE: ClassVar[str] = "gold.incidents"
    CODES: ClassVar[Mapping[str, type[str]]] = {
        "kind": IncidentKind,
        "intent": Intent,
        "harm": Harm,
        "cause": Cause,
        "confidence": Confidence,
        "fingerprint": Fingerprint,
    }
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    incident_id: str
    kind: IncidentKind
    intent: Intent
    declared_until: datetime | None = None
    harm: Harm | None = None
    harm_rank: int | None = None
    headline: str | None = None
    started_at: datetime
    ended_at: datetime | None = None
    is_over: bool | None = None
    group_ids: list[str]
    rebalance_count: int
    cause: Cause | None = None
    confidence: Confidence
    fingerprint: Fingerprint | None = None
    first_outage_id: str | None = None
    brokers: list[int] | None = None
    topics: list[str] | None = None
    failover_count: int | None = None
    partitions_offline: int | None = None
    partitions_still_offline: int | None = None
    offline_ms: int | None = None
    offline_partition_seconds: float | None = None
    partitions_refusing: int | None = None
    refusing_ms: int | None = None
    records_lost_low: int | None = None
    records_lost_high: int | None = None
    partition_seconds: float | None = None
    explanation: str
    advice: str
    prevention: str | None = None
    commands: list[str] | None = None
    recurrence_id: str | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LagVerdict(Row):
    """One group, topic and partition over the window."""

    TABLE: ClassVar[str] = "gold.lag_verdicts"
    CODES: ClassVar[Mapping[str, type[str]]] = {"status": LagStatus}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    group_id: str
    topic: str
    partition: int
    window_from: datetime
    window_to: datetime
    status: LagStatus
    lag_first: int | None = None
    lag_last: int | None = None
    lag_max: int | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSetting(Row):
    """One client of a group with one set of settings, as witnesses showed them in the window."""

    TABLE: ClassVar[str] = "gold.member_settings"
    CODES: ClassVar[Mapping[str, type[str]]] = {"protocol": Protocol}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    settings_id: str
    group_id: str
    client_id: str | None = None
    instance_id: str | None = None
    member_count: int
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    assignors: list[str] | None = None
    assignor: str | None = None
    protocol: Protocol | None = None
    witnesses: list[str]
    first_seen_at: datetime
    last_seen_at: datetime
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership(Row):
    """One partition owned by one member of a group in one generation, from when to when."""

    TABLE: ClassVar[str] = "gold.ownership"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    group_id: str
    topic: str
    partition: int
    member_id: str
    client_id: str | None = None
    host: str | None = None
    valid_from: datetime
    valid_to: datetime
    is_open: bool
    generation: int | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy(Row):
    """One group and one setting that would have helped it, by a replay of the window."""

    TABLE: ClassVar[str] = "gold.remedies"
    CODES: ClassVar[Mapping[str, type[str]]] = {"setting": RemedySetting, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    group_id: str
    window_from: datetime
    window_to: datetime
    setting: RemedySetting
    value_now: int | None = None
    value_smallest: int | None = None
    rebalances_total: int
    rebalances_avoided: int
    partition_seconds_avoided: float | None = None
    rebalance_ids: list[str]
    confidence: Confidence
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance(Row):
    """One finished join phase of a group, or one group epoch under KIP-848, or one that was begun and overtaken."""

    TABLE: ClassVar[str] = "gold.rebalances"
    CODES: ClassVar[Mapping[str, type[str]]] = {
        "protocol": Protocol,
        "outcome": Outcome,
        "cause": Cause,
        "confidence": Confidence,
    }
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"contributors": Contributor, "delayed_by": Delay, "evidence": Quote}

    cluster: str
    rebalance_id: str
    group_id: str
    protocol: Protocol
    coordinator: int | None = None
    from_generation: int | None = None
    to_generation: int | None = None
    started_at: datetime
    joined_at: datetime | None = None
    ended_at: datetime | None = None
    duration_ms: int | None = None
    outcome: Outcome
    cause: Cause
    confidence: Confidence
    client_id: str | None = None
    instance_id: str | None = None
    member_id: str | None = None
    host: str | None = None
    contributors: list[Contributor]
    reason: str | None = None
    explanation: str
    advice: str
    delayed_by: list[Delay]
    silent_ms: int | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    members_before: int | None = None
    members_after: int | None = None
    follows: str | None = None
    partition_seconds: float | None = None
    incident_id: str | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorMove(Row):
    """One group's coordinator changing broker."""

    TABLE: ClassVar[str] = "gold.coordinator_moves"
    CODES: ClassVar[Mapping[str, type[str]]] = {"effect": MoveEffect}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    coordinator_move_id: str
    group_id: str
    offsets_partition: int | None = None
    moved_at: datetime
    broker_from: int | None = None
    broker_to: int
    outage_id: str | None = None
    effect: MoveEffect | None = None
    rebalance_id: str | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailability(Row):
    """One interval in which one partition could not be used, or one group consumed nothing."""

    TABLE: ClassVar[str] = "gold.unavailability"
    CODES: ClassVar[Mapping[str, type[str]]] = {"kind": UnavailabilityKind, "intent": Intent, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    unavailability_id: str
    kind: UnavailabilityKind
    topic: str | None = None
    partition: int | None = None
    group_id: str | None = None
    started_at: datetime
    ended_at: datetime | None = None
    earliest_start_at: datetime | None = None
    latest_end_at: datetime | None = None
    low_ms: int
    high_ms: int | None = None
    failover_id: str | None = None
    rebalance_id: str | None = None
    outage_id: str | None = None
    incident_id: str | None = None
    intent: Intent
    confidence: Confidence
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]
