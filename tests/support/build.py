"""Rows that tests of several rooms build in the same way, each so many seconds after AT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.gold import FAILOVERS, REBALANCES
from kafka_hindsight.catalog.rows import Event, Failover, Rebalance
from kafka_hindsight.catalog.silver import EVENTS
from tests.support.rows import AT, row


def after(second: float) -> datetime:
    return AT + timedelta(seconds=second)


def partition_line(kind: str, broker: int, second: float, partition: int = 0, **columns: Any) -> Event:
    """A line of a broker about a partition of topic t."""
    named = {"line_id": f"{kind}-{broker}-{partition}-{second}", "topic": "t", "happened_at": after(second)}
    made: Event = row(EVENTS, kind=kind, broker=broker, partition=partition, **{**named, **columns})
    return made


def leader_change(epoch: int, leader_from: int, leader_to: int, isr: Sequence[int] | None, **columns: Any) -> Failover:
    """The change of t-0 to an epoch, after a crash."""
    verdict: dict[str, Any] = {"kind": "broker_crash", "confidence": "certain", **columns}
    made: Failover = row(
        FAILOVERS,
        failover_id=f"f{epoch}", topic="t", partition=0, epoch_from=epoch - 1, epoch_to=epoch,
        leader_from=leader_from, leader_to=leader_to, isr_before=isr, happened_at=after(epoch), **verdict,
    )  # fmt: skip
    return made


def rebalance_of(second: float, cause: str, client: str = "a", **columns: Any) -> Rebalance:
    """A rebalance of group g that lasts a second, and that a member of a client began."""
    own = {"group_id": "g", "client_id": client, "member_id": f"m-{client}", "protocol": "classic", "duration_ms": 1000}
    named = {"rebalance_id": f"{second:09.1f}-{client}", "started_at": after(second), "ended_at": after(second + 1)}
    made: Rebalance = row(REBALANCES, cause=cause, **{"confidence": "certain", **named, **own, **columns})
    return made


def loop(seconds: Iterable[float], cause: str, back_after: float = 5, **columns: Any) -> list[Rebalance]:
    """A member that is removed at those seconds and is back a while later."""
    goes = [(s, rebalance_of(s, cause, f"a{n}", **columns)) for n, s in enumerate(seconds)]
    return [r for s, gone in goes for r in (gone, rebalance_of(s + back_after, "member_rejoined", str(gone.client_id)))]
