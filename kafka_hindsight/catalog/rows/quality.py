"""Rows of the tables of catalog/quality*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import CheckSeverity, Harm, LakeDamage, Origin
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.structs import Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage(Row):
    """One source in one window."""

    TABLE: ClassVar[str] = "quality.coverage"
    CODES: ClassVar[Mapping[str, type[str]]] = {"origin": Origin}

    cluster: str
    source: str
    origin: Origin
    window_from: datetime
    window_to: datetime
    lines_in: int
    events: int
    ignored: int
    unparsed: int
    quarantined: int
    first_at: datetime | None = None
    last_at: datetime | None = None
    longest_silence_ms: int | None = None
    layouts: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedHour(Row):
    """One log in one hour, or in a part of it that a window cuts off: what is known here is not parsed again."""

    TABLE: ClassVar[str] = "quality.parsed_hours"
    CODES: ClassVar[Mapping[str, type[str]]] = {"origin": Origin}

    cluster: str
    source: str
    origin: Origin
    hour_from: datetime
    hour_to: datetime
    records: int
    lines_in: int
    events: int
    ignored: int
    unparsed: int
    quarantined: int
    first_at: datetime
    last_at: datetime
    longest_silence_ms: int | None = None
    lowest_broker: int | None = None
    highest_broker: int | None = None
    unnamed_events: int
    layouts: list[str] | None = None
    given_broker: int | None = None
    parsed_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnparsedLine(Row):
    """One record that matters and that no pattern claims."""

    TABLE: ClassVar[str] = "quality.unparsed_lines"

    line_id: str
    cluster: str
    source: str
    happened_at: datetime | None = None
    logger: str | None = None
    template: str
    line_count: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine(Row):
    """One record, file or snapshot line that is broken."""

    TABLE: ClassVar[str] = "quality.quarantine"

    quarantine_id: str
    cluster: str
    source: str
    happened_at: datetime | None = None
    line_count: int
    row: str
    sentences: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationGap(Row):
    """One break in the generations, or epochs, of one group."""

    TABLE: ClassVar[str] = "quality.generation_gaps"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    group_id: str
    after_generation: int
    next_generation: int
    seen_at: datetime
    explained_by: str | None = None
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipGap(Row):
    """One break in the leader epochs of one partition."""

    TABLE: ClassVar[str] = "quality.leadership_gaps"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    topic: str
    partition: int
    topic_incarnation: int
    after_epoch: int
    next_epoch: int
    leader_before: int
    leader_after: int
    seen_at: datetime
    explained_by: str | None = None
    explanation: str
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnobservedSpan(Row):
    """One span of one broker of which nothing shows whether it served."""

    TABLE: ClassVar[str] = "quality.unobserved_spans"
    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"evidence": Quote}

    cluster: str
    unobserved_span_id: str
    broker: int
    first_at: datetime
    last_at: datetime
    explanation: str
    evidence: list[Quote]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFiring(Row):
    """One rule applied to one window, whether it fired or not."""

    TABLE: ClassVar[str] = "quality.rule_firings"

    cluster: str
    rule_id: str
    window_from: datetime
    window_to: datetime
    fired: int
    fired_in_restarts: int
    suppressed: int
    first_at: datetime | None = None
    last_at: datetime | None = None
    knowledge_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication(Row):
    """One gold table published for one window."""

    TABLE: ClassVar[str] = "quality.publications"

    cluster: str
    window_from: datetime
    window_to: datetime
    table: str
    version: int
    row_count: int
    run_id: str
    run_published_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult(Row):
    """One expectation checked in one window by one run."""

    TABLE: ClassVar[str] = "quality.validation_results"
    CODES: ClassVar[Mapping[str, type[str]]] = {"severity": CheckSeverity}

    run_id: str
    cluster: str
    window_from: datetime
    window_to: datetime
    table: str
    expectation: str
    description: str
    severity: CheckSeverity
    success: bool
    is_vacuous: bool | None = None
    observed: str | None = None
    unexpected_count: int | None = None
    sentences: list[str] | None = None
    run_checked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldRow(Row):
    """One row that breaks a law of ours, and that one run left out of gold."""

    TABLE: ClassVar[str] = "quality.withheld_rows"

    run_id: str
    cluster: str
    window_from: datetime
    window_to: datetime
    table: str
    withheld_row_id: str
    happened_at: datetime | None = None
    row: str
    sentences: list[str]
    run_withheld_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeRepair(Row):
    """One damage of the lake that a step mended before it began."""

    TABLE: ClassVar[str] = "quality.lake_repairs"
    CODES: ClassVar[Mapping[str, type[str]]] = {"damage": LakeDamage}

    run_id: str
    path: str
    damage: LakeDamage
    description: str
    run_repaired_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Night(Row):
    """One published window as its report sums it up."""

    TABLE: ClassVar[str] = "quality.nights"
    CODES: ClassVar[Mapping[str, type[str]]] = {"harm": Harm}

    cluster: str
    window_from: datetime
    window_to: datetime
    state: str
    harm: Harm | None = None
    headline: str | None = None
    incident_id: str | None = None
    incidents: int
    records_lost_low: int
    records_lost_high: int | None = None
    partitions_offline: int
    partitions_still_offline: int | None = None
    offline_ms: int | None = None
    offline_partition_seconds: float | None = None
    partitions_refusing: int | None = None
    sudden_absences: int
    orderly_absences: int
    groups_stopped: int
    findings_critical: int
    findings_warning: int
    findings_info: int
    gaps: int
    lines_in: int
    lines_unread: int
    rebalances: int
    partition_seconds: float
    page: str
    run_id: str
    run_published_at: datetime
