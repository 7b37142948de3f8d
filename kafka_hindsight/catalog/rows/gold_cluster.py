"""Rows of the tables of catalog/gold*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import (
    Confidence,
    ControllerChangeCause,
    FailoverKind,
    FindingSeverity,
    ImbalanceEnd,
    Intent,
    LossScope,
    OutageKind,
    OutOfSyncKind,
    StartFailure,
)
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import Quote, RestartStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Row):
    """One thing a person should know."""

    TABLE: ClassVar[str] = "gold.findings"
    CODES: ClassVar[Mapping[str, type[str]]] = {"severity": FindingSeverity}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    finding_id: str
    rule_id: str
    severity: FindingSeverity
    subject_kind: str
    subject: str
    first_at: datetime
    last_at: datetime
    message: str
    advice: str
    source: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderBalance(Row):
    """One scope at one snapshot: the usual definitions of balance, beside that of leader_imbalance."""

    TABLE: ClassVar[str] = "gold.leader_balance"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    snapshot_at: datetime
    scope: str
    partitions: int
    leaderless: int
    non_preferred: int
    non_preferred_share: float | None = None
    brokers: int
    leaders_max: int | None = None
    leaders_min: int | None = None
    leader_spread: float | None = None
    leader_excess: float | None = None
    brokers_off_band: int
    coordinator_spread: float | None = None
    group_spread: float | None = None
    most_loaded_broker: int | None = None
    least_loaded_broker: int | None = None
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderImbalance(Row):
    """One broker at one snapshot."""

    TABLE: ClassVar[str] = "gold.leader_imbalance"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    snapshot_at: datetime
    broker: int
    preferred_partitions: int
    led_elsewhere: int
    ratio: float | None = None
    over_threshold: bool
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSimulation(Row):
    """One broker or rack, were it lost at the last reading of the window."""

    TABLE: ClassVar[str] = "gold.loss_simulations"
    CODES: ClassVar[Mapping[str, type[str]]] = {"scope_kind": LossScope}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    snapshot_at: datetime
    scope_kind: LossScope
    scope: str
    broker_ids: list[int]
    partitions_hosted: int
    partitions_offline: int
    partitions_unclean: int
    partitions_unwritable: int
    partitions_unjudged: int
    leaders_to_move: int
    group_ids: list[str] | None = None
    stranded_group_ids: list[str] | None = None
    worst_partitions: list[str]
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingRestart(Row):
    """One cluster restarted broker by broker."""

    TABLE: ClassVar[str] = "gold.rolling_restarts"
    CODES: ClassVar[Mapping[str, type[str]]] = {"intent": Intent, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"scorecard": RestartStep, "evidence": Quote}

    cluster: str
    restart_id: str
    started_at: datetime
    ended_at: datetime | None = None
    brokers: list[int]
    intent: Intent
    is_complete: bool
    scorecard: list[RestartStep]
    elections: int
    rebalances: int
    max_under_replicated: int
    confidence: Confidence
    explanation: str
    advice: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOutage(Row):
    """One absence of one broker."""

    TABLE: ClassVar[str] = "gold.broker_outages"
    CODES: ClassVar[Mapping[str, type[str]]] = {
        "kind": OutageKind,
        "intent": Intent,
        "start_failure": StartFailure,
        "confidence": Confidence,
    }
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    outage_id: str
    broker: int
    kind: OutageKind
    intent: Intent
    down_at: datetime
    detected_at: datetime | None = None
    last_heard_at: datetime | None = None
    unreachable_at: datetime | None = None
    up_at: datetime | None = None
    failed_starts: int
    start_failure: StartFailure | None = None
    away_low_ms: int | None = None
    away_high_ms: int | None = None
    isr_recovered_at: datetime | None = None
    leadership_restored_at: datetime | None = None
    elections: int | None = None
    partitions_led_before: int | None = None
    group_ids: list[str]
    isr_shrinks: int | None = None
    isr_expands: int | None = None
    coordinator_moves: int | None = None
    rebalances: int | None = None
    partition_seconds: float | None = None
    restart_id: str | None = None
    incident_id: str | None = None
    confidence: Confidence
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerChange(Row):
    """One new controller, or elections that no line shows a node to win."""

    TABLE: ClassVar[str] = "gold.controller_changes"
    CODES: ClassVar[Mapping[str, type[str]]] = {"cause": ControllerChangeCause, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    happened_at: datetime
    controller_from: int | None = None
    controller_to: int
    epoch: int
    cause: ControllerChangeCause
    outage_id: str | None = None
    elections: int | None = None
    uncontrolled_low_ms: int | None = None
    uncontrolled_high_ms: int | None = None
    confidence: Confidence
    explanation: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImbalancePeriod(Row):
    """One broker over the threshold of leader_imbalance: a period."""

    TABLE: ClassVar[str] = "gold.imbalance_periods"
    CODES: ClassVar[Mapping[str, type[str]]] = {"started_by": FailoverKind, "ended_by": ImbalanceEnd}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    imbalance_period_id: str
    broker: int
    started_at: datetime
    started_at_is_exact: bool
    ended_at: datetime | None = None
    ended_at_is_exact: bool
    first_reading_at: datetime
    last_reading_at: datetime
    readings: int
    max_ratio: float
    worst_at: datetime
    preferred_partitions: int
    led_elsewhere: int
    started_by: FailoverKind | None = None
    outage_id: str | None = None
    ended_by: ImbalanceEnd | None = None
    explanation: str
    advice: str
    knowledge_version: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfSyncPeriod(Row):
    """One broker out of ISRs that it belongs to, from its first shrink to its last return."""

    TABLE: ClassVar[str] = "gold.out_of_sync_periods"
    CODES: ClassVar[Mapping[str, type[str]]] = {"kind": OutOfSyncKind, "confidence": Confidence}
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    out_of_sync_period_id: str
    broker: int
    started_at: datetime
    ended_at: datetime | None = None
    kind: OutOfSyncKind
    outage_id: str | None = None
    suspected_broker: int | None = None
    removed_by_leader: list[int]
    partitions: int
    partitions_out: int
    shrinks: int
    expands: int
    flaps: int
    cycles: int
    partition_ms: int
    records_behind: int | None = None
    worst_topics: list[str]
    confidence: Confidence
    explanation: str
    advice: str
    knowledge_version: str | None = None
    evidence: list[Quote]
