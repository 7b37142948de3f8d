"""Whether failovers form a chain, and where they do not."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from kafka_hindsight.catalog.rows import Event, Failover, LeadershipGap, PartitionSnapshot
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.partitions.leaders.failovers import LeaderHistory
from kafka_hindsight.shared.windows import Window
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders


def leaders(found: list[Event], readings: list[PartitionSnapshot], window: Window) -> LeaderHistory:
    """The leaders that these events and readings show."""
    return rebuild_leaders(found, readings, context_of(found, rebuild_outages(found, [], window)), window)


def unmarked_breaks(history: LeaderHistory) -> list[tuple[Failover, Failover | None]]:
    """Each failover that does not follow the one before it, or skips an epoch, and that no row marks."""
    marks = {(*_place(g), g.next_epoch) for g in history.gaps}
    chains: dict[tuple[str, int, int], list[Failover]] = defaultdict(list)
    for f in history.failovers:
        chains[_place(f)].append(f)
    broken: list[tuple[Failover, Failover | None]] = []
    for place, chain in chains.items():
        broken += [
            (f, None) for f in chain if f.epoch_to != (f.epoch_from or 0) + 1 and (*place, f.epoch_to) not in marks
        ]
        for before, after in pairwise(chain):
            follows = before.leader_to == after.leader_from or (*place, after.epoch_from) in marks
            in_order = (before.epoch_to or 0) <= (after.epoch_from or 0) and before.happened_at <= after.happened_at
            broken += [] if follows and in_order else [(before, after)]
    return broken


def _place(row: Failover | LeadershipGap) -> tuple[str, int, int]:
    return row.topic, row.partition, row.topic_incarnation
