"""Structs that rows hold. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.row import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor(Row):
    """A struct that rows hold."""

    client_id: str | None = None
    instance_id: str | None = None
    member_id: str | None = None
    cause: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount(Row):
    """A struct that rows hold."""

    day: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay(Row):
    """A struct that rows hold."""

    client_id: str | None = None
    member_id: str | None = None
    waited_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPart(Row):
    """A struct that rows hold."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSpan(Row):
    """A struct that rows hold."""

    first_offset: int
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedPartition(Row):
    """A struct that rows hold."""

    topic_id: str
    topic: str | None = None
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Row):
    """A struct that rows hold."""

    line_id: str
    source: str
    happened_at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCount(Row):
    """A struct that rows hold."""

    record_type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartStep(Row):
    """A struct that rows hold."""

    broker: int
    outage_id: str
    kind: str
    down_at: datetime
    up_at: datetime | None = None
    isr_recovered_ms: int | None = None
    leadership_restored_ms: int | None = None
    is_early: bool | None = None
    partitions_led_before: int | None = None
    elections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicBlock(Row):
    """A struct that rows hold."""

    topic: str
    block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPartition(Row):
    """A struct that rows hold."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMember(Row):
    """A struct that rows hold."""

    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"assignment": TopicPartition}

    member_id: str
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rebalance_timeout_ms: int | None = None
    session_timeout_ms: int | None = None
    subscription: list[str] | None = None
    assignment: list[TopicPartition] | None = None
