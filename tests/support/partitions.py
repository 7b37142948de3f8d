"""The judgements of partitions over lines and readings as tests have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from kafka_hindsight.catalog.rows import (
    Event,
    Failover,
    IsrChange,
    OffsetSnapshot,
    PartitionSnapshot,
    PartitionState,
    Truncation,
)
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings
from kafka_hindsight.judgements.brokers.topic_changes import topic_changes
from kafka_hindsight.judgements.partitions.incarnations import Incarnation, incarnations_of
from kafka_hindsight.judgements.partitions.leaders import failovers
from kafka_hindsight.judgements.partitions.leaders.failovers import LeaderHistory
from kafka_hindsight.judgements.partitions.partition_readings import STATE, PartitionReadings, readings_by_partition
from kafka_hindsight.judgements.partitions.replicas import isr, replica_states, truncations
from kafka_hindsight.judgements.partitions.replicas.replica_states import ReplicaHistory
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window


def states_of(readings: Iterable[PartitionSnapshot]) -> list[PartitionState]:
    """Rows of bronze.partition_snapshots each state once."""
    state = attrgetter(*STATE)
    by_state = grouped(sorted(readings, key=lambda r: r.snapshot_at), lambda r: repr(state(r)))
    return [
        PartitionState(
            **{name: getattr(rows[0], name) for name in STATE},
            snapshot_ats=[r.snapshot_at for r in rows],
            snapshot_ids=[r.snapshot_id for r in rows],
            end_offsets=[-1 if r.end_offset is None else r.end_offset for r in rows],
        )
        for rows in by_state.values()
    ]


def readings_of(rows: Iterable[PartitionSnapshot], commits: Iterable[OffsetSnapshot] = ()) -> PartitionReadings:
    """The readings of the only partition that rows show."""
    [readings] = readings_by_partition(states_of(rows), commits).values()
    return readings


def incarnations(
    lines: Iterable[Event], readings: Iterable[PartitionSnapshot], epochs: Sequence[ControllerEpoch]
) -> list[Incarnation]:
    lines = list(lines)
    return incarnations_of(lines, readings_by_partition(states_of(readings)), epochs, topic_changes(lines, epochs))


def rebuild_isr_changes(
    lines: Iterable[Event], readings: Iterable[PartitionSnapshot], context: ClusterContext, window: Window
) -> list[IsrChange]:
    return isr.rebuild_isr_changes(incarnations(lines, readings, context.controller_epochs), context, window)


def rebuild_leaders(
    lines: Iterable[Event], readings: Iterable[PartitionSnapshot], context: ClusterContext, window: Window
) -> LeaderHistory:
    return failovers.rebuild_leaders(incarnations(lines, readings, context.controller_epochs), context, window)


def rebuild_truncations(
    lines: Iterable[Event],
    readings: Iterable[PartitionSnapshot],
    changes: Iterable[Failover],
    epochs: Sequence[ControllerEpoch],
    window: Window,
) -> list[Truncation]:
    return truncations.rebuild_truncations(incarnations(lines, readings, epochs), changes, window)


def histories_of(
    lines: Iterable[Event],
    readings: Iterable[PartitionSnapshot],
    leaders: Mapping[Any, Any],
    leaderless: Mapping[Any, Any],
    settings: BrokerSettings,
    context: ClusterContext,
    logs_end: datetime,
) -> list[ReplicaHistory]:
    lives = incarnations(lines, readings, context.controller_epochs)
    return replica_states.histories_of(lives, leaders, leaderless, settings, logs_end, context)
