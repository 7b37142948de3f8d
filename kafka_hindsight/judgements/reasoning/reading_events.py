"""Readings of a cluster as events: a timeline holds them beside what lines say."""

from __future__ import annotations

from typing import Any

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerSnapshot, ConfigSnapshot, Event, MemberSnapshot


def event_of_reading(
    reading: BrokerSnapshot | ConfigSnapshot | MemberSnapshot, kind: Kind, text: str, **fields: Any
) -> Event:
    """The event that a row of a reading stands for, with the text that evidence quotes."""
    return Event(
        line_id=reading.snapshot_id,
        cluster=reading.cluster,
        origin=Origin.SNAPSHOT,
        source="snapshots",
        happened_at=reading.snapshot_at,
        order=0,
        kind=kind,
        pattern_id=kind,
        text=text,
        **fields,
    )
