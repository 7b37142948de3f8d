"""Rows of gold.unavailability that belong to other made rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from kafka_hindsight.catalog.codes import NOBODY, FailoverKind
from kafka_hindsight.catalog.gold import UNAVAILABILITY
from kafka_hindsight.catalog.rows import Failover, Rebalance, Unavailability
from tests.support.rows import row


def without_leader(failovers: Iterable[Failover]) -> list[Unavailability]:
    """When partitions had no leader, by what the changes of their leader say of it."""
    rows = []
    changes = [*failovers]
    begun = {(f.topic, f.partition, f.epoch_to) for f in changes if f.kind == FailoverKind.OFFLINE}
    for f in changes:
        known = (f.leaderless_ms, f.leaderless_low_ms, f.leaderless_high_ms)
        best = next((ms for ms in known if ms is not None), None)
        is_open = f.kind == FailoverKind.OFFLINE and best is None
        is_told = f.leader_from == NOBODY and (f.topic, f.partition, f.epoch_from) in begun
        if (best or is_open) and not is_told:
            end = f.happened_at + timedelta(milliseconds=best or 0)
            low = f.leaderless_low_ms if f.leaderless_low_ms is not None else f.leaderless_ms
            rows.append(
                row(
                    UNAVAILABILITY,
                    cluster=f.cluster,
                    unavailability_id=f"no leader {f.failover_id}",
                    kind="no_leader",
                    topic=f.topic,
                    partition=f.partition,
                    group_id=None,
                    started_at=f.happened_at,
                    ended_at=None if is_open else end,
                    low_ms=low or 0,
                    high_ms=None if is_open else f.leaderless_high_ms,
                    failover_id=f.failover_id,
                    outage_id=f.outage_id,
                    incident_id=f.incident_id,
                )
            )
    return rows


def without_consumer(rebalances: Iterable[Rebalance]) -> list[Unavailability]:
    """When groups consumed nothing, where each of their rebalances stopped all of them."""
    return [
        row(
            UNAVAILABILITY,
            cluster=r.cluster,
            unavailability_id=f"no consumer {r.rebalance_id}",
            kind="no_consumer",
            group_id=r.group_id,
            topic=None,
            partition=None,
            started_at=r.started_at,
            ended_at=r.ended_at,
            low_ms=0,
            rebalance_id=r.rebalance_id,
            incident_id=r.incident_id,
        )
        for r in rebalances
    ]
