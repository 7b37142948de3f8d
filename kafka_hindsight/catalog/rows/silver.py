"""Rows of the tables of catalog/silver*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.row import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Row):
    """One event: a record claimed by one pattern."""

    TABLE: ClassVar[str] = "silver.events"
    CODES: ClassVar[Mapping[str, type[str]]] = {"origin": Origin}

    line_id: str
    cluster: str
    origin: Origin
    source: str
    happened_at: datetime
    order: int
    broker: int | None = None
    kind: str
    pattern_id: str
    text: str
    group_id: str | None = None
    protocol: str | None = None
    member_id: str | None = None
    old_member_id: str | None = None
    client_id: str | None = None
    instance_id: str | None = None
    host: str | None = None
    generation: int | None = None
    leader_member_id: str | None = None
    member_count: int | None = None
    static_count: int | None = None
    members: str | None = None
    reason: str | None = None
    client_reason: str | None = None
    state: str | None = None
    previous_state: str | None = None
    assignor: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    offsets_partition: int | None = None
    topic: str | None = None
    partition: int | None = None
    leader: int | None = None
    previous_leader: int | None = None
    leader_epoch: int | None = None
    previous_leader_epoch: int | None = None
    partition_epoch: int | None = None
    isr: str | None = None
    previous_isr: str | None = None
    replicas: str | None = None
    log_offset: int | None = None
    high_watermark: int | None = None
    node: int | None = None
    nodes: str | None = None
    controller_epoch: int | None = None
    fenced: int | None = None
    in_controlled_shutdown: int | None = None
    event_count: int | None = None
    took_ms: int | None = None
    error: str | None = None
    detail: str | None = None
    knowledge_version: str | None = None
