"""Epochs grow as long as a cluster keeps its metadata: where they fall, a new incarnation of it begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.shared.durations import CLOCK_SKEW

_LATE_NEWS = timedelta(hours=1)
"""A node that was cut off may begin to lead in an epoch that is over: not for as long as this. Our choice."""

_OF_CONTROLLERS = (Kind.CONTROLLER_ELECTED, Kind.CONTROLLER_KNOWN)
_OF_PARTITIONS = (Kind.LEADER_STARTED, Kind.FOLLOWER_STARTED, Kind.LEADER_AND_ISR_RECEIVED)
_BEGINNINGS = (Kind.CONTROLLER_ELECTED, Kind.LEADER_STARTED)
"""Kinds with which a node itself begins to lead in an epoch. When a node starts, it may name an old epoch."""


def between_falls(events: Iterable[Event]) -> list[list[Event]]:
    """Split the events of a cluster's controllers, or of one partition, where their epochs begin again.

    Epochs fall where a node names a lower one than it did before, where a controller is elected in an epoch that was
    won before, and where a node begins to lead in an epoch that was left an hour before. What follows is about other
    metadata: ZooKeeper's was emptied, disks were formatted, a backup was restored, or a topic was created again. A
    controller of KRaft may claim its epoch twice: the offset at which it continues is then higher.
    Source: KafkaZkClient.registerControllerAndIncrementControllerEpoch (a conditional write); KIP-595 (one leader in an
    epoch; voters keep the newest epoch on disk); KIP-101 (each election raises the leader epoch).
    """
    parts: list[list[Event]] = [[]]
    highest_by_node: dict[int, Event] = {}
    beginnings: dict[int, Event] = {}
    for event in events:
        epoch = _epoch_in(event)
        if epoch is not None:
            highest = highest_by_node.get(event.broker) if event.broker is not None else None
            if (highest and _is_below(epoch, highest, event)) or (
                event.kind in _BEGINNINGS and _is_old(epoch, beginnings, event)
            ):
                parts.append([])
                highest_by_node, beginnings, highest = {}, {}, None
            if event.broker is not None and epoch > (-1 if highest is None else _epoch_in(highest) or 0):
                highest_by_node[event.broker] = event
            if event.kind in _BEGINNINGS:
                beginnings[epoch] = event
        parts[-1].append(event)
    return parts


def _epoch_in(event: Event) -> int | None:
    if event.kind in _OF_CONTROLLERS:
        return event.controller_epoch
    return event.leader_epoch if event.kind in _OF_PARTITIONS else None


def _is_below(epoch: int, highest: Event, event: Event) -> bool:
    """Whether a node names a lower epoch than before. Its lines of one moment may overtake each other."""
    return epoch < (_epoch_in(highest) or 0) and event.happened_at - highest.happened_at > CLOCK_SKEW


def _is_old(epoch: int, beginnings: Mapping[int, Event], event: Event) -> bool:
    """Whether an epoch begins that was over. `beginnings`: the last line that began each epoch."""
    before, newest = beginnings.get(epoch), beginnings[max(beginnings)] if beginnings else event
    if event.kind == Kind.CONTROLLER_ELECTED and before and event.happened_at - before.happened_at > CLOCK_SKEW:
        return (event.log_offset or 0) <= (before.log_offset or 0)
    return epoch < (_epoch_in(newest) or 0) and event.happened_at - newest.happened_at > _LATE_NEWS
